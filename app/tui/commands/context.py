"""The context of commands: what they may read of the application, and what they may do.

A command is a function of it. What leads on has a `then`, which gets the answer or result. If something fails,
`otherwise` gets the error and returns whether it dealt with it; if not, the error is shown.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from textual.app import SuspendNotSupported
from textual.geometry import Size
from textual.screen import Screen

from app.tui.forms.editor import edit_text
from app.tui.shell import Part, Severity
from memory.errors import MemdeckError
from widgets.pane.base import Pane
from widgets.pane.offers import Build, FormPlan
from widgets.text.glyphs import Glyphs

if TYPE_CHECKING:
    from app.tui.forms.drafts import FormDrafts
    from memory.history.outside import LostFile, OutsideRemoval
    from memory.monitoring.run.report import Watch
    from memory.monitoring.run.run import WatchServices
    from memory.storage.private.drafts import Draft
    from memory.trust.consent import Trust
    from memory.workspace import Outcome

ACTOR = "human"
"""The actor recorded for changes made in the application."""

Step: TypeAlias = bool | None
"""Whether a command, or what follows in it, did anything."""

Otherwise: TypeAlias = Callable[[MemdeckError], Step]


def steps(done: Sequence[Step]) -> Step:
    """Return whether any of several things was done."""
    return any(done)


class JobView(Protocol):
    """A job as seen by the work in its thread."""

    @property
    def cancel(self) -> threading.Event:
        """The object that cancels it."""

    def plan(self, names: tuple[str, ...]) -> None:
        """Set the steps, by name."""

    def done(self, name: str) -> None:
        """Note that one step is done."""

    def pause(self, seconds: float) -> None:
        """Wait, but only until the job is cancelled."""


class Context(Part):
    """The application as commands see it."""

    # What they read

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment variables."""
        return self.app.environ

    @property
    def glyphs(self) -> Glyphs:
        """The glyphs to draw with."""
        return self.app.glyphs

    @property
    def has_workspace(self) -> bool:
        """Whether there is a workspace."""
        return self.app.workspace is not None

    @property
    def left_drafts(self) -> Sequence[Draft]:
        """Forms that were never saved, newest first."""
        return self.app.left_drafts

    @property
    def safe(self) -> bool:
        """Whether no command from memory files may run."""
        return self.app.safe

    @property
    def shows_one_pane(self) -> bool:
        """Whether only one pane is shown, and nothing of the workspace is shown or changed."""
        return self.app.shows_one_pane

    @property
    def pane(self) -> Pane | None:
        """The open pane: its rows, the entry under the cursor, the selection."""
        return self.app.pane

    @property
    def zone(self) -> tzinfo:
        """The workspace's time zone."""
        return self.app.zone

    @property
    def size(self) -> Size:
        """The size of the terminal."""
        return self.app.size

    @property
    def removals(self) -> Sequence[OutsideRemoval]:
        """The changes by other programs that removed entries which are still missing."""
        return self.app.outside_changes.removals

    @property
    def lost(self) -> LostFile | None:
        """The file of the open pane if it is missing or empty, else None."""
        return self.app.outside_changes.lost_in(self.app.pane)

    @property
    def drafts(self) -> FormDrafts:
        """What keeps the drafts of forms."""
        return self.app.form_drafts

    @property
    def has_jobs(self) -> bool:
        """Whether a job runs."""
        return bool(self.app.jobs.running)

    def can_undo_or_redo(self, way: str) -> bool:
        """Return whether there was something to undo or redo at the last refresh."""
        return self.app.outside_changes.can_undo_or_redo(way)

    def may_undo_or_redo(self, way: str) -> bool:
        """Return whether there is something to undo or redo, or may be."""
        return self.app.outside_changes.may_undo_or_redo(way, writing=not self.app.edits.idle)

    def clock(self) -> datetime:
        """Return the time."""
        return self.app.clock()

    def key_of(self, command_id: str) -> str:
        """Return the key of a command as it is written in texts."""
        return self.app.key_of(command_id)

    def saved_views(self, pane_id: str) -> dict[str, dict[str, str]]:
        """Return the saved views of a pane by name."""
        return self.app.pane_state.saved_views(pane_id)

    def writing(self) -> AbstractContextManager[None]:
        """Hold the lock of changes while a thread writes."""
        return self.app.edits.writing()

    def trust(self) -> Trust | None:
        """Return the user's decisions about commands, as a separate object for one thread."""
        return self.app.schedule.trust()

    def services(self, job: JobView) -> WatchServices:
        """Return the services that a run of monitors uses."""
        return self.app.schedule.services(job)

    # What they do

    def say(self, text: str, *, title: str = "", severity: Severity = "information") -> Step:
        """Show a message."""
        self.app.say(text, title=title, severity=severity)
        return True

    def fail(self, error: MemdeckError) -> Step:
        """Show an error."""
        self.app.say_error(error)
        return True

    def copy(self, text: str, said: str = "") -> Step:
        """Copy a text to the clipboard, and say so."""
        self.app.copy_to_clipboard(text)
        return self.say(said) if said else True

    def ask(
        self,
        screen: Screen[Any],
        then: Callable[[Any], Step] = lambda _: None,
        *,
        left: Callable[[], Step] = lambda: None,
        waited: str = "",
    ) -> Step:
        """Open a dialog; `then` gets its answer, `left` is called if it is left.

        `waited` says what took a while to prepare: it opens only if the user still waits for it.
        """

        def answered(answer: Any) -> None:
            if answer is None or answer is False:
                left()
            else:
                then(answer)

        if waited:
            if self.app.edits.in_time(waited) and self.app.overlays.has_room(waited):
                self.app.push_screen(screen, answered)
        elif self.app.overlays.late:
            self.app.overlays.once_free(lambda: self.app.push_screen(screen, answered))
        else:
            self.app.push_screen(screen, answered)
        return True

    def form(self, pane: Pane, plan: FormPlan, item: Any = None, *, note: str = "") -> Step:
        """Open a form."""
        self.app.form_session.begin(pane, plan, item, note=note)
        return True

    def change(
        self,
        operation: str,
        build: Build,
        *,
        then: Callable[[Outcome], object] | None = None,
        otherwise: Otherwise | None = None,
        taken_back: bool = False,
        follow: bool = False,
    ) -> Step:
        """Write an edit; `taken_back` says which key takes it back, `follow` moves the cursor to the entry."""
        self.app.edits.change(operation, build, then=then, otherwise=otherwise, taken_back=taken_back, follow=follow)
        return True

    def write(
        self, write: Callable[[], Outcome], otherwise: Otherwise | None = None, *, taken_back: bool = False
    ) -> Step:
        """Write with a function of its own."""
        self.app.edits.run(write, None, otherwise, taken_back=taken_back)
        return True

    def undo_next(self, act: Callable[[], Step]) -> Step:
        """Let undo call `act` next, unless something is written before."""
        self.app.outside_changes.reversals.append(act)
        self.app.refresh_keys()
        return True

    def take_reversal(self) -> Callable[[], object] | None:
        """Return what undo is to do instead of taking back a change, once; None: nothing."""
        reversals = self.app.outside_changes.reversals
        return reversals.pop() if reversals else None

    def turn(self, *, back: bool) -> Step:
        """Undo or redo the last change."""
        self.app.edits.undo_or_redo(back=back)
        return True

    def find(
        self,
        work: Callable[[], Any],
        then: Callable[[Any], object] = lambda _: None,
        otherwise: Otherwise | None = None,
    ) -> Step:
        """Find something out in a worker; `then` gets it."""
        self.app.edits.ask(work, then, otherwise)
        return True

    def run(
        self,
        words: str,
        work: Callable[[JobView], Any],
        then: Callable[[Any], object] = lambda _: None,
        otherwise: Otherwise | None = None,
        *,
        once: bool = False,
    ) -> Step:
        """Run a job that is shown and can be cancelled; `once`: not while one of the same words runs."""
        if once and any(job.words == words for job in self.app.jobs.running):
            return True

        def failed(error: MemdeckError) -> None:
            if otherwise is None or not otherwise(error):
                self.app.say_error(error)
                self.app.refresher.request()

        self.app.jobs.start(words, work, then, failed)
        return True

    def consent(self, chosen: set[tuple[str, str]], roles: tuple[str, ...], then: Callable[[], object]) -> Step:
        """Ask for the approvals that are missing (of these files and names, or roles), then go on."""
        self.app.consent.first(chosen, roles, then)
        return True

    def approve(self) -> Step:
        """Ask about the command under the cursor that waits for an approval, then about the others."""
        self.app.consent.review()
        return True

    def wrote(self) -> Step:
        """Note that something was written beside `change`, and read the files again."""
        self.app.outside_changes.changed()
        self.app.schedule.files_changed(frozenset())
        return self.read_again()

    def read_again(self, then: Callable[[], object] | None = None) -> Step:
        """Read the files again; `then` is called once the open pane shows them."""
        self.app.refresher.request(then)
        return True

    def once_seen(self, act: Callable[[], object]) -> Step:
        """Go on when the screen shows the changes that are still being written."""
        self.app.edits.once_seen(act)
        return True

    def once_shown(self, act: Callable[[], object]) -> Step:
        """Go on when the open pane shows its contents."""
        self.app.navigation.once_shown(act)
        return True

    def show_pane(self, pane_id: str) -> Step:
        """Open a pane."""
        self.app.navigation.open_pane(pane_id)
        return True

    def go_to(self, file: str, ref: str) -> Step:
        """Open the pane of a file at an entry."""
        self.app.navigation.jump(file, ref)
        return True

    def edit_text(self, text: str, edited: Callable[[str], object], *, line: int = 0) -> Step:
        """Hand a text to $EDITOR, at a line from 0; `edited` gets what comes back."""
        if not self.app.edits.in_time("The text"):
            return True
        hand_over = self.app.setup.hand_over or self.app.suspend
        try:
            new = edit_text(text, self.app.environ, hand_over, line=line, outside=self.app.top)
        except MemdeckError as error:
            self.app.say_error(error)
        except SuspendNotSupported:
            self.app.say("This terminal cannot be handed over to an editor.", severity="warning")
        else:
            edited(new)
        return True

    def discard(self, draft_id: str) -> Step:
        """Ask whether to throw a draft away."""
        self.app.form_drafts.discard(draft_id)
        return True

    def keep_view(self, pane: Pane, name: str, view: Mapping[str, str] | None) -> Step:
        """Save a view of a pane under a name; None forgets it."""
        self.app.pane_state.keep_view(pane.pane_id, name, view)
        pane.take_saved_views(self.app.pane_state.saved_views(pane.pane_id))
        return True

    def say_watch(self, watch: Watch) -> Step:
        """Say how a run of monitors ended."""
        self.app.schedule.told(watch, asked=True)
        return True

    def reschedule(self) -> Step:
        """Look soon whether anything is due."""
        self.app.schedule.look_soon()
        return True

    def redraw_keys(self) -> Step:
        """Update which keys are available."""
        self.app.refresh_keys()
        return True


def open_pane(context: Context) -> Pane:
    """Return the pane that a command is done in."""
    assert context.pane is not None
    return context.pane
