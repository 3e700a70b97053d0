"""The fleet of one machine: the workspaces of a person, each opened in place."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from memory.errors import UsageError
from memory.registry import holds_memory, workspace_of
from memory.storage.private.workspaces import WorkspaceList
from memory.workspace import Workspace

from .index import FleetIndex, Look, digest_of
from .local import LocalWorkspaces, WorkspaceFailure, best_hits, query_of, watched_of
from .model import FleetHit, FleetHost, FleetWorkspace, Progress, WorkResult, WorkspaceOverview

MOST_FOLDERS = 200_000
"""Maximum number of folders in a scan."""
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "target", "dist", "build", "site-packages", "lost+found"})


class EmbeddedFleet:
    """The workspaces that a person listed or opened. Errors of the list: `fleet.list`."""

    def __init__(self, local: LocalWorkspaces) -> None:
        """Nothing is read yet."""
        self.local = local
        self.host = local.host
        self._list = WorkspaceList(local.state_home)
        self._index = FleetIndex(local)

    def __enter__(self) -> Self:
        """Return the fleet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the index."""
        self.close()

    # -- the list ---------------------------------------------------------------------------------------------

    def paths(self) -> tuple[Path, ...]:
        """Return the paths of the workspaces, sorted."""
        return tuple(one.path for one in self._list.all())

    def listed(self) -> tuple[FleetWorkspace, ...]:
        """Return the workspaces, sorted by path."""
        return tuple(FleetWorkspace(one.path, self.host) for one in self._list.all())

    def add(self, path: Path, now: datetime, mode: str | None = None) -> Path | None:
        """List the workspace that contains a folder; UsageError `workspace.not_found`. `mode` as for `publish`."""
        found = workspace_of(os.path.realpath(path))
        if found is None:
            raise UsageError("workspace.not_found", f"no memory in {path} or above it", "`memdeck init` creates it")
        if mode is not None:
            # Set before it is listed: an agent reads the list every second.
            self._list.publish(Path(found), mode)
        return Path(found) if self._list.add(Path(found), now) else None

    def publish(self, path: Path, mode: str) -> None:
        """Set how much of a workspace an agent publishes to a catalogue: `full`, `names` or `none`."""
        self._list.publish(Path(workspace_of(os.path.realpath(path)) or os.path.realpath(path)), mode)

    def published(self) -> dict[Path, str]:
        """Return the workspaces that an agent publishes, and how: `full` or `names`."""
        return {path: mode for path, mode in self._list.publishing().items() if mode != "none"}

    def remove(self, path: Path) -> Path | None:
        """Remove a workspace from the list, by its folder or one in it, even if that no longer exists."""
        real = os.path.realpath(path)
        for one in dict.fromkeys((real, workspace_of(real) or real)):
            if self._list.remove(Path(one)):
                self._index.forget([one])
                return Path(one)
        return None

    def remove_gone(self) -> tuple[Path, ...]:
        """Remove the workspaces whose memory no longer exists from the list, and return them."""
        gone = tuple(path for path in self.paths() if not holds_memory(str(path)))
        return tuple(path for path in gone if self.remove(path) is not None)

    def scan(self, folder: Path, now: datetime, progress: Progress | None = None) -> tuple[Path, ...]:
        """List the workspaces below a folder; links are not followed, folders of other users and of tools are skipped.
        UsageError `workspace.no_folder`, `fleet.too_large` for more than `MOST_FOLDERS` folders.
        """
        if not os.path.isdir(folder):
            raise UsageError("workspace.no_folder", f"{str(folder)!r} is no folder", "name a folder")
        found = []
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
            if holds_memory(here):
                found.append(Path(here))
            waiting += reversed(_folders_in(here))
        return tuple(sorted(self._list.add_all(found, now))) if found else ()

    # -- all of them ------------------------------------------------------------------------------------------

    def overview(self, now: datetime, progress: Progress | None = None) -> tuple[WorkspaceOverview, ...]:
        """Return the status of all workspaces; one whose files are unchanged since the last refresh is not opened."""
        new = {one.path: one for one in self.refresh(now, progress=progress)}
        return tuple(new.get(one.path, one) for one in self.known(now))

    def hosts(self) -> tuple[FleetHost, ...]:
        """Return nothing: the workspaces of one machine need no agent."""
        return ()

    def known(self, now: datetime) -> tuple[WorkspaceOverview, ...]:  # noqa: ARG002
        """Return at once the status of all workspaces as of the last refresh; none is opened."""
        looks = self._index.looks()
        return tuple(
            looks[name].overview if name in looks else WorkspaceOverview(Path(name), self.host, looked=False)
            for name in self._list.names()
        )

    def refresh(
        self, now: datetime, go_on: Callable[[], bool] = lambda: True, progress: Progress | None = None
    ) -> Iterator[WorkspaceOverview]:
        """Refresh workspaces whose files changed since the last refresh, or whose tasks became overdue since."""
        looks = self._index.looks()
        late = [name for name in self._list.names() if name not in looks or not looks[name].holds(now)]

        def work(workspace: Workspace) -> Look:
            return self._looked(workspace, now, looks.get(str(workspace.root)))

        for path, found in self.local.each([Path(name) for name in late], work, progress):
            if isinstance(found, WorkspaceFailure):
                found = Look(WorkspaceOverview(path, self.host, error=found), now, (), 0, now)
            self._index.keep(found)
            yield found.overview
            if not go_on():
                return

    def _looked(self, workspace: Workspace, now: datetime, held: Look | None) -> Look:
        watched = (*watched_of(workspace), *self.local.beside(workspace))
        # Taken before the files are read: changes meanwhile are noticed at the next refresh.
        stamp = digest_of(watched)
        same = held is not None and held.overview.error is None and (held.watched, held.stamp) == (watched, stamp)
        problems = held.overview.problems if same and held is not None else None
        overview, until = self.local.overview(workspace, now, problems)
        return Look(overview, now, watched, stamp, until)

    def search(
        self,
        query: str,
        now: datetime,
        limit: int = 20,
        kinds: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> tuple[tuple[FleetHit, ...], tuple[WorkResult, ...]]:
        """Return the best hits; those that match all words come first, from any workspace. UsageError as
        `memory.search`.

        The index of all workspaces answers, after an update; a workspace that it lacks is opened.
        """
        asked = query_of(query, now, kinds)
        if asked.empty:
            return (), ()
        names = self._list.names()
        left = self._index.update(names, progress)
        found = self._index.ask(asked, limit)
        if found is None:
            left = {name: left.get(name) for name in names}
        hits = [hit for hit in found or () if str(hit.workspace) not in left]
        failed = [WorkResult(Path(name), self.host, error=why) for name, why in left.items() if why is not None]
        unread = [Path(name) for name in left if left[name] is None]
        for path, done in self.local.each(unread, lambda one: self.local.find(one, asked, limit), progress):
            if isinstance(done, list):
                hits += done
            else:
                failed.append(WorkResult(path, self.host, error=done))
        failed.sort(key=lambda one: one.path)
        return best_hits(hits, limit), tuple(failed)

    def glance(self, query: str, now: datetime, limit: int = 20, kinds: Sequence[str] = ()) -> tuple[FleetHit, ...]:
        """Return at once the best hits of the index as it is; `search` returns up-to-date ones."""
        asked = query_of(query, now, kinds)
        found = None if asked.empty else self._index.ask(asked, limit)
        return best_hits(list(found or ()), limit)

    def keep_up(self, go_on: Callable[[], bool] = lambda: True) -> None:
        """Index what changed, for `glance`."""
        self._index.update(self._list.names(), go_on=go_on)

    def check(self, now: datetime, progress: Progress | None = None) -> Iterator[WorkResult]:
        """Yield the problems of each workspace."""
        return self._kept(lambda one: self.local.check(one, now), progress)

    def maintain(
        self, now: datetime, *, actor: str, dry_run: bool = False, progress: Progress | None = None
    ) -> Iterator[WorkResult]:
        """Run the maintenance of each workspace by its own rules."""
        return self._kept(lambda one: self.local.maintain(one, now, actor=actor, dry_run=dry_run), progress)

    def close(self) -> None:
        """Close the index; the next call opens it again."""
        self._index.close()

    def _kept(self, work: Callable[[Workspace], dict[str, Any]], progress: Progress | None) -> Iterator[WorkResult]:
        for path, done in self.local.each(self.paths(), work, progress):
            failed = isinstance(done, WorkspaceFailure)
            yield WorkResult(path, self.host, None if failed else done, done if failed else None)


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
