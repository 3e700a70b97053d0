"""The tables of both databases: the records, which nothing else holds, and the catalogue, made of the files."""

from __future__ import annotations

from memory.storage.log.database import DatabaseKind
from memory.storage.log.schema import CONNECTION

OPERATIONS = (
    "memory.write.committed", "memory.write.rejected", "memory.write.shadowed", "memory.write.reindex",
    "memory.write.reverted", "memory.recall.executed", "memory.recall.skipped", "memory.recall.signal_dropped",
    "memory.decisions.audit_summarized", "memory.decisions.pruned", "memory.dream.run.started",
    "memory.dream.run.promoted", "memory.dream.run.failed", "memory.extractor.started", "memory.extractor.completed",
    "memory.extractor.failed", "memory.extractor.coalesced", "memory.extractor.dropped", "memory.provider.enabled",
    "memory.provider.disabled", "memory.provider.collision", "memory.daily.rotated", "memory.daily.archived",
    "memory.daily.restored", "memory.daily.purged", "memory.workspace.relocated", "memory.workspace.recovered",
)  # fmt: skip
"""The names of events."""

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
    id TEXT PRIMARY KEY, workspace_id TEXT, scope TEXT, agent_name TEXT, agent_tier TEXT, started_at INTEGER NOT NULL,
    finished_at INTEGER, status TEXT NOT NULL, input_count INTEGER NOT NULL, promoted_count INTEGER NOT NULL,
    error TEXT, metadata TEXT NOT NULL);
CREATE TABLE memory_recall_traces (
    session_id TEXT NOT NULL, turn_seq INTEGER NOT NULL, executed_at INTEGER NOT NULL, trace TEXT NOT NULL,
    PRIMARY KEY (session_id, turn_seq));
CREATE TABLE memory_snapshots (
    session_id TEXT PRIMARY KEY, generation INTEGER NOT NULL, captured_at INTEGER NOT NULL, snapshot TEXT NOT NULL);
CREATE TABLE memory_about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_QUEUE = """
CREATE TABLE memory_recall_queue (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, session_id TEXT, scores TEXT NOT NULL)
"""


def records(name: str) -> DatabaseKind:
    """Return the database of the records of one side; `name` tells that of a copied workspace from the first one.

    A commit is on the disk before a file changes: what a power cut interrupts can be finished.
    """
    ending = f"-{name}" if name else ""
    return DatabaseKind(
        f"curated{ending}.sqlite",
        f"curated{ending}.damaged.sqlite",
        "the record of decisions",
        _RECORDS + _QUEUE,
        2,
        CONNECTION.replace("synchronous = NORMAL", "synchronous = FULL"),
        {1: _QUEUE},
    )


CATALOG_VERSION = "3"
CATALOG = """
CREATE TABLE memory_catalog_entries (
    id INTEGER PRIMARY KEY, root TEXT NOT NULL, filename TEXT NOT NULL, type TEXT, slug TEXT, name TEXT,
    description TEXT, body TEXT, header TEXT, content_hash TEXT, body_hash TEXT, mtime_ns INTEGER NOT NULL,
    seen_mtime INTEGER NOT NULL, seen_size INTEGER NOT NULL, seen_inode INTEGER NOT NULL,
    error_line INTEGER, error_code TEXT, error TEXT, UNIQUE (root, filename));
CREATE INDEX entries_by_body ON memory_catalog_entries (body_hash);
CREATE INDEX entries_by_time ON memory_catalog_entries (root, mtime_ns);
CREATE INDEX entries_by_slug ON memory_catalog_entries (type, slug);
CREATE TABLE memory_chunks (
    id TEXT PRIMARY KEY, entry INTEGER NOT NULL UNIQUE, content TEXT NOT NULL, content_hash TEXT NOT NULL,
    start_line INTEGER NOT NULL, end_line INTEGER NOT NULL);
CREATE VIRTUAL TABLE memory_chunks_fts USING fts5(
    name, description, body, grams, tokenize = 'unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE memory_chunks_fts_trigram USING fts5(content, tokenize = 'trigram');
CREATE VIRTUAL TABLE memory_words USING fts5vocab(memory_chunks_fts, 'row');
CREATE TABLE memory_terms (term TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE memory_catalog_state (root TEXT PRIMARY KEY, index_hash TEXT NOT NULL)
"""
