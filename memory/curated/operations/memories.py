"""The operations on memories: list, show, write, edit, delete, promote, search, and ad-hoc notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import wraps

from memory.base.clock import format_utc, read_duration, read_utc
from memory.base.scan import rejecting
from memory.curated.control.decision import Candidate, first_line
from memory.curated.control.propose import propose
from memory.curated.curated import Curated
from memory.curated.files import LARGEST, free_path, system_files
from memory.curated.files import slug as slug_of
from memory.curated.model import DEFAULT_SCOPE, Header, Json, Memory, OperationCall, Provenance, Root
from memory.curated.recall.recall import RecallOptions, banner, mod_time, recall
from memory.curated.records import milliseconds, time_of, utc_day
from memory.curated.sides import check_selector
from memory.errors import MemdeckError, NotFoundError, UsageError
from memory.files.refs import short
from memory.search.searcher import Text, rank
from memory.storage.transaction import Transaction

FOLDER = "_system/ad_hoc"
Run = Callable[[Curated, Json, OperationCall], Json]
"""What runs an operation: it returns the result of a call for programs."""


def note(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Write an ad-hoc note, which no recall returns by itself.

    MemdeckError `memory.rejected` for one that the policy or the content scan does not let in.
    """
    curated.refuse_disabled()
    settings, content, tags = curated.settings, args["content"], args.get("tags", [])
    scope, agent, tier = selector(args)
    if scope is None:
        scope = "agent" if agent else "workspace" if "workspace" in curated.sides else "global"
    root = curated.root(scope, agent, tier)
    if not content.strip():
        raise UsageError("memory.validation", "the note is empty", field="content")
    too_long = len(content) > settings["controller.policy.max_content_chars"]
    rules = ["controller.policy.max_content_chars"] if too_long else []
    found = rejecting((content, args.get("slug") or "", *tags), settings["controller.scan_profile"])
    rules += [f"memory_scan.{rule}" for rule in found]
    if rules:
        raise MemdeckError("memory.rejected", f"the note is rejected: {', '.join(rules)}", rules=rules)
    side = curated.side_of(root)
    side.prepare(actor=call.actor, now=call.now)
    name = f"{utc_day(call.now)}_{slug_of(args.get('slug') or ' '.join(content.split()[:6]))}"
    text = (f"<!-- tags: {', '.join(map(slug_of, tags))} -->\n" if tags else "") + content.strip() + "\n"
    path = ""

    def plan(transaction: Transaction) -> str:
        nonlocal path
        path = free_path(f"{FOLDER}/{name}", lambda one: transaction.read(f"{root.folder}/{one}").exists)
        transaction.write(f"{root.folder}/{path}", text.encode(), base=None)
        return f"added note {short(' '.join(content.split()))} ({root.label})"

    side.change("curated.note", plan, actor=call.actor, now=call.now)
    side.records.event("memory.write.committed", call.now, root=root, target_id=path, operation="note")
    return {"path": path, "accepted": True, "created_at": format_utc(call.now)}


def selector(args: Json) -> tuple[str | None, str | None, str | None]:
    """Return scope, agent and tier of a call."""
    return args.get("scope"), args.get("agent_name"), args.get("agent_tier")


def summaries(curated: Curated, memories: list[Memory], now: datetime) -> list[Json]:
    """Return memories as rows of a list."""
    number = curated.workspace_id()
    after = curated.settings["recall.freshness.banner_after_days"]
    signals: dict[str, dict[str, tuple[int, float, int]]] = {}
    for name, side in curated.sides.items():
        signals[name] = side.records.signals([one.id for one in memories if one.root.side == name])
    found = []
    for one in memories:
        count, _, last = signals[one.root.side].get(one.id, (0, 0.0, None))
        source = one.header.provenance
        found.append({
            "filename": one.filename, "name": one.header.name, "description": one.header.description,
            "type": one.header.type, "scope": one.root.scope,
            "workspace_id": number if one.root.side == "workspace" else None, "agent_name": one.root.agent,
            "agent_tier": one.root.tier, "content_hash": one.hash, "superseded_by": source.superseded_by,
            "mod_time": mod_time(one), "created_at": source.created_at, "updated_at": source.updated_at,
            "last_recalled_at": None if last is None else time_of(last), "recall_count": count,
            "injection": curated.tells(one), "system_managed": False, "staleness_banner": banner(one, now, after),
        })  # fmt: skip
    return found


def list_memories(curated: Curated, args: Json, call: OperationCall) -> Json:
    """List the visible memories, the deepest scope first."""
    roots = curated.chosen(*selector(args))
    memories = curated.memories(roots)
    if "type" in args:
        memories = [one for one in memories if one.header.type == args["type"]]
    hidden = curated.shadowed(memories)
    shown = memories
    if not args.get("include_shadowed"):
        shown = [one for one in memories if one.key not in hidden]
    rows = summaries(curated, shown, call.now)
    for row, one in zip(rows, shown, strict=True):
        winner = hidden.get(one.key)
        row["shadowed_by"] = None if winner is None else {"filename": winner.filename, **winner.root.json()}
    if args.get("include_system"):
        rows += [_system_row(root, name) for root in roots for name in system_files(curated.side_of(root).store, root)]
    return {
        "memories": rows,
        "invalid": [one.json() for one in curated.invalid(roots)],
        "shadowed": [
            {"filename": one.filename, **one.root.json(), "shadowed_by": {"filename": by.filename, **by.root.json()}}
            for one in memories
            if (by := hidden.get(one.key)) is not None
        ],
    }


def _system_row(root: Root, name: str) -> Json:
    row: Json = dict.fromkeys(
        ("name", "description", "type", "workspace_id", "content_hash", "superseded_by", "mod_time", "created_at",
         "updated_at", "last_recalled_at", "staleness_banner", "shadowed_by")
    )  # fmt: skip
    return {**row, "filename": name, **root.json(), "recall_count": 0, "injection": False, "system_managed": True}


def show(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Show one memory with its whole text."""
    name: str = args["filename"]
    if name.startswith("_system/") and args.get("include_system"):
        for root in curated.chosen(*selector(args)):
            side = curated.side_of(root)
            if name in system_files(side.store, root):
                text = side.store.read(f"{root.folder}/{name}").data.decode("utf-8", "replace")
                return {"memory": {**_system_row(root, name), "content": text}}
        raise NotFoundError("memory.not_found", f"there is no file {name[:120]!r}", "list --include-system")
    memory = curated.find(name, *selector(args))
    (row,) = summaries(curated, [memory], call.now)
    return {"memory": {**row, "provenance": memory.header.json()["provenance"], "content": memory.body}}


CANDIDATES: dict[str, Callable[[Curated, Json, OperationCall], Candidate]] = {}
"""The functions that return the candidate of a call, by the operations that propose a memory."""


def _proposing(candidate_of: Callable[[Curated, Json, OperationCall], Candidate]) -> Run:
    """Return the operation that carries out the candidate which a function returns.

    MemdeckError `memory.rejected` with the decision for a reject.
    """
    CANDIDATES[candidate_of.__name__] = candidate_of

    @wraps(candidate_of)
    def run(curated: Curated, args: Json, call: OperationCall) -> Json:
        made = propose(curated, candidate_of(curated, args, call), call, dry_run=args.get("dry_run", False))
        if made.decision.op == "reject" and not made.dry_run:
            words, decision = made.decision.reason, made.decision.json()
            raise MemdeckError("memory.rejected", words, "nothing was written", decision=decision)
        return made.json()

    return run


@_proposing
def write(curated: Curated, args: Json, call: OperationCall) -> Candidate:
    """Write a memory through the controller."""
    scope, agent, tier = selector(args)
    check_selector(scope, agent, tier)
    if scope is None and (agent or tier):
        raise UsageError("memory.scope.agent_flags_invalid", "use --scope agent to write a memory of an agent")
    root = curated.root(scope or DEFAULT_SCOPE[args["type"]], agent, tier)
    source = Provenance(
        source_sessions=tuple(args.get("source_sessions", ())), confidence=args.get("confidence")
    )  # fmt: skip
    name, content = args["name"], args["content"]
    description = args.get("description") or first_line(content)
    header = Header(name, description, args["type"], root.scope, root.agent, root.tier, source)
    metadata = {} if args.get("filename") is None else {"target_filename": args["filename"]}
    return Candidate(
        root, call.origin, header, content, args.get("entity", ""), args.get("attribute", ""), metadata,
        args.get("idempotency_key"),
    )  # fmt: skip


@_proposing
def edit(curated: Curated, args: Json, call: OperationCall) -> Candidate:
    """Change a memory through the controller; values not given stay."""
    memory = curated.find(args["filename"], *selector(args))
    header = memory.header._replace(
        name=args.get("name", memory.header.name),
        description=args.get("description", memory.header.description),
        type=args.get("type", memory.header.type),
        provenance=memory.header.provenance._replace(
            superseded_by=args.get("superseded_by", memory.header.provenance.superseded_by),
        ),
    )
    return Candidate(
        memory.root, call.origin, header, args.get("content", memory.body), "", "",
        {"target_filename": memory.filename}, args.get("idempotency_key"), edits=True, base=memory.hash,
    )  # fmt: skip


@_proposing
def delete(curated: Curated, args: Json, call: OperationCall) -> Candidate:
    """Forget a memory through the controller.

    In a named scope a missing memory is a noop.
    """
    scope, agent, tier = selector(args)
    if scope is not None:
        root, name = curated.root(scope, agent, tier), args["filename"]
    else:
        memory = curated.find(args["filename"], scope, agent, tier)
        root, name = memory.root, memory.filename
    metadata = {"operation": "delete", "target_filename": name}
    if args.get("reason"):
        metadata["reason"] = args["reason"]
    return Candidate(root, call.origin, None, "", "", "", metadata, args.get("idempotency_key"))


@_proposing
def promote(curated: Curated, args: Json, call: OperationCall) -> Candidate:
    """Copy a memory to another scope; the source stays."""
    agent = args.get("agent_name")
    source, target = (_scope_of(curated, args[key], agent) for key in ("from", "to"))
    if source == target:
        raise UsageError(
            "memory.promote.selector_invalid", "a memory can only be promoted to another scope", "see --to"
        )
    memory = curated.find(args["filename"], source.scope, source.agent, source.tier)
    header = memory.header._replace(scope=target.scope, agent=target.agent, agent_tier=target.tier)
    return Candidate(
        target, call.origin, header, memory.body, "", "", {"target_filename": memory.filename},
        args.get("idempotency_key"), edits=True,
    )  # fmt: skip


def _scope_of(curated: Curated, text: str, agent: str | None) -> Root:
    scope, _, tier = text.partition(":")
    if scope == "agent" and not agent:
        raise UsageError("memory.scope.agent_required", "the scope agent needs an agent", "name it with --agent")
    try:
        return curated.root(scope, agent if scope == "agent" else None, tier or None)
    except UsageError as error:
        if error.code.startswith("memory.scope.agent") or error.code == "memory.scope.invalid":
            message = f"{text[:60]!r} is not a scope: {error.message}"
            raise UsageError("memory.promote.selector_invalid", message, "scope or agent:tier") from error
        raise


def search(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Find memories by a question, with every term of their score."""
    roots = curated.chosen(*selector(args))
    surfaced = [] if args.get("include_already_surfaced") else args.get("already_surfaced", [])
    options = RecallOptions(
        args.get("top_k"), args.get("raw_candidates"), not args.get("skip_trivial", False), surfaced,
        args.get("session_id"), args.get("turn_seq"),
    )  # fmt: skip
    done = recall(curated, args["query_text"], roots, options, now=call.now)
    rows = summaries(curated, [one.memory for one in done.entries], call.now)
    results = [
        _result(row, one.score, one.memory.body, one.why, one.memory.id in args.get("already_surfaced", ()))
        for row, one in zip(rows, done.entries, strict=True)
    ]
    if args.get("include_system"):
        results += _system_results(curated, args["query_text"], roots, done.top)
    return {"results": results, "recall": done.json()}


def _result(row: Json, score: float, text: str, why: list[str], shown: bool) -> Json:
    return {
        "memory": row, "score": round(score, 6), "snippet": " ".join(text.split())[:180], "why_recalled": why,
        "shadowed_by": None, "already_shown": shown,
    }  # fmt: skip


def _system_results(curated: Curated, query: str, roots: Sequence[Root], most: int) -> list[Json]:
    """Return the `_system` files of some folders with words of a query, the best first."""
    held: list[tuple[Root, str, str]] = []
    for root in sorted(roots, key=lambda one: one.depth):
        store = curated.side_of(root).store
        for name in system_files(store, root):
            path = f"{root.folder}/{name}"
            try:
                held.append((root, name, store.read(path).data[:LARGEST].decode("utf-8", "replace")))
            except MemdeckError:
                continue
            finally:
                store.forget(path)
    found = [(*held[hit.entry.line], hit.score) for hit in rank(query, [Text("", text) for _, _, text in held], most)]
    return [
        _result(_system_row(root, name), score, text, [f"words={score:.3f}"], False)
        for root, name, text, score in found
    ]


def when(text: str, now: datetime) -> int:
    """Return a time such as `2026-01-15T12:00:00Z`, or an age such as `24h`, as milliseconds.

    UsageError `memory.validation`.
    """
    seconds = None if text.strip().isdigit() else read_duration(text)
    moment = read_utc(text) if seconds is None else now - timedelta(seconds=seconds)
    if moment is None:
        raise UsageError("memory.validation", f"{text[:40]!r} is not a time", "a time, or a span such as 24h")
    return milliseconds(moment)
