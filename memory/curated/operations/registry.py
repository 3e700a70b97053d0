"""The operations on curated memory: each with what it takes, its names for tools and servers, and its function."""

from __future__ import annotations

from memory.base.safe_text import plural
from memory.curated import providers, sessions, upkeep
from memory.curated.dreaming import dream as dreams
from memory.curated.extract import turns as extractor
from memory.curated.model import OperationCall
from memory.operations import Whole

from . import lines, memories, records
from .operation import (
    AGENT,
    DRY_RUN,
    FILENAME,
    IN_SESSION,
    KEY,
    ONE_SCOPE,
    SCOPE,
    SELECTOR,
    SESSION,
    SYSTEM,
    TYPE,
    CuratedOperation,
    OneOf,
    content,
    curated,
    flag,
    number,
    place,
    text,
    texts,
)

__all__ = ["BY_NAME", "OPERATIONS", "CuratedOperation", "OperationCall", "curated"]

_ID, _PROVIDER = place("id", "The id of the decision."), place("name", "The name of the provider.")
_TURN, _AT_TURN = number("turn_seq", "The turn of the session."), place("turn_seq", "The turn.", Whole())
_QUERY, _REASON = place("query_text", "The search text, in plain words."), text("reason", "Why.")
_SINCE = text("since", "Since a time, or for a span such as 24h.")
_RUN = place("run_id", "The id of a run, or a day such as 2026-01-15 for the newest of it.")
_WORKSPACE = text("workspace_id", "The id of its workspace (default: this one, else any).")
_LEDGER = "/api/workspaces/{workspace_id}/memory/sessions/{session_id}"

OPERATIONS: tuple[CuratedOperation, ...] = (
    # -- memories
    CuratedOperation(
        "list", memories.list_memories, (*SELECTOR, text("type", "The type of the memory.", kind=TYPE),
         flag("include_shadowed", "Include memories that another scope overrides."), SYSTEM), "GET /api/memory",
        rows="memories", example="--type project", lines=lines.memories,
    ),
    CuratedOperation(
        "show", memories.show, (FILENAME, *SELECTOR, SYSTEM), "GET /api/memory/{filename}",
        example="project_deploy-window --scope workspace", lines=lines.memory,
    ),
    CuratedOperation(
        "write", memories.write, (*SELECTOR, text("type", "The type of the memory.", kind=TYPE, required=True),
         text("name", "The title of the memory.", required=True),
         text("description", "One sentence by which it is found (default: the first line)."),
         content("The text of the memory"), text("filename", "Its file name (default: from type and name)."),
         text("entity", "What the fact is about."), text("attribute", "Which fact about it."),
         texts("source_sessions", "A session that it comes from."), text("confidence", "How sure the author is."), KEY,
         DRY_RUN), "POST /api/memory", tool="agh__memory_propose", writes=True,
        example="--type user --name Coffee --content 'likes oat milk'", lines=lines.decision,
    ),
    CuratedOperation(
        "edit", memories.edit, (FILENAME, *SELECTOR, content("The text of the memory", required=False),
         text("type", "The type of the memory.", kind=TYPE), text("name", "Another title."),
         text("description", "Another description."), text("superseded_by", "The memory that replaces it."), KEY,
         DRY_RUN), "PATCH /api/memory/{filename}", tool="agh__memory_propose", writes=True,
        example="user_coffee --content 'likes soy milk'", lines=lines.decision,
    ),
    CuratedOperation(
        "delete", memories.delete, (FILENAME, *SELECTOR, KEY, DRY_RUN), "DELETE /api/memory/{filename}",
        tool="agh__memory_propose", writes=True, example="user_coffee", lines=lines.decision,
    ),
    CuratedOperation(
        "search", memories.search, (_QUERY, *SELECTOR, number("top_k", "At most this many, up to 20.", 1),
         number("raw_candidates", "At most this many from each index.", 1),
         texts("already_surfaced", "The id of a memory that was shown already."),
         flag("include_already_surfaced", "Show memories again that were shown already."),
         flag("skip_trivial", "Skip a query of fewer than two meaningful words."),
         text("session_id", "The session that asks."), _TURN, SYSTEM), "POST /api/memory/search", rows="results",
        example="'what did we decide about the deploy window?'", lines=lines.results,
    ),
    CuratedOperation(
        "note", memories.note,
        (content("The text of the memory"), *SELECTOR, text("slug", "The name of the note."), texts("tags", "A tag.")),
        "POST /api/memory/ad-hoc", writes=True, example="--content 'ask Ada about the port'",
        lines=lambda done: [f"added note {done['path']}"],
    ),
    CuratedOperation(
        "promote", memories.promote, (FILENAME, text("from", "The scope it is in: scope or agent:tier.", required=True),
         text("to", "The scope it goes to: scope or agent:tier.", required=True), AGENT, KEY, DRY_RUN),
        "POST /api/memory/promote", writes=True, example="project_port --from workspace --to global",
        lines=lines.decision,
    ),
    # -- decisions, recall, databases
    CuratedOperation(
        "decisions list", records.decisions_list, (*SELECTOR,
         text("op", "What was decided.", kind=OneOf(("noop", "add", "update", "delete", "reject"))), _SINCE,
         text("reason", "A part of the reason."), text("filename", "The file it is about."),
         number("limit", "At most this many, up to 200.", 1)), "GET /api/memory/decisions", rows="decisions",
        example="--op reject --since 24h", lines=lines.decisions,
    ),
    CuratedOperation(
        "decisions show", records.decisions_show, (_ID,), "GET /api/memory/decisions/{decision_id}",
        example="dec_3fa94c1", lines=lines.decision,
    ),
    CuratedOperation(
        "decisions revert", records.decisions_revert, (_ID, _REASON, DRY_RUN),
        "POST /api/memory/decisions/{decision_id}/revert", writes=True, example="dec_3fa94c1 --dry-run",
        lines=lines.taken_back,
    ),
    CuratedOperation(
        "recall trace", records.recall_trace, (SESSION, _AT_TURN),
        "GET /api/memory/recall-traces/{session_id}/{turn_seq}", example="s1 3", lines=lines.trace,
    ),
    CuratedOperation(
        "recall block", records.recall_block, (_QUERY, AGENT, text("session_id", "The session that asks."), _TURN),
        "POST /api/memory/recall-block", example="'when do we deploy?' --session s1 --turn 3", lines=lines.text,
    ),
    CuratedOperation(
        "snapshot", records.snapshot, (SESSION, AGENT,
         text("parent_session_id", "The session whose snapshot it inherits."),
         text("query_text", "What the session is about.")), "POST /api/memory/snapshot", example="s1",
        lines=lambda done: lines.text(done["snapshot"]),
    ),
    CuratedOperation(
        "reload", records.reload, (), "POST /api/memory/reload",
        lines=lambda done: [f"snapshots from before {done['reloaded_at']} are outdated"],
    ),
    CuratedOperation(
        "reindex", records.reindex, SELECTOR, "POST /api/memory/reindex",
        lines=lambda done: [f"indexed {plural(done['indexed_files'], 'memory')}"],
    ),
    CuratedOperation(
        "reset", records.reset,
        (*SELECTOR, flag("derived_only", "Only derived data."), flag("confirm", "Confirm the reset."), DRY_RUN),
        "POST /api/memory/reset", example="--confirm", lines=lines.reset,
    ),
    CuratedOperation(
        "scope-show", records.scope_show, SELECTOR, "GET /api/memory/scope-show", example="--agent reviewer",
        lines=lines.scopes,
    ),
    CuratedOperation(
        "history", records.history, (SCOPE, text("operation", "One operation, such as memory.write."), _SINCE,
         number("limit", "At most this many, up to 100.", 1)), "GET /api/memory/history",
        tool="agh__memory_admin_history", rows="operations", example="--since 24h", lines=lines.history,
    ),
    CuratedOperation("health", records.health, (), "GET /api/memory/health", lines=lines.health),
    CuratedOperation(
        "config", records.config, (place("key", "One key, or the beginning of some.", required=False),),
        "GET /api/memory/config", rows="config", example="recall.weights", lines=lines.settings,
    ),
    # -- dreams
    CuratedOperation(
        "dream trigger", dreams.trigger, (ONE_SCOPE, flag("force", "Dream although conditions are not met."), DRY_RUN),
        "POST /api/memory/dreams/trigger", writes=True, example="--dry-run", lines=lines.dreamt,
    ),
    CuratedOperation("dream status", dreams.status, (ONE_SCOPE,), "GET /api/memory/dreams/status", lines=lines.gates),
    CuratedOperation(
        "dream list", dreams.dreams, (ONE_SCOPE,
         text("state", "Only runs with this state.", kind=OneOf(("running", "promoted", "skipped", "failed"))),
         number("limit", "At most this many, up to 200.", 1)), "GET /api/memory/dreams", rows="dreams",
        example="--state failed", lines=lines.dreams,
    ),
    CuratedOperation(
        "dream show", dreams.show, (_RUN,), "GET /api/memory/dreams/{dream_id}", example="2026-01-15",
        lines=lines.dream,
    ),
    CuratedOperation(
        "dream retry", dreams.retry, (_RUN, flag("force", "Retry even a run that promoted memories.")),
        "POST /api/memory/dreams/{dream_id}/retry", writes=True, example="2026-01-15",
        lines=lambda done: [lines.run_line(done["dream"]) if done["retried"] else done["reason"]],
    ),
    # -- extractor
    CuratedOperation(
        "extractor feed", extractor.feed, (text("session_id", "The session.", required=True),
         content("The text of the turn"),
         text("role", "Who said it (default: assistant).", kind=OneOf(("user", "assistant"))),
         number("turn_seq", "The number of the turn.")), "POST /api/memory/extractor/feed", writes=True,
        example="--session s1 --content 'remember: deploy on Tuesdays'", lines=lines.fed,
    ),
    CuratedOperation(
        "extractor status", extractor.status, (IN_SESSION,), "GET /api/memory/extractor/status", lines=lines.extractor,
    ),
    CuratedOperation(
        "extractor list-pending", extractor.list_failures, (IN_SESSION,), "GET /api/memory/extractor/failures",
        tool="agh__memory_extractor_failures", rows="failures",
        lines=lines.failures,
    ),
    CuratedOperation(
        "extractor replay", extractor.replay, (IN_SESSION, text("failure_id", "One failure, by its id.")),
        "POST /api/memory/extractor/retry", tool="agh__memory_extractor_retry", writes=True, example="--session s1",
        lines=lambda done: [f"queued {plural(done['retried'], 'suggestion')} again, {done['failed']} cannot be"],
    ),
    CuratedOperation(
        "extractor drain", extractor.drain, (IN_SESSION, text("timeout", "The longest time to wait, such as 60s.")),
        "POST /api/memory/extractor/drain", writes=True, example="--timeout 60s", lines=lines.drained,
    ),
    # -- sessions
    CuratedOperation(
        "session append", sessions.append,
        (SESSION, content("The events"), text("agent_name", "The agent of the session, with its first events.")),
        "POST /api/memory/sessions/append", writes=True,
        example="s1 --content '{\"event_type\": \"user_message\", \"content\": \"hi\"}'", lines=lines.appended,
    ),
    CuratedOperation(
        "session end", sessions.end, (SESSION,), "POST /api/memory/sessions/end", writes=True, example="s1",
        lines=lines.ended,
    ),
    CuratedOperation(
        "session ledger", sessions.ledger, (SESSION, _WORKSPACE), f"GET {_LEDGER}/ledger", rows="events", example="s1",
        lines=lines.events,
    ),
    CuratedOperation(
        "session replay", sessions.replay, (SESSION, _WORKSPACE,
         flag("include_tool_events", "Include the events of tools."),
         flag("include_memory", "Include the events of memory.")), f"POST {_LEDGER}/replay", rows="events",
        example="s1 --include-tool-events", lines=lines.events,
    ),
    CuratedOperation(
        "session prune", sessions.prune, (number("older_than_hours", "Their age in hours.", 1, required=True), DRY_RUN),
        "POST /api/memory/sessions/prune", tool="agh__memory_sessions_prune", writes=True,
        example="--older-than-hours 720 --dry-run", lines=lines.pruned,
    ),
    CuratedOperation(
        "session repair", sessions.repair, (DRY_RUN,), "POST /api/memory/sessions/repair",
        tool="agh__memory_sessions_repair", writes=True, example="--dry-run", lines=lines.repaired,
    ),
    # -- daily logs
    CuratedOperation(
        "daily ls", upkeep.ls,
        (ONE_SCOPE, text("date", "A day such as 2026-01-15."), number("limit", "At most this many, up to 200.", 1)),
        "GET /api/memory/daily", tool="agh__memory_daily_list", rows="logs", lines=lines.days,
    ),
    # -- providers
    CuratedOperation(
        "provider list", providers.listed, (), "GET /api/memory/providers", rows="providers", lines=lines.providers,
    ),
    CuratedOperation(
        "provider show", providers.show, (_PROVIDER,), "GET /api/memory/providers/{provider_name}",
        tool="agh__memory_provider_get", example="local", lines=lines.provider,
    ),
    CuratedOperation(
        "provider select", providers.select, (_PROVIDER,), "POST /api/memory/providers/select", writes=True,
        example="local", lines=lines.provider,
    ),
    CuratedOperation(
        "provider enable", providers.enable, (_PROVIDER, _REASON), "POST /api/memory/providers/{provider_name}/enable",
        writes=True, example="NAME", lines=lines.provider,
    ),
    CuratedOperation(
        "provider disable", providers.disable, (_PROVIDER, _REASON),
        "POST /api/memory/providers/{provider_name}/disable", writes=True, example="NAME", lines=lines.provider,
    ),
)  # fmt: skip
"""All operations, in the order in which help lists them."""

BY_NAME = {one.words: one for one in OPERATIONS}
