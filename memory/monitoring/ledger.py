"""The record of the monitors of one workspace, stored outside it: runs, alerts, mutes, and what waits; and the
lead, so that one process at a time runs them.

One SQLite file in the private state folder. Times are UTC text of one length, so that they compare as text. Without a
state folder the record exists only in memory, as long as the process lives. A database of a newer version is left
alone.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeVar

from memory.base.clock import format_utc
from memory.storage import fsio
from memory.storage.database import Database, DatabaseKind
from memory.storage.lock import take
from memory.storage.own_folders import StateFolder
from memory.workspace import Workspace

from .result import Result

T = TypeVar("T")
Claims = Mapping[str, datetime]
"""The claimed instants of a run, by the name of the monitor."""
RECORD = "monitors.sqlite"
"""The name of the file."""
WATCHED = "watched"
"""The key of the note on when the last watch was."""
STARTED, ENDED, INTERRUPTED = "started", "ended", "interrupted"
"""The states of a run without a result."""
_TABLES = """
CREATE TABLE run (
    seq INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    kind TEXT NOT NULL DEFAULT 'check',
    due TEXT,
    at TEXT NOT NULL,
    state TEXT NOT NULL,
    summary TEXT NOT NULL DEFAULT '',
    seconds REAL,
    UNIQUE (name, due)
);
CREATE INDEX run_name ON run (name, seq);
CREATE INDEX run_at ON run (at);
CREATE INDEX run_started ON run (state) WHERE state = 'started';
CREATE TABLE kept (kind TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, name));
CREATE TABLE waiting (
    seq INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    at TEXT NOT NULL,
    until TEXT NOT NULL,
    value TEXT NOT NULL
);
"""
"""`run` has a row for each check, remediation, heartbeat and maintenance: `due` is the instant of the schedule for
which it ran, NULL if it was requested. `kept` has the alert state and mute of a monitor, and notes, as JSON.
`waiting` has messages for later, and journal entries that wait for their file.
"""
_KIND = DatabaseKind(RECORD, "the record of monitors", _TABLES, 2, durable=True)
Kept = Literal["alert", "mute", "note"]
KEPT = timedelta(days=35)
"""How long runs are kept."""
KEPT_ALWAYS, MOST_RUNS = 1000, 500_000
"""How many of the newest runs are kept at any age, because clocks jump, and how many at most."""


def key_of(name: str) -> str:
    """Return the name of a monitor as a key of the record: bytes that are no UTF-8 are escaped."""
    return name.encode("utf-8", "backslashreplace").decode()


def read_stamp(text: str) -> datetime:
    """Parse an instant of the record, in UTC."""
    return datetime.fromisoformat(text).astimezone(UTC)


def ledger_of(workspace: Workspace) -> MonitorLedger:
    """Return the record of an open workspace."""
    return MonitorLedger(workspace.state.folder)


@dataclass(frozen=True, slots=True)
class Past:
    """One past result; `at` is UTC text, `seconds` None if it was not measured."""

    at: str
    state: str
    summary: str
    seconds: float | None

    def json(self) -> dict[str, Any]:
        """Return the result under the keys of the interface."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class JournalNote:
    """One journal entry: when it happened, its title, its lines; `seq` is its number while it waits to be written."""

    at: datetime
    title: str
    lines: tuple[str, ...]
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """One message about a monitor (its key in the record); `body` may have several lines."""

    monitor: str
    kind: str
    priority: str
    title: str
    body: str = ""


class MonitorLedger:
    """The record of one workspace; safe to share between threads and processes."""

    def __init__(self, folder: StateFolder | None) -> None:
        """Nothing is opened or created yet."""
        self._file = Database(folder, _KIND)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The errors of the file so far."""
        return tuple(dict.fromkeys(self._file.warnings))

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        self._file.close()

    def run(self, work: Callable[[sqlite3.Connection], T], default: T, *, make: bool = True) -> T:
        """Return `work(connection)`, one transaction that is on disk when this returns; `default` if it fails."""
        return self._file.run(work, default, make=make)

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query; none if there is no record."""
        return self.run(lambda db: db.execute(query, values).fetchall(), [], make=False)

    # -- runs -------------------------------------------------------------------------------------------------

    def last_claims(self, now: datetime) -> dict[str, datetime]:
        """Return for each monitor the newest claimed instant that is not in the future."""
        query = "SELECT name, max(due) FROM run WHERE due <= ? GROUP BY name"
        return {name: read_stamp(due) for name, due in self.rows(query, format_utc(now))}

    def claim(self, wanted: Iterable[tuple[str, datetime]], now: datetime) -> set[tuple[str, datetime]]:
        """Claim (monitor, due instant) pairs and return those that were not claimed before; durable when it returns.

        What a crash interrupts from then on may have run, and is not run again.
        """

        def work(db: sqlite3.Connection) -> set[tuple[str, datetime]]:
            query = "INSERT OR IGNORE INTO run (name, due, at, state) VALUES (?, ?, ?, ?)"
            return {
                (name, due)
                for name, due in wanted
                if db.execute(query, (name, format_utc(due), format_utc(now), STARTED)).rowcount
            }

        return self.run(work, set())

    def end(self, db: sqlite3.Connection, done: Iterable[tuple[str, datetime]]) -> None:
        """Mark claims as done, inside a transaction of `run`."""
        rows = [(ENDED, name, format_utc(due)) for name, due in done]
        db.executemany("UPDATE run SET state = ? WHERE name = ? AND due = ?", rows)

    def record(self, db: sqlite3.Connection, results: Iterable[Result], now: datetime, due: Claims) -> None:
        """Add results of one run, inside a transaction of `run`, and delete the oldest; `due` has the claimed instants.

        A result of a claimed instant ends its claim.
        """
        for result in results:
            instant = due.get(result.monitor)
            seconds = round(result.seconds, 4) if result.state in ("healthy", "failing", "error") else None
            db.execute(
                "INSERT INTO run (name, due, at, state, summary, seconds) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (name, due) DO UPDATE SET at = excluded.at, state = excluded.state, "
                "summary = excluded.summary, seconds = excluded.seconds",
                (
                    key_of(result.monitor),
                    None if instant is None else format_utc(instant),
                    format_utc(now),
                    result.state,
                    key_of(result.summary),
                    seconds,
                ),
            )
        newest = db.execute("SELECT max(seq) FROM run").fetchone()[0] or 0
        db.execute("DELETE FROM run WHERE at < ? AND seq <= ?", (format_utc(now - KEPT), newest - KEPT_ALWAYS))
        db.execute("DELETE FROM run WHERE seq <= ?", (newest - MOST_RUNS,))

    def last_results(self, limit: int) -> Mapping[str, tuple[Past, ...]]:
        """Return the newest results of each monitor, newest first."""
        query = (
            "SELECT name, at, state, summary, seconds FROM (SELECT *, row_number() OVER "
            "(PARTITION BY name ORDER BY at DESC, seq DESC) AS place FROM run WHERE kind = 'check' "
            "AND state IN ('healthy', 'failing', 'error', 'blocked')) WHERE place <= ? ORDER BY name, place"
        )
        found: dict[str, list[Past]] = {}
        for monitor, *past in self.rows(query, limit):
            found.setdefault(monitor, []).append(Past(*past))
        return {monitor: tuple(past) for monitor, past in found.items()}

    def take_over(self) -> tuple[str, ...]:
        """Return the monitors whose run was interrupted by a crash of the last runner, and mark them so.

        Only for the holder of the workspace's lead: no other process runs monitors then.
        """

        def work(db: sqlite3.Connection) -> tuple[str, ...]:
            found = db.execute("SELECT name FROM run WHERE state = ?", (STARTED,)).fetchall()
            db.execute("UPDATE run SET state = ? WHERE state = ?", (INTERRUPTED, STARTED))
            return tuple(name for (name,) in found)

        return self.run(work, (), make=False)

    def remedies(self, monitor: str, limit: int = 20) -> tuple[tuple[datetime, bool], ...]:
        """Return the newest repairs of a monitor, newest first: when, and whether it is known to have helped."""
        query = "SELECT at, state FROM run WHERE name = ? AND kind = 'remedy' ORDER BY seq DESC LIMIT ?"
        return tuple((read_stamp(at), state == "helped") for at, state in self.rows(query, monitor, limit))

    def begin_remedy(self, monitor: str, at: datetime) -> int | None:
        """Record a repair on disk before it runs; None if that fails, and it must not run then."""
        query = "INSERT INTO run (name, kind, at, state) VALUES (?, 'remedy', ?, 'useless')"
        return self.run(lambda db: db.execute(query, (monitor, format_utc(at))).lastrowid, None)

    def end_remedy(self, seq: int) -> None:
        """Record that a repair helped."""
        self.run(lambda db: db.execute("UPDATE run SET state = 'helped' WHERE seq = ?", (seq,)), None)

    # -- values kept by name ----------------------------------------------------------------------------------

    def kept(self, kind: Kept) -> dict[str, Any]:
        """Return the kept values of one kind, by the name of the monitor."""
        return {
            name: json.loads(value) for name, value in self.rows("SELECT name, value FROM kept WHERE kind = ?", kind)
        }

    def put(self, db: sqlite3.Connection, kind: Kept, values: Mapping[str, object]) -> None:
        """Keep JSON-able values by name, inside a transaction of `run`; None removes one."""
        for name, value in values.items():
            db.execute("DELETE FROM kept WHERE kind = ? AND name = ?", (kind, name))
            if value is not None:
                db.execute("INSERT INTO kept VALUES (?, ?, ?)", (kind, name, json.dumps(value)))

    def mutes(self) -> dict[str, datetime]:
        """Return until when each monitor is muted; `*` means all."""
        return {name: read_stamp(at) for name, at in self.kept("mute").items()}

    def mute(self, monitor: str, until: datetime | None) -> None:
        """Mute a monitor until an instant; None ends the mute."""
        self.run(lambda db: self.put(db, "mute", {monitor: None if until is None else format_utc(until)}), None)

    # -- what waits -------------------------------------------------------------------------------------------

    def unwritten(self) -> tuple[JournalNote, ...]:
        """Return the journal entries that wait, oldest first."""
        rows = self.rows("SELECT seq, at, value FROM waiting WHERE kind = 'journal' ORDER BY seq")
        found = ((seq, read_stamp(at), json.loads(value)) for seq, at, value in rows)
        return tuple(JournalNote(at, value["title"], tuple(value["lines"]), seq) for seq, at, value in found)

    def put_unwritten(self, db: sqlite3.Connection, note: JournalNote) -> None:
        """Store a journal entry until it is written, inside a transaction of `run`."""
        _wait(db, "journal", note.at, note.at, {"title": note.title, "lines": note.lines})

    def hold(self, message: Message, at: datetime, until: datetime) -> None:
        """Store a message for later."""
        self.run(lambda db: _wait(db, "message", at, until, asdict(message)), None)

    def held(self, now: datetime) -> tuple[tuple[int, datetime, Message], ...]:
        """Return the held messages that are due, oldest first, each with its number and since when it waits."""
        query = "SELECT seq, at, value FROM waiting WHERE kind = 'message' AND until <= ? ORDER BY seq"
        rows = self.rows(query, format_utc(now))
        return tuple((seq, read_stamp(at), Message(**json.loads(value))) for seq, at, value in rows)

    def drop(self, seqs: Iterable[int]) -> None:
        """Delete messages that were sent, or journal entries that were written."""
        self.run(lambda db: db.executemany("DELETE FROM waiting WHERE seq = ?", [(seq,) for seq in seqs]), None)


def _wait(db: sqlite3.Connection, kind: str, at: datetime, until: datetime, value: Mapping[str, object]) -> None:
    values = (kind, format_utc(at), format_utc(until), json.dumps(value))
    db.execute("INSERT INTO waiting (kind, at, until, value) VALUES (?, ?, ?, ?)", values)


NAME = "monitors.lock"
"""The lead of one run: no other process runs monitors meanwhile."""
WATCH = "watch.lock"
"""The lead of an open application: no other one runs the schedule while it is open. Cron jobs need only `NAME`."""


class Leader:
    """A lock on a permanent file in the private state folder, which the system releases when its holder dies."""

    def __init__(self, folder: StateFolder, name: str = NAME) -> None:
        """Nothing is opened yet."""
        self._folder = folder
        self._name = name
        self._fd = -1

    def take(self, wait: float = 0.0) -> bool:
        """Take the lead, waiting up to `wait` seconds; return whether this succeeded. RefusedError `state.*`."""
        with self._folder.opened() as folder:
            self._fd = fsio.open_lock(self._name, folder, self._name)
        taken = False
        try:
            taken = take(self._fd, wait)
        finally:
            if not taken:
                self.close()
        return taken

    def close(self) -> None:
        """Release the lead if it was taken."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)
