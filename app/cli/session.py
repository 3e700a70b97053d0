"""The session of a run: the values of the common options, what verbs work with, and how they read and print values."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext, suppress
from datetime import UTC, datetime, tzinfo
from functools import cached_property
from typing import TYPE_CHECKING

from memory.base.clock import machine_zone
from memory.errors import BlockedError, ConflictError, MemdeckError, UsageError
from memory.operations import Caller, Content, Context, Input, Lines, Operation, SentFile, allow
from memory.operations.result import Draft, Paint, Result
from memory.storage.changes import is_agent
from memory.storage.own_folders import config_home, home, state_home
from memory.workspace import Workspace

from .marks import client_of
from .printing import Printer, screen_width, tell, wants_color

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot
    from memory.operations.context import C, Closeable
    from memory.trust.consent import Trust
    from memory.workspace import Outcome

    Json = dict[str, Any]

OUTPUTS = ("human", "json", "jsonl")
"""The output formats."""


class Session:
    """The values of the common options, and what verbs work with."""

    def __init__(self) -> None:
        """Start with the defaults; the options before and after the verb set the attributes."""
        self.folder: str | None = None
        self.form: str | None = None
        """The value of `-o`."""
        self.actor_option: str | None = None
        self.now_option: str | None = None
        self.no_color = False
        self.safe = False
        self.served = False
        """Whether a program calls through a server. Then no argument names a file or stdin: a text is that text, and
        paths stay in the workspace.
        """
        self.writer = Printer()
        self.made: str | None = None
        """What the one change of this run did, once it is made: from then on later errors do not make the run a
        failure.
        """
        self._told_of_zone = False
        self.environ: Mapping[str, str] = os.environ
        self.origin = "cli"
        self._opened: list[Closeable] = []

    @property
    def output(self) -> str:
        """The output format: human, json or jsonl."""
        return self.form or "human"

    # -- where, who, when -------------------------------------------------------------------------------------

    @cached_property
    def workspace(self) -> Workspace:
        """The workspace that contains the folder; UsageError `workspace.not_found`."""
        return self.open(self.folder or ".")

    def open(self, folder: str | Path) -> Workspace:
        """Return the workspace that contains a folder, which the end of the run closes; errors as for `workspace`."""
        return self.opened(Workspace.open(folder, state_home=state_home(os.environ), home=home(os.environ)))

    def opened(self, what: C) -> C:
        """Return its argument; the end of the run closes it."""
        self._opened.append(what)
        return what

    def close(self) -> None:
        """Close what the run opened, in reverse order; a thing that cannot be closed ends with the process.

        The answer is already printed: an error here must not change it.
        """
        while self._opened:
            with suppress(Exception):
                self._opened.pop().close()

    @property
    def root(self) -> Path | None:
        """The folder of the workspace; None if there is none."""
        try:
            return self.workspace.root
        except UsageError:
            return None

    @property
    def trust(self) -> Trust:
        """The user's decisions about what the workspace may run."""
        from memory.systems import trust_of

        return trust_of(self.workspace, config_home(os.environ))

    @cached_property
    def snapshot(self) -> Snapshot:
        """The files as they were when this was first used."""
        return self.workspace.snapshot(zone_refused=self._warn_of_zone)

    @cached_property
    def now(self) -> datetime:
        """The time of this run: `--now` (in the workspace's zone if it names none), else the clock's time."""
        if self.now_option is None:
            return machine_time()
        now = self._written_now(self.now_option)
        if now.tzinfo is None:
            now = now.replace(tzinfo=self._zone)
        return now.astimezone(UTC)

    def clock(self) -> datetime:
        """Return the current time, for long runs; `--now` does not advance."""
        return self.now if self.now_option is not None else machine_time()

    @property
    def _zone(self) -> tzinfo:
        try:
            return self.snapshot.zone
        except UsageError:  # `init` and `demo` have no workspace yet
            return machine_zone(os.environ)

    def _written_now(self, text: str) -> datetime:
        try:
            now = datetime.fromisoformat(text.strip())
        except ValueError:
            raise UsageError(
                "usage.now",
                f"invalid time for --now: {text!r}",
                "write a time such as 2026-12-01T10:30:00Z or 2026-12-01 10:30",
            ) from None
        if not 1900 <= now.year <= 9998:  # every zone can represent these years
            raise UsageError("usage.now", f"--now is in the year {now.year}", "write a time from 1900 to 9998")
        return now

    def _warn_of_zone(self, error: MemdeckError) -> None:
        """Warn once that the zone of this machine is used because the chosen one is not known."""
        if not self._told_of_zone:
            self._told_of_zone = True
            tell(f"memdeck: warning: {error.code}: {error.message}; the zone of this machine counts")

    def check(self) -> None:
        """Raise UsageError for a time or a name that no verb can use, even if this verb does not need it."""
        if self.now_option is not None:
            self._written_now(self.now_option)
        if self.actor_option:
            _ = self.actor

    @property
    def actor(self) -> str:
        """The actor of changes: `--actor`, MEMDECK_ACTOR, the agent of the client that started this, or `cli`."""
        return self.named_actor or (f"agent:{self.client}" if self.client else "cli")

    @property
    def named_actor(self) -> str:
        """The actor that `--actor` or MEMDECK_ACTOR names; empty if none does.

        A program that a client of agents starts is an agent under any name: a name of a person or of a script becomes
        that of the client.
        """
        name = self.actor_option or os.environ.get("MEMDECK_ACTOR") or ""
        if len(name) > 80 or not name.isprintable() or name != name.strip():
            raise UsageError("usage.actor", f"{name[:80]!r} is not a valid actor", "use a name such as agent:builder")
        return f"agent:{self.client}" if name and self.client and not is_agent(name) else name

    @cached_property
    def client(self) -> str:
        """The client whose agent started this process, by the marks in its environment; empty for a person's shell."""
        return "" if self.served else client_of(os.environ, typed=self.sees_person())

    def sees_person(self) -> bool:
        """Return whether a person can sit there: stdin and stdout are a terminal."""
        return at_terminal()

    def run(self, operation: Operation, values: Mapping[str, Any]) -> Any:
        """Run an operation if the caller may; errors as `memory.operations.allow`."""
        caller = self.caller
        allow(operation, caller, values)
        if (
            self.client
            and self.actor_option
            and operation.belongs(values) != "look"
            and not is_agent(self.actor_option)
        ):
            tell(f"memdeck: note: an agent of {self.client} started this, so the change is made by {self.actor}")
        context: Context = self
        meant = {**values, **self._meant(operation, values)}
        try:
            found = operation.run(context, **meant)
        except BlockedError as error:
            asks = self.asks_person and not self.client and not is_agent(self.actor)
            if error.grant is None or not asks or not self.agreed(f"{error.message}. Allow it?"):
                raise
            error.grant(self.now)
            found = operation.run(context, **meant)
        return self._show(found) if isinstance(found, Result) else found

    def _show(self, found: Result) -> int:
        """Print a result and return its exit code; one that asks goes on after the person's answer."""
        if found.draft is not None:
            found = self._edited(found.draft)
        for note in found.notes:
            self.tell(note)
        if found.text is not None:
            for piece in found.text():
                self.writer.text(piece)
            return found.code
        self.form = self.form or found.form
        self.answer(found.document, lambda: found.lines(self.paint), found.rows)
        if found.ask is not None and self.asks_person and self.agreed(found.ask.question):
            return self._show(found.ask.then())
        if found.ask is not None and self.output == "human":
            self.writer.lines(["nothing was changed" if self.asks_person else found.ask.otherwise])
        return found.code

    def _edited(self, draft: Draft) -> Result:
        """Let the person edit a text until it is saved; if it is not, it is kept in a file that the error names."""
        from app.tui.forms.editor import edit_text, keep_text

        if not self.asks_person:
            raise draft.without
        text = draft.text
        while True:
            text = edit_text(text, os.environ, nullcontext, draft.name, outside=str(self.workspace.root))
            try:
                return draft.save(text)
            except MemdeckError as error:
                self.writer.lines([self.paint.alert(self.paint.line(str(error)))])
                if not isinstance(error, ConflictError) and self.agreed("Edit your text again?"):
                    continue
                hint = error.hint if text == draft.text else f"your text is in {keep_text(text, draft.name)}"
                raise type(error)(error.code, error.message, hint, **error.details) from None

    def _meant(self, operation: Operation, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the values mean: dates in words, standard input and files; a program sends the text itself."""
        found: dict[str, Any] = {}
        for one in operation.parameters:
            value: Any = values.get(one.name)
            match one.kind:
                case Lines() if not self.served:
                    found[one.name] = _with_stdin(value)
                case Input(needed, words) if not self.served:
                    if value is None and words:
                        tell(words)
                    missing = value is None and (words or (needed and not (sys.stdin is None or sys.stdin.isatty())))
                    found[one.name] = _stdin() if missing or value == "-" else value
                case Content(code) if value is not None:
                    found[one.name] = SentFile(value, value.encode() if self.served else _content(value, code))
                case _ if value is not None and not one.many:
                    found[one.name] = one.kind.meant(value, self)
        return found

    @property
    def caller(self) -> Caller:
        """Who runs operations here."""
        return Caller(self.actor, self.client, terminal=self.sees_person(), sets_time=self.now_option is not None)

    # -- answers ----------------------------------------------------------------------------------------------

    @cached_property
    def paint(self) -> Paint:
        """How lines for people are drawn."""
        terminal = self.writer.terminal
        return Paint(not self.no_color and wants_color(os.environ, terminal), screen_width(terminal))

    def answer(
        self,
        document: Callable[[], Json],
        lines: Callable[[], Iterable[str]],
        rows: Callable[[], Iterable[Json]] | None = None,
    ) -> None:
        """Print one object, or its lines for people; `rows` are the objects of the form jsonl, if it has its own."""
        if rows is not None and self.output == "jsonl":
            self.writer.objects(rows())
            return
        for sentence in self.__dict__["snapshot"].remarks if "snapshot" in self.__dict__ else ():
            tell(f"memdeck: {sentence}")
        if self.output == "human":
            self.writer.lines(lines())
        else:
            self.writer.document(document())

    @property
    def asks_person(self) -> bool:
        """Whether a person can be asked: a terminal on both ends, and human output."""
        return self.output == "human" and at_terminal()

    def agreed(self, question: str) -> bool:
        """Ask the user; only `y` or `yes` counts."""
        self.writer.lines(["", f"{question} [y/N]"])
        self.writer.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def change(self, operation: str, build: Callable[[Snapshot], Edit]) -> Outcome:
        """Make a change of the workspace with the actor and the time of this run."""
        outcome = self.workspace.change(operation, build, actor=self.actor, now=self.now)
        self.made = outcome.summary if outcome.change.files else None
        self.warn()
        for sentence in outcome.secrets:
            tell(f"memdeck: warning: {sentence}")
        for sentence in outcome.remarks:
            tell(f"memdeck: {sentence}")
        return outcome

    def tell(self, words: str) -> None:
        """Write one line to stderr, after the name of the program."""
        tell(f"memdeck: {words}")

    def progress(self, what: str) -> Callable[[int, int], None] | None:
        """Return a function that shows on stderr how far long work is; None if no person looks at it."""
        if self.output != "human" or sys.stderr is None or not sys.stderr.isatty():
            return None

        def show(done: int, total: int) -> None:
            end = "\r" if not total or done < total else "\r\x1b[K"
            words = f"{what}: {done:,}" + (f" of {total:,}" if total else "")
            sys.stderr.write(f"\r{words}{end}" if done != total else end)
            sys.stderr.flush()

        return show

    def warn(self) -> None:
        """Print problems with the change log: changes are still made, but history and undo may be incomplete."""
        for warning in self.workspace.store.history.warnings:
            self.tell(f"warning: {warning}")


def machine_time() -> datetime:
    """Return what the machine's clock says."""
    return datetime.now(UTC)


def at_terminal() -> bool:
    """Return whether stdin and stdout are a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


# -- values ----------------------------------------------------------------------------------------------------


def _with_stdin(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines, with `-` replaced by the lines of stdin; a leading bullet is dropped from these."""
    if "-" not in lines:
        return lines
    read = [line.removeprefix("- ").rstrip("\r") for line in _stdin().split("\n")]
    found: list[str] = []
    for line in lines:
        found += [text for text in read if text.strip()] if line == "-" else [line]
    return tuple(found)


def _stdin() -> str:
    """Return standard input as a text."""
    return _content("-").decode("utf-8", "surrogateescape")


def _content(name: str, code: str = "") -> bytes:
    """Return the bytes of a file, or of standard input for `-`; UsageError `usage.stdin`, or with `code`."""
    if name != "-":
        try:
            with open(name, "rb") as file:
                return file.read()
        except OSError as error:
            raise UsageError(code, f"{name!r} cannot be read ({error.strerror})", "check its name") from None
    if sys.stdin is None:
        raise UsageError("usage.stdin", "stdin is closed", "send the text to it")
    return sys.stdin.buffer.read()
