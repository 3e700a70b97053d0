"""The memory systems of a workspace, and the protocol they share.

Maintenance, search, check, status and Brief go over `systems_of` and know no system by name. A new system is one
folder in `memory/`, one module here with an object of the protocol, and one line in `memory.registry`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from memory.base.problems import Problem
    from memory.errors import MemdeckError
    from memory.maintenance import Report
    from memory.search import Record
    from memory.search.searcher import Searcher
    from memory.trust.consent import Ask, Trust
    from memory.workspace import Workspace


class System(Protocol):
    """One memory system in one workspace; making the object reads nothing."""

    @property
    def name(self) -> str:
        """The name of its folder in `memory/`, for people and programs."""

    def present(self) -> bool:
        """Tell whether the workspace holds this system."""

    def files(self) -> Iterable[str]:
        """Yield the files that the history looks at for changes of other programs, as seen from the workspace."""

    def folders(self) -> Iterable[str]:
        """Yield the folders to watch while somebody looks, as seen from the workspace."""

    def owns(self, name: str) -> bool:
        """Tell whether a file, named as in problems, is one that `check` looks at."""

    def look(self) -> Any:
        """Return one look at it for panes: immutable, and the same as long as its files are."""

    def check(self, names: Sequence[str] | None = None) -> tuple[Problem, ...]:
        """Return what is wrong in its files, or in those named, by file and line."""

    def maintain(self, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False) -> Report:
        """Keep it small by its rules, in one transaction; `dry_run` only reports."""

    def records(
        self, kinds: Collection[str] | None = None, refused: MutableMapping[str, MemdeckError] | None = None
    ) -> Iterator[Record]:
        """Yield what can be found in it, archives included; of some kinds only, where `kinds` names them.

        A file that cannot be read is left out and noted in `refused`, by its name; without `refused` it raises.
        """

    def status(self, now: datetime) -> Mapping[str, Any]:
        """Return how things stand in it, as JSON-able data."""

    def wants(self) -> Iterable[Ask]:
        """Yield what it may do only after a person approved exactly that."""

    def care(self) -> Iterable[tuple[str, str]]:
        """Yield what `doctor` is to tell of it: what a person should look at, and what to do about it."""


def systems_of(workspace: Workspace) -> tuple[System, ...]:
    """Return the systems that are present in a workspace."""
    systems: tuple[System, ...] = workspace.systems()
    return systems


def check_all(workspace: Workspace, names: Sequence[str] | None = None) -> tuple[Problem, ...]:
    """Return what is wrong in the files of all systems, or in those named; a name of no system is the first one's."""
    systems = systems_of(workspace)
    if names is None:
        return tuple(problem for system in systems for problem in system.check())
    found: list[Problem] = []
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
    """Hand the person's decisions, and what commands may get variables from, to the systems that can run something."""
    for system in systems_of(workspace):
        if hasattr(system, "entrust"):
            system.entrust(trust, environ)


def asks_of_all(workspace: Workspace) -> tuple[Ask, ...]:
    """Return what all systems may do only after a person approved it, in their order."""
    return tuple(ask for system in systems_of(workspace) for ask in system.wants())


def searcher_of(workspace: Workspace) -> Searcher:
    """Return what searches all systems of a workspace, with its index in the private state folder."""
    from memory.search.searcher import Searcher

    folder = None if workspace.state is None else workspace.state.folder
    return Searcher(folder, lambda: systems_of(workspace))


def maintain_each(
    workspace: Workspace, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False
) -> tuple[Report, ...]:
    """Keep all systems small, one transaction each, and return a report of each; errors as `maintain_all`."""
    return tuple(system.maintain(now, actor=actor, dry_run=dry_run, force=force) for system in systems_of(workspace))


def maintain_all(
    workspace: Workspace, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False
) -> Report:
    """Keep all systems small, one transaction each, and report them as one run.

    A system that cannot be maintained ends the run with its error; those before it are done.
    """
    from memory.maintenance import Report

    done = maintain_each(workspace, now, actor=actor, dry_run=dry_run, force=force)
    return Report.joined(done) if done else Report(dry_run, now, ())
