"""The result types of a fleet of workspaces, on one machine or on many."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memory.base.clock import format_utc
from memory.search.hits import FoundEntry

_COUNTS = ("overdue", "failing", "stale", "waiting", "problems", "size")
Progress = Callable[[int, int], None]
"""Called with the number of workspaces that are done, and of all."""


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
    """The status of one workspace; with an `error` (code and message) if it cannot be read.

    `overdue`, `failing` and `stale` monitors (also what no longer runs regularly), `waiting` (for approval) and
    `problems` are counts; `size` is in bytes. `age` is how many seconds ago its host was last heard from, None for this
    machine; `silent` means that this is too long. One that was never `looked` at has only its place.
    """

    path: Path
    host: str
    systems: tuple[str, ...] = ()
    overdue: int = 0
    failing: int = 0
    stale: int = 0
    waiting: int = 0
    problems: int = 0
    last_maintenance: datetime | None = None
    size: int = 0
    error: Mapping[str, str] | None = None
    age: int | None = None
    silent: bool = False
    looked: bool = True

    @property
    def alerts(self) -> int:
        """The number of monitors that need attention: failing and stale ones."""
        return self.failing + self.stale

    @classmethod
    def read(cls, path: Path, host: str, found: Mapping[str, Any]) -> WorkspaceOverview:
        """Return a status that was stored as `json`; missing fields have their defaults."""
        last = found.get("last_maintenance")
        return cls(
            path,
            host,
            tuple(found.get("systems", ())),
            last_maintenance=None if last is None else datetime.fromisoformat(last),
            error=found.get("error"),
            **{name: found.get(name, 0) for name in _COUNTS},
        )

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        last = self.last_maintenance
        return {
            "path": str(self.path),
            "host": self.host,
            "systems": list(self.systems),
            "alerts": self.alerts,
            **{name: getattr(self, name) for name in _COUNTS},
            "last_maintenance": None if last is None else format_utc(last),
            "error": None if self.error is None else dict(self.error),
            "age": self.age,
            "silent": self.silent,
        }


@dataclass(frozen=True, slots=True)
class FleetHost:
    """A host of a catalogue: `age` is how many seconds ago it was heard from (None: never), `silent` that this is too
    long, `skew` by how many seconds its clock is ahead, `status` what its agent says about itself, `waiting` and
    `failed` the numbers of its jobs.
    """

    name: str
    age: int | None
    silent: bool
    skew: float
    status: Mapping[str, Any]
    waiting: int
    failed: int

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "host": self.name,
            "age": self.age,
            "silent": self.silent,
            "skew": round(self.skew, 3),
            "lag": self.status.get("lag"),
            "unread": self.status.get("unread"),
            "failures": self.status.get("failures"),
            "jobs_waiting": self.waiting,
            "jobs_failed": self.failed,
        }


@dataclass(frozen=True, slots=True)
class FleetHit:
    """A hit of a search over all workspaces: its place, and its content."""

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
    """The result of checking or maintaining one workspace: an object for programs, or the error."""

    path: Path
    host: str
    result: Mapping[str, Any] | None = None
    error: Mapping[str, str] | None = None

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        error = None if self.error is None else dict(self.error)
        return {"path": str(self.path), "host": self.host, "error": error, **(self.result or {})}
