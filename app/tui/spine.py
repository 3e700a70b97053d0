"""The spine: the way of a key through the application, and the context that commands are functions of.

A command asks in a dialog (`ask`), finds something out in a thread (`find`), and writes in a thread (`change`). What
was written here, or changed outside, is one message, `Changed`: only then files are read, shown, and looked over.

What a key opens may be late, because a thread prepares it or a change is written first. One rule holds for all of it:
keys wait for it. If the user goes on to something else first, it does not open any more, and one sentence says so. A
dialog that no key asked for, such as the question about a conflict, waits until the user leaves another one, and
ignores keys that were pressed before it was visible.
"""

from __future__ import annotations

import math
import posixpath
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from textual.events import Key, Paste
from textual.message import Message

from memory.errors import BlockedError, MemdeckError
from memory.workspace import Outcome, Workspace
from widgets.pane.base import Pane
from widgets.pane.offers import Build, Call
from widgets.panes import PaneName

from .commands.conditions import Situation
from .commands.table import BY_ID, PARTS, Command, found_at, function_of
from .shell import ACTOR, Otherwise, Setup, Shell, ThreadReport, known_error

if TYPE_CHECKING:
    from textual.screen import Screen

T = TypeVar("T")

LEAVING = "ctrl+q"
"""The key that quits memdeck from anywhere; it answers no question."""


@dataclass(eq=False, repr=False)
class Changed(Message):
    """Files changed: by their names in the memory folder; empty: it is not known which."""

    files: frozenset[str]


class _Asked(NamedTuple):
    """A change that waits to be written; the rest as in `Spine.change`."""

    write: Callable[[], Outcome]
    then: Callable[[Outcome], object] | None
    otherwise: Otherwise | None
    taken_back: bool


class Spine(Shell):
    """Opens dialogs, finds things out, writes changes, and tells that files changed."""

    def __init__(self, workspace: Workspace | None, setup: Setup) -> None:
        """Nothing is open, written or waited for yet."""
        super().__init__(workspace, setup)
        self._parts: dict[str, Part] = {}
        self.late = False
        """Whether the current action comes from a thread, and not from a key."""
        self._waiting: list[Callable[[], object]] = []
        self._expected: list[str] = []
        self._held: list[Callable[[], None]] = []
        self._deaf = self._passed = 0
        self._unseen = False
        self._one = threading.RLock()
        self._asked: deque[_Asked] = deque()
        self.made: set[str] = set()
        """The changes that were made here, by id."""
        self.began = self.clock()
        """When the application was started."""
        self.after_reading: list[Callable[[], object]] = []
        """What to do once the visible pane shows what was read."""

    if TYPE_CHECKING:
        # The parts know this class; it knows them by their names only, and makes each when it is first used.
        fleet: Any
        form_drafts: Any
        form_session: Any
        jobs: Any
        navigation: Any
        outside_changes: Any
        overview: Any
        pane_state: Any
        prompts: Any
        proposals: Any
        refresher: Any
        schedule: Any
        search_queries: Any
        type_ahead: Any

    def part(self, name: str) -> Part:
        """Return a part by the name of its attribute; it is imported and created when it is first used."""
        if name not in self._parts:
            # A thread may create the same part at the same moment; the first one counts.
            self._parts.setdefault(name, found_at(PARTS[name])(self))
        return self._parts[name]

    def load_parts(self) -> None:
        """Create all parts, in a thread, so that no key waits for them."""
        for name in PARTS:
            self.part(name)

    def make_pane(self, name: PaneName) -> Pane:
        """Return a new pane for a pane that is opened for the first time."""
        raise NotImplementedError

    def action_do(self, command_id: str) -> None:
        """Do a command, by id."""
        command = BY_ID[command_id]
        if self.allows(command):
            command.run(self)

    @property
    def situation(self) -> Situation:
        """The open pane and its selection, as they are now."""
        return Situation(self.state)

    def allows(self, command: Command) -> bool:
        """Return whether a command is available now."""
        return self.situation.allows(command.needs)

    # Dialogs

    @property
    def is_free(self) -> bool:
        """Whether nothing covers the panes."""
        return self.screen_stack[-1:] == [self.main_screen]

    def ask(
        self,
        screen: Screen[Any],
        then: Callable[[Any], object] = lambda _: None,
        *,
        left: Callable[[], object] = lambda: None,
    ) -> None:
        """Open a dialog; `then` gets its answer, `left` is called if it is left."""

        def answered(answer: Any) -> None:
            if answer is None or answer is False:
                left()
            else:
                then(answer)

        self.once_free(lambda: self.push_screen(screen, answered))

    def once_free(self, act: Callable[[], object]) -> None:
        """Open something; if no key asked for it and the user is in a dialog, do so after that."""
        if self.late and not self.is_free:
            self._waiting.append(act)
        else:
            act()

    @contextmanager
    def coming_late(self, late: bool) -> Iterator[None]:
        """Mark the actions inside as coming from a thread, while keys are pressed for something else."""
        before, self.late = self.late, late
        try:
            yield
        finally:
            self.late = before

    def push_screen(self, screen: Any, *arguments: Any, **options: Any) -> Any:
        """Open a screen; a dialog that no key opened ignores keys that were pressed before it was visible."""
        if self.late and hasattr(screen, "deaf_until"):
            screen.deaf_until = math.inf
        return super().push_screen(screen, *arguments, **options)

    def main_screen_free(self) -> None:
        """Open what waited, now that nothing covers the panes any more, unless the last answer opens something else."""
        if self._waiting:
            self.call_after_refresh(self._open_next)

    def _open_next(self) -> None:
        if self._waiting and self.is_free:
            with self.coming_late(True):
                self._waiting.pop(0)()
            self.main_screen_free()

    # What is about to come

    @property
    def expects(self) -> bool:
        """Whether keys wait for something that is about to come."""
        return bool(self._expected)

    @property
    def is_deaf(self) -> bool:
        """Whether a question is being prepared or not yet drawn that keys of before must not answer."""
        return self._deaf > 0 or getattr(self.screen, "deaf_until", 0.0) == math.inf

    def drops(self, key: Key | Paste) -> bool:
        """Return whether a key was typed before such a question was visible, and could be mistaken for its answer.

        A paste answers nothing.
        """
        return (
            isinstance(key, Key)
            and key.key != LEAVING
            and (self._deaf > 0 or key.time <= getattr(self.screen, "deaf_until", 0.0))
        )

    async def pass_on(self, key: Key | Paste) -> None:
        """Handle a key or a paste that waited, unless it is a key and a question opened since it was typed."""
        if not self.drops(key):
            await super().on_event(key)

    def went_past(self) -> bool:
        """Note that the user does something else: a dialog that is about to come must not cover it.

        Return whether a dialog was about to come: the keys that wait were typed for it.
        """
        self._passed += 1
        return any(self._expected)

    def _expect(self, opens: str, *, deaf: bool = False) -> Callable[[Callable[[], object], bool], None]:
        """Note that something comes soon, and what it `opens` (empty: nothing).

        Return the function to call when it comes, with what to do then, and whether that must be done in any case.
        """
        late, passed = self.late, self._passed
        self._expected.append(opens)
        self._deaf += deaf

        def come(act: Callable[[], object], must: bool) -> None:
            self._expected.remove(opens)
            self._deaf -= deaf
            overtaken = passed != self._passed
            if opens and not must and (overtaken or not self.is_free):
                self.say(f"{opens} took too long to open; try again.")
                return
            with self.coming_late(late or overtaken):
                act()

        return come

    def find(
        self,
        work: Callable[[], T],
        then: Callable[[T], object] = lambda _: None,
        otherwise: Otherwise | None = None,
        *,
        opens: str = "",
        deaf: bool = False,
        group: str = "change",
    ) -> None:
        """Run `work` in a thread; `then` gets its result, `otherwise` its error. Keys wait for it for some seconds.

        `opens` names the dialog that `then` opens: it does not open once the user has done something else. With `deaf`
        keys that are typed meanwhile are dropped.
        """
        come = self._expect(opens, deaf=deaf)
        self.work(
            work,
            lambda result: come(lambda: then(result), False),
            lambda error: come(lambda: self._refuse(error, otherwise), True),
            group=group,
        )

    def once_shown(self, act: Callable[[], object], *, reread: bool = False) -> None:
        """Open a form of the entry on the screen; while a change is being written or read back, after that.

        Opened earlier, the form would show the entry as it was before the user's own change. `reread`: read the files
        again before.
        """
        if not (self.state.writing or self._unseen or reread):
            act()
            return
        come = self._expect("The form")
        self._held.append(lambda: come(act, False))
        if reread:
            self.changed()

    def settled(self) -> None:
        """Open the forms that wait: what was written is on the screen, or cannot be read."""
        if not self.state.writing:
            self._unseen = False
            held, self._held = self._held, []
            for come in held:
                come()

    # Changes

    def changed(self, *files: str, then: Callable[[], object] | None = None) -> None:
        """Tell that files changed (none named: any); `then` is called once the visible pane shows them."""
        if then is not None:
            self.after_reading.append(then)
        self.post_message(Changed(frozenset(files)))

    def wrote(self) -> None:
        """Tell that something was written without `change`, by a thread that held `writing`."""
        self.state.wrote()
        self.changed()

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
        workspace, now, stays = self.shown_workspace, self.clock(), self.stays()

        def write() -> Outcome:
            if isinstance(build, Call):
                made: Outcome = function_of("operations.outcome_of")(self, build, now)
                return made
            if callable(build):
                return workspace.change(operation, build, actor=ACTOR, now=now)
            return build.run(workspace, actor=ACTOR, now=now)

        def shown(outcome: Outcome) -> None:
            if then is not None:
                then(outcome)
            if follow and outcome.ref is not None and stays():
                self._go_to(outcome.ref, outcome)

        self.write(write, otherwise, then=shown, taken_back=taken_back)

    def undo_next(self, act: Callable[[], None]) -> None:
        """Let undo call `act` next, unless something is written before."""
        self.state.reversals.append(act)
        self.refresh_keys()

    def stays(self) -> Callable[[], bool]:
        """Return a function that tells whether the user is still at the current place in the current pane.

        A result that was requested before the user moved must not move the cursor away.
        """
        pane = self.pane
        if pane is None:
            return lambda: False
        moves, row = pane.moves, pane.line_list.cursor
        # An entry with a new title may be a new row: a cursor that returned to the lost row follows it.
        return lambda: pane is self.pane and (pane.moves == moves or (row is not None and pane.lost_row is row))

    def _go_to(self, ref: str, outcome: Outcome) -> None:
        """Put the cursor on the entry that changed; if the filter hid it, clear the filter and say so."""
        pane = self.shown_pane
        before = pane.filter
        pane.go_to(ref)
        if before and not pane.filter and not outcome.secrets:
            words = outcome.summary[:1].upper() + outcome.summary[1:]
            self.say(f"{words}.\nIt does not match the filter “{before}”, which was cleared.")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Let one thread write at a time, and remember its changes as made here; undo needs that."""
        history = self.shown_workspace.store.history
        with self._one:
            newest = history.state()[0]
            try:
                yield
            finally:
                made = history.state()[0] - newest
                if made > 0:
                    self.made.update(record.id for record in history.list(made) if record.seq > newest)

    def write(
        self,
        write: Callable[[], Outcome],
        otherwise: Otherwise | None = None,
        *,
        then: Callable[[Outcome], object] | None = None,
        taken_back: bool = False,
    ) -> None:
        """Write in a thread; `then`, `otherwise` and `taken_back` as in `change`."""
        self._asked.append(_Asked(write, then, otherwise, taken_back))
        self.state.writing += 1
        self.work(self._write_next, group="change")

    def _write_next(self) -> None:
        with self._one:
            if not self._asked:
                return  # `finish` wrote it.
            # Threads get here in any order; the change requested first is written and reported first.
            asked = self._asked.popleft()
            try:
                outcome = asked.write()
                # At once: the next undo, also in a thread, checks who made it before the screen knows the change.
                self.made.add(outcome.change.id)
                report = partial(self._written, asked, outcome)
            except Exception as error:
                report = partial(self._not_written, asked, known_error(error))
            self.post_message(ThreadReport(report))

    def _written(self, asked: _Asked, outcome: Outcome) -> None:
        """Say what was done, and tell which files changed."""
        self.state.writing -= 1
        self._unseen = True
        words = outcome.summary if outcome.change.files else "Nothing changed."
        words = words[:1].upper() + words[1:]
        back = f". {self.key_of('change.undo')} undoes it." if asked.taken_back and outcome.change.files else ""
        if outcome.secrets:
            self.say("\n".join((words, *outcome.secrets[:3])), title="This looks like a secret", severity="warning")
        else:
            self.say(f"{words}{back}")
        self.state.wrote()
        then = None if asked.then is None else partial(asked.then, outcome)
        self.changed(*(posixpath.basename(file.path) for file in outcome.change.files), then=then)

    def _not_written(self, asked: _Asked, error: MemdeckError) -> None:
        """Ask for what a change needs, such as a folder that belongs to a client; else say why it was not written."""
        self.state.writing -= 1
        grant = error.grant if isinstance(error, BlockedError) else None
        if grant is None:
            self._refuse(error, asked.otherwise)
            return
        from widgets.dialogs.pick import Confirm

        def allowed(_: bool) -> None:
            grant(self.clock())
            self.write(asked.write, asked.otherwise, then=asked.then, taken_back=asked.taken_back)

        screen = Confirm("Allow this?", f"{error.message}.", yes="Allow", no="Do not allow", danger=True)
        self.ask(screen, allowed, left=lambda: self._refuse(error, asked.otherwise))

    def _refuse(self, error: MemdeckError, otherwise: Otherwise | None) -> None:
        (otherwise or self.say_error)(error)
        self.changed()

    def finish(self) -> None:
        """Write the changes requested and not begun, and wait for the one in progress; the application ends."""
        with self._one:
            while self._asked:
                with suppress(Exception):  # The application ends: there is no screen for an error.
                    self._asked.popleft().write()


class Part:
    """A part of the application: state of its own, and methods that commands and messages call."""

    def __init__(self, app: Spine) -> None:
        """Belong to an application."""
        self.app = app
        self.set_up()

    def set_up(self) -> None:
        """Set the state that the part begins with; nothing by default."""

    @property
    def workspace(self) -> Workspace:
        """The workspace that is shown."""
        return self.app.shown_workspace


def _attribute(name: str) -> property:
    """Return the attribute of a part."""
    return property(lambda app: app.part(name))


for _name in PARTS:
    # Not by `__getattr__`: Textual asks for attributes that do not exist with each key.
    setattr(Spine, _name, _attribute(_name))
