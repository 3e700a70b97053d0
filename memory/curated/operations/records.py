"""The operations on decisions, traces, events and databases, and a view of everything at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from memory.base.clock import format_utc
from memory.curated.control.carry_out import pending
from memory.curated.control.decision import CHANGED, Decision, select
from memory.curated.control.propose import find, revert
from memory.curated.curated import Curated
from memory.curated.dreaming.dream import gates_of
from memory.curated.model import Invalid, Json, Memory, OperationCall
from memory.curated.operations.memories import selector, summaries, when
from memory.curated.providers import active, status_of
from memory.curated.recall.find import embed_all, embedder
from memory.curated.recall.recall import RecallOptions, capture, recall, turn_block
from memory.curated.records import UNAVAILABLE, milliseconds, time_of
from memory.errors import MemdeckError, NotFoundError, UsageError

_HISTORY = {
    "memory.recall.executed": "memory.search",
    "memory.recall.skipped": "memory.search",
    "memory.write.reindex": "memory.reindex",
    "memory.write.committed": "memory.write",
    "memory.write.reverted": "memory.revert",
}


def decisions_list(curated: Curated, args: Json, call: OperationCall) -> Json:
    """List the decisions of the controller, the newest first."""
    where, values = ["1"], list[Any]()
    for key in ("op", "scope", "agent_name", "agent_tier"):
        if key in args:
            where.append(f"{key} = ?")
            values.append(args[key])
    if "since" in args:
        where.append("decided_at >= ?")
        values.append(when(args["since"], call.now))
    if "reason" in args:
        where.append("instr(lower(reason), lower(?)) > 0")
        values.append(args["reason"])
    if "filename" in args:
        where.append("(target_filename = ? OR instr(targets, ?) > 0)")
        values += [args["filename"], f'"{args["filename"]}"']
    limit = min(args.get("limit", 50), 200)
    text = f"{' AND '.join(where)} ORDER BY seq DESC LIMIT {limit}"
    found: list[Decision] = []
    for side in curated.sides.values():
        found += side.records.read(partial(select, where=text, values=values), [])
    found.sort(key=lambda one: (one.decided_at, one.seq), reverse=True)
    return {"decisions": [one.json() for one in found[:limit]]}


def decisions_show(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Show a decision with the rules that led to it."""
    return {"decision": find(curated, args["id"])[1].json()}


def decisions_revert(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Revert a decision, if its file has not changed since."""
    return revert(curated, args["id"], call, reason=args.get("reason", ""), dry_run=args.get("dry_run", False))


def recall_trace(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Show how the recall of a turn came about."""
    for side in reversed(curated.sides.values()):
        trace = side.records.trace(args["session_id"], args["turn_seq"])
        if trace is not None:
            return {"trace": trace}
    raise NotFoundError(
        "memory.not_found", "there is no trace of that turn", "a search with session and turn keeps one"
    )


def recall_block(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Print the memories that go in front of a message."""
    options = RecallOptions(session=args.get("session_id"), turn=args.get("turn_seq"))
    roots = curated.visible(args.get("agent_name"))
    done = recall(curated, args["query_text"], roots, options, now=call.now)
    return {"text": turn_block(done), "skipped_reason": done.skipped}


def snapshot(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Print the frozen snapshot of a session."""
    agent, parent, query = (args.get(key) for key in ("agent_name", "parent_session_id", "query_text"))
    made = capture(curated, args["session_id"], now=call.now, agent=agent, parent=parent, query=query)
    return {"snapshot": made}


def reload(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Invalidate all snapshots."""
    numbers = [
        side.records.generation(more=1) for side in curated.sides.values() if side.name == "global" or side.workspace_id
    ]
    return {"reloaded_at": format_utc(call.now), "generation": numbers[-1]}


def reindex(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Rebuild the catalogue from the files."""
    scope, agent, tier = selector(args)
    roots = curated.all_roots() if scope is None and not agent else curated.chosen(scope, agent, tier)
    count, by = 0, embedder(curated, "", call.now)
    for side, mine in curated.by_side(roots):
        indexed = side.catalog.rebuild(mine)
        for root in mine:
            count += indexed[root.key]
            side.records.event("memory.write.reindex", call.now, root=root, summary=f"indexed={indexed[root.key]}")
        if by is not None:
            embed_all(side, mine, by)
    return {
        "indexed_files": count, "scope": scope, "workspace_id": curated.workspace_id() or None, "agent_name": agent,
        "agent_tier": tier, "completed_at": format_utc(call.now),
    }  # fmt: skip


def reset(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Delete and rebuild the catalogue; files, decisions and signals stay."""
    if not args.get("derived_only", True):
        raise UsageError("memory.validation", "only derived data can be reset", "memories are deleted one by one")
    dry = args.get("dry_run", False) or not args.get("confirm", False)
    roots = curated.chosen(*selector(args))
    rows = len(curated.memories(roots))
    if not dry:
        reindex(curated, {key: args[key] for key in ("scope", "agent_name", "agent_tier") if key in args}, call)
    return {
        "reset_at": format_utc(call.now), "derived_only": True, "deleted_rows": 0 if dry else rows,
        "deleted_files": 0, "dry_run": dry,
    }  # fmt: skip


def scope_show(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Show which folders count, in the order of precedence."""
    scope, agent, tier = selector(args)
    roots = curated.chosen(scope, agent, tier)
    side, person = curated.sides.get("workspace"), curated.sides.get("global")
    copies = list(side.claim.copies) if side is not None and side.workspace_id else []
    return {
        "selector": {"scope": scope, "agent_name": agent, "agent_tier": tier},
        "precedence": [
            {**root.json(), "depth": root.depth, "folder": str(curated.side_of(root).store.root / root.folder)}
            for root in reversed(roots)
        ],
        "roots": {
            "global": None if person is None else str(person.store.root),
            "workspace": None if side is None else str(side.store.root.parent),
        },
        "workspace_id": curated.workspace_id() or None,
        "copies": copies,
    }


def history(curated: Curated, args: Json, call: OperationCall) -> Json:
    """List what was done to memory, the newest first."""
    since = when(args["since"], call.now) if "since" in args else None
    wanted, found = args.get("operation"), list[Json]()
    rows = [row for side in curated.sides.values() for row in side.records.events(since=since, limit=5000, needed=True)]
    for row in sorted(rows, key=lambda row: (row["ts_ms"], row["id"]), reverse=True):
        facts = row["metadata"]
        operation = _HISTORY.get(row["op"], row["op"])
        if operation == "memory.write" and facts.get("operation") == "delete":
            operation = "memory.delete"
        if wanted in (None, operation, row["op"]) and args.get("scope") in (None, row["scope"]):
            found.append({
                "id": row["id"], "operation": operation, "event": row["op"], "scope": row["scope"],
                "workspace_id": row["workspace_id"] or None, "agent_name": row["agent_name"],
                "agent_tier": row["agent_tier"], "filename": row["target_id"], "decision_id": row["decision_id"],
                "summary": facts.get("summary") or facts.get("reason") or "", "timestamp": time_of(row["ts_ms"]),
            })  # fmt: skip
    return {"operations": found[: min(args.get("limit", 25), 100)]}


def health(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Show the health of memory: files, problems, waiting work."""
    roots = curated.all_roots()
    memories, invalid = curated.memories(roots), curated.invalid(roots)
    waiting = sum(len(pending(side)) for side in curated.sides.values())
    side = curated.sides.get("workspace")
    copies = list(side.claim.copies) if side is not None and side.workspace_id else []
    doubtful = [one for one in memories if not curated.tells(one)]
    warnings = [words for one in curated.sides.values() for words in one.records.warnings]
    reasons = [
        *(f"{one.root.label}/{one.filename}:{one.line}: {one.reason}" for one in invalid),
        *(f"{one.root.label}/{one.filename}: looks suspicious, so agents are not told of it" for one in doubtful),
        *([f"{waiting} decisions wait to be carried out"] if waiting else []),
        *(f"{copy} has the same workspace_id" for copy in copies),
        *warnings,
    ]
    enabled = curated.settings["enabled"]
    person = curated.sides.get("global")
    counts: dict[str, int] = {}
    for one in memories:
        counts[one.root.label] = counts.get(one.root.label, 0) + 1
    since = milliseconds(call.now) - 86_400_000
    text = f"SELECT count(*), max(decided_at) FROM memory_decisions WHERE {CHANGED}"
    rows: list[tuple[int, int | None]] = [
        one.records.look(lambda db: db.execute(text).fetchone(), (0, None)) for one in curated.sides.values()
    ]
    last = max((at for _, at in rows if at is not None), default=None)
    events = sum(len(one.records.events(since=since, limit=1000)) for one in curated.sides.values())
    dreaming = [gates_of(curated, one, call.now) for one in curated.sides.values()]
    dreamt = max((one.last["started_at"] for one in dreaming if one.last is not None), default=None)
    files = {"global_files": counts.get("global", 0), "workspace_files": counts.get("workspace", 0)}
    return {
        "status": "disabled" if not enabled else "degraded" if reasons else "ok", "reason": "; ".join(reasons[:5]),
        "problems": reasons, "enabled": enabled,
        "global_dir": None if person is None else str(person.store.root / curated.root("global").folder),
        "workspace_id": curated.workspace_id() or None, **files, "files": counts, "indexed_files": len(memories),
        "invalid_files": len(invalid), "suspicious_files": len(doubtful), "pending_decisions": waiting,
        "decisions": sum(row[0] for row in rows), "operation_count": events,
        "last_operation_at": None if last is None else time_of(last), "copies": copies,
        "provider": status_of(curated, active(curated), call.now),
        **{f"dream_{key}": curated.settings[f"dream.{key}"] for key in ("enabled", "min_hours", "min_sessions")},
        "dream_gates": {one.side: ", ".join(gate["words"] for gate in one.all) for one in dreaming},
        "last_consolidation": dreamt,
    }  # fmt: skip


def config(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """List every setting with its value, default and source."""
    rows = curated.settings.json()
    if "key" in args:
        rows = [row for row in rows if row["key"] == args["key"] or row["key"].startswith(args["key"] + ".")]
        if not rows:
            raise NotFoundError("memory.not_found", f"there is no setting {args['key'][:60]!r}")
    return {
        "config": rows,
        "mutable_paths": [f"memory.{row['key']}" for row in rows],
        "locked_paths": [],
    }


@dataclass(frozen=True, slots=True)
class Shadow:
    """A memory that a deeper one hides; `reader` is the agent for whom it is hidden, None for everyone."""

    memory: Memory
    winner: Memory
    reader: str | None


@dataclass(frozen=True, slots=True)
class CuratedOverview:
    """A snapshot of everything; each part as the operation of that name returns it. `error` says why it is empty."""

    memories: tuple[Memory, ...] = ()
    shadows: tuple[Shadow, ...] = ()
    recalls: Mapping[str, Json] = field(default_factory=dict)
    invalid: tuple[Invalid, ...] = ()
    health: Json = field(default_factory=dict)
    decisions: tuple[Json, ...] = ()
    error: MemdeckError | None = None


def overview(curated: Curated, now: datetime) -> CuratedOverview:
    """Return a snapshot of everything; what changed memories without the controller gets its decisions first."""
    call = OperationCall(now)
    try:
        curated.finish_interrupted(now)
        roots = curated.all_roots()
        memories = tuple(curated.memories(roots))
        rows = summaries(curated, list(memories), now)
        return CuratedOverview(
            memories,
            _shadows(curated),
            {memory.key: row for memory, row in zip(memories, rows, strict=True)},
            tuple(curated.invalid(roots)),
            health(curated, {}, call),
            _decisions(curated, call),
        )
    except MemdeckError as error:
        return CuratedOverview(error=error)


def _decisions(curated: Curated, call: OperationCall) -> tuple[Json, ...]:
    """Return the newest decisions; empty if the records cannot be read, which the health reports."""
    try:
        return tuple(decisions_list(curated, {"limit": 200}, call)["decisions"])
    except MemdeckError as error:
        if error.code != UNAVAILABLE:
            raise
        return ()


def _shadows(curated: Curated) -> tuple[Shadow, ...]:
    """Return the memories hidden for everyone, then those hidden only for the readers of one agent."""
    found: list[Shadow] = []
    for reader in (None, *sorted({root.agent for root in curated.all_roots() if root.agent})):
        seen = {one.key: one for one in curated.memories(curated.visible(reader))}
        everywhere = {one.memory.key for one in found if one.reader is None}
        for key, winner in curated.shadowed([*seen.values()]).items():
            if reader is None or (winner.root.agent and key not in everywhere):
                found.append(Shadow(seen[key], winner, reader))
    return tuple(found)
