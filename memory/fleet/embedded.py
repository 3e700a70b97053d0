"""The fleet of one machine: the workspaces of a person, each opened where it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from memory.errors import MemdeckError, UsageError
from memory.registry import holds_memory, workspace_of
from memory.storage.private.workspaces import WorkspaceList

from .model import FleetHit, Kept, Overview, Progress

if TYPE_CHECKING:
    from memory.workspace import Workspace

WORKERS = 4
"""How many workspaces are open at once."""
MOST_FOLDERS = 200_000
"""How many folders a scan looks at."""
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "target", "dist", "build", "site-packages", "lost+found"})
R = TypeVar("R")


class EmbeddedFleet:
    """The workspaces that a person listed or opened; see `Fleet`. Errors of the list: `fleet.list`.

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
        self._state_home = state_home
        self._list = WorkspaceList(state_home)
        self._home = home
        self._config_home = config_home
        self._environ = environ or {}
        self.host = host

    # -- the list ---------------------------------------------------------------------------------------------

    def paths(self) -> tuple[Path, ...]:
        """Return the workspaces by their paths."""
        return tuple(one.path for one in self._list.all())

    def add(self, path: Path, now: datetime) -> Path | None:
        """List the workspace that contains a folder; UsageError `workspace.not_found`."""
        found = workspace_of(os.path.realpath(path))
        if found is None:
            raise UsageError("workspace.not_found", f"no memory in {path} or above it", "`memdeck init` creates it")
        return Path(found) if self._list.add(Path(found), now) else None

    def remove(self, path: Path) -> Path | None:
        """Take a workspace off the list, by its folder or one in it, also where that is gone."""
        real = os.path.realpath(path)
        for one in dict.fromkeys((real, workspace_of(real) or real)):
            if self._list.remove(Path(one)):
                return Path(one)
        return None

    def scan(self, folder: Path, now: datetime, progress: Progress | None = None) -> tuple[Path, ...]:
        """List the workspaces beneath a folder; links are not followed, other people's folders and those of tools are
        left out. UsageError `workspace.no_folder`, `fleet.too_large` for more than `MOST_FOLDERS` folders.
        """
        if not folder.is_dir():
            raise UsageError("workspace.no_folder", f"{str(folder)!r} is no folder", "name a folder")
        new = []
        seen = 0
        waiting = [os.path.realpath(folder)]
        while waiting:
            here = waiting.pop()
            seen += 1
            if seen > MOST_FOLDERS:
                raise UsageError(
                    "fleet.too_large", f"there are more than {MOST_FOLDERS:,} folders", "scan a part of it"
                )
            if progress is not None and not seen % 200:
                progress(seen, 0)
            if holds_memory(here) and self._list.add(Path(here), now):
                new.append(Path(here))
            waiting += reversed(_folders_in(here))
        return tuple(sorted(new))

    # -- all of them ------------------------------------------------------------------------------------------

    def overview(self, now: datetime, progress: Progress | None = None) -> tuple[Overview, ...]:
        """Return how all workspaces stand."""
        return tuple(
            done if isinstance(done, Overview) else Overview(path, self.host, error=done)
            for path, done in self._each(lambda workspace: self._look(workspace, now), progress)
        )

    def _look(self, workspace: Workspace, now: datetime) -> Overview:
        from memory.files.status import brief
        from memory.systems import check_all

        overdue = alerts = 0
        if "files" in workspace.system_names():
            found = brief(workspace.snapshot().readable(), now)
            overdue, alerts = len(found.overdue), len(found.alerts)
        problems = check_all(workspace)
        return Overview(
            workspace.root,
            self.host,
            workspace.system_names(),
            overdue,
            alerts,
            self._waiting(workspace),
            sum(problem.level == "error" for problem in problems),
            _last_maintenance(workspace),
            _size(workspace),
        )

    def _waiting(self, workspace: Workspace) -> int:
        """Count what waits for an approval."""
        from memory.systems import asks_of_all, entrust
        from memory.trust.consent import trust_of

        trust = None if self._config_home is None else trust_of(workspace, self._config_home)
        if trust is None:
            return 0
        entrust(workspace, trust, self._environ)
        return sum(trust.decide(ask).state in ("pending", "withdrawn") for ask in asks_of_all(workspace))

    def search(
        self, query: str, now: datetime, limit: int = 20, kinds: Sequence[str] = (), progress: Progress | None = None
    ) -> tuple[tuple[FleetHit, ...], tuple[Kept, ...]]:
        """Return the best finds; what fits all words comes first wherever it is. UsageError as `memory.search`."""
        from memory.search import read_day, read_query

        today = now.date()
        asked = read_query(query, lambda day: read_day(day, today)).within(tuple(kinds))

        def look(workspace: Workspace) -> list[FleetHit]:
            from memory.systems import searcher_of

            searcher = searcher_of(workspace)
            try:
                return [
                    FleetHit(workspace.root, self.host, hit.entry, hit.snippet, hit.score, hit.fits_all)
                    for hit in searcher.search(asked, limit).every
                ]
            finally:
                searcher.close()

        hits: list[FleetHit] = []
        failed: list[Kept] = []
        for path, done in self._each(look, progress):
            if isinstance(done, list):
                hits += done
            else:
                failed.append(Kept(path, self.host, error=done))
        hits.sort(key=lambda hit: (not hit.fits_all, -hit.score, str(hit.workspace)))
        return tuple(hits[:limit] if limit else hits), tuple(failed)

    def check(self, progress: Progress | None = None) -> Iterator[Kept]:
        """Yield what is wrong in each workspace."""

        def look(workspace: Workspace) -> dict[str, Any]:
            from dataclasses import asdict

            from memory.systems import check_all

            return {"problems": [asdict(problem) for problem in check_all(workspace)]}

        return self._kept(look, progress)

    def maintain(
        self, now: datetime, *, actor: str, dry_run: bool = False, progress: Progress | None = None
    ) -> Iterator[Kept]:
        """Keep each workspace small by its own rules."""

        def keep(workspace: Workspace) -> dict[str, Any]:
            from memory.systems import entrust, maintain_all
            from memory.trust.consent import trust_of

            if self._config_home is not None and not dry_run:
                entrust(workspace, trust_of(workspace, self._config_home), self._environ)
            return maintain_all(workspace, now, actor=actor, dry_run=dry_run).json()

        return self._kept(keep, progress)

    def _kept(self, work: Callable[[Workspace], dict[str, Any]], progress: Progress | None) -> Iterator[Kept]:
        for path, done in self._each(work, progress):
            failed = isinstance(done, _Failure)
            yield Kept(path, self.host, None if failed else done, done if failed else None)

    def _each(self, work: Callable[[Workspace], R], progress: Progress | None) -> Iterator[tuple[Path, R | _Failure]]:
        """Yield what a piece of work came to in each workspace, in the order of the list, `WORKERS` at a time."""
        paths = self.paths()
        with ThreadPoolExecutor(WORKERS, thread_name_prefix="fleet") as pool:
            for number, (path, done) in enumerate(
                zip(paths, pool.map(lambda path: self._one(path, work), paths), strict=True), 1
            ):
                yield path, done
                if progress is not None:
                    progress(number, len(paths))

    def _one(self, path: Path, work: Callable[[Workspace], R]) -> R | _Failure:
        from memory.workspace import Workspace

        try:
            if not holds_memory(str(path)):
                raise UsageError("fleet.gone", f"there is no memory in {path} any more", "take it off the list")
            workspace = Workspace.open(path, state_home=self._state_home, home=self._home)
            try:
                return work(workspace)
            finally:
                workspace.close()
        except MemdeckError as error:
            return _Failure(code=error.code, message=error.message)
        except Exception as error:  # whatever is wrong with one, the others go on
            return _Failure(code="internal", message=f"{type(error).__name__}: {error}"[:300])


class _Failure(dict[str, str]):
    """Why a workspace could not be worked on: `code` and `message`."""


def _folders_in(folder: str) -> list[str]:
    """Return the folders in a folder that may hold a workspace."""
    try:
        with os.scandir(folder) as found:
            return sorted(
                one.path
                for one in found
                if one.is_dir(follow_symlinks=False) and not one.name.startswith(".") and one.name not in _SKIPPED
            )
    except OSError:
        return []


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
