"""Signals of recall: how often and how well each memory was recalled, counted from a bounded queue.

A recall is queued without waiting for the disk, and only a moment for another process. The queue is in the records, so
a killed process loses none of it. It is counted once the oldest entry has waited for the flush interval, when the queue
is full, when counts are requested, and when the records are closed. While the records cannot be written, recalls wait
in memory; where these become too many, the oldest are dropped.
"""

from __future__ import annotations

import json
import sqlite3
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from memory.curated.settings import CuratedSettings
from memory.storage.log.database import LogFile

EMA_OLD, EMA_NEW = 0.8, 0.2
"""The weights of the old and the new score of a signal."""
_BATCH = 500


class Limits(NamedTuple):
    """The settings of the queue: capacity, retries, interval in milliseconds, whether drops are recorded."""

    capacity: int
    retries: int
    interval: int
    metrics: bool


class RecallNote(NamedTuple):
    """What a recall leaves behind: its time in milliseconds, rows that `write` inserts, and the scores to count.

    `scores` are by the id of the memory; they are empty where nothing is to be counted.
    """

    at: int
    write: Callable[[sqlite3.Connection], None] | None
    scores: Mapping[str, float]
    session: str | None


def limits_of(settings: CuratedSettings) -> Limits:
    """Return the settings of the queue."""
    table = "recall.signals"
    return Limits(
        settings[f"{table}.queue_capacity"],
        settings[f"{table}.worker_retry_max"],
        round(settings.seconds(f"{table}.flush_interval") * 1000),
        settings[f"{table}.metrics_enabled"],
    )


class SignalQueue:
    """The queue of one side; `dropped` is called in a transaction with the number of lost recalls and why."""

    def __init__(self, file: LogFile, dropped: Callable[[sqlite3.Connection, int, int, str], None]) -> None:
        """Keep the place; nothing is opened yet."""
        self._file = file
        self._note_dropped = dropped
        self._waiting: deque[RecallNote] = deque()
        self._failures = 0
        self._lost: dict[str, int] = {}
        self._limits: Limits | None = None
        self._uncounted = False

    def put(self, note: RecallNote, limits: Limits) -> None:
        """Queue what a recall leaves behind."""
        self._limits = limits
        self._waiting.append(note)
        while len(self._waiting) > limits.capacity:
            self._drop(self._waiting.popleft(), "queue_full")
        self._pour(limits)

    def count(self) -> bool:
        """Count all waiting recalls; return False where the records cannot be written now."""
        limits = self._limits
        if self._waiting and limits is not None and not self._pour(limits):
            return False
        done = self._file.run(_counted, False, make=False, light=True) or not self._file.exists()
        self._uncounted = self._uncounted and not done
        return done

    def finish(self) -> None:
        """Count what this process queued, with all remaining retries; what cannot be counted waits in the records."""
        limits = self._limits
        while self._waiting and limits is not None:
            self._pour(limits)
        if self._uncounted:
            self.count()

    def _pour(self, limits: Limits) -> bool:
        """Write what waits in memory, and count where it is due; return whether the writing succeeded."""
        at = self._waiting[-1].at

        def write(db: sqlite3.Connection) -> bool:
            for why, lost in self._lost.items() if limits.metrics else ():
                self._note_dropped(db, at, lost, why)
            for note in self._waiting:
                if note.write is not None:
                    note.write(db)
                if note.scores:
                    row = (note.at, note.session, json.dumps(dict(note.scores)))
                    db.execute("INSERT INTO memory_recall_queue (at, session_id, scores) VALUES (?, ?, ?)", row)
            (count,) = db.execute("SELECT count(*) FROM memory_recall_queue").fetchone()
            first = db.execute("SELECT at FROM memory_recall_queue ORDER BY id LIMIT 1").fetchone()
            if first is not None and (count >= limits.capacity or not 0 <= at - first[0] < limits.interval):
                _counted(db)
            return True

        if self._file.run(write, False, light=True):
            self._uncounted |= any(note.scores for note in self._waiting)
            self._waiting.clear()
            self._lost.clear()
            self._failures = 0
            return True
        self._failures += 1
        if self._failures > limits.retries:
            while self._waiting:
                self._drop(self._waiting.popleft(), "update_failed")
            self._failures = 0
        return False

    def _drop(self, note: RecallNote, why: str) -> None:
        if note.scores:
            self._lost[why] = self._lost.get(why, 0) + 1


def count_waiting(db: sqlite3.Connection) -> None:
    """Count all recalls of the queue, in the transaction of the caller."""
    rows = db.execute("SELECT id, at, session_id, scores FROM memory_recall_queue ORDER BY id").fetchall()
    for _, at, session, scores in rows:
        for chunk, score in json.loads(scores).items():
            _count(db, chunk, min(max(score, 0.0), 1.0), at, session)
    if rows:
        db.execute("DELETE FROM memory_recall_queue WHERE id <= ?", (rows[-1][0],))


def _counted(db: sqlite3.Connection) -> bool:
    count_waiting(db)
    return True


def _count(db: sqlite3.Connection, chunk: str, score: float, at: int, session: str | None) -> None:
    row = db.execute(
        "SELECT recall_count, recall_score, session_count, last_session_id FROM memory_recall_signals"
        " WHERE chunk_id = ?",
        (chunk,),
    ).fetchone()
    if row is None:
        db.execute(
            "INSERT INTO memory_recall_signals VALUES (?, 1, ?, ?, ?, ?, ?, NULL, NULL)",
            (chunk, score, at, at, 1 if session else 0, session),
        )
        return
    more = 1 if session and session != row[3] else 0
    db.execute(
        "UPDATE memory_recall_signals SET recall_count = ?, recall_score = ?, last_recalled_at = ?,"
        " session_count = ?, last_session_id = ? WHERE chunk_id = ?",
        (row[0] + 1, EMA_OLD * row[1] + EMA_NEW * score, at, row[2] + more, session or row[3], chunk),
    )


def read_signals(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, tuple[int, float, int]]:
    """Return count, score and time of the last recall (milliseconds) of some memories that were recalled before."""
    found = {}
    for at in range(0, len(ids), _BATCH):
        some = ids[at : at + _BATCH]
        for row in db.execute(
            "SELECT chunk_id, recall_count, recall_score, last_recalled_at FROM memory_recall_signals"
            f" WHERE chunk_id IN ({','.join('?' * len(some))})",
            some,
        ):
            found[row[0]] = (row[1], row[2], row[3])
    return found
