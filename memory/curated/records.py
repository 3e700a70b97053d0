"""The records of one side: decisions, events, signals, traces and snapshots; they exist nowhere else.

A recall is counted at once, without waiting for the disk, and only a moment for another process. While the records
cannot be written, recalls wait in memory; where these become too many, the oldest are dropped.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from memory.base.clock import format_utc
from memory.base.secrets import masked
from memory.curated.model import Json, Root
from memory.errors import MemdeckError
from memory.storage.database import Database, DatabaseKind
from memory.storage.own_folders import StateFolder

_COUNT = """
INSERT INTO memory_recall_signals VALUES (?1, 1, ?2, ?3, ?3, ?4 IS NOT NULL, ?4, NULL, NULL)
ON CONFLICT (chunk_id) DO UPDATE SET recall_count = recall_count + 1,
    recall_score = 0.8 * recall_score + 0.2 * excluded.recall_score, last_recalled_at = excluded.last_recalled_at,
    session_count = session_count + (excluded.last_session_id IS NOT NULL
        AND excluded.last_session_id IS NOT last_session_id),
    last_session_id = coalesce(excluded.last_session_id, last_session_id)
"""
"""Counts one recall: the older scores keep four fifths of their weight."""


T = TypeVar("T")
_FAILED: Any = object()
UNAVAILABLE = "memory.records.unavailable"
_RECORDS = """
CREATE TABLE memory_decisions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, candidate_hash TEXT NOT NULL,
    idempotency_key TEXT NOT NULL UNIQUE, workspace_id TEXT NOT NULL, scope TEXT NOT NULL, agent_name TEXT,
    agent_tier TEXT, op TEXT NOT NULL, targets TEXT NOT NULL, target_filename TEXT NOT NULL, frontmatter TEXT NOT NULL,
    entity TEXT, attribute TEXT, prior_hash TEXT, prior_content BLOB, post_content BLOB,
    post_content_hash TEXT NOT NULL,
    confidence REAL NOT NULL, source TEXT NOT NULL, rule_trace TEXT NOT NULL, llm_trace TEXT, reason TEXT NOT NULL,
    prompt_version TEXT NOT NULL, origin TEXT NOT NULL, reverts TEXT, decided_at INTEGER NOT NULL, applied_at INTEGER,
    abandoned TEXT);
CREATE INDEX decisions_by_time ON memory_decisions (decided_at);
CREATE INDEX decisions_by_file ON memory_decisions (scope, target_filename);
CREATE INDEX decisions_pending ON memory_decisions (seq) WHERE applied_at IS NULL;
CREATE TABLE memory_events (
    id INTEGER PRIMARY KEY AUTOINCREMENT, op TEXT NOT NULL, scope TEXT, agent_name TEXT, agent_tier TEXT,
    workspace_id TEXT, session_id TEXT, actor_kind TEXT NOT NULL, decision_id TEXT, target_id TEXT,
    metadata TEXT NOT NULL, ts_ms INTEGER NOT NULL);
CREATE INDEX events_by_op ON memory_events (op, ts_ms);
CREATE TABLE memory_recall_signals (
    chunk_id TEXT PRIMARY KEY, recall_count INTEGER NOT NULL, recall_score REAL NOT NULL, last_recalled_at INTEGER,
    freshness_started_at INTEGER, session_count INTEGER NOT NULL, last_session_id TEXT, promoted_at INTEGER,
    promotion_run_id TEXT);
CREATE TABLE memory_consolidations (
    id TEXT PRIMARY KEY, started_at INTEGER NOT NULL, status TEXT NOT NULL, run TEXT NOT NULL);
CREATE TABLE memory_recall_traces (
    session_id TEXT NOT NULL, turn_seq INTEGER NOT NULL, executed_at INTEGER NOT NULL, trace TEXT NOT NULL,
    PRIMARY KEY (session_id, turn_seq));
CREATE TABLE memory_snapshots (
    session_id TEXT PRIMARY KEY, generation INTEGER NOT NULL, captured_at INTEGER NOT NULL, snapshot TEXT NOT NULL);
CREATE TABLE memory_about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


def milliseconds(now: datetime) -> int:
    """Return a time as whole milliseconds since 1970."""
    return round(now.timestamp() * 1000)


def _database(name: str) -> DatabaseKind:
    """Return the database of the records of one side; `name` distinguishes a copied workspace from the first one.

    A commit is on the disk before a file changes, so that a power cut leaves nothing that cannot be finished.
    """
    ending = f"-{name}" if name else ""
    return DatabaseKind(f"curated{ending}.sqlite", "the record of decisions", _RECORDS, 4, durable=True)


def time_of(stamp: int) -> str:
    """Return milliseconds as a time in UTC."""
    return format_utc(datetime.fromtimestamp(stamp / 1000, UTC))


def utc_day(now: datetime) -> str:
    """Return the day of a time in UTC, such as `2026-01-15`."""
    return format_utc(now)[:10]


class Records:
    """The database of one side; without a folder it lives as long as the process."""

    def __init__(self, folder: StateFolder | None, name: str = "", workspace_id: str = "") -> None:
        """Keep the place; nothing is opened yet."""
        self._file = Database(folder, _database(name))
        self.workspace_id = workspace_id
        self._lost = 0

    @property
    def warnings(self) -> Sequence[str]:
        """The problems of the database, in sentences."""
        return self._file.warnings

    def damaged(self) -> tuple[Path, ...]:
        """Return the damaged database that was moved aside last, if there is one."""
        return self._file.damaged()

    def close(self) -> None:
        """Close the database; later queries open it again."""
        self._file.close()

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return `work(connection)`, done in one transaction; MemdeckError `memory.records.unavailable`."""
        done: T = self._file.run(work, _FAILED)
        if done is _FAILED:
            raise self._unavailable("nothing can be recorded")
        return done

    def read(self, work: Callable[[sqlite3.Connection], T], default: T) -> T:
        """Return `work(connection)`; `default` where there is no database, which is then not created.

        MemdeckError `memory.records.unavailable` for one that cannot be read, or was moved aside as damaged.
        """
        done: T = self._file.run(work, _FAILED, make=False)
        if done is not _FAILED:
            return done
        if self._file.exists() or self._file.warnings:
            raise self._unavailable("the records cannot be read")
        return default

    def _unavailable(self, what: str) -> MemdeckError:
        why = self._file.warnings[-1] if self._file.warnings else "it cannot be opened"
        return MemdeckError(UNAVAILABLE, f"{what}: {why}", "nothing was changed")

    def look(self, work: Callable[[sqlite3.Connection], T], default: T) -> T:
        """Return `work(connection)`; `default` where there is no database, or none that can be used now."""
        return self._file.run(work, default, make=False)

    # -- events -----------------------------------------------------------------------------------------------------

    def event(self, op: str, now: datetime, *, root: Root | None = None, **facts: Any) -> None:
        """Record an event; a failure to record it is ignored. `facts` are columns, all others metadata."""
        self._file.run(lambda db: add_event(db, self.workspace_id, op, now, root, facts), None)

    def events(
        self, *, ops: Sequence[str] = (), since: int | None = None, limit: int = 25, needed: bool = False
    ) -> list[Json]:
        """Return events, the newest first; with `needed`, the error of `read` where they cannot be read."""
        where, values = ["1"], list[object]()
        if ops:
            where.append(f"op IN ({','.join('?' * len(ops))})")
            values += ops
        if since is not None:
            where.append("ts_ms >= ?")
            values.append(since)
        columns = ("id", *_EVENT)
        text = f"SELECT {', '.join(columns)} FROM memory_events WHERE {' AND '.join(where)} ORDER BY id DESC LIMIT ?"
        ask = self.read if needed else self.look
        none: list[Any] = []
        rows = ask(lambda db: db.execute(text, [*values, limit]).fetchall(), none)
        found = [dict(zip(columns, row, strict=True)) for row in rows]
        return [{**one, "metadata": json.loads(one["metadata"])} for one in found]

    # -- signals ----------------------------------------------------------------------------------------------------

    def signals(self, ids: Sequence[str], *, light: bool = False) -> dict[str, tuple[int, float, int]]:
        """Return count, score and time of the last recall (milliseconds) of the given memories that were recalled.

        With `light` the result is empty while another process is at work.
        """
        text = (
            "SELECT chunk_id, recall_count, recall_score, last_recalled_at FROM memory_recall_signals"
            " WHERE chunk_id IN (SELECT value FROM json_each(?))"
        )
        values = (json.dumps(ids),)
        none: list[Any] = []
        rows = self._file.run(lambda db: db.execute(text, values).fetchall(), none, make=False, light=light)
        return {row[0]: row[1:] for row in rows}

    def count_recall(
        self,
        scores: Mapping[str, float],
        session: str | None,
        now: datetime,
        write: Callable[[sqlite3.Connection], None] | None = None,
    ) -> None:
        """Count a recall by the scores of its memories, and insert the rows of `write`, without delay.

        While another process is at work it is left out, and the next recall notes how many were.
        """

        def count(db: sqlite3.Connection) -> bool:
            if self._lost:
                lost = {"dropped": self._lost, "reason": "busy"}
                add_event(db, self.workspace_id, "memory.recall.signal_dropped", now, None, lost)
            if write is not None:
                write(db)
            for chunk, score in scores.items():
                db.execute(_COUNT, (chunk, min(max(score, 0.0), 1.0), milliseconds(now), session))
            return True

        self._lost = 0 if self._file.run(count, False, light=True) else self._lost + 1

    # -- small values ------------------------------------------------------------------------------------------------

    def note(self, key: str) -> Json:
        """Return the JSON object that is kept under a key, an empty one where there is none.

        It is empty, too, while another process is at work.
        """
        return self._file.run(lambda db: value_of(db, key) or {}, {}, make=False, light=True)

    def change_note(self, key: str, change: Callable[[Json], object]) -> None:
        """Let `change` alter the object that is kept under a key; MemdeckError `memory.records.unavailable`."""

        def write(db: sqlite3.Connection) -> None:
            found = value_of(db, key) or {}
            change(found)
            keep_value(db, key, found)

        self.run(write)

    # -- traces, snapshots, generation ---------------------------------------------------------------------------------

    def trace(self, session: str, turn: int) -> Json | None:
        """Return the trace of a turn, None where there is none."""
        text = "SELECT trace FROM memory_recall_traces WHERE session_id = ? AND turn_seq = ?"
        row = self.look(lambda db: db.execute(text, (session, turn)).fetchone(), None)
        return None if row is None else json.loads(row[0])

    def newest(self) -> int:
        """Return a number that grows with each decision and each dream."""
        text = (
            "SELECT (SELECT coalesce(max(seq), 0) FROM memory_decisions) + (SELECT count(*) FROM memory_consolidations)"
        )
        return int(self.look(lambda db: db.execute(text).fetchone(), (0,))[0])

    def generation(self, *, more: int = 0) -> int:
        """Return the generation of snapshots: how often they were declared outdated, which `more` adds to."""
        number = (self.look(lambda db: value_of(db, "generation"), None) or 1) + more
        if more:
            self.run(lambda db: keep_value(db, "generation", number))
        return number

    def snapshot(self, session: str) -> tuple[int, Json] | None:
        """Return the snapshot of a session with its generation, None where there is none."""
        text = "SELECT generation, snapshot FROM memory_snapshots WHERE session_id = ?"
        row = self.look(lambda db: db.execute(text, (session,)).fetchone(), None)
        return None if row is None else (row[0], json.loads(row[1]))

    def put_snapshot(self, session: str, generation: int, snapshot: Json, now: datetime) -> None:
        """Store the snapshot of a session."""
        row = (session, generation, milliseconds(now), json.dumps(snapshot, ensure_ascii=False))
        self.run(lambda db: db.execute("INSERT OR REPLACE INTO memory_snapshots VALUES (?, ?, ?, ?)", row))


def value_of(db: sqlite3.Connection, key: str) -> Any:
    """Return the value that is kept under a key, None where there is none."""
    row = db.execute("SELECT value FROM memory_about WHERE key = ?", (key,)).fetchone()
    return None if row is None else json.loads(row[0])


def keep_value(db: sqlite3.Connection, key: str, value: object) -> None:
    """Keep a value of JSON under a key, in the transaction of the caller."""
    db.execute("INSERT OR REPLACE INTO memory_about VALUES (?, ?)", (key, json.dumps(value, ensure_ascii=False)))


def put_trace(db: sqlite3.Connection, session: str, turn: int, trace: Json, now: datetime) -> None:
    """Store the trace of a recall by session and turn, in the caller's transaction; the last one of a turn counts."""
    row = (session, turn, milliseconds(now), json.dumps(trace, ensure_ascii=False))
    db.execute("INSERT OR REPLACE INTO memory_recall_traces VALUES (?, ?, ?, ?)", row)


_EVENT = ("op", "scope", "agent_name", "agent_tier", "workspace_id", "session_id", "actor_kind", "decision_id",
          "target_id", "metadata", "ts_ms")  # fmt: skip
_FACTS = ("session_id", "decision_id", "target_id")
"""The columns of an event that are facts of it; the other facts are its metadata."""


def add_event(
    db: sqlite3.Connection, workspace_id: str, op: str, now: datetime, root: Root | None, facts: Mapping[str, Any]
) -> None:
    """Insert an event, its secrets masked, in the transaction of the caller."""
    scope = (None, None, None) if root is None else (root.scope, root.agent, root.tier)
    session, decision, target = (facts.get(key) for key in _FACTS)
    metadata = json.dumps(masked({key: value for key, value in facts.items() if key not in _FACTS}), ensure_ascii=False)
    row = (op, *scope, workspace_id, session, "system", decision, target, metadata, milliseconds(now))
    db.execute(f"INSERT INTO memory_events ({', '.join(_EVENT)}) VALUES ({','.join('?' * len(row))})", row)
