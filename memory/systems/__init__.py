"""The memory systems of a workspace: what goes over all of them, and how one is found by its type.

Maintenance, search, check, status, Brief and doctor go over `systems_of` and know no system by name. A new system is
one folder in `memory/`, one module here with an object of the protocol, and one line in `memory.registry`; or a package
of its own (docs/extending.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from memory.base.problems import Problem
from memory.errors import MemdeckError
from memory.registry import REGISTRY, broken

from .guard import Guarded
from .protocol import Advice, BriefLine, Contribution, PlainSystem, System

if TYPE_CHECKING:
    from memory.maintenance import Report
    from memory.search import Record
    from memory.search.searcher import Searcher
    from memory.trust.consent import Ask, Trust
    from memory.workspace import Workspace

__all__ = ["Advice", "BriefLine", "Contribution", "PlainSystem", "System", "system_of", "systems_of"]

S = TypeVar("S", bound=System)


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
    return Searcher(folder, lambda: systems_of(workspace))


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
