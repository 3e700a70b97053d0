"""Edits: writes changes in a worker, one at a time, and reports the results; undo and redo."""

from __future__ import annotations

import posixpath
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import NamedTuple, TypeVar

from textual.app import SuspendNotSupported

from app.tui.forms.editor import edit_text
from app.tui.shell import ACTOR, Otherwise, Part, ThreadReport
from memory.errors import BlockedError, MemdeckError
from memory.files import MEMORY_FILES
from memory.history.changes import file_name
from memory.review import undo_redo
from memory.review.model import place_words
from memory.review.undo_redo import TakenBackChange
from memory.systems.acts import Act
from memory.workspace import Outcome
from widgets.dialogs.dialogs import Confirm
from widgets.pane.offers import Build, Call
from widgets.panes import pane_of
from widgets.text.words import until

T = TypeVar("T")


class _Asked(NamedTuple):
    """A change that waits to be written; `then`, `otherwise` and `taken_back` as in `Edits.change`."""

    write: Callable[[], Outcome]
    then: Callable[[Outcome], object] | None
    otherwise: Otherwise | None
    taken_back: bool


class Edits(Part):
    """Writes all changes; no other part writes memory files."""

    def set_up(self) -> None:
        """Nothing is being written."""
        self.one = threading.Lock()
        """Held while something is written, so that only one change is written at a time."""
        self._asked: deque[_Asked] = deque()
        self._waiting = self._asking = self._passed = 0
        self._overtaken = False
        self._unseen = False
        self._held: Callable[[], object] | None = None
        self._made: set[str] = set()
        self._began = self.app.clock()

    @property
    def idle(self) -> bool:
        """Whether nothing is being written."""
        return not self._waiting

    @property
    def holds(self) -> bool:
        """Whether a form waits to open until the last change is on the screen."""
        return self._held is not None

    @property
    def asks(self) -> bool:
        """Whether a worker is finding something out, such as the content of a dialog."""
        return bool(self._asking)

    def went_past(self) -> None:
        """Drop the form that waits: another key was pressed first, and the form must not cover what that key does."""
        self._passed += 1
        if self._held is not None:
            self._held = None
            self.app.say("The form took too long to open; try again.")

    def once_seen(self, act: Callable[[], object]) -> None:
        """Open a form of the entry on the screen; if a change is being written or read back, open it after that.

        Opened earlier, the form would show the entry as it was before the user's own change. If it takes so long that
        the user does something else first, the form does not open.
        """
        if self.idle and not self._unseen:
            act()
        else:
            self._held = act

    def once_read(self, act: Callable[[], object]) -> None:
        """Read the files again, then open a form of the current content; as `once_seen`."""
        self._held, self._unseen = act, True
        self.app.refresher.request(self.seen)

    def seen(self) -> None:
        """Open the form that waits: what was written is on the screen, or cannot be read."""
        if self.idle:
            self._unseen = False
            held, self._held = self._held, None
            if held is not None:
                with self.app.overlays.coming_late(False):
                    if self.app.overlays.has_room("The form"):
                        held()

    def change(
        self,
        operation: str,
        build: Build,
        *,
        then: Callable[[Outcome], object] | None = None,
        otherwise: Otherwise | None = None,
        taken_back: bool = False,
        follow: bool = False,
    ) -> None:
        """Write an edit. `then` gets the outcome; `otherwise` gets an error, which is shown without it.

        With `taken_back` the message says which key undoes the change. With `follow` the cursor goes to the changed
        entry, unless the user moved elsewhere meanwhile.
        """
        workspace, now = self.app.workspace, self.app.clock()
        assert workspace is not None

        def write() -> Outcome:
            if isinstance(build, Act):
                return build.run(workspace, actor=ACTOR, now=now)
            if isinstance(build, Call):
                return self._call(build, now)
            return workspace.change(operation, build, actor=ACTOR, now=now)

        stays = self._stays()

        def shown(outcome: Outcome) -> None:
            if then is not None:
                then(outcome)
            if follow and stays():
                self._go_to(outcome)

        self.write(write, otherwise, then=shown, taken_back=taken_back)

    def _call(self, call: Call, now: datetime) -> Outcome:
        """Run an operation, and remember its changes as made here."""
        from app.tui.commands.operations import outcome_of

        history = self.workspace.store.history
        newest = history.state()[0]
        outcome = outcome_of(self.app, call, now)
        made = history.state()[0] - newest
        self._made.update(record.id for record in (history.list(made) if made > 0 else ()))
        return outcome

    def _stays(self) -> Callable[[], bool]:
        """Return a function that tells whether the user is still at the current place in the current pane.

        A result that was requested before the user moved must not move the cursor away.
        """
        pane = self.app.pane
        if pane is None:
            return lambda: False
        moves, row = pane.moves, pane.line_list.cursor
        # An entry with a new title may be a new row: a cursor that returned to the lost row follows it.
        return lambda: pane is self.app.pane and (pane.moves == moves or (row is not None and pane.lost_row is row))

    def _go_to(self, outcome: Outcome) -> None:
        """Put the cursor on the entry that changed; if the filter hid it, clear the filter and say so."""
        pane = self.app.pane
        if outcome.ref is None or pane is None:
            return
        before = pane.filter
        pane.go_to(outcome.ref)
        if before and not pane.filter and not outcome.secrets:
            words = outcome.summary[:1].upper() + outcome.summary[1:]
            self.app.say(f"{words}.\nIt does not fit the filter “{before}”, which was cleared.")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lock while a thread writes, and remember its changes as made here; undo needs that."""
        workspace = self.app.workspace
        assert workspace is not None
        history = workspace.store.history
        with self.one:
            newest = history.state()[0]
            try:
                yield
            finally:
                made = history.state()[0] - newest
                if made > 0:
                    self._made.update(record.id for record in history.list(made) if record.seq > newest)

    def begin(self) -> None:
        """Note that something is about to be written; `end` ends that."""
        self._waiting += 1

    def end(self) -> None:
        """Note that the write ended, successful or not."""
        self._waiting -= 1

    def ask(
        self,
        work: Callable[[], T],
        then: Callable[[T], object] = lambda _: None,
        otherwise: Otherwise | None = None,
        *,
        group: str = "change",
    ) -> None:
        """Run `work` in a worker before anything is written; `then` gets its result, `otherwise` its error.

        Keys wait for it for some seconds. A result that comes after the user did something else opens nothing: see
        `in_time`.
        """
        late, passed = self.app.overlays.late, self._passed

        @contextmanager
        def told() -> Iterator[None]:
            self._asking -= 1
            self._overtaken = self._passed != passed
            try:
                with self.app.overlays.coming_late(late or self._overtaken):
                    yield
            finally:
                self._overtaken = False

        def found(result: T) -> None:
            self.end()
            with told():
                then(result)

        def failed(error: MemdeckError) -> None:
            with told():
                self._failed(error, otherwise)

        self.begin()
        self._asking += 1
        self.app.work(work, found, failed, group=group)

    def in_time(self, what: str) -> bool:
        """Return whether a result may still open something; if the user did something else meanwhile, say so and return
        False.
        """
        if self._overtaken:
            self.app.say(f"{what} took too long to open; try again.")
        return not self._overtaken

    def in_editor(self, text: str, edited: Callable[[str], object], *, line: int = 0) -> None:
        """Hand a text to the user's editor, at a line from 0; `edited` gets what comes back, errors are shown."""
        if not self.in_time("The text"):
            return
        hand_over = self.app.setup.hand_over or self.app.suspend
        try:
            new = edit_text(text, self.app.environ, hand_over, line=line, outside=self.app.top)
        except MemdeckError as error:
            self.app.say_error(error)
        except SuspendNotSupported:
            self.app.say("This terminal cannot be handed over to an editor.", severity="warning")
        else:
            edited(new)

    def undo_or_redo(self, *, back: bool) -> None:
        """Undo the last change (`back`), or redo the change that was undone last.

        The cursor goes to the entries that appear, unless the user moved elsewhere meanwhile.
        """
        workspace, now = self.app.workspace, self.app.clock()
        assert workspace is not None
        turn = undo_redo.undo if back else undo_redo.redo
        pane = self.app.pane
        before = pane.arrangement.rows if pane is not None and pane.contents is not None else None
        stays = self._stays()

        def write() -> Outcome:
            done = turn(workspace, actor=ACTOR, now=now)
            return Outcome(done.change, done.change.summary + self._whereabouts(done, now))

        def otherwise(error: MemdeckError) -> None:
            if error.code == "change.none":
                self.app.say("Nothing to undo." if back else "Nothing to redo.")
            else:
                self.app.say_error(error)

        def follow(_: Outcome) -> None:
            if pane is not None and before is not None and stays():
                pane.go_to_what_came(before)

        self.write(write, otherwise, then=follow)

    def _whereabouts(self, turned: TakenBackChange, now: datetime) -> str:
        """Return the pane or folder of a change if another one is open, and when and where it was made if not here.

        The command line, other memdecks and this one share one undo history: the user must see that undo went further
        back than what was just done here.
        """
        change = turned.change
        number, workspace, current = change.undoes or change.redoes, self.app.workspace, self.app.pane
        if number is None or workspace is None or current is None:
            return ""
        try:
            record = turned.history.get(number)
        except MemdeckError:
            return ""
        pane = pane_of(file_name(record.paths[0])) if record.paths else None
        away = [name.title for name in self.app.panes.names(workspace) if name.id == pane != current.pane_id]
        words = f" in {away[0]}" if away else ""
        if turned.place:
            words = f" in {place_words(turned.place, workspace.home)}"
        if number in self._made:
            return words
        self._made.add(number)
        when = until(record.time, now, self.app.zone)
        if record.actor == "cli":
            return f"{words}, made at the command line, {when}"
        return f"{words}, made {'before this start' if record.time < self._began else 'in another memdeck'}, {when}"

    def write(
        self,
        write: Callable[[], Outcome],
        otherwise: Otherwise | None = None,
        *,
        then: Callable[[Outcome], object] | None = None,
        taken_back: bool = False,
    ) -> None:
        """Write in a worker; `then`, `otherwise` and `taken_back` as in `change`."""
        self._asked.append(_Asked(write, then, otherwise, taken_back))
        mine: list[_Asked] = []

        def work() -> None:
            with self.one:
                if not self._asked:
                    return  # `finish` wrote it.
                # Threads get here in any order; the change requested first is written and reported first.
                asked = self._asked.popleft()
                mine.append(asked)
                outcome = asked.write()
                # At once: the next undo, also in a thread, checks who made it before the screen knows the change.
                self._made.add(outcome.change.id)
                self._report(outcome, asked.then, taken_back=asked.taken_back)

        def failed(error: MemdeckError) -> None:
            asked = mine[0]
            grant = error.grant if isinstance(error, BlockedError) else None
            if grant is None:
                self._failed(error, asked.otherwise)
                return

            def answered(yes: bool | None) -> None:
                if yes:
                    grant(self.app.clock())
                    self.write(asked.write, asked.otherwise, then=asked.then, taken_back=asked.taken_back)
                else:
                    self._refused(error, asked.otherwise)

            self.end()
            self.app.push_screen(Confirm("Allow this?", f"{error.message}.", yes="Allow", no="Do not allow"), answered)

        self.begin()
        self.app.work(work, None, failed, group="change")

    def finish(self) -> None:
        """Write the changes requested and not begun, and wait for the one in progress; the application ends."""
        with self.one:
            while self._asked:
                with suppress(Exception):  # The application ends: there is no screen for an error.
                    self._asked.popleft().write()

    def _report(self, outcome: Outcome, then: Callable[[Outcome], object] | None, *, taken_back: bool) -> None:
        self.app.post_message(ThreadReport(partial(self._changed, outcome, then, taken_back=taken_back)))

    # In the application's thread

    def _changed(self, outcome: Outcome, then: Callable[[Outcome], object] | None, *, taken_back: bool) -> None:
        """Report what was done, and refresh."""
        self.app.outside_changes.changed()
        self.end()
        words = outcome.summary if outcome.change.files else "Nothing changed."
        words = words[:1].upper() + words[1:]
        back = f". {self.app.key_of('change.undo')} takes it back." if taken_back and outcome.change.files else ""
        if outcome.secrets:
            self.app.say("\n".join((words, *outcome.secrets[:3])), title="Looks like a secret", severity="warning")
        else:
            self.app.say(f"{words}{back}")
        names = frozenset(posixpath.basename(file.path) for file in outcome.change.files)
        # Files changed by another system may contain commands, too.
        self.app.schedule.files_changed(names if names <= frozenset(MEMORY_FILES) else frozenset())
        self._unseen = True

        def shown() -> None:
            if then is not None:
                then(outcome)
            self.seen()

        # Without a snapshot it was a change of another system, or an undo, which may be one.
        self.app.refresher.request(shown)

    def _failed(self, error: MemdeckError, otherwise: Otherwise | None) -> None:
        """Say why nothing was written, unless `otherwise` handles the error."""
        self.end()
        self._refused(error, otherwise)

    def _refused(self, error: MemdeckError, otherwise: Otherwise | None) -> None:
        (otherwise or self.app.say_error)(error)
        self.app.refresher.request()

    def wrote(self) -> None:
        """Note that something was written beside `change`, and read the files again."""
        self.app.outside_changes.changed()
        self.app.schedule.files_changed(frozenset())
        self.app.refresher.request()
