"""What a fleet of workspaces answers with, and the interface that holds for one machine and for many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from memory.search import FoundEntry

Progress = Callable[[int, int], None]
"""Told how many workspaces are done, and of how many."""


@dataclass(frozen=True, slots=True)
class FleetWorkspace:
    """A workspace of the fleet: where it is, and on which host."""

    path: Path
    host: str

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {"path": str(self.path), "host": self.host}


@dataclass(frozen=True, slots=True)
class WorkspaceOverview:
    """How one workspace stands; with an `error` (code and message) where it cannot be looked at.

    `overdue`, `alerts`, `waiting` (for approval) and `problems` count; `size` is in bytes. `age` is for how many
    seconds nothing was heard of its host, None for this machine; `stale` says that this is too long. `alike` names
    workspaces that hold much of the same (`host:path`): copies and clones of it. One that was not `looked` at yet says
    nothing but where it is.
    """

    path: Path
    host: str
    systems: tuple[str, ...] = ()
    overdue: int = 0
    alerts: int = 0
    waiting: int = 0
    problems: int = 0
    last_maintenance: datetime | None = None
    size: int = 0
    error: Mapping[str, str] | None = None
    age: int | None = None
    stale: bool = False
    alike: tuple[str, ...] = ()
    looked: bool = True

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        from memory.base.clock import format_utc

        last = self.last_maintenance
        return {
            "path": str(self.path),
            "host": self.host,
            "systems": list(self.systems),
            "overdue": self.overdue,
            "alerts": self.alerts,
            "waiting": self.waiting,
            "problems": self.problems,
            "last_maintenance": None if last is None else format_utc(last),
            "size": self.size,
            "error": None if self.error is None else dict(self.error),
            "age": self.age,
            "stale": self.stale,
            "alike": list(self.alike),
        }


@dataclass(frozen=True, slots=True)
class FleetHit:
    """A find of a search over all workspaces: where it is, and what it says."""

    workspace: Path
    host: str
    entry: FoundEntry
    snippet: str
    score: float
    fits_all: bool

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        entry = self.entry
        return {
            "workspace": str(self.workspace),
            "host": self.host,
            "file": entry.file,
            "line": entry.line + 1,
            "ref": entry.ref,
            "kind": entry.kind,
            "title": entry.title,
            "snippet": self.snippet,
            "score": self.score,
            "fits_all": self.fits_all,
        }


@dataclass(frozen=True, slots=True)
class WorkResult:
    """What checking or maintaining one workspace came to: an object for programs, or the error."""

    path: Path
    host: str
    result: Mapping[str, Any] | None = None
    error: Mapping[str, str] | None = None

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        error = None if self.error is None else dict(self.error)
        return {"path": str(self.path), "host": self.host, "error": error, **(self.result or {})}


class Fleet(Protocol):
    """Many workspaces. One that is broken is told as such and never stops the others."""

    def listed(self) -> tuple[FleetWorkspace, ...]:
        """Return the workspaces by host and path."""

    def overview(self, now: datetime, progress: Progress | None = None) -> tuple[WorkspaceOverview, ...]:
        """Return how all workspaces stand, by host and path."""

    def known(self, now: datetime) -> tuple[WorkspaceOverview, ...]:
        """Return at once how all workspaces stood when somebody looked last, by host and path."""

    def refresh(self, now: datetime, go_on: Callable[[], bool] = lambda: True) -> Iterator[WorkspaceOverview]:
        """Look again at the workspaces that `known` may be wrong about, and yield how each stands."""

    def glance(self, query: str, now: datetime, limit: int = 20, kinds: Sequence[str] = ()) -> tuple[FleetHit, ...]:
        """Return at once the best finds of what is indexed; `search` tells what is true now."""

    def keep_up(self, go_on: Callable[[], bool] = lambda: True) -> None:
        """Index what changed, for `glance`."""

    def search(
        self,
        query: str,
        now: datetime,
        limit: int = 20,
        kinds: Sequence[str] = (),
        progress: Progress | None = None,
        *,
        deep: bool = False,
    ) -> tuple[tuple[FleetHit, ...], tuple[WorkResult, ...]]:
        """Return the best finds over all workspaces, and those workspaces that could not be searched.

        `deep` asks the files themselves, on each host, where a catalogue would answer.
        """

    def check(self, progress: Progress | None = None) -> Iterator[WorkResult]:
        """Yield what is wrong in each workspace, by host and path."""

    def maintain(
        self, now: datetime, *, actor: str, dry_run: bool = False, progress: Progress | None = None
    ) -> Iterator[WorkResult]:
        """Keep each workspace small, and yield its report; monitors are not run."""

    def close(self) -> None:
        """Close what is open."""
