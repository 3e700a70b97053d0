"""The record of the monitors of one workspace, stored outside it: claims, alerts, mutes, repairs, messages.

One SQLite file in the private state folder. Times are UTC text of one length, so that they compare as text. Without a
state folder the record exists only in memory, as long as the process lives. A database of another version is left
alone.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

from memory.base.clock import format_utc
from memory.base.json_objects import read_object
from memory.storage.log.database import DatabaseKind, LogFile
from memory.storage.own_folders import StateFolder
from memory.workspace import Workspace

T = TypeVar("T")
RECORD = "monitors.sqlite"
"""The name of the file."""
KEPT_CLAIMS = 200
"""How many claims of a monitor are kept: by number and not by age, so that clock jumps lose none."""
CLAIMED, STARTED, ENDED = 0, 1, 2
"""The phases of a claim: taken, started, result recorded."""
_TABLES = """
CREATE TABLE claim (
    seq INTEGER PRIMARY KEY,
    monitor TEXT NOT NULL,
    due TEXT NOT NULL,
    taken TEXT NOT NULL,
    phase INTEGER NOT NULL DEFAULT 0,
    UNIQUE (monitor, due)
);
CREATE INDEX claim_open ON claim (phase) WHERE phase < 2;
CREATE TABLE result (
    seq INTEGER PRIMARY KEY,
    monitor TEXT NOT NULL,
    at TEXT NOT NULL,
    state TEXT NOT NULL,
    summary TEXT NOT NULL,
    seconds REAL
);
CREATE INDEX result_monitor ON result (monitor, seq);
CREATE TABLE hour (
    monitor TEXT NOT NULL,
    hour TEXT NOT NULL,
    checks INTEGER NOT NULL,
    up INTEGER NOT NULL,
    seconds REAL NOT NULL,
    slowest REAL NOT NULL,
    PRIMARY KEY (monitor, hour)
) WITHOUT ROWID;
CREATE TABLE alert (monitor TEXT PRIMARY KEY, state TEXT NOT NULL);
CREATE TABLE mute (monitor TEXT PRIMARY KEY, until TEXT NOT NULL);
CREATE TABLE ping (monitor TEXT PRIMARY KEY, at TEXT NOT NULL);
CREATE TABLE remedy (seq INTEGER PRIMARY KEY, monitor TEXT NOT NULL, at TEXT NOT NULL, helped INTEGER);
CREATE INDEX remedy_monitor ON remedy (monitor, seq);
CREATE TABLE held (
    seq INTEGER PRIMARY KEY,
    monitor TEXT NOT NULL,
    kind TEXT NOT NULL,
    at TEXT NOT NULL,
    until TEXT NOT NULL,
    priority TEXT NOT NULL,
    title TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE TABLE sent (seq INTEGER PRIMARY KEY, channel TEXT NOT NULL, at TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE unwritten (seq INTEGER PRIMARY KEY, at TEXT NOT NULL, title TEXT NOT NULL, lines TEXT NOT NULL);
CREATE TABLE note (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
"""`claim` has one row for each instant that was run, `phase` how far that got. `alert` has states as JSON, `held`
messages that wait, `sent` those that were sent, `unwritten` journal entries that wait for their file.
"""
_CONNECTION = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = {};
PRAGMA trusted_schema = OFF;
PRAGMA temp_store = MEMORY;
PRAGMA journal_size_limit = 4000000;
"""


def key_of(name: str) -> str:
    """Return the name of a monitor as a key of the record: bytes that are no UTF-8 are escaped."""
    return name.encode("utf-8", "backslashreplace").decode()


def read_stamp(text: str) -> datetime:
    """Parse an instant of the record, in UTC."""
    return datetime.fromisoformat(text).astimezone(UTC)


def ledger_of(workspace: Workspace) -> MonitorLedger:
    """Return the record of an open workspace."""
    return MonitorLedger(None if workspace.state is None else workspace.state.folder)


def has_record(workspace: Workspace) -> bool:
    """Return whether anything was ever recorded of a workspace, without opening the record."""
    return workspace.state is not None and os.path.exists(workspace.state.folder.path / RECORD)


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


@dataclass(frozen=True, slots=True)
class HeldMessage:
    """A message that waits since `at` for the end of quiet hours or for room in a channel."""

    seq: int
    at: datetime
    message: Message


class MonitorLedger:
    """The record of one workspace; safe to share between threads and processes."""

    def __init__(self, folder: StateFolder | None) -> None:
        """Nothing is opened or created yet."""
        self._file = LogFile(folder, kind=_kind("FULL"))
        # For marks between a claim and its result: losing them in a power cut does no harm, and a sync for each would
        # cost more than the check.
        self._quick = self._file if folder is None else LogFile(folder, kind=_kind("NORMAL"))

    @property
    def warnings(self) -> tuple[str, ...]:
        """The errors of the file so far."""
        return tuple(dict.fromkeys([*self._file.warnings, *self._quick.warnings]))

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        self._file.close()
        self._quick.close()

    def run(self, work: Callable[[sqlite3.Connection], T], default: T, *, make: bool = True) -> T:
        """Return `work(connection)`, one transaction that is on disk when this returns; `default` if it fails."""
        return self._file.run(work, default, make=make)

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query; none if there is no record."""
        return self.run(lambda db: db.execute(query, values).fetchall(), [], make=False)

    # -- claims -----------------------------------------------------------------------------------------------

    def last_claims(self, now: datetime) -> dict[str, datetime]:
        """Return for each monitor the newest claimed instant that is not in the future."""
        query = "SELECT monitor, max(due) FROM claim WHERE due <= ? GROUP BY monitor"
        return {monitor: read_stamp(due) for monitor, due in self.rows(query, format_utc(now))}

    def claim(self, wanted: Iterable[tuple[str, datetime]], now: datetime) -> set[tuple[str, datetime]]:
        """Claim (monitor, due instant) pairs and return those that were not claimed before; durable when it returns."""

        def work(db: sqlite3.Connection) -> set[tuple[str, datetime]]:
            taken = set()
            for monitor, due in wanted:
                done = db.execute(
                    "INSERT OR IGNORE INTO claim (monitor, due, taken) VALUES (?, ?, ?)",
                    (monitor, format_utc(due), format_utc(now)),
                )
                if done.rowcount:
                    taken.add((monitor, due))
            return taken

        return self.run(work, set())

    def start(self, claims: Iterable[tuple[str, datetime]]) -> None:
        """Mark claims as started: after a crash they count as possibly run."""
        rows = [(STARTED, monitor, format_utc(due)) for monitor, due in claims]
        self._quick.run(
            lambda db: db.executemany("UPDATE claim SET phase = ? WHERE monitor = ? AND due = ?", rows), None
        )

    def end(self, db: sqlite3.Connection, done: Iterable[tuple[str, datetime]]) -> None:
        """Mark claims as done, inside a transaction of `run`; delete the oldest of each monitor beyond the limit."""
        for monitor, due in done:
            db.execute("UPDATE claim SET phase = ? WHERE monitor = ? AND due = ?", (ENDED, monitor, format_utc(due)))
            db.execute(
                "DELETE FROM claim WHERE monitor = ?1 AND seq <= (SELECT seq FROM claim WHERE monitor = ?1 "
                "ORDER BY seq DESC LIMIT 1 OFFSET ?2)",
                (monitor, KEPT_CLAIMS),
            )

    def take_over(self) -> tuple[str, ...]:
        """Clean up after a crash of the last runner; return the monitors whose run was interrupted.

        Claims that had not started are released; those that had may have run and are not run again. Only for the holder
        of the workspace's lead: no other process has open claims then.
        """

        def work(db: sqlite3.Connection) -> tuple[str, ...]:
            open_ = db.execute("SELECT monitor, phase FROM claim WHERE phase < ?", (ENDED,)).fetchall()
            if not open_:
                return ()
            db.execute("DELETE FROM claim WHERE phase = ?", (CLAIMED,))
            db.execute("UPDATE claim SET phase = ? WHERE phase = ?", (ENDED, STARTED))
            return tuple(monitor for monitor, phase in open_ if phase == STARTED)

        return self.run(work, (), make=False)

    # -- what is kept by name ---------------------------------------------------------------------------------

    def alerts(self) -> dict[str, dict[str, Any]]:
        """Return the alert states, as `alerts.AlertState` writes them."""
        return {monitor: read_object(text) for monitor, text in self.rows("SELECT monitor, state FROM alert")}

    def put_alerts(self, db: sqlite3.Connection, states: Mapping[str, Mapping[str, Any]]) -> None:
        """Store alert states, inside a transaction of `run`."""
        db.executemany(
            "INSERT INTO alert (monitor, state) VALUES (?, ?) "
            "ON CONFLICT (monitor) DO UPDATE SET state = excluded.state",
            [(monitor, json.dumps(state)) for monitor, state in states.items()],
        )

    def mutes(self) -> dict[str, datetime]:
        """Return until when each muted monitor is muted; `*` stands for all."""
        return {monitor: read_stamp(until) for monitor, until in self.rows("SELECT monitor, until FROM mute")}

    def mute(self, monitor: str, until: datetime | None) -> None:
        """Mute a monitor until an instant; None ends the mute."""
        self._put("mute", "until", monitor, until)

    def pings(self) -> dict[str, datetime]:
        """Return when each monitor was pinged last."""
        return {monitor: read_stamp(at) for monitor, at in self.rows("SELECT monitor, at FROM ping")}

    def ping(self, monitor: str, at: datetime) -> None:
        """Record a ping of a monitor."""
        self._put("ping", "at", monitor, at)

    def _put(self, table: str, column: str, monitor: str, time: datetime | None) -> None:
        def work(db: sqlite3.Connection) -> None:
            if time is None:
                db.execute(f"DELETE FROM {table} WHERE monitor = ?", (monitor,))
            else:
                db.execute(
                    f"INSERT INTO {table} (monitor, {column}) VALUES (?, ?) "
                    f"ON CONFLICT (monitor) DO UPDATE SET {column} = excluded.{column}",
                    (monitor, format_utc(time)),
                )

        self.run(work, None)

    def note(self, key: str) -> dict[str, Any]:
        """Return the note under a key; empty if it is missing or unreadable."""
        return next((read_object(text) for (text,) in self.rows("SELECT value FROM note WHERE key = ?", key)), {})

    def put_note(self, db: sqlite3.Connection, key: str, value: Mapping[str, Any]) -> None:
        """Store a JSON-able note under a key, inside a transaction of `run`."""
        db.execute(
            "INSERT INTO note (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, json.dumps(value)),
        )

    # -- repairs ----------------------------------------------------------------------------------------------

    def remedies(self, monitor: str, limit: int = 20) -> tuple[tuple[datetime, bool | None], ...]:
        """Return the newest repairs of a monitor, newest first: when, and whether it helped (None: not known)."""
        query = "SELECT at, helped FROM remedy WHERE monitor = ? ORDER BY seq DESC LIMIT ?"
        rows = self.rows(query, monitor, limit)
        return tuple((read_stamp(at), None if helped is None else bool(helped)) for at, helped in rows)

    def begin_remedy(self, monitor: str, at: datetime) -> int | None:
        """Record a repair on disk before it runs; None if that fails, and it must not run then."""
        return self.run(
            lambda db: (
                db.execute("INSERT INTO remedy (monitor, at) VALUES (?, ?)", (monitor, format_utc(at))).lastrowid
            ),
            None,
        )

    def end_remedy(self, seq: int, helped: bool) -> None:
        """Record whether a repair helped."""
        self.run(lambda db: db.execute("UPDATE remedy SET helped = ? WHERE seq = ?", (helped, seq)), None)

    # -- journal entries that wait ----------------------------------------------------------------------------

    def unwritten(self) -> tuple[JournalNote, ...]:
        """Return the journal entries that wait, oldest first."""
        rows = self.rows("SELECT at, title, lines, seq FROM unwritten ORDER BY seq")
        return tuple(
            JournalNote(read_stamp(at), title, tuple(json.loads(lines)), seq) for at, title, lines, seq in rows
        )

    def put_unwritten(self, db: sqlite3.Connection, note: JournalNote) -> None:
        """Store a journal entry until it is written, inside a transaction of `run`."""
        values = (format_utc(note.at), note.title, json.dumps(note.lines))
        db.execute("INSERT INTO unwritten (at, title, lines) VALUES (?, ?, ?)", values)

    # -- messages ---------------------------------------------------------------------------------------------

    def hold(self, message: Message, at: datetime, until: datetime) -> None:
        """Store a message for later."""
        times = (format_utc(at), format_utc(until))
        values = (message.monitor, message.kind, *times, message.priority, message.title, message.body)
        self.run(
            lambda db: db.execute(
                "INSERT INTO held (monitor, kind, at, until, priority, title, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
                values,
            ),
            None,
        )

    def held(self, now: datetime) -> tuple[HeldMessage, ...]:
        """Return the held messages that are due, oldest first."""
        query = "SELECT seq, at, monitor, kind, priority, title, body FROM held WHERE until <= ? ORDER BY seq"
        return tuple(
            HeldMessage(seq, read_stamp(at), Message(*parts)) for seq, at, *parts in self.rows(query, format_utc(now))
        )

    def drop(self, table: Literal["held", "unwritten"], seqs: Iterable[int]) -> None:
        """Delete messages that were sent, or journal entries that were written."""
        self.run(lambda db: db.executemany(f"DELETE FROM {table} WHERE seq = ?", [(seq,) for seq in seqs]), None)

    def sent_since(self, channel: str, since: datetime) -> tuple[tuple[datetime, str], ...]:
        """Return when and what (as hash) was sent to a channel since an instant."""
        query = "SELECT at, hash FROM sent WHERE channel = ? AND at >= ?"
        return tuple((read_stamp(at), digest) for at, digest in self.rows(query, channel, format_utc(since)))

    def note_sent(self, channel: str, at: datetime, digest: str) -> None:
        """Record that a message was sent; only the newest thousand are kept."""

        def work(db: sqlite3.Connection) -> None:
            row = db.execute("INSERT INTO sent (channel, at, hash) VALUES (?, ?, ?)", (channel, format_utc(at), digest))
            db.execute("DELETE FROM sent WHERE seq <= ?", ((row.lastrowid or 0) - 1000,))

        self.run(work, None)


def _kind(synchronous: str) -> DatabaseKind:
    """Return the kind of database for a mode of `PRAGMA synchronous`: FULL or NORMAL."""
    connection = _CONNECTION.format(synchronous)
    return DatabaseKind(RECORD, "monitors.damaged.sqlite", "the record of monitors", _TABLES, 1, connection)
