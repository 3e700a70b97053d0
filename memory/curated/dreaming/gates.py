"""The gates of dreaming: the conditions for a run, each with its progress and whether it is open.

The last one is how many memories may be promoted, by their score: how often, how well, how recently and since when they
were recalled.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

from memory.base.clock import say_span
from memory.curated.curated import Curated
from memory.curated.model import FOLDER, Json, Memory
from memory.curated.records import milliseconds
from memory.curated.sessions import ended_since
from memory.curated.sides import Side

from .runs import is_at_work, runs, shown

MOST = 20
"""How many memories one run promotes at most."""
ENOUGH = 2
"""How many recalls count as often."""
_HOUR, _DAY = 3_600_000, 86_400_000
_SESSIONS = (
    "SELECT session_id FROM memory_events WHERE session_id IS NOT NULL AND ts_ms > ?1"
    " UNION SELECT session_id FROM memory_recall_traces WHERE executed_at > ?1"
    " UNION SELECT session_id FROM memory_snapshots WHERE captured_at > ?1"
)
_ROWS = (
    "SELECT chunk_id, recall_count, recall_score, last_recalled_at, freshness_started_at, promotion_run_id"
    " FROM memory_recall_signals WHERE recall_count > 0"
)
_TERMS = ("frequency", "relevance", "recency", "freshness")


class Weighed(NamedTuple):
    """A memory that was not promoted yet: how often it was recalled, and its score with the terms of the sum."""

    memory: Memory
    recalls: int
    score: float
    terms: tuple[tuple[str, float], ...]

    def json(self) -> Json:
        """Return it for programs, without its text."""
        memory = self.memory
        return {
            "id": memory.id, "filename": memory.filename, "name": memory.header.name, **memory.root.json(),
            "recall_count": self.recalls, "score": round(self.score, 4),
            "terms": {name: round(value, 4) for name, value in self.terms},
        }  # fmt: skip


def weighed(curated: Curated, side: Side, now: datetime, *, force: bool = False) -> list[Weighed]:
    """Return the memories of a side that were recalled and not promoted yet, the best first.

    Memories that dreaming wrote itself, or that another memory has replaced, are left out. With `force`, memories count
    again whose dream was deleted or taken back.
    """
    free: set[str | None] = {None}
    if force:
        folder = side.store.root / FOLDER
        done = runs(side, "status = 'completed'")
        free |= {one["id"] for one in done if not (folder / str(one["target_filename"])).exists()}
    found_rows = side.records.look(lambda db: db.execute(_ROWS).fetchall(), list[Any]())
    rows = {row[0]: row[1:5] for row in found_rows if row[5] in free}
    settings = curated.settings
    at, half = milliseconds(now), settings["dream.scoring.recency_half_life_days"] * _DAY
    found = []
    for memory in curated.memories([root for root in curated.all_roots() if root.side == side.name]) if rows else ():
        if memory.id not in rows or memory.is_dream or memory.header.provenance.superseded_by:
            continue
        count, signal, last, first = rows[memory.id]
        values = (
            min(1.0, count / ENOUGH),
            min(max(signal, 0.0), 1.0),
            0.5 ** (max(at - (last or at), 0) / half),
            0.5 ** (max(at - (first or at), 0) / half),
        )
        weights = (settings[f"dream.scoring.weights.{name}"] for name in _TERMS)
        terms = tuple((name, one * value) for name, one, value in zip(_TERMS, weights, values, strict=True))
        found.append(Weighed(memory, count, sum(value for _, value in terms), terms))
    return sorted(found, key=lambda one: (-one.score, one.memory.id))


_HELD = ("enabled", "lock")
"""The gates that `--force` does not open."""


def _gate(name: str, is_open: bool, have: float, need: float, words: str) -> Json:
    """Return one gate for programs: its progress, also in words such as `2 of 3 sessions`."""
    return {"gate": name, "open": is_open, "have": have, "need": need, "words": words}


class Gates(NamedTuple):
    """All gates of one side at one time, the waiting memories, and the last completed run."""

    side: str
    all: tuple[Json, ...]
    waiting: tuple[Weighed, ...]
    last: Json | None

    def closed(self, *, force: bool = False) -> list[str]:
        """Return the words of the closed gates; with `force` only those that nothing opens."""
        return [gate["words"] for gate in self.all if not gate["open"] and not (force and gate["gate"] not in _HELD)]

    def json(self) -> Json:
        """Return them for programs."""
        return {
            "scope": self.side,
            "open": not self.closed(),
            "reason": "; ".join(self.closed()),
            "gates": list(self.all),
            "candidates": [one.json() for one in self.waiting],
            "last": None if self.last is None else shown(self.last),
        }


def gates_of(curated: Curated, side: Side, now: datetime, *, force: bool = False) -> Gates:
    """Return the gates of a side; nothing is written.

    With `force` all memories that were recalled and not promoted yet are waiting.
    """
    settings = curated.settings
    last = next(iter(runs(side, "status = 'completed'", limit=1)), None)
    # A run that failed is not repeated at once by maintenance, either.
    latest = next(iter(runs(side, "status <> 'running'", limit=1)), None)
    since = 0 if latest is None else latest["at"]
    hours, need = (milliseconds(now) - since) / _HOUR, settings["dream.min_hours"]
    span = say_span(max(hours, 0) * 3600)
    ran = "no run yet" if latest is None else f"last run {f'{span} ago' if span else 'just now'} ({need} h are needed)"
    seen, most = len(sessions_since(curated, since)), settings["dream.min_sessions"]
    found = weighed(curated, side, now, force=force)
    count, least = settings["dream.gates.min_recall_count"], settings["dream.gates.min_score"]
    good = [one for one in found if one.recalls >= count and one.score >= least]
    enough = settings["dream.gates.min_unpromoted"]
    other = next((one for one in runs(side, "status = 'running'") if is_at_work(one, now)), None)
    free = other is None
    held = "the lock is free" if other is None else f"process {other['pid']} is dreaming"
    enabled = settings["dream.enabled"] and settings["enabled"]
    return Gates(
        side.name,
        (
            _gate("enabled", enabled, int(enabled), 1, "dreaming is on" if enabled else "dreaming is off"),
            _gate("time", latest is None or hours >= need, round(min(hours, need), 2), need, ran),
            _gate("sessions", seen >= most, seen, most, f"{seen} of {most} sessions"),
            _gate("lock", free, int(free), 1, held),
            _gate(
                "candidates",
                len(good) >= enough,
                len(good),
                enough,
                f"{len(good)} of {enough} memories recalled often enough",
            ),
        ),
        tuple((found if force else good)[:MOST]),
        last,
    )


def sessions_since(curated: Curated, since: int) -> set[str]:
    """Return the sessions in which memory was used since a time in milliseconds: by recalls, snapshots and ledgers."""
    found: set[str] = set()
    for side in curated.sides.values():
        rows = side.records.look(lambda db: db.execute(_SESSIONS, (since,)).fetchall(), list[tuple[str]]())
        found |= {row[0] for row in rows}
    return found | ended_since(curated, datetime.fromtimestamp(since / 1000, UTC))
