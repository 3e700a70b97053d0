"""The operations on curated memory: each with what it takes, its names for tools and servers, and its function."""

from __future__ import annotations

from memory.curated import daily, sessions
from memory.curated.dreaming import dream as dreams
from memory.curated.extract import turns as extractor
from memory.curated.model import OperationCall
from memory.curated.providers import calls as providers
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
_DAY = place("date", "A day such as 2026-01-15.")
_WORKSPACE = text("workspace_id", "The id of its workspace (default: this one, else wherever it is).")
_LEDGER = "/api/workspaces/{workspace_id}/memory/sessions/{session_id}"

OPERATIONS: tuple[CuratedOperation, ...] = (
    # -- memories
    CuratedOperation(
        "list", "List the memories that one sees, the deepest scope first.", memories.list_memories,
        (*SELECTOR, text("type", "The type of the memory.", kind=TYPE),
         flag("include_shadowed", "Include memories that a deeper one hides."), SYSTEM),
        "agh__memory_list", "GET /api/memory", rows="memories", example="list --type project", lines=lines.memories,
    ),
    CuratedOperation(
        "show", "Show one memory with its whole text.", memories.show, (FILENAME, *SELECTOR, SYSTEM),
        "agh__memory_show", "GET /api/memory/{filename}", example="show project_deploy-window --scope workspace",
        lines=lines.memory,
    ),
    CuratedOperation(
        "write", "Write a memory through the controller.", memories.write,
        (*SELECTOR, text("type", "The type of the memory.", kind=TYPE, required=True),
         text("name", "The title of the memory.", required=True),
         text("description", "One sentence by which it is found (default: the first line)."),
         content("The text of the memory"), text("filename", "The name of its file (default: made of type and name)."),
         text("entity", "What the fact is about."), text("attribute", "Which fact of it."),
         texts("source_sessions", "A session that it comes from."), text("confidence", "How sure it is."), KEY,
         DRY_RUN),
        "agh__memory_propose", "POST /api/memory", writes=True, lines=lines.decision,
        example="write --type user --name Coffee --content 'likes oat milk'",
    ),
    CuratedOperation(
        "edit", "Change a memory through the controller; values not given stay.", memories.edit,
        (FILENAME, *SELECTOR, content("The text of the memory", required=False),
         text("type", "The type of the memory.", kind=TYPE), text("name", "Another title."),
         text("description", "Another description."), text("superseded_by", "The memory that replaces it."), KEY,
         DRY_RUN),
        "agh__memory_propose", "PATCH /api/memory/{filename}", writes=True, lines=lines.decision,
        example="edit user_coffee --content 'likes soy milk'",
    ),
    CuratedOperation(
        "delete", "Forget a memory through the controller.", memories.delete, (FILENAME, *SELECTOR, KEY, DRY_RUN),
        "agh__memory_propose", "DELETE /api/memory/{filename}", writes=True, example="delete user_coffee",
        lines=lines.decision,
    ),
    CuratedOperation(
        "search", "Find memories by a question, with every term of their score.", memories.search,
        (_QUERY, *SELECTOR, number("top_k", "How many at most, up to 20.", 1),
         number("raw_candidates", "How many each index gives.", 1),
         texts("already_surfaced", "The id of a memory that was shown already."),
         flag("include_already_surfaced", "Show those again."),
         flag("skip_trivial", "Skip a query of fewer than two meaningful words."),
         text("session_id", "The session that asks."), _TURN, SYSTEM),
        "agh__memory_search", "POST /api/memory/search", rows="results", lines=lines.results,
        example="search 'what did we decide about the deploy window?'",
    ),
    CuratedOperation(
        "note", "Write an ad-hoc note, which no recall returns by itself.", memories.note,
        (content("The text of the memory"), *SELECTOR, text("slug", "The name of the note."), texts("tags", "A tag.")),
        "agh__memory_note", "POST /api/memory/ad-hoc", writes=True, example="note --content 'ask Ada about the port'",
    ),
    CuratedOperation(
        "promote", "Copy a memory to another scope; the source stays.", memories.promote,
        (FILENAME, text("from", "The scope it is in: scope or agent:tier.", required=True),
         text("to", "The scope it goes to: scope or agent:tier.", required=True), AGENT, KEY, DRY_RUN),
        "agh__memory_promote", "POST /api/memory/promote", writes=True, lines=lines.decision,
        example="promote project_port --from workspace --to global",
    ),
    # -- decisions, recall, databases
    CuratedOperation(
        "decisions list", "List the decisions of the controller, the newest first.", records.decisions_list,
        (*SELECTOR, text("op", "What was decided.", kind=OneOf(("noop", "add", "update", "delete", "reject"))), _SINCE,
         text("reason", "A part of the reason."), text("filename", "The file it is about."),
         number("limit", "How many at most, up to 200.", 1)),
        "agh__memory_decisions_list", "GET /api/memory/decisions", rows="decisions", lines=lines.decisions,
        example="decisions list --op reject --since 24h",
    ),
    CuratedOperation(
        "decisions show", "Show a decision with the rules that led to it.", records.decisions_show, (_ID,),
        "agh__memory_decisions_show", "GET /api/memory/decisions/{decision_id}", lines=lines.decision,
        example="decisions show dec_3fa94c1",
    ),
    CuratedOperation(
        "decisions revert", "Take a decision back while its file is as it left it.", records.decisions_revert,
        (_ID, _REASON, DRY_RUN), "agh__memory_decisions_revert", "POST /api/memory/decisions/{decision_id}/revert",
        writes=True, example="decisions revert dec_3fa94c1 --dry-run",
        lines=lambda done: ["the decision can be taken back" if done["dry_run"] else
                            f"took back {done['decision']['id']}"],
    ),
    CuratedOperation(
        "recall trace", "Show how the recall of a turn came about.", records.recall_trace, (SESSION, _AT_TURN),
        "agh__memory_recall_trace", "GET /api/memory/recall-traces/{session_id}/{turn_seq}",
        example="recall trace s1 3",
    ),
    CuratedOperation(
        "recall block", "Print the memories that go in front of a message.", records.recall_block,
        (_QUERY, AGENT, text("session_id", "The session that asks."), _TURN), "agh__memory_recall_block",
        "POST /api/memory/recall-block", example="recall block 'when do we deploy?' --session s1 --turn 3",
        lines=lines.text,
    ),
    CuratedOperation(
        "snapshot", "Print the frozen snapshot of a session.", records.snapshot,
        (SESSION, AGENT, text("parent_session_id", "The session whose snapshot it inherits."),
         text("query_text", "What the session is about.")),
        "agh__memory_snapshot", "POST /api/memory/snapshot", example="snapshot s1",
        lines=lambda done: lines.text(done["snapshot"]),
    ),
    CuratedOperation(
        "reload", "Make all snapshots outdated.", records.reload, (), "agh__memory_reload", "POST /api/memory/reload",
        example="reload",
    ),
    CuratedOperation(
        "reindex", "Make the catalogue anew from the files.", records.reindex, SELECTOR, "agh__memory_reindex",
        "POST /api/memory/reindex", example="reindex",
    ),
    CuratedOperation(
        "reset", "Throw the catalogue away and make it anew; files, decisions and signals stay.", records.reset,
        (*SELECTOR, flag("derived_only", "Only derived data."), flag("confirm", "Really do it."), DRY_RUN),
        "agh__memory_reset", "POST /api/memory/reset", example="reset --confirm",
    ),
    CuratedOperation(
        "scope-show", "Show which folders count, in the order of precedence.", records.scope_show, SELECTOR,
        "agh__memory_scope_show", "GET /api/memory/scope-show", example="scope-show --agent reviewer",
    ),
    CuratedOperation(
        "history", "List what was done to memory, the newest first.", records.history,
        (SCOPE, text("operation", "One operation, such as memory.write."), _SINCE,
         number("limit", "How many at most, up to 100.", 1)),
        "agh__memory_admin_history", "GET /api/memory/history", rows="operations", example="history --since 24h",
        lines=lines.history,
    ),
    CuratedOperation(
        "health", "Show the health of memory: files, problems, waiting work.", records.health, (),
        "agh__memory_health", "GET /api/memory/health", example="health",
    ),
    CuratedOperation(
        "config", "List every setting with its value, default and source.", records.config,
        (place("key", "One key, or the beginning of some.", required=False),), "agh__memory_config",
        "GET /api/memory/config", rows="config", example="config recall.weights", lines=lines.settings,
    ),
    # -- dreams
    CuratedOperation(
        "dream trigger", "Gather what was recalled most into one memory, if the gates of dreaming are open.",
        dreams.trigger, (ONE_SCOPE, flag("force", "Open all gates but the lock."), DRY_RUN),
        "agh__memory_dream_trigger", "POST /api/memory/dreams/trigger", writes=True, lines=lines.dreamt,
        example="dream trigger --dry-run",
    ),
    CuratedOperation(
        "dream status", "Say how far each gate of dreaming is.", dreams.status, (ONE_SCOPE,),
        "agh__memory_dream_status", "GET /api/memory/dreams/status", example="dream status", lines=lines.gates,
    ),
    CuratedOperation(
        "dream list", "List the runs of dreaming, the newest first.", dreams.dreams,
        (ONE_SCOPE, text("state", "What became of it.", kind=OneOf(("running", "promoted", "skipped", "failed"))),
         number("limit", "How many at most, up to 200.", 1)),
        "agh__memory_dream_list", "GET /api/memory/dreams", rows="dreams", example="dream list --state failed",
        lines=lines.dreams,
    ),
    CuratedOperation(
        "dream show", "Show a run of dreaming with its artefact.", dreams.show, (_RUN,), "agh__memory_dream_show",
        "GET /api/memory/dreams/{dream_id}", example="dream show 2026-01-15", lines=lines.dream,
    ),
    CuratedOperation(
        "dream retry", "Gather the memories of a run again that failed.", dreams.retry,
        (_RUN, flag("force", "Also of a run that promoted something.")), "agh__memory_dream_retry",
        "POST /api/memory/dreams/{dream_id}/retry", writes=True, example="dream retry 2026-01-15",
        lines=lambda done: [lines.run_line(done["dream"]) if done["retried"] else done["reason"]],
    ),
    # -- extractor
    CuratedOperation(
        "extractor feed", "Give the extractor a turn of a session.", extractor.feed,
        (text("session_id", "The session.", required=True), content("The text of the turn"),
         text("role", "Who said it (default: assistant).", kind=OneOf(("user", "assistant"))),
         number("turn_seq", "The number of the turn.")),
        "agh__memory_extractor_feed", "POST /api/memory/extractor/feed", writes=True,
        example="extractor feed --session s1 --content 'remember: deploy on Tuesdays'",
    ),
    CuratedOperation(
        "extractor status", "Say what waits for the extractor, what it dropped, and how much failed.",
        extractor.status, (IN_SESSION,), "agh__memory_extractor_status", "GET /api/memory/extractor/status",
        example="extractor status",
    ),
    CuratedOperation(
        "extractor list-pending", "List the candidates that failed, with the reason.", extractor.list_failures,
        (IN_SESSION,), "agh__memory_extractor_failures", "GET /api/memory/extractor/failures", rows="failures",
        example="extractor list-pending",
        lines=lambda done: [f"{one['id']}  {one['session_id']}  {one['reason']}" for one in done["failures"]] or
                           ["nothing failed"],
    ),
    CuratedOperation(
        "extractor replay", "Put candidates that failed back into the inbox.", extractor.replay,
        (IN_SESSION, text("failure_id", "One failure, by its id.")), "agh__memory_extractor_retry",
        "POST /api/memory/extractor/retry", writes=True, example="extractor replay --session s1",
    ),
    CuratedOperation(
        "extractor drain", "Look at all turns and decide on all candidates that wait.", extractor.drain,
        (IN_SESSION, text("timeout", "How long at most, such as 60s.")), "agh__memory_extractor_drain",
        "POST /api/memory/extractor/drain", writes=True, example="extractor drain --timeout 60s",
    ),
    # -- sessions
    CuratedOperation(
        "session append", "Add events to a session that runs, one JSON object a line.", sessions.append,
        (SESSION, content("The events"), text("agent_name", "The agent of the session, with its first events.")),
        "agh__memory_session_append", "POST /api/memory/sessions/append", writes=True,
        example="session append s1 --content '{\"event_type\": \"user_message\", \"content\": \"hi\"}'",
    ),
    CuratedOperation(
        "session end", "End a session: make the ledger of its events.", sessions.end, (SESSION,),
        "agh__memory_session_end", "POST /api/memory/sessions/end", writes=True, example="session end s1",
    ),
    CuratedOperation(
        "session ledger", "Show the ledger of a session.", sessions.ledger, (SESSION, _WORKSPACE),
        "agh__memory_session_ledger", f"GET {_LEDGER}/ledger", rows="events", example="session ledger s1",
        lines=lines.events,
    ),
    CuratedOperation(
        "session replay", "List the events of a session in their order.", sessions.replay,
        (SESSION, _WORKSPACE, flag("include_tool_events", "Include the events of tools."),
         flag("include_memory", "Include the events of memory.")),
        "agh__memory_session_replay", f"POST {_LEDGER}/replay", rows="events", lines=lines.events,
        example="session replay s1 --include-tool-events",
    ),
    CuratedOperation(
        "session prune", "Remove sessions that ended long ago; the change log keeps their bytes.", sessions.prune,
        (number("older_than_hours", "How many hours ago.", 1, required=True), DRY_RUN), "agh__memory_sessions_prune",
        "POST /api/memory/sessions/prune", writes=True, example="session prune --older-than-hours 720 --dry-run",
    ),
    CuratedOperation(
        "session repair", "Make ledgers anew that are damaged or missing.", sessions.repair, (DRY_RUN,),
        "agh__memory_sessions_repair", "POST /api/memory/sessions/repair", writes=True,
        example="session repair --dry-run",
    ),
    # -- daily logs
    CuratedOperation(
        "daily ls", "List the days on which something was done to memory, with their logs.", daily.ls,
        (ONE_SCOPE, text("date", "A day such as 2026-01-15."), number("limit", "How many at most, up to 200.", 1)),
        "agh__memory_daily_list", "GET /api/memory/daily", rows="logs", example="daily ls",
    ),
    CuratedOperation(
        "daily show", "Show the log of a day.", daily.show, (_DAY, ONE_SCOPE), "agh__memory_daily_show",
        "GET /api/memory/daily/{date}", example="daily show 2026-01-15", lines=lines.text,
    ),
    CuratedOperation(
        "daily sweep", "Write the logs of the days that are over, and archive old ones.", daily.sweep_all,
        (ONE_SCOPE, DRY_RUN), "agh__memory_daily_sweep", "POST /api/memory/daily/sweep", writes=True,
        example="daily sweep --dry-run",
    ),
    # -- providers
    CuratedOperation(
        "provider list", "List the providers of memories, and those that cannot be used.", providers.listed, (),
        "agh__memory_provider_list", "GET /api/memory/providers", rows="providers", example="provider list",
    ),
    CuratedOperation(
        "provider show", "Show one provider.", providers.show, (_PROVIDER,), "agh__memory_provider_get",
        "GET /api/memory/providers/{provider_name}", example="provider show local",
    ),
    CuratedOperation(
        "provider select", "Make a provider the active one.", providers.select, (_PROVIDER,),
        "agh__memory_provider_select", "POST /api/memory/providers/select", writes=True,
        example="provider select local",
    ),
    CuratedOperation(
        "provider enable", "Enable a provider.", providers.enable, (_PROVIDER, _REASON), "agh__memory_provider_enable",
        "POST /api/memory/providers/{provider_name}/enable", writes=True, example="provider enable NAME",
    ),
    CuratedOperation(
        "provider disable", "Disable a provider.", providers.disable, (_PROVIDER, _REASON),
        "agh__memory_provider_disable", "POST /api/memory/providers/{provider_name}/disable", writes=True,
        example="provider disable NAME",
    ),
    CuratedOperation(
        "provider pre-compress", "Ask the provider for the text to keep when a session is shortened.",
        providers.pre_compress, (text("session_id", "The session.", required=True),
                                 content("The text to shorten", required=False)),
        "agh__memory_provider_pre_compress", "POST /api/memory/providers/pre-compress",
        example="provider pre-compress --session s1",
    ),
)  # fmt: skip
"""All operations, in the order in which help lists them."""

BY_NAME = {one.words: one for one in OPERATIONS}
