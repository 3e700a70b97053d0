"""The result types of a fleet of workspaces, on one machine or on many."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memory.base.clock import format_utc
from memory.search.hits import Hit

_COUNTS = ("overdue", "failing", "stale", "waiting", "problems")
Progress = Callable[[int, int], None]
"""Called with the number of workspaces that are done, and of all."""


@dataclass(frozen=True, slots=True)
class WorkspaceOverview:
    """The status of one workspace; with an `error` (code and message) if it cannot be read.

    `overdue`, `failing` and `stale` monitors (also what no longer runs regularly), `waiting` (for approval),
    `problems` and `open` tasks are counts. `next` is the title of the most urgent task, `latest` that of the newest
    journal entry, and `latest_at` its time as it is written. `age` is how many seconds ago its host was last heard
    from, None for this machine; `silent` means that this is too long. One that was never `looked` at has only its
    place.
    """

    path: Path
    host: str
    systems: tuple[str, ...] = ()
    overdue: int = 0
    failing: int = 0
    stale: int = 0
    waiting: int = 0
    problems: int = 0
    open: int = 0
    next: str = ""
    latest: str = ""
    latest_at: str = ""
    last_maintenance: datetime | None = None
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
            **{name: found.get(name, 0) for name in (*_COUNTS, "open")},
            next=found.get("next") or "",
            latest=found.get("latest") or "",
            latest_at=found.get("latest_at") or "",
        )

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        last = self.last_maintenance
        return {
            "path": str(self.path),
            "host": self.host,
            "systems": list(self.systems),
            "alerts": self.alerts,
            **{name: getattr(self, name) for name in (*_COUNTS, "open")},
            "next": self.next or None,
            "latest": self.latest or None,
            "latest_at": self.latest_at or None,
            "last_maintenance": None if last is None else format_utc(last),
            "error": None if self.error is None else dict(self.error),
            "age": self.age,
            "silent": self.silent,
        }


class FleetHost(NamedTuple):
    """A host of a catalogue: `age` is how many seconds ago it was heard from (None: never), `silent` that this is too
    long; `lag`, `unread` and `failures` are what its agent says about itself, None where it did not yet.
    """

    host: str
    age: int | None
    silent: bool
    lag: float | None
    unread: int | None
    failures: int | None
    jobs_waiting: int
    jobs_failed: int

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        return self._asdict()


class FleetHit(NamedTuple):
    """A hit of a search over all workspaces, and the workspace that it is in."""

    workspace: Path
    host: str
    hit: Hit

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        entry = self.hit.entry
        return {
            "workspace": str(self.workspace),
            "host": self.host,
            "file": entry.file,
            "line": entry.line + 1,
            "ref": entry.ref,
            "kind": entry.kind,
            "title": entry.title,
            "snippet": self.hit.snippet,
            "score": self.hit.score,
            "fits_all": self.hit.fits_all,
        }


@dataclass(frozen=True, slots=True)
class WorkResult:
    """The result of checking or maintaining one workspace: an object for programs, or the error."""

    path: Path
    host: str
    result: Mapping[str, Any] = field(default_factory=dict)
    error: Mapping[str, str] | None = None

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        error = None if self.error is None else dict(self.error)
        return {"path": str(self.path), "host": self.host, "error": error, **self.result}
