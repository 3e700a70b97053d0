"""Signals of recall: how often and how well each memory was recalled.

A recall is counted at once, without waiting for the disk, and only a moment for another process. While the records
cannot be written, recalls wait in memory; where these become too many, the oldest are dropped.
"""

from __future__ import annotations

import json
import sqlite3
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from memory.curated.settings import CuratedSettings
from memory.storage.database import Database

_COUNT = """
INSERT INTO memory_recall_signals VALUES (?1, 1, ?2, ?3, ?3, ?4 IS NOT NULL, ?4, NULL, NULL)
ON CONFLICT (chunk_id) DO UPDATE SET recall_count = recall_count + 1,
    recall_score = 0.8 * recall_score + 0.2 * excluded.recall_score, last_recalled_at = excluded.last_recalled_at,
    session_count = session_count + (excluded.last_session_id IS NOT NULL
        AND excluded.last_session_id IS NOT last_session_id),
    last_session_id = coalesce(excluded.last_session_id, last_session_id)
"""
"""Counts one recall: the older scores keep four fifths of their weight."""


class RecallNote(NamedTuple):
    """What a recall leaves behind: its time in milliseconds, rows that `write` inserts, and the scores to count.

    `scores` are by the id of the memory; they are empty where nothing is to be counted.
    """

    at: int
    write: Callable[[sqlite3.Connection], None] | None
    scores: Mapping[str, float]
    session: str | None


class SignalQueue:
    """The recalls of one side that are not in the records yet.

    `dropped` is called in a transaction with a time in milliseconds and the number of lost recalls.
    """

    def __init__(self, file: Database, dropped: Callable[[sqlite3.Connection, int, int], None]) -> None:
        """Keep the place; nothing is opened yet."""
        self._file = file
        self._note_dropped = dropped
        self._waiting: deque[RecallNote] = deque()
        self._lost = self._retries = 0

    def put(self, note: RecallNote, settings: CuratedSettings) -> None:
        """Write what a recall leaves behind, or keep it for the next attempt."""
        self._retries = settings["recall.signals.worker_retry_max"]
        self._waiting.append(note)
        while len(self._waiting) > settings["recall.signals.queue_capacity"]:
            gone = self._waiting.popleft()
            self._lost += bool(gone.scores) and settings["recall.signals.metrics_enabled"]
        self._write()

    def finish(self) -> None:
        """Write what waits, with some more attempts; what cannot be written is lost with the process."""
        for _ in range(1 + self._retries):
            if self._waiting:
                self._write()

    def _write(self) -> None:
        def write(db: sqlite3.Connection) -> bool:
            if self._lost:
                self._note_dropped(db, self._waiting[-1].at, self._lost)
            for note in self._waiting:
                if note.write is not None:
                    note.write(db)
                for chunk, score in note.scores.items():
                    db.execute(_COUNT, (chunk, min(max(score, 0.0), 1.0), note.at, note.session))
            return True

        if self._file.run(write, False, light=True):
            self._waiting.clear()
            self._lost = 0


def read_signals(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, tuple[int, float, int]]:
    """Return count, score and time of the last recall (milliseconds) of some memories that were recalled before."""
    text = (
        "SELECT chunk_id, recall_count, recall_score, last_recalled_at FROM memory_recall_signals"
        " WHERE chunk_id IN (SELECT value FROM json_each(?))"
    )
    return {row[0]: row[1:] for row in db.execute(text, (json.dumps(ids),))}
