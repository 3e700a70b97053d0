"""The gates of dreaming: each says how far it is, and whether it is open."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memory.base.clock import say_span
from memory.curated.index.records import milliseconds
from memory.curated.model import Json
from memory.curated.sessions.upkeep import ended_since

from .lock import holder
from .runs import DreamRun, runs
from .score import MOST, Weighed, candidates, weighed

if TYPE_CHECKING:
    from memory.curated.curated import Curated
    from memory.curated.sides import Side

_HOUR = 3_600_000
_SESSIONS = (
    "SELECT session_id FROM memory_events WHERE session_id IS NOT NULL AND ts_ms > ?1"
    " UNION SELECT session_id FROM memory_recall_traces WHERE executed_at > ?1"
    " UNION SELECT session_id FROM memory_snapshots WHERE captured_at > ?1"
)


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate: how far it is, and in words such as `2 of 3 sessions`. `forced` tells that `--force` opens it."""

    name: str
    is_open: bool
    have: float
    need: float
    words: str
    forced: bool = True

    def json(self) -> Json:
        """Return it for programs."""
        return {"gate": self.name, "open": self.is_open, "have": self.have, "need": self.need, "words": self.words}


@dataclass(frozen=True, slots=True)
class Gates:
    """All gates of one side at one time, the memories that wait, and the last run that was completed."""

    side: str
    all: tuple[Gate, ...]
    waiting: tuple[Weighed, ...]
    last: DreamRun | None

    def closed(self, *, force: bool = False) -> list[Gate]:
        """Return the gates that are closed; with `force` those that nothing opens."""
        return [gate for gate in self.all if not gate.is_open and not (force and gate.forced)]

    def json(self) -> Json:
        """Return them for programs."""
        return {
            "scope": self.side,
            "open": not self.closed(),
            "reason": "; ".join(gate.words for gate in self.closed()),
            "words": ", ".join(gate.words for gate in self.all if gate.name in ("sessions", "candidates")),
            "gates": [gate.json() for gate in self.all],
            "candidates": [one.json() for one in self.waiting],
            "last": None if self.last is None else self.last.json(),
        }


def gates_of(curated: Curated, side: Side, now: datetime, *, own: str = "", force: bool = False) -> Gates:
    """Return the gates of a side; nothing is written. `own` is the run that holds the lock and asks.

    With `force` all memories wait that were recalled and not promoted yet.
    """
    settings = curated.settings
    done = runs(side, "status = 'completed'", limit=1)
    last = done[0] if done else None
    since = 0 if last is None else last.started_at
    hours = (milliseconds(now) - since) / _HOUR
    need = settings["dream.min_hours"]
    passed = last is None or hours >= need
    span = say_span(max(hours, 0) * 3600)
    ago = "no run yet" if last is None else f"the last run was {f'{span} ago' if span else 'just now'}"
    seen = len(sessions_since(curated, since))
    most = settings["dream.min_sessions"]
    found = weighed(curated, side, now)
    good = candidates(curated, found)
    enough = settings["dream.gates.min_unpromoted"]
    other = holder(side, now)
    free = other is None or other.get("run_id") == own
    held = "the lock is free" if free or other is None else f"process {other['pid']} dreams"
    enabled = settings["dream.enabled"] and settings["enabled"]
    return Gates(
        side.name,
        (
            Gate("enabled", enabled, int(enabled), 1, "dreaming is on" if enabled else "dreaming is off", False),
            Gate("time", passed, round(min(hours, need), 2), need, f"{ago}, {need} h are needed"),
            Gate("sessions", seen >= most, seen, most, f"{seen} of {most} sessions"),
            Gate("lock", free, int(free), 1, held, False),
            Gate("candidates", len(good) >= enough, len(good), enough, f"{len(good)} of {enough} candidates"),
        ),
        tuple((found if force else good)[:MOST]),
        last,
    )


def sessions_since(curated: Curated, since: int) -> set[str]:
    """Return the sessions that memory saw since a time in milliseconds: by their recalls, snapshots and ledgers."""
    found: set[str] = set()
    for side in curated.sides.values():
        rows = side.records.look(lambda db: db.execute(_SESSIONS, (since,)).fetchall(), list[tuple[str]]())
        found |= {row[0] for row in rows}
    return found | ended_since(curated, datetime.fromtimestamp(since / 1000, UTC))
