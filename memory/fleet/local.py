"""The workspaces of this machine, one at a time or some at once: looked at, checked, maintained, searched."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from memory.errors import BusyError, MemdeckError, UsageError
from memory.registry import holds_memory

from .model import FleetHit, Progress, WorkspaceOverview

if TYPE_CHECKING:
    from memory.search import Query
    from memory.systems.approvals import Approval
    from memory.workspace import Workspace

WORKERS = 4
"""How many workspaces are open at once."""
DECIDED_SECONDS = 300
"""How long it holds what is decided about commands: the files that they name may change anywhere."""
R = TypeVar("R")


class WorkspaceFailure(dict[str, str]):
    """Why a workspace could not be worked on: `code` and `message`; one that is `busy` may be free later."""

    busy = False


class Standing(NamedTuple):
    """How a workspace stands, and `until` when that holds where no file changes that it depends on."""

    overview: WorkspaceOverview
    until: datetime


class LocalWorkspaces:
    """What can be done with the workspaces of one machine, each opened where it is.

    `host` names the machine. `environ` and `config_home` are for what waits for an approval.
    """

    def __init__(
        self,
        state_home: Path,
        *,
        host: str,
        home: Path | None = None,
        config_home: Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """Nothing is read yet."""
        self.state_home = state_home
        self.home = home
        self.config_home = config_home
        self.environ = environ or {}
        self.host = host

    # -- one --------------------------------------------------------------------------------------------------

    def one(self, path: Path, work: Callable[[Workspace], R]) -> R | WorkspaceFailure:
        """Return what a piece of work comes to in one workspace; whatever is wrong with it is a Failure."""
        from memory.workspace import Workspace

        try:
            if not holds_memory(str(path)):
                raise UsageError("fleet.gone", "there is no memory in this folder any more", "take it off the list")
            workspace = Workspace.open(path, state_home=self.state_home, home=self.home)
            try:
                return work(workspace)
            finally:
                workspace.close()
        except MemdeckError as error:
            failure = WorkspaceFailure(code=error.code, message=error.message)
            failure.busy = isinstance(error, BusyError)
            return failure
        except Exception as error:  # whatever is wrong with one, the others go on
            return WorkspaceFailure(code="internal", message=f"{type(error).__name__}: {error}"[:300])

    def each(
        self, paths: Sequence[Path], work: Callable[[Workspace], R], progress: Progress | None
    ) -> Iterator[tuple[Path, R | WorkspaceFailure]]:
        """Yield what a piece of work came to in each workspace, in their order, `WORKERS` at a time."""
        with ThreadPoolExecutor(WORKERS, thread_name_prefix="fleet") as pool:
            for number, (path, done) in enumerate(
                zip(paths, pool.map(lambda path: self.one(path, work), paths), strict=True), 1
            ):
                yield path, done
                if progress is not None:
                    progress(number, len(paths))

    # -- what is done in one ----------------------------------------------------------------------------------

    def beside(self, workspace: Workspace) -> tuple[str, ...]:
        """Return the files outside of a workspace that tell how it stands: what was decided, and done last."""
        from memory.storage.state import STATE
        from memory.trust.consent import FOLDER, NAME
        from memory.trust.settings import FILE

        own = [] if self.config_home is None else [self.config_home / FILE]
        if workspace.state is not None:
            folder = workspace.state.folder.path
            own += [folder / STATE, folder / FOLDER / NAME]
        return tuple(map(str, own))

    def stand(self, workspace: Workspace, now: datetime, problems: int | None = None) -> Standing:
        """Return how a workspace stands; `problems` is what a check of the same files found, where that is known."""
        from memory.files.status import brief, next_overdue
        from memory.systems import check_all
        from memory.systems.approvals import waiting_in

        overdue = alerts = 0
        until = now + timedelta(days=7)
        if "files" in workspace.system_names():
            found = brief(workspace.snapshot().readable(), now)
            overdue, alerts, until = len(found.overdue), len(found.alerts), next_overdue(found)
        if problems is None:
            problems = sum(problem.level == "error" for problem in check_all(workspace))
        decided = self._decided(workspace)
        waiting = len(waiting_in(decided))
        if waiting < len(decided):
            until = min(until, now + timedelta(seconds=DECIDED_SECONDS))
        overview = WorkspaceOverview(
            workspace.root,
            self.host,
            workspace.system_names(),
            overdue,
            alerts,
            waiting,
            problems,
            _last_maintenance(workspace),
            _size(workspace),
        )
        return Standing(overview, until)

    def _decided(self, workspace: Workspace) -> list[Approval]:
        """Return what is decided about all that a workspace asks for."""
        from memory.systems.approvals import approvals_of
        from memory.trust.consent import trust_of

        trust = None if self.config_home is None else trust_of(workspace, self.config_home)
        return approvals_of(workspace, trust, self.environ)

    def find(self, workspace: Workspace, asked: Query, limit: int) -> list[FleetHit]:
        """Return the best finds in a workspace."""
        from memory.systems import searcher_of

        searcher = searcher_of(workspace)
        try:
            return [
                FleetHit(workspace.root, self.host, hit.entry, hit.snippet, hit.score, hit.fits_all)
                for hit in searcher.search(asked, limit).every
            ]
        finally:
            searcher.close()

    def check(self, workspace: Workspace) -> dict[str, Any]:
        """Return what is wrong in a workspace, under `problems`."""
        from memory.systems import check_all

        return {"problems": [problem._asdict() for problem in check_all(workspace)]}

    def maintain(self, workspace: Workspace, now: datetime, *, actor: str, dry_run: bool = False) -> dict[str, Any]:
        """Keep a workspace small by its own rules, and return the report."""
        from memory.systems import entrust, maintain_all
        from memory.trust.consent import trust_of

        if self.config_home is not None and not dry_run:
            entrust(workspace, trust_of(workspace, self.config_home), self.environ)
        return maintain_all(workspace, now, actor=actor, dry_run=dry_run).json()


def best_hits(hits: list[FleetHit], limit: int) -> tuple[FleetHit, ...]:
    """Return the best of the finds of some workspaces: what fits all words comes first, wherever it is.

    Equal finds: the later day first, then in the order of their places.
    """
    from memory.search.match import day_number

    hits.sort(
        key=lambda hit: (
            not hit.fits_all,
            -hit.score,
            -day_number(hit.entry.date),
            hit.host,
            str(hit.workspace),
            hit.entry.file,
            hit.entry.line,
        )
    )
    return tuple(hits[:limit] if limit else hits)


def query_of(text: str, now: datetime, kinds: Sequence[str]) -> Query:
    """Return what a text asks for, of some kinds only; days count from `now`."""
    from memory.search import read_day, read_query

    today = now.date()
    return read_query(text, lambda day: read_day(day, today)).within(tuple(kinds))


def _last_maintenance(workspace: Workspace) -> datetime | None:
    try:
        return None if workspace.state is None else workspace.state.read().last_maintenance
    except MemdeckError:
        return None


def _size(workspace: Workspace) -> int:
    """Return the bytes of the memory files, archives included."""
    total = 0
    for system in workspace.system_names():
        for name in workspace.system(system).files():
            try:
                total += os.lstat(workspace.root / name).st_size
            except OSError:
                continue
    return total
