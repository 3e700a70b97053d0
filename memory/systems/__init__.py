"""The memory systems of a workspace: what goes over all of them, and how one is found by its type.

The failure of one system ends nothing but its own answer: each is asked through `Guarded`.
Maintenance, search, check, status, Brief and doctor go over `systems_of` and know no system by name. A new system is
one folder in `memory/`, one module here with an object of the protocol, and one line in `memory.registry`; or a package
of its own (docs/extending.md).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from memory.attached import FAILED, system_failed
from memory.base.problems import Problem
from memory.errors import MemdeckError
from memory.registry import REGISTRY, broken, system_name

from .at_rest import files_at_rest
from .protocol import Advice, BriefLine, Contribution, PlainSystem, System

if TYPE_CHECKING:
    from memory.base.items import Item, Skipped, Taken
    from memory.maintenance.report import Report
    from memory.search.index.inventory import Shelf
    from memory.search.records import Record
    from memory.search.searcher import Searcher
    from memory.trust.consent import Ask, Trust
    from memory.workspace import Workspace

__all__ = ["Advice", "BriefLine", "Contribution", "PlainSystem", "System", "system_of", "systems_of"]

S = TypeVar("S", bound=System)
T = TypeVar("T")
_MAY_RAISE = frozenset({"look", "check", "maintain", "records", "items", "shelves", "status"})
"""The questions that a MemdeckError answers as well: a file cannot be read, or a setting is wrong."""


class Guarded:
    """A system of a workspace that is loaded at the first question, and of which each failure is a MemdeckError.

    A question that yields lines ends at a failure, and the failure is reported: `check` returns it as a problem,
    `maintain` as a warning, `records` in `refused`, `brief_lines` and `doctor_lines` as a line. `look`, `status`, and
    `records` without `refused` raise it, and `maintain` raises a MemdeckError of the system itself.
    """

    def __init__(self, workspace: Workspace, name: str) -> None:
        """Keep which system it is; nothing is imported yet."""
        self._workspace = workspace
        self._name = name
        self._system: System | None = None

    @property
    def name(self) -> str:
        """The name under which it is registered."""
        return self._name

    @property
    def system(self) -> System:
        """The system itself; MemdeckError `system.failed` where it does not load or lacks a method of the protocol."""
        if self._system is not None:
            return self._system
        found = self._workspace.system(self._name)
        if not isinstance(found, System):
            wanted = [one for one in dir(System) if not one.startswith("_") and not hasattr(found, one)]
            raise system_failed(self._name, "load", TypeError(f"it has no {', '.join(wanted)}"))
        self._system = found
        return found

    def present(self) -> bool:
        """Tell whether the workspace holds it; one that fails counts as present, to be reported."""
        try:
            return self._ask("present", lambda system: system.present())
        except MemdeckError:
            return True

    def files(self) -> Iterable[str]:
        """Yield the files that the history looks at."""
        return self._listed("files", lambda system: system.files())

    def folders(self) -> Iterable[str]:
        """Yield the folders to watch."""
        return self._listed("folders", lambda system: system.folders())

    def owns(self, name: str) -> bool:
        """Tell whether a file is one that `check` looks at; its mark is, even where it fails."""
        mark = system_name(self._name).mark
        try:
            return self._ask("owns", lambda system: system.owns(name))
        except MemdeckError:
            return name == mark or name.startswith(f"{mark}/")

    def adopt(self, folder: str) -> None:
        """Take in a folder that nobody listed."""
        with suppress(MemdeckError):
            self._ask("adopt", lambda system: system.adopt(folder))

    def close(self) -> None:
        """Close what it opened, where it was loaded."""
        with suppress(MemdeckError):
            self._ask("close", lambda system: system.close())

    def look(self) -> object:
        """Return one look at it."""
        return self._ask("look", lambda system: system.look())

    def check(self, names: Sequence[str] | None = None) -> tuple[Problem, ...]:
        """Return what is wrong in its files; what it raises is the only problem."""
        try:
            return self._ask("check", lambda system: tuple(system.check(names)))
        except MemdeckError as error:
            return (self.problem(error),)

    def problem(self, error: MemdeckError) -> Problem:
        """Return an error as a problem of the file that it names, else of the system's mark."""
        file, line = error.details.get("file"), error.details.get("line")
        return Problem(
            "error",
            file if isinstance(file, str) else system_name(self._name).mark,
            line if isinstance(line, int) else 0,
            error.code,
            error.message,
        )

    def maintain(self, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False) -> Report:
        """Keep it small; a failure is a warning of the report."""
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
        """Yield what can be found in it; what came before a failure stays."""
        try:
            yield from self._each("records", lambda system: system.records(kinds, refused))
        except MemdeckError as error:
            self._refuse(error, refused)

    def items(self) -> Iterator[Item | Skipped]:
        """Yield its entries for another memory; a failure ends them."""
        return self._each("items", lambda system: system.items())

    def take(self, items: Sequence[Item], *, place: str = "", actor: str, now: datetime) -> Taken:
        """Return what becomes of entries of another memory."""
        return self._ask("take", lambda system: system.take(items, place=place, actor=actor, now=now))

    def shelves(self, refused: MutableMapping[str, MemdeckError]) -> Iterator[Shelf]:
        """Yield its records file by file; what came before a failure stays."""
        try:
            yield from self._each("shelves", lambda system: system.shelves(refused))
        except MemdeckError as error:
            self._refuse(error, refused)

    def status(self, now: datetime) -> Mapping[str, object]:
        """Return its state as JSON-able data."""
        return self._ask("status", lambda system: system.status(now))

    def brief_lines(self, now: datetime) -> Iterable[BriefLine]:
        """Yield its lines of Brief; a failure is a line."""
        try:
            yield from self._each("brief_lines", lambda system: system.brief_lines(now))
        except MemdeckError as error:
            yield BriefLine(self._name, "", self._name, error.message, "in trouble")

    def contributions(self, message: str, now: datetime) -> Iterable[Contribution]:
        """Yield what it offers for a prompt."""
        return self._listed("contributions", lambda system: system.contributions(message, now))

    def wants(self) -> Iterable[Ask]:
        """Yield what it may do only after a person approved it."""
        return self._listed("wants", lambda system: system.wants())

    def entrust(self, trust: Trust | None, environ: Mapping[str, str]) -> None:
        """Take the person's decisions."""
        with suppress(MemdeckError):
            self._ask("entrust", lambda system: system.entrust(trust, environ))

    def doctor_lines(self) -> Iterable[Advice]:
        """Yield what `doctor` says about it."""
        try:
            yield from self._each("doctor_lines", lambda system: system.doctor_lines())
        except MemdeckError as error:
            yield Advice(error.message, error.hint)

    def failures(self, now: datetime) -> Iterator[MemdeckError]:
        """Yield the failure of each question that only reads, each tried once; none for a system in order."""
        hooks: dict[str, Callable[[System], object]] = {
            "present": lambda system: system.present(),
            "files": lambda system: tuple(system.files()),
            "folders": lambda system: tuple(system.folders()),
            "owns": lambda system: system.owns(system_name(self._name).mark),
            "look": lambda system: system.look(),
            "check": lambda system: system.check(),
            "maintain": lambda system: system.maintain(now, actor="doctor", dry_run=True),
            "records": lambda system: sum(1 for _ in system.records(None, {})),
            "items": lambda system: sum(1 for _ in system.items()),
            "shelves": lambda system: sum(1 for _ in system.shelves({})),
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
        except (MemdeckError, MemoryError):
            raise
        except Exception as error:
            raise system_failed(self._name, hook, error) from error

    def _each(self, hook: str, ask: Callable[[System], Iterable[T]]) -> Iterator[T]:
        items = iter(self._ask(hook, ask))
        end = object()
        while (item := self._ask(hook, lambda _: next(items, end))) is not end:
            yield item  # type: ignore[misc]

    def _listed(self, hook: str, ask: Callable[[System], Iterable[T]]) -> tuple[T, ...]:
        try:
            return self._ask(hook, lambda system: tuple(ask(system)))
        except MemdeckError:
            return ()

    def _refuse(self, error: MemdeckError, refused: MutableMapping[str, MemdeckError] | None) -> None:
        if refused is None:
            raise error
        refused[system_name(self._name).mark] = error


def systems_of(workspace: Workspace) -> tuple[System, ...]:
    """Return the systems that are present in a workspace; what fails in one of them stays its own, see `Guarded`."""
    return tuple(Guarded(workspace, name) for name in workspace.present())


def system_of(workspace: Workspace, name: str, kind: type[S]) -> S:
    """Return a system itself, present or not, for its own verbs and its own pane; see `System`."""
    found = workspace.system(name)
    if not isinstance(found, kind):
        raise TypeError(f"{name} is no {kind.__name__}")
    return found


def load_problems() -> tuple[Problem, ...]:
    """Return the systems of other packages that cannot be used, as problems; nothing of them is known to be here."""
    return tuple(Problem("warning", f"{one.package}:{one.name}", 0, "system.unusable", one.why) for one in broken())


def failures_of(workspace: Workspace, now: datetime) -> Iterator[tuple[str, MemdeckError]]:
    """Yield the name and the failure for each question that a system of the workspace fails at; nothing is changed."""
    for name in workspace.present():
        for error in Guarded(workspace, name).failures(now):
            yield name, error


def check_all(
    workspace: Workspace, names: Sequence[str] | None = None, *, now: datetime | None = None
) -> tuple[Problem, ...]:
    """Return what is wrong in the files of all systems, or in those named; a name of no system is the first one's.

    With `now`, and no names, the systems of other packages are asked everything else, too: what fails is a problem, and
    so is a system that cannot be used.
    """
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
        return tuple(dict.fromkeys(found))
    found = []
    left = list(names)
    for system in reversed(systems):
        mine = [name for name in left if system.owns(name) or system is systems[0]]
        left = [name for name in left if name not in mine]
        found[:0] = system.check(mine) if mine else ()
    return tuple(found)


def records_of_all(
    workspace: Workspace,
    kinds: Collection[str] | None = None,
    refused: MutableMapping[str, MemdeckError] | None = None,
) -> Iterator[Record]:
    """Yield what can be found in all systems; files that cannot be read go to `refused`, or raise without it."""
    for system in systems_of(workspace):
        yield from system.records(kinds, refused)


def entrust(workspace: Workspace, trust: Trust | None, environ: Mapping[str, str]) -> None:
    """Hand the person's decisions, and what commands may get variables from, to all systems."""
    for system in systems_of(workspace):
        system.entrust(trust, environ)


def asks_of_all(workspace: Workspace) -> tuple[Ask, ...]:
    """Return what all systems may do only after a person approved it, in their order."""
    return tuple(ask for system in systems_of(workspace) for ask in system.wants())


def brief_lines_of(workspace: Workspace, now: datetime) -> tuple[BriefLine, ...]:
    """Return the lines of Brief of all systems; none of one that is in trouble."""
    found: list[BriefLine] = []
    for system in systems_of(workspace):
        with suppress(MemdeckError):
            found += system.brief_lines(now)
    return tuple(found)


def contributions_of(
    workspace: Workspace, message: str, now: datetime, without: Collection[str] = ()
) -> tuple[Contribution, ...]:
    """Return what all systems but some offer for a prompt, in their order; nothing of one that is in trouble."""
    found: list[Contribution] = []
    for system in systems_of(workspace):
        if system.name in without:
            continue
        with suppress(MemdeckError):
            found += system.contributions(message, now)
    return tuple(found)


def searcher_of(workspace: Workspace) -> Searcher:
    """Return what searches all systems of a workspace, with its index in the private state folder."""
    from memory.search.searcher import Searcher

    folder = None if workspace.state is None else workspace.state.folder
    return Searcher(folder, lambda: systems_of(workspace), lambda: files_at_rest(workspace, systems_of(workspace)))


def maintain_each(
    workspace: Workspace, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False
) -> tuple[Report, ...]:
    """Keep all systems small, one transaction each, and return a report of each; errors as `maintain_all`."""
    reports, first = [], None
    for system in systems_of(workspace):
        try:
            reports.append(system.maintain(now, actor=actor, dry_run=dry_run, force=force))
        except MemdeckError as error:
            first = first or error
    if first is not None:
        raise first
    return tuple(reports)


def maintain_all(
    workspace: Workspace, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False
) -> Report:
    """Keep all systems small, one transaction each, and report them as one run.

    The error of a system that cannot be maintained is raised after the others are done.
    """
    from memory.maintenance import Report

    done = maintain_each(workspace, now, actor=actor, dry_run=dry_run, force=force)
    return Report.joined(done) if done else Report(dry_run, now, ())
