"""What a command gets and returns: a context that it may read, and steps that say what it wants done.

The application is a context; a test builds its own from a workspace and a pane. `app.tui.commands.perform` does the
steps, tests inspect them. A step that leads on has a `then`, which gets the answer or result and returns the next step;
None ends the chain. If something fails, `otherwise` gets the error and returns the step that handles it; None: the
error is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, Union

if TYPE_CHECKING:
    from datetime import datetime, tzinfo
    from pathlib import Path

    from textual.geometry import Size
    from textual.screen import Screen

    from memory.errors import MemdeckError
    from memory.history.outside import LostFile, OutsideRemoval
    from memory.monitoring.run.cancel import Cancel
    from memory.monitoring.run.report import Watch
    from memory.monitoring.run.run import WatchServices
    from memory.storage.private.drafts import Draft
    from memory.trust.consent import Trust
    from memory.workspace import Outcome, Workspace
    from widgets.pane.base import Pane
    from widgets.pane.offers import Build, FormPlan
    from widgets.text.glyphs import Glyphs

ACTOR = "human"
"""The actor recorded for changes made in the application."""


class JobView(Protocol):
    """A job as seen by the work in its thread."""

    @property
    def cancel(self) -> Cancel:
        """The object that cancels it."""

    def plan(self, names: tuple[str, ...]) -> None:
        """Set the steps, by name."""

    def done(self, name: str) -> None:
        """Note that one step is done."""

    def pause(self, seconds: float) -> None:
        """Wait, but only until the job is cancelled."""


class Context(Protocol):
    """The workspace, the time, the selection of the open pane, and the user's setup of memdeck."""

    environ: Mapping[str, str]
    glyphs: Glyphs
    workspace: Workspace | None
    """The open workspace."""
    left_drafts: tuple[Draft, ...]
    """Forms that were never saved, newest first."""

    @property
    def safe(self) -> bool:
        """Whether no command from memory files may run."""

    @property
    def shows_one_pane(self) -> bool:
        """Whether only one pane is shown, and nothing of the workspace is shown or changed."""

    @property
    def pane(self) -> Pane | None:
        """The open pane: its rows, the entry under the cursor, the selection."""

    @property
    def zone(self) -> tzinfo:
        """The workspace's time zone, as it was last read."""

    @property
    def size(self) -> Size:
        """The columns and lines of the terminal."""

    @property
    def way(self) -> Sequence[Path]:
        """The workspaces to go back to, the one this was opened from last."""

    @property
    def removals(self) -> Sequence[OutsideRemoval]:
        """The changes by other programs that removed entries which are still missing."""

    @property
    def lost(self) -> LostFile | None:
        """The file of the open pane if it is missing or empty, else None."""

    @property
    def has_jobs(self) -> bool:
        """Whether a job runs."""

    def can_undo_or_redo(self, way: str) -> bool:
        """Return whether there was something to undo or redo (`undo`, `redo`) at the last refresh."""

    def may_undo_or_redo(self, way: str) -> bool:
        """Return whether there is something to undo or redo, or may be, because something was written since."""

    def clock(self) -> datetime:
        """Return the time."""

    def key_of(self, action_id: str) -> str:
        """Return the key of an action as it is written in texts."""

    def saved_views(self, pane_id: str) -> dict[str, dict[str, str]]:
        """Return the saved views of a pane by name."""

    # For work in threads

    def writing(self) -> AbstractContextManager[None]:
        """Hold the lock of changes while something is written, and remember it as written here; undo needs that."""

    def trust(self) -> Trust | None:
        """Return the user's decisions about commands, as a separate object for one thread."""

    def services(self, job: JobView) -> WatchServices:
        """Return the services that a run of monitors uses; the job shows its progress and can cancel it."""


def open_pane(context: Context) -> Pane:
    """Return the open pane; the conditions of actions promise that there is one."""
    pane = context.pane
    assert pane is not None
    return pane


def open_workspace(context: Context) -> Workspace:
    """Return the open workspace, which the conditions promise as well."""
    assert context.workspace is not None
    return context.workspace


Severity = Literal["information", "warning", "error"]

Step: TypeAlias = Union[
    "Say | Fail | Copy | OpenDialog | OpenForm | ApplyEdit | Write | Find | RunJob | AskConsent",
    "ReadAgain | Open | OnceShown | GoToEntry | OnceSeen | InEditor | Discard | KeepView | ForgetView",
    "SayChange | Turn | SayWatch | Reschedule | RedrawKeys | Steps | None",
]
"""One thing to do, several in order, or nothing."""

Otherwise: TypeAlias = "Callable[[MemdeckError], Step]"
"""Returns the step that handles an error; None: the error is shown."""


class Steps(NamedTuple):
    """Several steps, in this order."""

    steps: tuple[Step, ...]


class Say(NamedTuple):
    """A message in the corner."""

    text: str
    title: str = ""
    severity: Severity = "information"


class Fail(NamedTuple):
    """An error, shown with what to do about it."""

    error: MemdeckError


class Copy(NamedTuple):
    """Copy a text to the clipboard and show a message."""

    text: str
    said: str = ""


class OpenDialog(NamedTuple):
    """Open a dialog; `then` gets its answer. If it was left, or answered with no, `left` is called instead.

    `waited` names what took a while to prepare: if the user opened something else meanwhile, only a message is shown.
    """

    screen: Screen[Any]
    then: Callable[[Any], Step] = lambda _: None
    waited: str = ""
    left: Callable[[], Step] = lambda: None

    def follow(self, answer: Any) -> Step:
        """Return what follows from the answer of the dialog."""
        return self.left() if answer is None or answer is False else self.then(answer)


class OpenForm(NamedTuple):
    """Open a form of a pane, for an item or a new one; `note` is shown below its title."""

    pane: Pane
    plan: FormPlan
    item: Any = None
    note: str = ""


class ApplyEdit(NamedTuple):
    """Write an edit in a worker; with `taken_back` the message names the key that undoes it.

    With `follow` the cursor goes to the changed entry, unless the user moved elsewhere meanwhile.
    """

    operation: str
    build: Build
    then: Callable[[Outcome], Step] | None = None
    otherwise: Otherwise | None = None
    taken_back: bool = False
    follow: bool = False


class Write(NamedTuple):
    """Write a change that is more than one edit: `write` makes it in a worker."""

    write: Callable[[], Outcome]
    otherwise: Otherwise | None = None
    taken_back: bool = False


class Find(NamedTuple):
    """Find something out in a worker."""

    work: Callable[[], Any]
    then: Callable[[Any], Step] = lambda _: None
    otherwise: Otherwise | None = None


class RunJob(NamedTuple):
    """Run a job, which shows its progress and can be cancelled. `once`: not while one with the same words runs."""

    words: str
    work: Callable[[JobView], Any]
    then: Callable[[Any], Step] = lambda _: None
    otherwise: Otherwise | None = None
    once: bool = False


class AskConsent(NamedTuple):
    """Ask about the commands of the chosen things (file and name) in these roles; then go on."""

    chosen: set[tuple[str, str]]
    roles: tuple[str, ...]
    then: Callable[[], Step]


class ReadAgain(NamedTuple):
    """Read the files again; `then` is called once the open pane shows them."""

    then: Callable[[], Step] | None = None


class Open(NamedTuple):
    """Open a pane."""

    pane_id: str


class OnceShown(NamedTuple):
    """Arrange the open pane, once it has contents."""

    act: Callable[[], Step]


class GoToEntry(NamedTuple):
    """Go to an entry of any file."""

    file: str
    ref: str


class OnceSeen(NamedTuple):
    """Do something with the entry under the cursor; if a change is being written or read back, after that."""

    act: Callable[[], Step]


class InEditor(NamedTuple):
    """Edit a text in the user's own editor; `then` gets the result."""

    text: str
    then: Callable[[str], Step]


class SayWatch(NamedTuple):
    """Report the results of a run of monitors, in a few lines."""

    watch: Watch


class Reschedule(NamedTuple):
    """Check the schedule again at the next beat: files or decisions changed."""


class Discard(NamedTuple):
    """Delete a draft, after a question."""

    draft_id: str


class KeepView(NamedTuple):
    """Save the arrangement of a pane's list under a name."""

    pane: Pane
    name: str
    view: Mapping[str, str]


class ForgetView(NamedTuple):
    """Delete a saved view, then go on."""

    pane: Pane
    name: str
    then: Callable[[], Step]


class Turn(NamedTuple):
    """Undo the last change, or redo what was undone last."""

    back: bool


class SayChange(NamedTuple):
    """Report a change that a job or worker already made like any other change, and refresh."""

    outcome: Outcome
    then: Callable[[Outcome], Step] | None = None
    taken_back: bool = True


class RedrawKeys(NamedTuple):
    """Update which keys are available."""
