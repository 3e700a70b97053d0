"""What is remembered of the monitors of one workspace, outside of it: claims, alerts, mutes, repairs, messages.

One SQLite file in the private state folder. Times are UTC text of one length, so that they compare as text. A
workspace without a state folder remembers as long as the process lives.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from memory.base.clock import format_utc
from memory.storage.log.database import LogFile

from .ledger_tables import RECORD, kind_of

if TYPE_CHECKING:
    import sqlite3

    from memory.storage.places import StateFolder
    from memory.workspace import Workspace

T = TypeVar("T")
KEPT_CLAIMS = 200
"""So many claims of a monitor are kept: by number and not by age, so that no clock that jumps forgets one."""
CLAIMED, STARTED, ENDED = 0, 1, 2
"""The phases of a claim: taken, begun to run, its result recorded."""


def key_of(name: str) -> str:
    """Return the name of a monitor as the record keeps it: bytes that are no UTF-8 are written out."""
    return name.encode("utf-8", "backslashreplace").decode()


def stamp(time: datetime) -> str:
    """Return an instant as the record keeps it."""
    return format_utc(time)


def read_stamp(text: str) -> datetime:
    """Read an instant of the record back, in UTC."""
    return datetime.fromisoformat(text).astimezone(UTC)


def has_record(workspace: Workspace) -> bool:
    """Tell whether anything was ever recorded of a workspace, without opening it."""
    return workspace.state is not None and os.path.exists(workspace.state.folder.path / RECORD)


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A journal entry that waits to be written: when it happened, its title and its lines."""

    seq: int
    at: datetime
    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HeldMessage:
    """A message that waits for the end of quiet hours or of a full channel."""

    seq: int
    monitor: str
    kind: str
    at: datetime
    until: datetime
    priority: str
    title: str
    body: str


class MonitorLedger:
    """The record of one workspace; safe to share between threads and processes."""

    def __init__(self, folder: StateFolder | None) -> None:
        """Nothing is opened or made yet."""
        self._lock = threading.Lock()
        self._file = LogFile(folder, kind=kind_of("FULL"))
        # Marks between a claim and its result: lost in a power cut they do no harm, and a sync for each would cost
        # more than the check.
        self._quick = self._file if folder is None else LogFile(folder, kind=kind_of("NORMAL"))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong with the file so far."""
        return tuple(dict.fromkeys([*self._file.warnings, *self._quick.warnings]))

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        with self._lock:
            self._file.close()
            self._quick.close()

    def run(self, work: Callable[[sqlite3.Connection], T], default: T, *, make: bool = True) -> T:
        """Return `work(connection)`, one transaction, on the disk when this returns; `default` where it fails."""
        with self._lock:
            return self._file.run(work, default, make=make)

    # -- claims -----------------------------------------------------------------------------------------------

    def last_claims(self, now: datetime) -> dict[str, datetime]:
        """Return for each monitor the newest instant claimed that is not in the future."""
        rows = self.run(
            lambda db: db.execute(
                "SELECT monitor, max(due) FROM claim WHERE due <= ? GROUP BY monitor", (stamp(now),)
            ).fetchall(),
            None,
            make=False,
        )
        return {monitor: read_stamp(due) for monitor, due in rows or ()}

    def claim(self, wanted: Iterable[tuple[str, datetime]], now: datetime) -> set[tuple[str, datetime]]:
        """Take (monitor, due instant) pairs and return those that nobody took before; durable when it returns."""

        def work(db: sqlite3.Connection) -> set[tuple[str, datetime]]:
            taken = set()
            for monitor, due in wanted:
                done = db.execute(
                    "INSERT OR IGNORE INTO claim (monitor, due, taken) VALUES (?, ?, ?)",
                    (monitor, stamp(due), stamp(now)),
                )
                if done.rowcount:
                    taken.add((monitor, due))
            return taken

        return self.run(work, set())

    def start(self, claims: Iterable[tuple[str, datetime]]) -> None:
        """Mark claims as begun: from now on a crash leaves them as ones that may have run."""
        rows = [(STARTED, monitor, stamp(due)) for monitor, due in claims]
        with self._lock:
            self._quick.run(
                lambda db: db.executemany("UPDATE claim SET phase = ? WHERE monitor = ? AND due = ?", rows), None
            )

    def end(self, db: sqlite3.Connection, done: Iterable[tuple[str, datetime]]) -> None:
        """Mark claims as done, inside a transaction of `run`; the oldest of each monitor beyond the limit go."""
        for monitor, due in done:
            db.execute("UPDATE claim SET phase = ? WHERE monitor = ? AND due = ?", (ENDED, monitor, stamp(due)))
            db.execute(
                "DELETE FROM claim WHERE monitor = ?1 AND seq <= (SELECT seq FROM claim WHERE monitor = ?1 "
                "ORDER BY seq DESC LIMIT 1 OFFSET ?2)",
                (monitor, KEPT_CLAIMS),
            )

    def take_over(self) -> tuple[str, ...]:
        """Settle what a crash of the last runner left; return the monitors whose run was interrupted.

        Claims that had not begun are given back; those that had may have run and are not run again. Only for who
        holds the workspace's lead: nobody else has open claims then.
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

    def _by_name(self, table: str, column: str) -> dict[str, str]:
        rows = self.run(lambda db: db.execute(f"SELECT monitor, {column} FROM {table}").fetchall(), None, make=False)
        return dict(rows or ())

    def alerts(self) -> dict[str, dict[str, Any]]:
        """Return the alert states, as `alerts.AlertState` writes them."""
        found = {}
        for monitor, text in self._by_name("alert", "state").items():
            try:
                state = json.loads(text)
            except (ValueError, RecursionError):
                continue
            if isinstance(state, dict):
                found[monitor] = state
        return found

    def put_alerts(self, db: sqlite3.Connection, states: Mapping[str, Mapping[str, Any]]) -> None:
        """Keep alert states, inside a transaction of `run`."""
        db.executemany(
            "INSERT INTO alert (monitor, state) VALUES (?, ?) "
            "ON CONFLICT (monitor) DO UPDATE SET state = excluded.state",
            [(monitor, json.dumps(state)) for monitor, state in states.items()],
        )

    def mutes(self) -> dict[str, datetime]:
        """Return until when each muted monitor is muted; `*` is all of them."""
        return {monitor: read_stamp(until) for monitor, until in self._by_name("mute", "until").items()}

    def mute(self, monitor: str, until: datetime | None) -> None:
        """Mute a monitor until an instant; None ends it."""
        self._put("mute", "until", monitor, until)

    def pings(self) -> dict[str, datetime]:
        """Return when each monitor was pinged last."""
        return {monitor: read_stamp(at) for monitor, at in self._by_name("ping", "at").items()}

    def ping(self, monitor: str, at: datetime) -> None:
        """Note that somebody pinged a monitor."""
        self._put("ping", "at", monitor, at)

    def _put(self, table: str, column: str, monitor: str, time: datetime | None) -> None:
        def work(db: sqlite3.Connection) -> None:
            if time is None:
                db.execute(f"DELETE FROM {table} WHERE monitor = ?", (monitor,))
            else:
                db.execute(
                    f"INSERT INTO {table} (monitor, {column}) VALUES (?, ?) "
                    f"ON CONFLICT (monitor) DO UPDATE SET {column} = excluded.{column}",
                    (monitor, stamp(time)),
                )

        self.run(work, None)

    def note(self, key: str) -> Any:
        """Return what is noted under a key; None where nothing readable is."""
        row = self.run(
            lambda db: db.execute("SELECT value FROM note WHERE key = ?", (key,)).fetchone(), None, make=False
        )
        try:
            return None if row is None else json.loads(row[0])
        except (ValueError, RecursionError):
            return None

    def put_note(self, db: sqlite3.Connection, key: str, value: Any) -> None:
        """Note something JSON-able under a key, inside a transaction of `run`."""
        db.execute(
            "INSERT INTO note (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, json.dumps(value)),
        )

    # -- repairs ----------------------------------------------------------------------------------------------

    def remedies(self, monitor: str, limit: int = 20) -> tuple[tuple[datetime, bool | None], ...]:
        """Return the newest repairs of a monitor, newest first: when, and whether it helped (None: not known)."""
        rows = self.run(
            lambda db: db.execute(
                "SELECT at, helped FROM remedy WHERE monitor = ? ORDER BY seq DESC LIMIT ?", (monitor, limit)
            ).fetchall(),
            None,
            make=False,
        )
        return tuple((read_stamp(at), None if helped is None else bool(helped)) for at, helped in rows or ())

    def begin_remedy(self, monitor: str, at: datetime) -> int | None:
        """Count a repair before it runs, on the disk; None where that cannot be done, and it must not run then."""
        return self.run(
            lambda db: db.execute("INSERT INTO remedy (monitor, at) VALUES (?, ?)", (monitor, stamp(at))).lastrowid,
            None,
        )

    def end_remedy(self, seq: int, helped: bool) -> None:
        """Note whether a repair helped."""
        self.run(lambda db: db.execute("UPDATE remedy SET helped = ? WHERE seq = ?", (helped, seq)), None)

    # -- journal entries that wait ----------------------------------------------------------------------------

    def unwritten(self) -> tuple[Unwritten, ...]:
        """Return the journal entries that wait, oldest first."""
        rows = self.run(
            lambda db: db.execute("SELECT seq, at, title, lines FROM unwritten ORDER BY seq").fetchall(),
            None,
            make=False,
        )
        return tuple(
            Unwritten(seq, read_stamp(at), title, tuple(json.loads(lines))) for seq, at, title, lines in rows or ()
        )

    def put_unwritten(self, db: sqlite3.Connection, at: datetime, title: str, lines: Iterable[str]) -> None:
        """Keep a journal entry until it is written, inside a transaction of `run`."""
        db.execute(
            "INSERT INTO unwritten (at, title, lines) VALUES (?, ?, ?)", (stamp(at), title, json.dumps(list(lines)))
        )

    def written(self, seqs: Iterable[int]) -> None:
        """Forget journal entries that were written."""
        self.run(lambda db: db.executemany("DELETE FROM unwritten WHERE seq = ?", [(seq,) for seq in seqs]), None)

    # -- messages ---------------------------------------------------------------------------------------------

    def hold(self, held: Iterable[HeldMessage]) -> None:
        """Keep messages for later; `seq` is not used."""
        self.run(
            lambda db: db.executemany(
                "INSERT INTO held (monitor, kind, at, until, priority, title, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (one.monitor, one.kind, stamp(one.at), stamp(one.until), one.priority, one.title, one.body)
                    for one in held
                ],
            ),
            None,
        )

    def held(self, now: datetime) -> tuple[HeldMessage, ...]:
        """Return the messages whose time has come, oldest first."""
        rows = self.run(
            lambda db: db.execute(
                "SELECT seq, monitor, kind, at, until, priority, title, body FROM held WHERE until <= ? ORDER BY seq",
                (stamp(now),),
            ).fetchall(),
            None,
            make=False,
        )
        return tuple(
            HeldMessage(seq, monitor, kind, read_stamp(at), read_stamp(until), priority, title, body)
            for seq, monitor, kind, at, until, priority, title, body in rows or ()
        )

    def drop_held(self, seqs: Iterable[int]) -> None:
        """Forget messages that were sent."""
        self.run(lambda db: db.executemany("DELETE FROM held WHERE seq = ?", [(seq,) for seq in seqs]), None)

    def sent_since(self, channel: str, since: datetime) -> tuple[tuple[datetime, str], ...]:
        """Return when and what (as hash) was sent to a channel from an instant on."""
        rows = self.run(
            lambda db: db.execute(
                "SELECT at, hash FROM sent WHERE channel = ? AND at >= ?", (channel, stamp(since))
            ).fetchall(),
            None,
            make=False,
        )
        return tuple((read_stamp(at), digest) for at, digest in rows or ())

    def note_sent(self, channel: str, at: datetime, digest: str) -> None:
        """Note that a message went out; only the newest thousand are remembered."""

        def work(db: sqlite3.Connection) -> None:
            row = db.execute("INSERT INTO sent (channel, at, hash) VALUES (?, ?, ?)", (channel, stamp(at), digest))
            db.execute("DELETE FROM sent WHERE seq <= ?", ((row.lastrowid or 0) - 1000,))

        self.run(work, None)
