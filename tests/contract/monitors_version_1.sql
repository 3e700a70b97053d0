
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
PRAGMA user_version = 1;
