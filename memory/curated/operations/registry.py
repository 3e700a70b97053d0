"""The one list of operations on curated memory: name, input, function, output.

The verbs of the command line are built from it; so can a server and tools, without a second list.
"""

from __future__ import annotations

from . import memories as on
from . import records as of
from .daily import DAILY
from .dreams import DREAMS
from .extractor import EXTRACTOR
from .operation import (
    DRY_RUN,
    FILENAME,
    SELECTOR,
    SYSTEM,
    TYPE,
    Operation,
    choice,
    flag,
    giving,
    number,
    taking,
    text,
    texts,
)
from .providers import PROVIDERS
from .sessions import SESSIONS

__all__ = ["BY_NAME", "OPERATIONS", "Operation"]

_CONTENT = text("The text of the memory; @FILE reads a file, - standard input.", **{"x-content": True})
_KEY = text("A key of the caller: the same one is carried out once.")
_ID = text("The id of the decision.")
_SESSION, _TURN = text("The session that asks."), number("The turn of the session.")
_QUERY = text("What is looked for, in plain words.")
_DECIDED = giving("decision", "applied", "dry_run")

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "list", "List the memories that one sees, the deepest scope first.", on.list_memories,
        taking(**SELECTOR, type=TYPE, include_shadowed=flag("Include memories that a deeper one hides."),
               include_system=SYSTEM),
        giving("memories", "invalid", "shadowed", rows="memories"), "agh__memory_list", "GET /api/memory",
        example="memdeck curated list --type project",
    ),
    Operation(
        "show", "Show one memory with its whole text.", on.show,
        taking("filename", filename=FILENAME, **SELECTOR, include_system=SYSTEM), giving("memory"),
        "agh__memory_show", "GET /api/memory/{filename}", ("filename",),
        example="memdeck curated show project_deploy-window --scope workspace",
    ),
    Operation(
        "write", "Write a memory through the controller.", on.write,
        taking("type", "name", "content", **SELECTOR, type=TYPE, name=text("The title of the memory."),
               description=text("One sentence by which it is found (default: the first line)."), content=_CONTENT,
               filename=text("The name of its file (default: made of type and name)."),
               entity=text("What the fact is about."), attribute=text("Which fact of it."),
               source_sessions=texts("A session that it comes from."), confidence=text("How sure it is."),
               idempotency_key=_KEY, dry_run=DRY_RUN),
        _DECIDED, "agh__memory_propose", "POST /api/memory", writes=True,
        example="memdeck curated write --type user --name Coffee --content 'likes oat milk'",
    ),
    Operation(
        "edit", "Change a memory through the controller; what is not given stays.", on.edit,
        taking("filename", filename=FILENAME, **SELECTOR, content=_CONTENT, type=TYPE, name=text("Another title."),
               description=text("Another description."), superseded_by=text("The memory that replaces it."),
               idempotency_key=_KEY, dry_run=DRY_RUN),
        _DECIDED, "agh__memory_propose", "PATCH /api/memory/{filename}", ("filename",), True,
        example="memdeck curated edit user_coffee --content 'likes soy milk'",
    ),
    Operation(
        "delete", "Forget a memory through the controller.", on.delete,
        taking("filename", filename=FILENAME, **SELECTOR, idempotency_key=_KEY, dry_run=DRY_RUN), _DECIDED,
        "agh__memory_propose", "DELETE /api/memory/{filename}", ("filename",), True,
        example="memdeck curated delete user_coffee",
    ),
    Operation(
        "search", "Find memories by a question, with every term of their score.", on.search,
        taking("query_text", query_text=_QUERY, **SELECTOR, top_k=number("How many at most, up to 20.", 1),
               raw_candidates=number("How many each index gives.", 1),
               already_surfaced=texts("The id of a memory that was shown already."),
               include_already_surfaced=flag("Show those again."),
               skip_trivial=flag("Skip a query of fewer than two meaningful words."), session_id=_SESSION,
               turn_seq=_TURN, include_system=SYSTEM),
        giving("results", "recall", rows="results"), "agh__memory_search", "POST /api/memory/search", ("query_text",),
        example="memdeck curated search 'what did we decide about the deploy window?'",
    ),
    Operation(
        "note", "Write an ad-hoc note, which no recall returns by itself.", on.note,
        taking("content", content=_CONTENT, **SELECTOR, slug=text("The name of the note."), tags=texts("A tag.")),
        giving("path", "accepted", "created_at"), "agh__memory_note", "POST /api/memory/ad-hoc", writes=True,
        example="memdeck curated note --content 'ask Ada about the port'",
    ),
    Operation(
        "promote", "Copy a memory to another scope; the source stays.", on.promote,
        taking("filename", "from", "to",
               **{"filename": FILENAME, "from": text("The scope it is in: scope or agent:tier."),
                  "to": text("The scope it goes to: scope or agent:tier."), "agent_name": SELECTOR["agent_name"],
                  "idempotency_key": _KEY, "dry_run": DRY_RUN}),
        _DECIDED, "agh__memory_promote", "POST /api/memory/promote", ("filename",), True,
        example="memdeck curated promote project_port --from workspace --to global",
    ),
    Operation(
        "decisions list", "List the decisions of the controller, the newest first.", of.decisions_list,
        taking(**SELECTOR, op=choice("What was decided.", ("noop", "add", "update", "delete", "reject")),
               since=text("Since a time, or for a span such as 24h."), reason=text("A part of the reason."),
               filename=text("The file it is about."), limit=number("How many at most, up to 200.", 1)),
        giving("decisions", rows="decisions"), "agh__memory_decisions_list", "GET /api/memory/decisions",
        example="memdeck curated decisions list --op reject --since 24h",
    ),
    Operation(
        "decisions show", "Show a decision with the rules that led to it.", of.decisions_show, taking("id", id=_ID),
        giving("decision"), "agh__memory_decisions_show", "GET /api/memory/decisions/{decision_id}", ("id",),
        example="memdeck curated decisions show dec_3fa94c1",
    ),
    Operation(
        "decisions revert", "Take a decision back while its file is as it left it.", of.decisions_revert,
        taking("id", id=_ID, reason=text("Why."), dry_run=DRY_RUN), giving("decision", "reverted", "dry_run"),
        "agh__memory_decisions_revert", "POST /api/memory/decisions/{decision_id}/revert", ("id",), True,
        example="memdeck curated decisions revert dec_3fa94c1 --dry-run",
    ),
    Operation(
        "recall trace", "Show how the recall of a turn came about.", of.recall_trace,
        taking("session_id", "turn_seq", session_id=_SESSION, turn_seq=_TURN), giving("trace"),
        "agh__memory_recall_trace", "GET /api/memory/recall-traces/{session_id}/{turn_seq}",
        ("session_id", "turn_seq"), example="memdeck curated recall trace s1 3",
    ),
    Operation(
        "recall block", "Print the memories that go in front of a message.", of.recall_block,
        taking("query_text", query_text=_QUERY, agent_name=SELECTOR["agent_name"], session_id=_SESSION, turn_seq=_TURN),
        giving("text", "skipped_reason"), "agh__memory_recall_block", "POST /api/memory/recall-block",
        ("query_text",), example="memdeck curated recall block 'when do we deploy?' --session s1 --turn 3",
    ),
    Operation(
        "snapshot", "Print the frozen snapshot of a session.", of.snapshot,
        taking("session_id", session_id=_SESSION, agent_name=SELECTOR["agent_name"],
               parent_session_id=text("The session whose snapshot it inherits."),
               query_text=text("What the session is about.")),
        giving("snapshot"), "agh__memory_snapshot", "POST /api/memory/snapshot", ("session_id",),
        example="memdeck curated snapshot s1",
    ),
    Operation(
        "reload", "Make all snapshots outdated.", of.reload, taking(), giving("reloaded_at", "generation"),
        "agh__memory_reload", "POST /api/memory/reload", example="memdeck curated reload",
    ),
    Operation(
        "reindex", "Make the catalogue anew from the files.", of.reindex, taking(**SELECTOR),
        giving("indexed_files", "completed_at"), "agh__memory_reindex", "POST /api/memory/reindex",
        example="memdeck curated reindex",
    ),
    Operation(
        "reset", "Throw the catalogue away and make it anew; files, decisions and signals stay.", of.reset,
        taking(**SELECTOR, derived_only={**flag("Only what is derived."), "default": True},
               confirm=flag("Really do it."), dry_run=DRY_RUN),
        giving("reset_at", "derived_only", "deleted_rows", "deleted_files"), "agh__memory_reset",
        "POST /api/memory/reset", example="memdeck curated reset --confirm",
    ),
    Operation(
        "scope-show", "Show which folders count, in the order of precedence.", of.scope_show, taking(**SELECTOR),
        giving("selector", "precedence", "roots"), "agh__memory_scope_show", "GET /api/memory/scope-show",
        example="memdeck curated scope-show --agent reviewer",
    ),
    Operation(
        "history", "List what was done to memory, the newest first.", of.history,
        taking(scope=SELECTOR["scope"], operation=text("One operation, such as memory.write."),
               since=text("Since a time, or for a span such as 24h."), limit=number("How many at most, up to 100.", 1)),
        giving("operations", rows="operations"), "agh__memory_admin_history", "GET /api/memory/history",
        example="memdeck curated history --since 24h",
    ),
    Operation(
        "health", "Say how memory stands: files, what is wrong, what waits.", of.health, taking(),
        giving("status", "enabled", "global_files", "workspace_files", "provider"), "agh__memory_health",
        "GET /api/memory/health", example="memdeck curated health",
    ),
    Operation(
        "config", "List every setting with its value, default and source.", of.config,
        taking(key=text("One key, or the beginning of some.")), giving("config", "mutable_paths", "locked_paths",
                                                                      rows="config"),
        "agh__memory_config", "GET /api/memory/config", ("key",), example="memdeck curated config recall.weights",
    ),
    *DREAMS,
    *EXTRACTOR,
    *SESSIONS,
    *DAILY,
    *PROVIDERS,
)  # fmt: skip
"""All operations, in the order in which help lists them."""

BY_NAME = {one.name: one for one in OPERATIONS}
