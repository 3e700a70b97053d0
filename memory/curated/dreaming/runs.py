"""The record of dreams: one row a run, from its beginning to its end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.curated.control.decision import time_of
from memory.curated.index.records import add_event, milliseconds
from memory.curated.model import Json, Root
from memory.errors import NotFoundError
from memory.named_tuple import NamedTuple

if TYPE_CHECKING:
    import sqlite3

    from memory.curated.curated import Curated
    from memory.curated.sides import Side

FAILURES = "_system/dreaming/failures"
_COLUMNS = (
    "id", "workspace_id", "scope", "started_at", "finished_at", "status", "input_count", "promoted_count", "error",
    "metadata",
)  # fmt: skip
_NAMES = (*_COLUMNS[:-1], "facts")
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM memory_consolidations"


class DreamRun(NamedTuple):
    """One run; times are milliseconds. `status` is running, completed or failed; `facts` what it noted of itself."""

    id: str
    workspace_id: str
    scope: str
    started_at: int
    finished_at: int | None
    status: str
    input_count: int
    promoted_count: int
    error: str | None
    facts: Mapping[str, Any]

    @property
    def state(self) -> str:
        """What became of it: running, failed, promoted, or skipped for one that promoted nothing."""
        if self.status != "completed":
            return self.status
        return "promoted" if self.promoted_count else "skipped"

    @property
    def key(self) -> str:
        """The idempotency key of its proposal."""
        return f"dream:{self.id}"

    def json(self) -> Json:
        """Return it for programs."""
        return {
            "id": self.id, "run_id": self.id, "state": self.state, "status": self.status, "scope": self.scope,
            "workspace_id": self.workspace_id or None, "agent_name": None, "agent_tier": None,
            "started_at": time_of(self.started_at),
            "finished_at": None if self.finished_at is None else time_of(self.finished_at),
            "input_count": self.input_count, "promoted_count": self.promoted_count, "error": self.error,
            "forced": bool(self.facts.get("forced")), "prompt_version": self.facts.get("prompt_version"),
            "target_filename": self.facts.get("target_filename"), "artifact_path": self.facts.get("artifact_path"),
            "failure_path": self.facts.get("failure_path"), "decision_id": self.facts.get("decision_id"),
            "source": self.facts.get("source", "rule"), "llm_error": self.facts.get("llm_error"),
            "reason": self.facts.get("reason"), "retries": self.facts.get("retries"),
            "candidates": self.facts.get("candidates", []), "left_out": self.facts.get("left_out", []),
        }  # fmt: skip


def runs(side: Side, where: str = "1", values: Sequence[object] = (), limit: int = 200) -> list[DreamRun]:
    """Return the runs that a condition fits, the newest first."""
    text = f"{_SELECT} WHERE {where} ORDER BY started_at DESC, id DESC LIMIT ?"
    rows = side.records.look(lambda db: db.execute(text, [*values, limit]).fetchall(), list[Any]())
    return [DreamRun(**{**dict(zip(_NAMES, row, strict=True)), "facts": json.loads(row[-1])}) for row in rows]


def find_run(curated: Curated, name: str) -> tuple[Side, DreamRun]:
    """Return the run of an id, or the newest of a day such as `2026-01-15`; NotFoundError `memory.not_found`."""
    found: list[tuple[Side, DreamRun]] = []
    for side in curated.sides.values():
        found += [(side, one) for one in runs(side) if one.id == name or time_of(one.started_at)[:10] == name]
    if not found:
        raise NotFoundError("memory.not_found", f"there is no dream {name[:80]!r}", "`memdeck curated dream list`")
    return max(found, key=lambda pair: (pair[1].started_at, pair[1].id))


def begin(side: Side, run: DreamRun, root: Root, now: datetime) -> None:
    """Note that a run has begun."""
    row = (
        run.id, run.workspace_id, run.scope, run.started_at, None, run.status, run.input_count, 0, None,
        json.dumps(run.facts, ensure_ascii=False),
    )  # fmt: skip

    def write(db: sqlite3.Connection) -> None:
        db.execute(f"INSERT INTO memory_consolidations ({', '.join(_COLUMNS)}) VALUES (?,?,?,?,?,?,?,?,?,?)", row)
        words = f"{run.input_count} {'memory' if run.input_count == 1 else 'memories'} to gather"
        facts = {"target_id": run.id, "run_id": run.id, "input_count": run.input_count, "summary": words}
        add_event(db, side.records.workspace_id, "memory.dream.run.started", now, root, facts)

    side.records.run(write)


def complete(side: Side, run: DreamRun, ids: Sequence[str], facts: Mapping[str, Any], root: Root, now: datetime) -> int:
    """Note in one step that a run is done and that it promoted some memories; return how many these were."""
    at = milliseconds(now)

    def write(db: sqlite3.Connection) -> int:
        marked = 0
        for chunk in ids:
            marked += db.execute(
                "UPDATE memory_recall_signals SET promoted_at = ?, promotion_run_id = ? WHERE chunk_id = ? AND"
                " promoted_at IS NULL",
                (at, run.id, chunk),
            ).rowcount
        db.execute(
            "UPDATE memory_consolidations SET status = 'completed', finished_at = ?, promoted_count = ?, metadata = ?"
            " WHERE id = ?",
            (at, marked, json.dumps({**run.facts, **facts}, ensure_ascii=False), run.id),
        )
        noted = {"target_id": run.id, "run_id": run.id, "promoted_count": marked, **_about(facts)}
        add_event(db, side.records.workspace_id, "memory.dream.run.promoted", now, root, noted)
        return marked

    return side.records.run(write)


def fail(side: Side, run: DreamRun, error: str, facts: Mapping[str, Any], root: Root, now: datetime) -> None:
    """Note that a run has failed, and why."""

    def write(db: sqlite3.Connection) -> None:
        db.execute(
            "UPDATE memory_consolidations SET status = 'failed', finished_at = ?, error = ?, metadata = ? WHERE id = ?",
            (milliseconds(now), error, json.dumps({**run.facts, **facts}, ensure_ascii=False), run.id),
        )
        noted = {"target_id": run.id, "run_id": run.id, "reason": error}
        add_event(db, side.records.workspace_id, "memory.dream.run.failed", now, root, noted)

    side.records.run(write)


def _about(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {key: facts[key] for key in ("decision_id", "reason") if key in facts}
