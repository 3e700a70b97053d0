"""One run of the command line: where it works, in whose name, at which time, and how it answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from memory.errors import MemdeckError, UsageError

from .printing import Printer, tell

if TYPE_CHECKING:
    from pathlib import Path

    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot
    from memory.history.taken_back import Undone
    from memory.workspace import Outcome, Workspace

    from .printing import Paint

Json = dict[str, Any]
OUTPUTS = ("human", "json", "jsonl")
"""The forms of an answer."""


class Closeable(Protocol):
    """What has to be closed."""

    def close(self) -> None:
        """Close it."""


C = TypeVar("C", bound=Closeable)
T = TypeVar("T")


class Session:
    """What the options that every verb takes add up to, and what verbs work with."""

    def __init__(self) -> None:
        """Begin with the defaults; the options before and after the verb set the attributes."""
        self.folder: str | None = None
        self.form: str | None = None
        """What `-o` said."""
        self.actor_option: str | None = None
        self.now_option: str | None = None
        self.no_color = False
        self.safe = False
        self.served = False
        """Whether a program asks through a server. Then no argument names a file or stdin: a text is that text, and
        paths stay in the workspace."""
        self.writer = Printer()
        self.made: str | None = None
        """What the one change of this run did, once it is made: from then on nothing makes the run a failure."""
        self._told_of_zone = False
        self._opened: list[Closeable] = []

    @property
    def output(self) -> str:
        """The form of the answer: human, json or jsonl."""
        return self.form or "human"

    # -- where, who, when -------------------------------------------------------------------------------------

    @cached_property
    def workspace(self) -> Workspace:
        """The workspace that contains the folder; UsageError `workspace.not_found`."""
        from memory.person import home, state_home
        from memory.workspace import Workspace

        return self.opened(Workspace.open(self.folder or ".", state_home=state_home(os.environ), home=home(os.environ)))

    def use(self, workspace: Workspace) -> None:
        """Take a workspace as that of the run, which no search for one would find; the end of the run closes it."""
        self.__dict__["workspace"] = self.opened(workspace)

    def opened(self, what: C) -> C:
        """Return what was opened; the end of the run closes it."""
        self._opened.append(what)
        return what

    def close(self) -> None:
        """Close what the run opened, the last of it first; what does not close any more ends with the process.

        The answer is told by then: nothing that fails here may turn it into another one.
        """
        while self._opened:
            with suppress(Exception):
                self._opened.pop().close()

    @property
    def root(self) -> Path | None:
        """The folder of the workspace; None where there is none."""
        try:
            return self.workspace.root
        except UsageError:
            return None

    @cached_property
    def snapshot(self) -> Snapshot:
        """The files as they were when first asked for."""
        return self.workspace.snapshot(zone_refused=self._warn_of_zone)

    @cached_property
    def now(self) -> datetime:
        """The time of this run: `--now`, in the workspace's zone where it names none, else the clock's."""
        if self.now_option is None:
            return datetime.now(UTC)
        now = self._written_now(self.now_option)
        if now.tzinfo is None:
            now = now.replace(tzinfo=self._zone)
        return now.astimezone(UTC)

    def clock(self) -> datetime:
        """Return the time of now, for runs that last: `--now` stands still."""
        return self.now if self.now_option is not None else datetime.now(UTC)

    @property
    def _zone(self) -> tzinfo:
        try:
            return self.snapshot.zone
        except UsageError:  # `init` and `demo` have no workspace yet
            from memory.base.clock import machine_zone

            return machine_zone(os.environ)

    def _written_now(self, text: str) -> datetime:
        try:
            now = datetime.fromisoformat(text.strip())
        except ValueError:
            raise UsageError(
                "usage.now",
                f"--now does not take {text!r}",
                "write a time such as 2024-01-15T10:30:00Z or 2024-01-15 10:30",
            ) from None
        if not 1900 <= now.year <= 9998:  # every zone can show it
            raise UsageError("usage.now", f"--now is in the year {now.year}", "write a time from 1900 to 9998")
        return now

    def _warn_of_zone(self, error: MemdeckError) -> None:
        """Say once that times are not read and shown in the zone that somebody may have chosen."""
        if not self._told_of_zone:
            self._told_of_zone = True
            tell(f"memdeck: warning: {error.code}: {error.message}; the zone of this machine counts")

    def take(self, options: Mapping[str, Any]) -> None:
        """Set what the options say that every verb takes. UsageError as `check` has it."""
        for name, value in options.items():
            setattr(self, name, value)
        self.check()

    def check(self) -> None:
        """Raise UsageError for a time or a name that no verb can use, whether this one needs it or not."""
        if self.now_option is not None:
            self._written_now(self.now_option)
        if self.actor_option:
            _ = self.actor

    @property
    def actor(self) -> str:
        """In whose name changes are made: `--actor`, MEMDECK_ACTOR, or `cli`."""
        name = self.actor_option or os.environ.get("MEMDECK_ACTOR") or "cli"
        if len(name) > 80 or not name.isprintable() or name != name.strip():
            raise UsageError("usage.actor", f"{name[:80]!r} cannot be an actor", "write a name such as agent:builder")
        return name

    # -- answers ----------------------------------------------------------------------------------------------

    @cached_property
    def paint(self) -> Paint:
        """How lines for people are drawn."""
        from .printing import Paint, screen_width, wants_color

        terminal = self.writer.terminal
        return Paint(not self.no_color and wants_color(os.environ, terminal), screen_width(terminal))

    def answer(self, document: Callable[[], Json], lines: Callable[[], Iterable[str]]) -> None:
        """Print one object, or what it says to people."""
        for sentence in self.__dict__["snapshot"].remarks if "snapshot" in self.__dict__ else ():
            tell(f"memdeck: {sentence}")
        if self.output == "human":
            self.writer.lines(lines())
        else:
            self.writer.document(document())

    def listing(self, key: str, rows: Callable[[], Iterable[Json]], lines: Callable[[], Iterable[str]]) -> None:
        """Print a list: `{key: [...]}`, one object a line, or lines for people."""
        if self.output == "json":
            self.writer.array(key, list(rows()))
        elif self.output == "jsonl":
            self.writer.objects(list(rows()))
        else:
            self.writer.lines(lines())

    def change(self, operation: str, build: Callable[[Snapshot], Edit]) -> Outcome:
        """Make a change of the workspace in the name and at the time of this run."""
        outcome = self.workspace.change(operation, build, actor=self.actor, now=self.now)
        self.made = outcome.summary if outcome.change.files else None
        self.warn()
        for sentence in outcome.secrets:
            tell(f"memdeck: warning: {sentence}")
        for sentence in outcome.remarks:
            tell(f"memdeck: {sentence}")
        self._warn_of_taken_back()
        return outcome

    def remove(self, operation: str, ref: str, find: Callable[[Snapshot, str], T], build: Callable[..., Edit]) -> T:
        """Remove the entry that a ref names, by an edit that gets a look, the ref and `now`; return it as it was."""
        removed: list[T] = []

        def found(snapshot: Snapshot) -> Edit:
            removed[:] = [find(snapshot, ref)]
            return build(snapshot, ref, now=self.now)

        self.change(operation, found)
        return removed[0]

    def look_outside(self) -> None:
        """Note what other programs did, and bring back what they undid where a person chose that in config.md.

        Nothing is done for a workspace that memdeck never saw, for looking begins no history, nor where the change log
        cannot be relied on; `doctor` says why.
        """
        with suppress(MemdeckError):
            history = self.workspace.store.history
            if not history.seen():
                return
            self.workspace.notice(self.now)
            if not history.taken_back():
                return
            from memory.history.taken_back import bring_back_chosen

            for done in bring_back_chosen(self.workspace, self.now):
                tell(f"memdeck: note: {done.summary}, which another program's save took back")
                self.__dict__.pop("snapshot", None)

    def taken_back(self) -> tuple[Undone, ...]:
        """Return what saves of other programs took back of changes and nobody decided about, newest first."""
        with suppress(MemdeckError):
            if self.workspace.store.history.taken_back():
                # Imported here: it takes the merge engine along, and hardly a change needs either.
                from memory.history.taken_back import undone_changes

                return undone_changes(self.workspace)
        return ()

    def _warn_of_taken_back(self) -> None:
        """Say that a change met bytes of another program that lack older changes."""
        for one in self.taken_back():
            tell(
                f"memdeck: warning: another program's save took back {one.words}; "
                f"`memdeck changes revert {one.id[:16]}` brings it back"
            )

    def left_by(self, outcome: Outcome) -> Snapshot:
        """Return the files as a change left them: another program may have saved an older copy since."""
        return self.workspace.snapshot() if outcome.snapshot is None else outcome.snapshot

    def warn(self) -> None:
        """Say what is wrong with the change log: it stops no change, but history and undo may miss something."""
        for warning in self.workspace.store.history.warnings:
            tell(f"memdeck: warning: {warning}")
