"""The memory systems of a workspace, and the protocol they share.

Maintenance, search, check, status and Brief go over `systems_of` and know no system by name. A new system is one
folder here that offers one object of the protocol, listed in `SYSTEMS`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from memory.errors import MemdeckError
    from memory.maintenance import Report
    from memory.problems import Problem
    from memory.recall import Record
    from memory.recall.searcher import Searcher
    from memory.recall.shelves import Shelf
    from memory.workspace import Workspace


class System(Protocol):
    """One memory system in one workspace; making the object reads nothing."""

    @property
    def name(self) -> str:
        """The name of its folder in `memory/`, for people and programs."""

    def present(self) -> bool:
        """Tell whether the workspace holds this system."""

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


class WorkspaceMemory:
    """The memory files of `.aiter/memory` as a system."""

    name = "files"

    def __init__(self, workspace: Workspace) -> None:
        """Keep the workspace."""
        self._workspace = workspace

    def present(self) -> bool:
        """Tell whether there is a folder `.aiter/memory`."""
        return self._workspace.memory.is_dir()

    def check(self, names: Sequence[str] | None = None) -> tuple[Problem, ...]:
        """Return what is wrong in the memory files."""
        from memory.files.check import check_files
        from memory.files.monitors import FILE

        snapshot = self._workspace.snapshot()
        found = check_files(snapshot, names)
        if names is not None and FILE not in names:
            return found
        from memory.monitoring.problems import monitor_problems

        more = monitor_problems(snapshot)
        return tuple(sorted({*found, *more}, key=lambda one: (one.file, one.line, one.code, one.message)))

    def maintain(self, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False) -> Report:
        """Apply the four rules; see `memory.maintenance.maintain`."""
        from memory.maintenance import maintain

        return maintain(self._workspace, now, actor=actor, dry_run=dry_run, force=force)

    def records(
        self, kinds: Collection[str] | None = None, refused: MutableMapping[str, MemdeckError] | None = None
    ) -> Iterator[Record]:
        """Yield tasks, journal entries, knowledge, contacts, plans, monitors and settings."""
        from memory.recall import KINDS, records

        snapshot = self._workspace.snapshot()
        if refused is not None:
            snapshot = snapshot.readable()
        yield from records(snapshot, KINDS if kinds is None else kinds)
        if refused is not None:
            refused.update(snapshot.refusals)

    def shelves(self) -> Iterator[Shelf]:
        """Yield what search indexes file by file; a system without this is asked for its records."""
        from memory.recall.file_shelves import shelves_of_files

        return shelves_of_files(self._workspace)

    def status(self, now: datetime) -> Mapping[str, Any]:
        """Return counts by file, and how many tasks are due, overdue and in progress, and monitors alert."""
        from memory.files.status import brief

        found = brief(self._workspace.snapshot().readable(), now)
        return {
            "counts": dict(found.counts),
            "overdue": len(found.overdue),
            "due_today": len(found.due_today),
            "in_progress": len(found.in_progress),
            "alerts": len(found.alerts),
        }


SYSTEMS: tuple[Callable[[Workspace], System], ...] = (WorkspaceMemory,)
"""What makes the object of each system for a workspace, in the order in which they are shown."""


def systems_of(workspace: Workspace) -> tuple[System, ...]:
    """Return the systems that are present in a workspace."""
    return tuple(system for make in SYSTEMS if (system := make(workspace)).present())


def check_all(workspace: Workspace, names: Sequence[str] | None = None) -> tuple[Problem, ...]:
    """Return what is wrong in the files of all systems, or in those named."""
    return tuple(problem for system in systems_of(workspace) for problem in system.check(names))


def records_of_all(
    workspace: Workspace,
    kinds: Collection[str] | None = None,
    refused: MutableMapping[str, MemdeckError] | None = None,
) -> Iterator[Record]:
    """Yield what can be found in all systems; files that cannot be read go to `refused`, or raise without it."""
    for system in systems_of(workspace):
        yield from system.records(kinds, refused)


def searcher_of(workspace: Workspace) -> Searcher:
    """Return what searches all systems of a workspace, with its index in the private state folder."""
    from memory.recall.searcher import Searcher

    folder = None if workspace.state is None else workspace.state.folder
    return Searcher(folder, lambda: systems_of(workspace))


def maintain_all(
    workspace: Workspace, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False
) -> Report:
    """Keep all systems small, one transaction each, and report them as one run.

    A system that cannot be maintained ends the run with its error; those before it are done.
    """
    from memory.maintenance import Report

    return Report.joined(
        [system.maintain(now, actor=actor, dry_run=dry_run, force=force) for system in systems_of(workspace)]
    )
