"""Changing: writes edits in a worker, one at a time, and says what came of it; undo and redo."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from app.tui.messages import Changed, ChangeFailed, Done
from app.tui.part import Part
from app.tui.toasts import in_one_line
from memory.errors import MemdeckError

if TYPE_CHECKING:
    from datetime import datetime

    from app.tui.app import MemdeckApp
    from memory.storage import Change
    from memory.workspace import Outcome
    from widgets.pane.offers import Build

T = TypeVar("T")
ACTOR = "human"
"""In whose name the application changes files."""


class Changing(Part):
    """The only part that writes memory files."""

    def __init__(self, app: MemdeckApp) -> None:
        """Nothing is being written."""
        super().__init__(app)
        self.one = threading.Lock()
        """Held while something is written: one change at a time."""
        self._waiting = 0
        self._unseen = False
        self._held: Callable[[], None] | None = None
        self._made: set[str] = set()
        self._began = app.clock()

    @property
    def idle(self) -> bool:
        """Whether nothing is being written."""
        return not self._waiting

    @property
    def holds(self) -> bool:
        """Whether something waits until what was written stands on the screen."""
        return self._held is not None

    def once_seen(self, act: Callable[[], None]) -> None:
        """Open a form of the entry on the screen; while a change is being written or read back, after that.

        A form that was opened before would begin with the entry as it was before one's own change. Where that takes
        so long that another key opens something first, nothing comes over it; of several forms it is the last.
        """
        if self.idle and not self._unseen:
            act()
        else:
            self._held = act

    def seen(self) -> None:
        """What was written stands on the screen, or cannot be read."""
        if self.idle:
            self._unseen = False
            held, self._held = self._held, None
            if held is not None and self.app.overlays.has_room("The form"):
                held()

    def change(
        self,
        operation: str,
        build: Build,
        *,
        then: Callable[[Outcome], None] | None = None,
        otherwise: Callable[[MemdeckError], bool] | None = None,
        taken_back: bool = False,
    ) -> None:
        """Write an edit. `then` gets the outcome; `otherwise` an error, and says whether it dealt with it.

        With `taken_back` the person is told which key takes it back.
        """
        from memory.systems.acts import Act

        workspace, now = self.app.workspace, self.app.clock()
        assert workspace is not None

        def write() -> Outcome:
            if isinstance(build, Act):
                return build.run(workspace, actor=ACTOR, now=now)
            return workspace.change(operation, build, actor=ACTOR, now=now)

        self.run(write, then, otherwise, taken_back=taken_back)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lock while something is written in a thread, and know its changes as made here; for undo."""
        assert self.app.workspace is not None
        history = self.app.workspace.store.history
        with self.one:
            newest = history.state()[0]
            try:
                yield
            finally:
                made = history.state()[0] - newest
                if made > 0:
                    self._made.update(record.id for record in history.list(made) if record.seq > newest)

    def begin(self) -> None:
        """Something is about to be written; `Changed`, `ChangeFailed` or `Done` ends it."""
        self._waiting += 1

    def end(self) -> None:
        """It is written, or not."""
        self._waiting -= 1

    def ask(self, work: Callable[[], T], then: Callable[[T], None], otherwise: Callable[[MemdeckError], bool]) -> None:
        """Find something out in a worker before anything is written; `then` gets it, `otherwise` an error."""
        app = self.app
        self.begin()

        def run() -> None:
            try:
                found = work()
            except MemdeckError as error:
                app.post_message(ChangeFailed(error, otherwise))
            except Exception as error:
                app.post_message(ChangeFailed(MemdeckError("internal", f"{type(error).__name__}: {error}"), otherwise))
            else:
                app.post_message(Done(found, then))

        app.run_worker(run, group="change", thread=True, exit_on_error=False)

    def undo(self) -> None:
        """Take back the last change; in a pane whose file another program removed or emptied, that."""
        lost = self.app.noticing.lost_in(self.app.navigation.pane)
        if lost is not None and lost.change is not None:
            from .revert import bring_back

            self.app.perform(bring_back(self.app, lost.change, lost.name))
            return
        self._turn(back=True)

    def redo(self) -> None:
        """Bring back what was undone last."""
        self._turn(back=False)

    def _turn(self, *, back: bool) -> None:
        from memory.workspace import Outcome

        workspace, now = self.app.workspace, self.app.clock()
        assert workspace is not None
        turn = workspace.undo if back else workspace.redo

        def write() -> Outcome:
            change: Change = turn(actor=ACTOR, now=now)
            return Outcome(change, change.summary + self._whereabouts(change, now))

        def otherwise(error: MemdeckError) -> bool:
            if error.code == "change.none":
                self.app.say("Nothing to undo." if back else "Nothing to redo.")
                return True
            return False

        self.run(write, None, otherwise)

    def _whereabouts(self, turned: Change, now: datetime) -> str:
        """In which pane a change is, where another is seen; where and when it was made, where that was not here.

        A person at the command line, in another memdeck and here is one and the same: who presses undo has to see
        that it went further than what was just done here.
        """
        from memory.history.changes import file_name
        from widgets.panes import pane_of
        from widgets.panes.time_words import until

        number, workspace, current = turned.undoes or turned.redoes, self.app.workspace, self.app.navigation.pane
        if number is None or workspace is None or current is None:
            return ""
        try:
            record = workspace.store.history.get(number)
        except MemdeckError:
            return ""
        pane = pane_of(file_name(record.paths[0])) if record.paths else None
        away = [name.title for name in self.app.navigation.panes if name.id == pane != current.pane_id]
        words = f" in {away[0]}" if away else ""
        if number in self._made:
            return words
        self._made.add(number)
        when = until(record.time, now, self.app.zone)
        if record.actor == "cli":
            return f"{words}, made at the command line, {when}"
        return f"{words}, made {'before this start' if record.time < self._began else 'in another memdeck'}, {when}"

    def run(
        self,
        write: Callable[[], Outcome],
        then: Callable[[Outcome], None] | None = None,
        otherwise: Callable[[MemdeckError], bool] | None = None,
        *,
        taken_back: bool = False,
    ) -> None:
        """Write in a worker; `then`, `otherwise` and `taken_back` as in `change`."""
        app = self.app
        self.begin()

        def work() -> None:
            try:
                with self.one:
                    outcome = write()
                    # At once: the next undo, in a thread as well, asks who made it before the screen knows of it.
                    self._made.add(outcome.change.id)
            except MemdeckError as error:
                app.post_message(ChangeFailed(error, otherwise))
            except Exception as error:
                wrapped = MemdeckError("internal", f"{type(error).__name__}: {error}")
                app.post_message(ChangeFailed(wrapped, otherwise))
            else:
                app.post_message(Changed(outcome, then, taken_back))

        app.run_worker(work, group="change", thread=True, exit_on_error=False)

    # In the application's thread

    def tell(self, outcome: Outcome, then: Callable[[Outcome], None] | None = None, *, taken_back: bool) -> None:
        """Say what a job wrote, as other changes are said, and look again; `then` comes behind that."""
        self.begin()
        self.app.post_message(Changed(outcome, then, taken_back))

    def changed(self, message: Changed) -> None:
        """Say what was done and look again."""
        self.end()
        outcome = message.outcome
        words = outcome.summary if outcome.change.files else "Nothing was different."
        words = words[:1].upper() + words[1:]
        back = (
            f". {self.app.key_of('change.undo')} takes it back." if message.taken_back and outcome.change.files else ""
        )
        if outcome.secrets:
            self.app.say("\n".join((words, *outcome.secrets[:3])), title="Looks like a secret", severity="warning")
        else:
            self.app.say(in_one_line(f"{words}{back}", self.app.size.width))
        self.app.watching.look_soon()
        then = message.then
        self._unseen = True

        def shown() -> None:
            if then is not None:
                then(outcome)
            self.seen()

        self.app.looking.request(shown)
        self.app.looking.show_badges()

    def failed(self, message: ChangeFailed) -> None:
        """Say why nothing was written, unless somebody else deals with it."""
        self.end()
        if message.otherwise is None or not message.otherwise(message.error):
            self.app.say_error(message.error)
        self.app.looking.request()
