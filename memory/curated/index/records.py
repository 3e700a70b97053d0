"""The records of one side: decisions, events, signals, traces and snapshots; nothing else holds them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from memory.curated.model import Json, Root
from memory.errors import MemdeckError
from memory.storage.log.database import LogFile

from .schema import OPERATIONS, records
from .signals import Limits, RecallNote, RecallSignals, SignalQueue, read_signals

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from memory.storage.places import StateFolder

T = TypeVar("T")
_FAILED: Any = object()
UNAVAILABLE = "memory.records.unavailable"


def milliseconds(now: datetime) -> int:
    """Return a time as whole milliseconds since 1970."""
    return round(now.timestamp() * 1000)


class Records:
    """The database of one side; without a folder it lives as long as the process."""

    def __init__(self, folder: StateFolder | None, name: str = "", workspace_id: str = "") -> None:
        """Keep where it is; nothing is opened yet."""
        self._file = LogFile(folder, kind=records(name))
        self.queue = SignalQueue(self._file, self._note_dropped)
        self.workspace_id = workspace_id

    @property
    def warnings(self) -> Sequence[str]:
        """What is wrong with the database, in sentences."""
        return self._file.warnings

    def damaged(self) -> tuple[Path, ...]:
        """Return the databases that were damaged and are kept aside, the oldest first."""
        return self._file.damaged()

    def close(self) -> None:
        """Count the recalls that wait and close the database; what is asked later opens it again."""
        self.queue.finish()
        self._file.close()

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return `work(connection)`, done in one transaction; MemdeckError `memory.records.unavailable`."""
        done: T = self._file.run(work, _FAILED)
        if done is _FAILED:
            raise self._unavailable("nothing can be recorded")
        return done

    def read(self, work: Callable[[sqlite3.Connection], T], default: T) -> T:
        """Return `work(connection)`; `default` where there is no database, which is not made for it.

        MemdeckError `memory.records.unavailable` where there is one that cannot be read, or was moved aside as damaged.
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
        """Note an event; one that cannot be noted fails nothing. `facts` are columns, all others metadata."""
        assert op in OPERATIONS, op
        self._file.run(lambda db: add_event(db, self.workspace_id, op, now, root, facts), None)

    def events(
        self, *, ops: Sequence[str] = (), since: int | None = None, limit: int = 25, needed: bool = False
    ) -> list[Json]:
        """Return events, the newest first; with `needed`, an error as of `read` where they cannot be had."""
        where, values = ["1"], list[object]()
        if ops:
            where.append(f"op IN ({','.join('?' * len(ops))})")
            values += ops
        if since is not None:
            where.append("ts_ms >= ?")
            values.append(since)
        text = (
            "SELECT id, op, scope, agent_name, agent_tier, workspace_id, session_id, actor_kind, decision_id,"
            f" target_id, metadata, ts_ms FROM memory_events WHERE {' AND '.join(where)} ORDER BY id DESC LIMIT ?"
        )
        ask = self.read if needed else self.look
        rows = ask(lambda db: db.execute(text, [*values, limit]).fetchall(), list[Any]())
        names = ("id", "op", "scope", "agent_name", "agent_tier", "workspace_id", "session_id", "actor_kind",
                 "decision_id", "target_id", "metadata", "ts_ms")  # fmt: skip
        return [{**dict(zip(names, row, strict=True)), "metadata": json.loads(row[10])} for row in rows]

    # -- signals ----------------------------------------------------------------------------------------------------

    def signals(self, ids: Sequence[str], *, light: bool = False) -> dict[str, tuple[int, float, int]]:
        """Return count, score and time of the last recall (milliseconds) of some memories that were recalled before.

        Recalls that wait to be counted are not in it. With `light` nothing is, where another process is at work.
        """
        return self._file.run(lambda db: read_signals(db, ids), {}, make=False, light=light)

    def note_recall(
        self,
        now: datetime,
        limits: Limits,
        *,
        write: Callable[[sqlite3.Connection], None] | None = None,
        scores: Mapping[str, float] | None = None,
        session: str | None = None,
    ) -> None:
        """Put what a recall leaves behind into the queue: rows that `write` inserts, and scores to be counted."""
        self.queue.put(RecallNote(milliseconds(now), write, RecallSignals(scores, session) if scores else None), limits)

    def _note_dropped(self, db: sqlite3.Connection, at: int, lost: int, why: str) -> None:
        now = datetime.fromtimestamp(at / 1000, UTC)
        add_event(db, self.workspace_id, "memory.recall.signal_dropped", now, None, {"dropped": lost, "reason": why})

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

    def generation(self) -> int:
        """Return the generation of snapshots: how often they were declared outdated."""
        text = "SELECT value FROM memory_about WHERE key = 'generation'"
        row = self.look(lambda db: db.execute(text).fetchone(), None)
        return 1 if row is None else int(row[0])

    def next_generation(self) -> int:
        """Make all snapshots outdated and return the new generation."""

        def write(db: sqlite3.Connection) -> int:
            row = db.execute("SELECT value FROM memory_about WHERE key = 'generation'").fetchone()
            number = (1 if row is None else int(row[0])) + 1
            db.execute("INSERT OR REPLACE INTO memory_about VALUES ('generation', ?)", (str(number),))
            return number

        return self.run(write)

    def snapshot(self, session: str) -> tuple[int, Json] | None:
        """Return the snapshot of a session with its generation, None where there is none."""
        text = "SELECT generation, snapshot FROM memory_snapshots WHERE session_id = ?"
        row = self.look(lambda db: db.execute(text, (session,)).fetchone(), None)
        return None if row is None else (row[0], json.loads(row[1]))

    def put_snapshot(self, session: str, generation: int, snapshot: Json, now: datetime) -> None:
        """Keep the snapshot of a session."""
        row = (session, generation, milliseconds(now), json.dumps(snapshot, ensure_ascii=False))
        self.run(lambda db: db.execute("INSERT OR REPLACE INTO memory_snapshots VALUES (?, ?, ?, ?)", row))


def put_trace(db: sqlite3.Connection, session: str, turn: int, trace: Json, now: datetime) -> None:
    """Keep the trace of a recall by session and turn, in the caller's transaction; the last one of a turn counts."""
    row = (session, turn, milliseconds(now), json.dumps(trace, ensure_ascii=False))
    db.execute("INSERT OR REPLACE INTO memory_recall_traces VALUES (?, ?, ?, ?)", row)


_COLUMNS = ("session_id", "actor_kind", "decision_id", "target_id")


def add_event(
    db: sqlite3.Connection, workspace_id: str, op: str, now: datetime, root: Root | None, facts: Mapping[str, Any]
) -> None:
    """Insert an event in the transaction of the caller."""
    columns = {"actor_kind": "system", **{key: value for key, value in facts.items() if key in _COLUMNS}}
    metadata = {key: value for key, value in facts.items() if key not in _COLUMNS}
    scope = (None, None, None) if root is None else (root.scope, root.agent, root.tier)
    db.execute(
        "INSERT INTO memory_events (op, scope, agent_name, agent_tier, workspace_id, session_id, actor_kind,"
        " decision_id, target_id, metadata, ts_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (op, *scope, workspace_id, columns.get("session_id"), columns["actor_kind"], columns.get("decision_id"),
         columns.get("target_id"), json.dumps(metadata, ensure_ascii=False), milliseconds(now)),
    )  # fmt: skip
