"""Operations over all memory systems of a workspace, and getting one by its type; see `memory.system.System`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from memory.base.problems import Problem
from memory.errors import MemdeckError
from memory.registry import broken
from memory.search.records import Record
from memory.search.searcher import Searcher
from memory.system import BriefLine, Contribution, System, problem_of
from memory.workspace import Workspace

from .at_rest import files_at_rest

if TYPE_CHECKING:
    from memory.maintenance.report import Report
    from memory.trust.asks import Ask
    from memory.trust.consent import ConsentDecision, Trust

S = TypeVar("S", bound=System)


class Approval(NamedTuple):
    """One thing that a system may do only after a person approved it, and what was decided about it."""

    system: str
    ask: Ask
    decision: ConsentDecision


def system_of(workspace: Workspace, name: str, kind: type[S]) -> S:
    """Return the system object itself, present or not, for its own verbs and its own pane; see `System`."""
    found = workspace.system(name)
    if not isinstance(found, kind):
        raise TypeError(f"{name} is no {kind.__name__}")
    return found


def load_problems() -> tuple[Problem, ...]:
    """Return a problem for each system of another package that cannot be used, whether or not the workspace has it."""
    return tuple(Problem("warning", f"{one.package}:{one.name}", 0, "system.unusable", one.why) for one in broken())


def check_all(
    workspace: Workspace, names: Sequence[str] | None = None, *, now: datetime | None = None
) -> tuple[Problem, ...]:
    """Return the problems in the files of all systems, or in `names`; a name that no system owns goes to the first
    system.

    Without names each failure of a system's code is a problem, too, and so is a system that cannot be used, with `now`.
    Entries that look suspicious are problems of their files.
    """
    from memory.history.outside import lost_files
    from memory.monitoring.schedule import overdue_problems
    from memory.proof.findings import problems_of as doubts

    from .suspects import suspicious_problems

    systems = workspace.systems()
    if names is None:
        found = [one.problem() for one in lost_files(workspace)]
        found += [problem for system in systems for problem in system.check()]
        if now is not None:
            found += load_problems()
            found += overdue_problems(workspace, now)
        found += [*doubts(workspace), *suspicious_problems(workspace)]
        failed = [problem_of(str(error.details["system"]), error) for error in workspace.failures()]
        return tuple(dict.fromkeys([*found, *failed]))
    found = []
    left = list(names)
    for system in reversed(systems):
        mine = [name for name in left if system.owns(name) or system is systems[0]]
        left = [name for name in left if name not in mine]
        found[:0] = system.check(mine) if mine else ()
    return (*found, *doubts(workspace, names), *suspicious_problems(workspace, names))


def records_of_all(
    workspace: Workspace,
    kinds: Collection[str] | None = None,
    refused: MutableMapping[str, MemdeckError] | None = None,
) -> Iterator[Record]:
    """Yield the searchable records of all systems; files that cannot be read go to `refused`, or raise without it."""
    for system in workspace.systems():
        yield from system.records(kinds, refused)


def trust_of(workspace: Workspace, config_home: Path) -> Trust:
    """Return the decisions about an open workspace, noted in its history.

    `config_home` is `$XDG_CONFIG_HOME`: only the person's own settings there can widen trust.
    """
    from memory.trust.consent import Trust
    from memory.trust.settings import read_settings

    return Trust(
        workspace.state.folder.home,
        workspace.root,
        read_settings(config_home, workspace.root),
        person=workspace.home,
        note=lambda summary, who, now: workspace.store.history.note("trust", summary, actor=who, now=now),
    )


def entrust(workspace: Workspace, trust: Trust, environ: Mapping[str, str]) -> None:
    """Pass the person's decisions, and the variables that commands may get, to all systems."""
    for system in workspace.systems():
        system.entrust(trust, environ)


def asks_of_all(workspace: Workspace) -> tuple[Ask, ...]:
    """Return what all systems may do only after a person approved it, in their order."""
    return tuple(ask for system in workspace.systems() for ask in system.wants())


def approvals_of(workspace: Workspace, trust: Trust, environ: Mapping[str, str]) -> list[Approval]:
    """Return everything that all systems ask for, with the decisions.

    Every count of it is a count of this one list, so that all agree.
    """
    entrust(workspace, trust, environ)
    asks = [(system.name, ask) for system in workspace.systems() for ask in system.wants()]
    decided = [trust.decide(ask) for _, ask in asks]
    return [Approval(system, ask, decision) for (system, ask), decision in zip(asks, decided, strict=True)]


def waiting_in(approvals: Iterable[Approval]) -> tuple[Approval, ...]:
    """Return the approvals that are not decided yet, or whose subject changed since it was approved."""
    return tuple(one for one in approvals if one.decision.waits)


def brief_lines_of(workspace: Workspace, now: datetime) -> tuple[BriefLine, ...]:
    """Return the lines of Brief of all systems."""
    return tuple(line for system in workspace.systems() for line in system.brief_lines(now))


def contributions_of(systems: Iterable[System], message: str, now: datetime) -> tuple[Contribution, ...]:
    """Return what systems offer for a prompt, in order; a failing system offers nothing."""
    return tuple(one for system in systems for one in system.contributions(message, now))


def searcher_of(workspace: Workspace) -> Searcher:
    """Return a searcher over all systems of a workspace, with its index in the private state folder."""
    return Searcher(workspace.state.folder, workspace.systems, lambda systems: files_at_rest(workspace, systems))


def maintain_all(
    workspace: Workspace, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False
) -> Report:
    """Run the maintenance of all systems, one transaction each, and report it as one run.

    If a system cannot be maintained, its error is raised after the others are done.
    """
    from memory.maintenance.report import Report

    reports, first = [], None
    for system in workspace.systems():
        try:
            reports.append(system.maintain(now, actor=actor, dry_run=dry_run, force=force))
        except MemdeckError as error:
            first = first or error
    if first is not None:
        raise first
    return Report.joined(reports) if reports else Report(dry_run, now, ())
