"""The memory systems of a workspace: their protocol, what runs over all of them, and how to get one by its type.

Each system is called through `Guarded`, so that the failure of one ends only its own answer. Maintenance, search,
check, status, Brief and doctor iterate over `systems_of` and know no system by name. A new system is one folder in
`memory/`, one module here with an object of the protocol, and one line in `memory.registry`; or a package of its own
(docs/extending.md).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from memory.attached import Attached
from memory.errors import MemdeckError
from memory.registry import FAILED, REGISTRY, broken, system_failed, system_name

if TYPE_CHECKING:
    from typing import TypeVar

    from memory.base.items import Item, Skipped, Taken
    from memory.base.problems import Problem
    from memory.maintenance.report import Report
    from memory.search.records import FileRecords, Record
    from memory.search.searcher import Searcher
    from memory.trust.asks import Ask
    from memory.trust.consent import ConsentDecision, Trust
    from memory.workspace import Workspace

    S = TypeVar("S", bound="System")
    T = TypeVar("T")


class BriefLine(NamedTuple):
    """A line of Brief: the system, the entry that it links to, its name, and its state in words.

    `due` is what a person should know or do; empty for nothing.
    """

    system: str
    target: str
    title: str
    words: str
    due: str = ""


class Advice(NamedTuple):
    """A finding for a person, and what to do about it."""

    message: str
    hint: str = ""


class Contribution(NamedTuple):
    """A block that a system offers for a prompt: the entry, its title, its text, why it fits, and how well.

    `score` is 0 or more and comparable within one system only; `ref` is None if the block is not a single entry.
    """

    system: str
    ref: str | None
    title: str
    text: str
    reason: str
    score: float


@runtime_checkable
class System(Attached, Protocol):
    """One memory system in one workspace; creating the object reads nothing. What a workspace asks is in `Attached`.

    Paths are relative to the workspace. Times are aware. An exception of any method is reported as an error of this
    system, and the other systems continue.
    """

    def owns(self, name: str) -> bool:
        """Return whether `check` covers a file; it is named as in problems."""

    def check(self, names: Sequence[str] | None = None) -> tuple[Problem, ...]:
        """Return the problems in its files, or in those named, by file and line."""

    def maintain(self, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False) -> Report:
        """Run its maintenance rules, in one transaction; `dry_run` only reports."""

    def records(
        self, kinds: Collection[str] | None = None, refused: MutableMapping[str, MemdeckError] | None = None
    ) -> Iterator[Record]:
        """Yield its searchable records, archives included; only some kinds, if `kinds` names them.

        A file that cannot be read is left out and added to `refused`, by its name; without `refused` it raises.
        """

    def also_told(self) -> Iterator[Record]:
        """Yield what agents are told of it that is none of its records."""

    def items(self) -> Iterator[Item | Skipped]:
        """Yield its entries for another memory, and what cannot be converted."""

    def take(self, items: Sequence[Item], *, place: str = "", actor: str, now: datetime) -> Taken:
        """Convert entries of another memory; nothing is written before `Taken.commit` is called.

        `place` is the target in a system that has several: the agent of typed memory, the scope of curated memory.
        RefusedError `convert.no_target` for a system that accepts none.
        """

    def records_by_file(self, refused: MutableMapping[str, MemdeckError]) -> Iterator[FileRecords]:
        """Yield its records file by file, for an index that reads only changed files."""

    def status(self, now: datetime) -> Mapping[str, object]:
        """Return its state as JSON-able data; `counts` maps words to numbers, for people."""

    def brief_lines(self, now: datetime) -> Iterable[BriefLine]:
        """Yield its lines of Brief."""

    def contributions(self, message: str, now: datetime) -> Iterable[Contribution]:
        """Yield what it offers for the prompt of an agent that receives `message`, the best first."""

    def wants(self) -> Iterable[Ask]:
        """Yield what it may do only after a person approved exactly that."""

    def entrust(self, trust: Trust | None, environ: Mapping[str, str]) -> None:
        """Set the person's decisions, and the variables that commands may get; None: nothing is approved."""

    def doctor_lines(self) -> Iterable[Advice]:
        """Yield its lines of `doctor`."""


class PlainSystem:
    """A base class with empty answers; `name`, `present` and `look` are left to each system."""

    name: str

    def files(self) -> Iterable[str]:
        """Yield nothing."""
        return ()

    def folders(self) -> Iterable[str]:
        """Yield nothing."""
        return ()

    def owns(self, name: str) -> bool:
        """Return whether a name is one of the files."""
        return name in self.files()

    def adopt(self, folder: str) -> None:
        """Do nothing: its folders are in one place."""

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def check(self, names: Sequence[str] | None = None) -> tuple[Problem, ...]:  # noqa: ARG002
        """Return nothing."""
        return ()

    def maintain(self, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False) -> Report:  # noqa: ARG002
        """Return a report without rules."""
        from memory.maintenance.report import Report

        return Report(dry_run, now, ())

    def records(
        self,
        kinds: Collection[str] | None = None,  # noqa: ARG002
        refused: MutableMapping[str, MemdeckError] | None = None,  # noqa: ARG002
    ) -> Iterator[Record]:
        """Yield nothing."""
        return iter(())

    def records_by_file(self, refused: MutableMapping[str, MemdeckError]) -> Iterator[FileRecords]:
        """Yield the records by file; all are read each time."""
        from memory.search.records import grouped_by_file

        return grouped_by_file(self.records(None, refused))

    def also_told(self) -> Iterator[Record]:
        """Yield nothing."""
        return iter(())

    def items(self) -> Iterator[Item | Skipped]:
        """Yield its records as notes."""
        from memory.base.items import Item

        for one in self.records():
            yield Item("note", one.title, one.text, f"{one.file}:{one.line + 1}", one.date, one.tags)

    def take(self, items: Sequence[Item], *, place: str = "", actor: str, now: datetime) -> Taken:  # noqa: ARG002
        """Refuse."""
        from memory.errors import RefusedError

        raise RefusedError(
            "convert.no_target", f"{self.name} takes no entries of other memories", "name another target"
        )

    def status(self, now: datetime) -> Mapping[str, object]:  # noqa: ARG002
        """Return no counts."""
        return {"counts": {}}

    def brief_lines(self, now: datetime) -> Iterable[BriefLine]:  # noqa: ARG002
        """Yield nothing."""
        return ()

    def contributions(self, message: str, now: datetime) -> Iterable[Contribution]:  # noqa: ARG002
        """Yield nothing."""
        return ()

    def wants(self) -> Iterable[Ask]:
        """Yield nothing."""
        return ()

    def entrust(self, trust: Trust | None, environ: Mapping[str, str]) -> None:
        """Do nothing: it runs nothing."""

    def doctor_lines(self) -> Iterable[Advice]:
        """Yield nothing."""
        return ()


__all__ = ["Advice", "BriefLine", "Contribution", "PlainSystem", "System", "system_of", "systems_of"]

_MAY_RAISE = frozenset({"look", "check", "maintain", "records", "also_told", "items", "records_by_file", "status"})
"""The methods that may raise a MemdeckError in normal use: a file cannot be read, or a setting is wrong."""


class Approval(NamedTuple):
    """One thing that a system may do only after a person approved it, and what was decided about it."""

    system: str
    ask: Ask
    decision: ConsentDecision


class Guarded:
    """A system of a workspace, loaded at the first call, that turns every failure of it into a MemdeckError.

    A method that yields lines ends at a failure and reports it: `check` returns it as a problem, `maintain` as a
    warning, `records` in `refused`, `brief_lines` and `doctor_lines` as a line. `look`, `status`, and `records` without
    `refused` raise it. `maintain` raises a MemdeckError of the system itself.
    """

    def __init__(self, workspace: Workspace, name: str) -> None:
        """Keep the workspace and the name; nothing is imported yet."""
        self._workspace = workspace
        self.name = name
        self._system: System | None = None

    @property
    def system(self) -> System:
        """The system itself; MemdeckError `system.failed` where it does not load or lacks a method of the protocol."""
        if self._system is None:
            found = self._workspace.system(self.name)
            if not isinstance(found, System):
                wanted = [one for one in dir(System) if not one.startswith("_") and not hasattr(found, one)]
                raise system_failed(self.name, "load", TypeError(f"it has no {', '.join(wanted)}"))
            self._system = found
        return self._system

    def present(self) -> bool:
        """Return whether the workspace has this system; one that fails counts as present, so that it is reported."""
        try:
            return self._ask("present", lambda system: system.present())
        except MemdeckError:
            return True

    def files(self) -> Iterable[str]:
        """Yield the files that the history checks."""
        return self._listed("files", lambda system: system.files())

    def folders(self) -> Iterable[str]:
        """Yield the folders to watch."""
        return self._listed("folders", lambda system: system.folders())

    def owns(self, name: str) -> bool:
        """Return whether `check` covers a file. Where the system fails, its mark is still covered."""
        mark = system_name(self.name).mark
        try:
            return self._ask("owns", lambda system: system.owns(name))
        except MemdeckError:
            return name == mark or name.startswith(f"{mark}/")

    def adopt(self, folder: str) -> None:
        """Add a folder that is not listed."""
        with suppress(MemdeckError):
            self._ask("adopt", lambda system: system.adopt(folder))

    def close(self) -> None:
        """Close what it opened, if it was loaded."""
        with suppress(MemdeckError):
            self._ask("close", lambda system: system.close())

    def look(self) -> object:
        """Return a snapshot of the system."""
        return self._ask("look", lambda system: system.look())

    def check(self, names: Sequence[str] | None = None) -> tuple[Problem, ...]:
        """Return the problems in its files; an error that it raises is the only problem."""
        try:
            return self._ask("check", lambda system: tuple(system.check(names)))
        except MemdeckError as error:
            return (self.problem(error),)

    def problem(self, error: MemdeckError) -> Problem:
        """Return an error as a problem of the file that it names, else of the system's mark."""
        from memory.base.problems import Problem

        file, line = error.details.get("file"), error.details.get("line")
        return Problem(
            "error",
            file if isinstance(file, str) else system_name(self.name).mark,
            line if isinstance(line, int) else 0,
            error.code,
            error.message,
        )

    def maintain(self, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False) -> Report:
        """Run its maintenance; a failure is a warning of the report."""
        try:
            return self._ask("maintain", lambda one: one.maintain(now, actor=actor, dry_run=dry_run, force=force))
        except MemdeckError as error:
            if error.code != FAILED:
                raise
            from memory.maintenance.report import Report

            return Report(dry_run, now, (), (error.message,))

    def records(
        self, kinds: Collection[str] | None = None, refused: MutableMapping[str, MemdeckError] | None = None
    ) -> Iterator[Record]:
        """Yield its searchable records; those yielded before a failure stay."""
        return self._each(
            "records", lambda system: system.records(kinds, refused), lambda error: self._refuse(error, refused)
        )

    def also_told(self) -> Iterator[Record]:
        """Yield what agents are told of it that is none of its records; those yielded before a failure stay."""
        return self._each("also_told", lambda system: system.also_told(), lambda _: ())

    def items(self) -> Iterator[Item | Skipped]:
        """Yield its entries for another memory; a failure ends the iteration."""
        return self._each("items", lambda system: system.items())

    def take(self, items: Sequence[Item], *, place: str = "", actor: str, now: datetime) -> Taken:
        """Convert entries of another memory."""
        return self._ask("take", lambda system: system.take(items, place=place, actor=actor, now=now))

    def records_by_file(self, refused: MutableMapping[str, MemdeckError]) -> Iterator[FileRecords]:
        """Yield its records file by file; those yielded before a failure stay."""
        return self._each(
            "records_by_file",
            lambda system: system.records_by_file(refused),
            lambda error: self._refuse(error, refused),
        )

    def status(self, now: datetime) -> Mapping[str, object]:
        """Return its state as JSON-able data."""
        return self._ask("status", lambda system: system.status(now))

    def brief_lines(self, now: datetime) -> Iterable[BriefLine]:
        """Yield its lines of Brief; a failure is a line."""
        return self._each(
            "brief_lines",
            lambda system: system.brief_lines(now),
            lambda error: [BriefLine(self.name, "", self.name, error.message, "in trouble")],
        )

    def contributions(self, message: str, now: datetime) -> Iterable[Contribution]:
        """Yield what it offers for a prompt."""
        return self._listed("contributions", lambda system: system.contributions(message, now))

    def wants(self) -> Iterable[Ask]:
        """Yield what it may do only after a person approved it."""
        return self._listed("wants", lambda system: system.wants())

    def entrust(self, trust: Trust | None, environ: Mapping[str, str]) -> None:
        """Set the person's decisions."""
        with suppress(MemdeckError):
            self._ask("entrust", lambda system: system.entrust(trust, environ))

    def doctor_lines(self) -> Iterable[Advice]:
        """Yield its lines of `doctor`."""
        return self._each(
            "doctor_lines",
            lambda system: system.doctor_lines(),
            lambda error: [Advice(error.message, error.hint)],
        )

    def failures(self, now: datetime) -> Iterator[MemdeckError]:
        """Call each read-only method once, and yield the failures; none for a system in order."""
        hooks: dict[str, Callable[[System], object]] = {
            "present": lambda system: system.present(),
            "files": lambda system: tuple(system.files()),
            "folders": lambda system: tuple(system.folders()),
            "owns": lambda system: system.owns(system_name(self.name).mark),
            "look": lambda system: system.look(),
            "check": lambda system: system.check(),
            "maintain": lambda system: system.maintain(now, actor="doctor", dry_run=True),
            "records": lambda system: sum(1 for _ in system.records(None, {})),
            "also_told": lambda system: sum(1 for _ in system.also_told()),
            "items": lambda system: sum(1 for _ in system.items()),
            "records_by_file": lambda system: sum(1 for _ in system.records_by_file({})),
            "status": lambda system: system.status(now),
            "brief_lines": lambda system: tuple(system.brief_lines(now)),
            "contributions": lambda system: tuple(system.contributions("", now)),
            "wants": lambda system: tuple(system.wants()),
            "doctor_lines": lambda system: tuple(system.doctor_lines()),
        }
        try:
            _ = self.system
        except MemdeckError as error:
            yield error
            return
        for hook, ask in hooks.items():
            try:
                self._ask(hook, ask)
            except MemdeckError as error:
                if error.code == FAILED or hook not in _MAY_RAISE:
                    yield error

    def _ask(self, hook: str, ask: Callable[[System], T]) -> T:
        try:
            return ask(self.system)
        except MemdeckError:
            raise
        except Exception as error:
            raise system_failed(self.name, hook, error) from error

    def _each(
        self,
        hook: str,
        ask: Callable[[System], Iterable[T]],
        failed: Callable[[MemdeckError], Iterable[T]] | None = None,
    ) -> Iterator[T]:
        """Yield what a method yields, and what `failed` makes of its failure; without `failed` it is raised."""
        try:
            items = iter(self._ask(hook, ask))
            end = object()
            while (item := self._ask(hook, lambda _: next(items, end))) is not end:
                yield item  # type: ignore[misc]
        except MemdeckError as error:
            if failed is None:
                raise
            yield from failed(error)

    def _listed(self, hook: str, ask: Callable[[System], Iterable[T]]) -> tuple[T, ...]:
        try:
            return self._ask(hook, lambda system: tuple(ask(system)))
        except MemdeckError:
            return ()

    def _refuse(self, error: MemdeckError, refused: MutableMapping[str, MemdeckError] | None) -> tuple[()]:
        """Add a failure to `refused`; without that, raise it."""
        if refused is None:
            raise error
        refused[system_name(self.name).mark] = error
        return ()


def systems_of(workspace: Workspace) -> tuple[System, ...]:
    """Return the systems that are present in a workspace; a failure of one does not affect others, see `Guarded`."""
    return tuple(Guarded(workspace, name) for name in workspace.present())


def system_of(workspace: Workspace, name: str, kind: type[S]) -> S:
    """Return the system object itself, present or not, for its own verbs and its own pane; see `System`."""
    found = workspace.system(name)
    if not isinstance(found, kind):
        raise TypeError(f"{name} is no {kind.__name__}")
    return found


def load_problems() -> tuple[Problem, ...]:
    """Return a problem for each system of another package that cannot be used, whether or not the workspace has it."""
    from memory.base.problems import Problem

    return tuple(Problem("warning", f"{one.package}:{one.name}", 0, "system.unusable", one.why) for one in broken())


def failures_of(workspace: Workspace, now: datetime) -> Iterator[tuple[str, MemdeckError]]:
    """Yield the name and the error for each method that fails in a system of the workspace; nothing is changed."""
    for name in workspace.present():
        for error in Guarded(workspace, name).failures(now):
            yield name, error


def check_all(
    workspace: Workspace, names: Sequence[str] | None = None, *, now: datetime | None = None
) -> tuple[Problem, ...]:
    """Return the problems in the files of all systems, or in `names`; a name that no system owns goes to the first
    system.

    With `now` and no names, all other methods of the systems of other packages are called, too. Each failure is a
    problem, and so is a system that cannot be used. Entries that look suspicious are problems of their files.
    """
    from .suspects import suspicious_problems

    systems = systems_of(workspace)
    if names is None:
        from memory.history.lost_files import lost_files

        found = [one.problem() for one in lost_files(workspace)]
        found += [problem for system in systems for problem in system.check()]
        if now is not None:
            own = {system.name for system in REGISTRY}
            for name in workspace.present():
                if name not in own:
                    guarded = Guarded(workspace, name)
                    found += map(guarded.problem, guarded.failures(now))
            found += load_problems()
        return tuple(dict.fromkeys([*found, *suspicious_problems(workspace)]))
    found = []
    left = list(names)
    for system in reversed(systems):
        mine = [name for name in left if system.owns(name) or system is systems[0]]
        left = [name for name in left if name not in mine]
        found[:0] = system.check(mine) if mine else ()
    return (*found, *suspicious_problems(workspace, names))


def records_of_all(
    workspace: Workspace,
    kinds: Collection[str] | None = None,
    refused: MutableMapping[str, MemdeckError] | None = None,
) -> Iterator[Record]:
    """Yield the searchable records of all systems; files that cannot be read go to `refused`, or raise without it."""
    for system in systems_of(workspace):
        yield from system.records(kinds, refused)


def entrust(workspace: Workspace, trust: Trust | None, environ: Mapping[str, str]) -> None:
    """Pass the person's decisions, and the variables that commands may get, to all systems."""
    for system in systems_of(workspace):
        system.entrust(trust, environ)


def asks_of_all(workspace: Workspace) -> tuple[Ask, ...]:
    """Return what all systems may do only after a person approved it, in their order."""
    return tuple(ask for system in systems_of(workspace) for ask in system.wants())


def approvals_of(workspace: Workspace, trust: Trust | None, environ: Mapping[str, str]) -> list[Approval]:
    """Return everything that all systems ask for, with the decisions; empty if `trust` is None.

    Every count of it is a count of this one list, so that all agree.
    """
    if trust is None:
        return []
    entrust(workspace, trust, environ)
    asks = [(system.name, ask) for system in systems_of(workspace) for ask in system.wants()]
    decided = trust.decide_all(ask for _, ask in asks)
    return [Approval(system, ask, decision) for (system, ask), decision in zip(asks, decided, strict=True)]


def waiting_in(approvals: Iterable[Approval]) -> tuple[Approval, ...]:
    """Return the approvals that are not decided yet, or whose subject changed since it was approved."""
    return tuple(one for one in approvals if one.decision.waits)


def brief_lines_of(workspace: Workspace, now: datetime) -> tuple[BriefLine, ...]:
    """Return the lines of Brief of all systems."""
    return tuple(line for system in systems_of(workspace) for line in system.brief_lines(now))


def contributions_of(
    workspace: Workspace, message: str, now: datetime, without: Collection[str] = ()
) -> tuple[Contribution, ...]:
    """Return what all systems but those in `without` offer for a prompt, in order; a failing system offers nothing."""
    systems = [system for system in systems_of(workspace) if system.name not in without]
    return tuple(one for system in systems for one in system.contributions(message, now))


def searcher_of(workspace: Workspace) -> Searcher:
    """Return a searcher over all systems of a workspace, with its index in the private state folder."""
    from memory.search.searcher import Searcher

    from .at_rest import files_at_rest

    folder = None if workspace.state is None else workspace.state.folder
    return Searcher(folder, lambda: systems_of(workspace), lambda: files_at_rest(workspace, systems_of(workspace)))


def maintain_all(
    workspace: Workspace, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False
) -> Report:
    """Run the maintenance of all systems, one transaction each, and report it as one run.

    If a system cannot be maintained, its error is raised after the others are done.
    """
    from memory.maintenance.report import Report

    reports, first = [], None
    for system in systems_of(workspace):
        try:
            reports.append(system.maintain(now, actor=actor, dry_run=dry_run, force=force))
        except MemdeckError as error:
            first = first or error
    if first is not None:
        raise first
    return Report.joined(reports) if reports else Report(dry_run, now, ())
