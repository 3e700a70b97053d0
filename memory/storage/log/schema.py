"""The tables of the change log: changes with their files, what was different in them, and how files looked last.

`change.seq` is the order in which changes were made, whatever their clocks said. `region` holds bytes, and nothing in
it is ever taken for a path: `file.path` names a file as seen from the workspace and is compared, never followed.
`base_data` holds the bytes of a file before the change that `base` names; with the regions since then it gives the
last known bytes. `taken_back` holds what a change from outside (`seq`) took back of memdeck's changes: `since` is the
oldest change that it lacks, `settled` the change that brought it back, or `kept` where a person left it as it is.
"""

from __future__ import annotations

VERSION = 5
"""Stored as `user_version`; a database of a newer version is left alone."""

UPGRADES: dict[int, str] = {
    # Only the workspace memory had a log then, with paths relative to its folder.
    1: """
UPDATE file SET path = '.aiter/' || path;
UPDATE seen SET path = '.aiter/' || path;
UPDATE base SET path = '.aiter/' || path;
UPDATE base_data SET path = '.aiter/' || path;
""",
    # Which mode a removed file had was not kept.
    2: """
ALTER TABLE file ADD COLUMN mode INTEGER;
""",
    # What another program's save took back of memdeck's changes was not noted.
    3: """
CREATE TABLE taken_back (
    seq INTEGER NOT NULL REFERENCES change ON DELETE CASCADE,
    n INTEGER NOT NULL,
    since TEXT NOT NULL,
    change_id TEXT NOT NULL,
    ref TEXT,
    title BLOB NOT NULL,
    kind TEXT NOT NULL,
    whole INTEGER NOT NULL,
    settled TEXT
);
CREATE INDEX taken_back_seq ON taken_back (seq);
""",
    # Who accepted a change was not noted.
    4: """
ALTER TABLE change ADD COLUMN reviewer TEXT;
ALTER TABLE change ADD COLUMN proposal TEXT;
CREATE INDEX change_proposal ON change (proposal) WHERE proposal IS NOT NULL;
""",
}
"""What makes the tables of each older version those of the next one."""

TABLES = """
CREATE TABLE change (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    time TEXT NOT NULL,
    actor TEXT NOT NULL,
    operation TEXT NOT NULL,
    summary TEXT NOT NULL,
    status TEXT NOT NULL,
    undone_by TEXT,
    undoes TEXT,
    redoes TEXT,
    named INTEGER NOT NULL DEFAULT 0,
    reviewer TEXT,
    proposal TEXT
);
CREATE INDEX change_proposal ON change (proposal) WHERE proposal IS NOT NULL;
CREATE INDEX change_pending ON change (status) WHERE status = 'pending';
CREATE TABLE file (
    seq INTEGER NOT NULL REFERENCES change ON DELETE CASCADE,
    n INTEGER NOT NULL,
    path TEXT NOT NULL,
    before_size INTEGER,
    before_hash BLOB,
    after_size INTEGER,
    after_hash BLOB,
    kept INTEGER,
    mode INTEGER,
    PRIMARY KEY (seq, n)
) WITHOUT ROWID;
CREATE INDEX file_path ON file (path, seq);
CREATE TABLE region (
    seq INTEGER NOT NULL REFERENCES change ON DELETE CASCADE,
    n INTEGER NOT NULL,
    k INTEGER NOT NULL,
    kind TEXT NOT NULL,
    start INTEGER NOT NULL,
    before BLOB NOT NULL,
    after BLOB NOT NULL,
    section BLOB,
    above BLOB,
    below BLOB
);
CREATE INDEX region_file ON region (seq, n, k);
CREATE TABLE touched (
    seq INTEGER NOT NULL REFERENCES change ON DELETE CASCADE,
    n INTEGER NOT NULL,
    ref TEXT,
    old_ref TEXT,
    title BLOB NOT NULL,
    kind TEXT NOT NULL
);
CREATE INDEX change_unnamed ON change (seq) WHERE named = 0;
CREATE INDEX touched_seq ON touched (seq);
CREATE INDEX touched_ref ON touched (ref) WHERE ref IS NOT NULL;
CREATE TABLE taken_back (
    seq INTEGER NOT NULL REFERENCES change ON DELETE CASCADE,
    n INTEGER NOT NULL,
    since TEXT NOT NULL,
    change_id TEXT NOT NULL,
    ref TEXT,
    title BLOB NOT NULL,
    kind TEXT NOT NULL,
    whole INTEGER NOT NULL,
    settled TEXT
);
CREATE INDEX taken_back_seq ON taken_back (seq);
CREATE TABLE seen (
    path TEXT PRIMARY KEY,
    size INTEGER,
    hash BLOB,
    dev INTEGER,
    ino INTEGER,
    mtime INTEGER,
    ctime INTEGER
) WITHOUT ROWID;
CREATE TABLE base (
    path TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    grown INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE base_data (
    path TEXT PRIMARY KEY,
    data BLOB
);
"""

CONNECTION = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA foreign_keys = ON;
PRAGMA trusted_schema = OFF;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -4000;
PRAGMA wal_autocheckpoint = 4000;
PRAGMA journal_size_limit = 4000000;
"""
"""A commit is one write without a sync: after a power cut the newest rows may be missing, the files are there."""
