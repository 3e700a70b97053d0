"""The tables in which is remembered what became of monitors; a database of another version is left alone.

`claim` holds one row for each instant that was run, `phase` how far that came. `alert` holds states as JSON, `held`
messages that wait, `sent` what went out, `unwritten` journal entries that wait for their file.
"""

from __future__ import annotations

from memory.storage.log.database import DatabaseKind

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
_CONNECTION = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = {};
PRAGMA trusted_schema = OFF;
PRAGMA temp_store = MEMORY;
PRAGMA journal_size_limit = 4000000;
"""


RECORD = "monitors.sqlite"
"""The name of the file."""


def kind_of(synchronous: str) -> DatabaseKind:
    """Return the database with a mode of `PRAGMA synchronous`: FULL or NORMAL."""
    return DatabaseKind(
        RECORD,
        "monitors.damaged.sqlite",
        "the record of monitors",
        _TABLES,
        1,
        _CONNECTION.format(synchronous),
    )
