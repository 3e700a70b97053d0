"""The workspaces of this machine, one at a time or several at once: status, check, maintenance."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from memory.errors import ConflictError, MemdeckError, UsageError
from memory.files.status import brief, next_overdue
from memory.fleet.model import FleetHit, Progress, WorkspaceOverview
from memory.monitoring.messages import Addresses, ping_at_end
from memory.monitoring.overview import resting_in
from memory.monitoring.run import keep_watch
from memory.monitoring.schedule import look_ahead, maintain_if_due
from memory.monitoring.schedule import overdue as late_upkeep
from memory.monitoring.watch import WatchServices
from memory.registry import holds_memory
from memory.search.query import Query, read_day, read_query
from memory.search.rank import day_number
from memory.storage.own_folders import STATE
from memory.systems import approvals_of, check_all, entrust, maintain_all, trust_of, waiting_in
from memory.systems.at_rest import file_stamp
from memory.trust.consent import FOLDER, NAME
from memory.trust.settings import FILE
from memory.workspace import Workspace

DECIDED_SECONDS = 300
"""How long decisions about commands are valid: the files that they name may change anywhere."""
STALE_SECONDS = 60
"""How often it is checked whether a monitor that should be measured has become stale."""
R = TypeVar("R")


class WorkspaceFailure(dict[str, str]):
    """Why an operation on a workspace failed: `code` and `message`."""


@dataclass(frozen=True, slots=True)
class LocalWorkspaces:
    """The operations on the workspaces of one machine, each opened in place.

    `host` names the machine. `environ` and `config_home` are needed to count what waits for an approval.
    """

    state_home: Path
    host: str
    home: Path | None
    config_home: Path
    environ: Mapping[str, str] = field(default_factory=dict)

    # -- one --------------------------------------------------------------------------------------------------

    def one(
        self, path: Path, work: Callable[[Workspace], R], passing: tuple[type[Exception], ...] = ()
    ) -> R | WorkspaceFailure:
        """Return the result of `work` on one workspace; any error is returned as a WorkspaceFailure, except those of
        `passing`: something else failed then, and not the workspace.
        """
        try:
            if not holds_memory(str(path)):
                raise UsageError("fleet.gone", "this folder no longer has a memory", "remove it from the list")
            workspace = Workspace.open(path, state_home=self.state_home, home=self.home)
            try:
                return work(workspace)
            finally:
                workspace.close()
        except passing:
            raise
        except MemdeckError as error:
            return WorkspaceFailure(code=error.code, message=error.message)
        except Exception as error:  # an error of one workspace does not stop the others
            return WorkspaceFailure(code="internal", message=f"{type(error).__name__}: {error}"[:300])

    def each(
        self, paths: Sequence[Path], work: Callable[[Workspace], R], progress: Progress | None
    ) -> Iterator[tuple[Path, R | WorkspaceFailure]]:
        """Yield the result of `work` on each workspace, in their order."""
        for number, path in enumerate(paths, 1):
            yield path, self.one(path, work)
            if progress is not None:
                progress(number, len(paths))

    # -- work in one workspace --------------------------------------------------------------------------------

    def beside(self, workspace: Workspace) -> tuple[str, ...]:
        """Return the files outside a workspace that its status depends on: decisions, and the last maintenance."""
        folder = workspace.state.folder.path
        return tuple(map(str, (self.config_home / FILE, folder / STATE, folder / FOLDER / NAME)))

    def overview(self, workspace: Workspace, now: datetime) -> tuple[WorkspaceOverview, datetime]:
        """Return the status of a workspace, and until when it holds if no file that it depends on changes."""
        overdue = failing = stale = tasks = 0
        first = latest = at = ""
        until = now + timedelta(days=7)
        decided = approvals_of(workspace, trust_of(workspace, self.config_home), self.environ)
        if "files" in workspace.system_names():
            snapshot = workspace.snapshot().readable()
            found = brief(snapshot, now).without(resting_in(snapshot, decided))
            overdue, failing = len(found.overdue), len(found.failing)
            stale, until = len(found.stale) + len(late_upkeep(workspace, now)), next_overdue(found)
            tasks = len(snapshot.tasks.open)
            urgent = (*found.overdue, *found.due_today, *found.in_progress, *found.due_week)
            first = urgent[0].title if urgent else ""
            if found.last_entries:
                entry = found.last_entries[0]
                latest, at = entry.title, f"{entry.date or ''} {entry.clock or ''}".strip()
            if any(one.interval for one in snapshot.monitors.items):
                until = min(until, now + timedelta(seconds=STALE_SECONDS))
        problems = sum(problem.level == "error" for problem in check_all(workspace))
        waiting = len(waiting_in(decided))
        if waiting < len(decided):
            until = min(until, now + timedelta(seconds=DECIDED_SECONDS))
        overview = WorkspaceOverview(
            workspace.root,
            self.host,
            workspace.system_names(),
            overdue,
            failing,
            stale,
            waiting,
            problems,
            tasks,
            first,
            latest,
            at,
            _last_maintenance(workspace),
        )
        return overview, until

    def check(self, workspace: Workspace, now: datetime) -> dict[str, Any]:
        """Return the problems of a workspace, under `problems`."""
        return {"problems": [problem._asdict() for problem in check_all(workspace, now=now)]}

    def keep(
        self, workspace: Workspace, now: datetime, upkeep: str, *, watch: bool
    ) -> tuple[datetime | None, list[str]]:
        """Run the due work of a workspace by its own schedules, as far as its approvals allow it: the monitors and the
        heartbeat if `watch`, and maintenance if `upkeep` is the cron line for workspaces that name none ("": none).

        Return when to look again (None: when a file changes), and lines about what happened.
        """
        trust = trust_of(workspace, self.config_home)
        ahead = look_ahead(workspace, trust, now, upkeep)
        lines = []
        if watch and ahead.watch:
            addresses = Addresses(self.config_home, self.environ, workspace=workspace.root)
            watched = keep_watch(workspace, trust, now, WatchServices(self.environ, addresses))
            lines += watched.lines() if watched.news else []
            lines += ping_at_end(addresses)
        if upkeep and ahead.upkeep:
            report = maintain_if_due(workspace, now, lambda: self.maintain(workspace, now, actor="maintain"), upkeep)
            moved = sum(rule["archived"] + rule["cleared"] for rule in (report or {}).get("rules", ()))
            lines += [f"maintenance moved {moved:,}"] if moved else []
        return ahead.again if ahead.scheduled else None, [f"{workspace.root}: {line}" for line in lines]

    def maintain(self, workspace: Workspace, now: datetime, *, actor: str, dry_run: bool = False) -> dict[str, Any]:
        """Run the maintenance of a workspace by its own rules, and return the report."""
        if not dry_run:
            entrust(workspace, trust_of(workspace, self.config_home), self.environ)
        report = maintain_all(workspace, now, actor=actor, dry_run=dry_run)
        if report.held:
            raise ConflictError("maintenance.clock", report.warnings[0])
        return report.json()


def best_hits(hits: list[FleetHit], limit: int) -> tuple[FleetHit, ...]:
    """Return the best hits of several workspaces: those that match all words come first, from any workspace.

    Ties are ordered by the later day, then by place.
    """
    hits.sort(
        key=lambda one: (
            not one.hit.fits_all,
            -one.hit.score,
            -day_number(one.hit.entry.date),
            one.host,
            str(one.workspace),
            one.hit.entry.file,
            one.hit.entry.line,
        )
    )
    return tuple(hits[:limit] if limit else hits)


def query_of(text: str, now: datetime, kinds: Sequence[str]) -> Query:
    """Parse a query, limited to some kinds; days are relative to `now`."""
    today = now.date()
    return read_query(text, lambda day: read_day(day, today)).within(tuple(kinds))


def _last_maintenance(workspace: Workspace) -> datetime | None:
    try:
        return workspace.state.last_maintenance()
    except MemdeckError:
        return None


def watched_of(workspace: Workspace) -> tuple[str, ...]:
    """Return the paths whose stamps show every change: the files of all systems, and the folders around them."""
    systems = [workspace.system(name) for name in workspace.system_names()]
    files = [os.path.join(workspace.root, name) for system in systems for name in system.files()]
    folders = [os.path.join(workspace.root, name) for system in systems for name in system.folders()]
    archive = os.path.join(workspace.memory, "archive")
    return tuple(dict.fromkeys([str(workspace.root), archive, *folders, *map(os.path.dirname, files), *files]))


def stamp_of(paths: tuple[str, ...]) -> int:
    """Return one number that identifies a state of these paths, the same in every process of this Python.

    Another Python may compute another number, and then files are read once more.
    """
    return hash(tuple([file_stamp(path) or () for path in paths]))
