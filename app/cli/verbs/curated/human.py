"""The text output of the verbs on curated memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]


def lines(name: str, done: Json) -> Iterator[str]:
    """Yield the lines of the result of an operation."""
    match name:
        case "list":
            yield from _memories(done)
        case "show":
            memory = done["memory"]
            yield f"{memory['name'] or memory['filename']}  [{_scope(memory)}]  {memory['filename']}"
            if memory["description"]:
                yield memory["description"]
            if memory["staleness_banner"]:
                yield memory["staleness_banner"]
            yield ""
            yield from memory["content"].splitlines()
        case "write" | "edit" | "delete" | "promote":
            yield from _decision(done["decision"], dry=done["dry_run"])
        case "search":
            yield from _results(done)
        case "decisions list":
            yield from [
                f"{one['id']}  {one['decided_at']}  {one['op']}  {one['target_filename'] or '-'}  {one['reason']}"
                for one in done["decisions"]
            ] or ["no decisions"]
        case "decisions show":
            yield from _decision(done["decision"], traces=True)
        case "decisions revert":
            yield "the decision can be taken back" if done["dry_run"] else f"took back {done['decision']['id']}"
        case "snapshot":
            yield from done["snapshot"]["text"].splitlines()
        case "recall block" | "daily show":
            yield from done["text"].splitlines()
        case "history":
            yield from [
                f"{one['timestamp']}  {one['operation']}  {one['filename'] or ''}  {one['summary']}".rstrip()
                for one in done["operations"]
            ] or ["nothing yet"]
        case "config":
            for one in done["config"]:
                yield f"{one['key']} = {one['value']}  ({one['source']}; default {one['default']})"
        case _:
            yield from _worker_lines(name, done)


def _worker_lines(name: str, done: Json) -> Iterator[str]:
    """Yield the lines of dreams, the extractor, sessions, daily logs and providers; of all others key by key."""
    match name:
        case "dream trigger":
            for scope in done["scopes"]:
                yield f"{scope['scope']}: {_run(scope['dream']) if scope['triggered'] else scope['reason']}"
                if done["dry_run"]:
                    yield from (f"  {one['score']:.3f}  {one['filename']}" for one in scope["candidates"])
        case "dream retry":
            yield _run(done["dream"]) if done["retried"] else done["reason"]
        case "dream status":
            for scope in done["scopes"]:
                yield f"{scope['scope']}: {'the gates are open' if scope['open'] else 'not yet'}"
                for gate in scope["gates"]:
                    yield f"  {'open  ' if gate['open'] else 'closed'}  {gate['words']}"
            yield from map(_run, done["dreams"])
        case "dream list":
            yield from map(_run, done["dreams"]) if done["dreams"] else ["no dreams yet"]
        case "dream show":
            yield _run(done["dream"])
            yield ""
            yield from (done["dream"]["artifact"] or "").splitlines()
        case "extractor feed":
            yield f"{done['state']}; {done['candidates']} candidates, {done['waiting_turns']} turns wait"
        case "extractor status":
            for key, value in done["extractor"].items():
                yield f"{key.replace('_', ' ')}: {value}"
        case "extractor list-pending":
            failed = [f"{one['id']}  {one['session_id']}  {one['reason']}" for one in done["failures"]]
            yield from failed or ["nothing failed"]
        case "extractor replay":
            yield f"put back {done['retried']}; {done['failed']} cannot be put back"
        case "extractor drain":
            ops = ", ".join(f"{number} {op}" for op, number in sorted(done["decisions"].items()))
            yield f"decided: {ops or 'nothing'}; {done['failed']} failed; {done['remaining']} wait"
            if done["reason"]:
                yield done["reason"]
        case "session append":
            yield f"{done['appended']} events added to {done['session_id']}, which has {done['events']}"
        case "session end":
            yield f"{done['ledger']['session_id']}  {done['ledger']['event_count']} events  {done['ledger']['path']}"
        case "session ledger" | "session replay":
            for one in done["events"]:
                yield f"{one['sequence']}  {one['emitted_at']}  {one['event_type']}  {one['payload'] or ''}".rstrip()
        case "session prune":
            words = "would remove" if done["dry_run"] else "removed"
            yield f"{words} {done['pruned_sessions']} sessions with {done['pruned_events']} events"
        case "session repair":
            words = "would repair" if done["dry_run"] else "repaired"
            yield f"{words} {done['repaired_sessions']} of {done['checked_sessions']} sessions"
            yield from (f"{one['session_id']}: {one['reason']}" for one in done["problems"])
        case "daily ls":
            yield from map(_log, done["logs"]) if done["logs"] else ["nothing yet"]
        case "daily sweep":
            words = "would be: " if done["dry_run"] else ""
            yield f"{words}{done['written']} written, {done['archived']} archived, {done['purged']} purged"
        case "daily restore":
            yield from done["restored"]
        case "daily purge":
            yield f"{'would remove' if done['dry_run'] else 'removed'} {done['purged']} logs before {done['before']}"
        case "provider list":
            yield from map(_provider, done["providers"])
            yield from (f"cannot be used: {one['provider']}: {one['message']}" for one in done["collisions"])
        case "provider pre-compress":
            yield from done["notes"].splitlines() or ("nothing is to survive",)
        case "provider show" | "provider select" | "provider enable" | "provider disable":
            yield _provider(done["provider"])
        case _:
            yield from _plain(done)


def _provider(one: Json) -> str:
    failed = f"{one['failure_count']} failures, {one['last_error_code']}" if one["failure_count"] else ""
    return _joined(one["name"], one["status"], one["package"] or "memdeck", " ".join(one["tools"]), failed)


def _log(one: Json) -> str:
    return _joined(one["date"], one["scope"], one["agent_name"], f"{one['operation_count']} operations", one["path"])


def _joined(*parts: str | None) -> str:
    return "  ".join(part for part in parts if part)


def _run(one: Json) -> str:
    words = {
        "promoted": f"{one['promoted_count']} of {one['input_count']} memories in {one['target_filename']}",
        "failed": one["error"],
        "skipped": one["reason"] or "nothing promoted",
    }
    return f"{one['started_at']}  {one['id']}  {one['state']}  {words.get(one['state'], '')}".rstrip()


def _scope(memory: Json) -> str:
    parts = [memory["scope"], memory["agent_name"], memory["agent_tier"]]
    return " ".join(part for part in parts if part)


def _memories(done: Json) -> Iterator[str]:
    for one in done["memories"]:
        shadow = f"  shadowed by {_scope(one['shadowed_by'])}" if one.get("shadowed_by") else ""
        yield f"[{_scope(one)}]  {one['filename']}  {one['description'] or ''}{shadow}".rstrip()
    for one in done["shadowed"]:
        yield f"hidden: [{_scope(one)}] {one['filename']} by that of [{_scope(one['shadowed_by'])}]"
    for one in done["invalid"]:
        yield f"no memory: [{_scope(one)}] {one['filename']}:{one['line']}: {one['reason']}"
    if not done["memories"] and not done["invalid"]:
        yield "no memories"


def _decision(one: Json, *, dry: bool = False, traces: bool = False) -> Iterator[str]:
    words = {"add": "remembered", "update": "renewed", "delete": "forgot", "noop": "nothing to do",
             "reject": "rejected"}  # fmt: skip
    head = f"would be: {one['op']}" if dry else words[one["op"]]
    yield f"{head}  {one['target_filename']}  [{_scope(one)}]: {one['reason']}"
    if traces or one["op"] in ("noop", "reject") or dry:
        for trace in one["rule_trace"]:
            details = f" ({trace['details']})" if trace["details"] else ""
            yield f"  {'passed' if trace['passed'] else 'failed'}  {trace['name']}: {trace['reason']}{details}"


def _results(done: Json) -> Iterator[str]:
    for one in done["results"]:
        memory = one["memory"]
        yield f"{one['score']:.3f}  [{_scope(memory)}]  {memory['filename']}  {memory['name']}"
        yield f"       {one['snippet']}"
        yield f"       {' '.join(one['why_recalled'])}"
        if memory["staleness_banner"]:
            yield f"       {memory['staleness_banner']}"
    if not done["results"]:
        yield "nothing found"


def _plain(done: Json, indent: str = "") -> Iterator[str]:
    for key, value in done.items():
        if isinstance(value, dict):
            yield f"{indent}{key}:"
            yield from _plain(value, indent + "  ")
        elif isinstance(value, list):
            yield f"{indent}{key}: {len(value)}"
            for one in value:
                text = (
                    ", ".join(f"{name} {inner}" for name, inner in one.items() if inner)
                    if isinstance(one, dict)
                    else one
                )
                yield f"{indent}  {text}"
        else:
            yield f"{indent}{key}: {'' if value is None else value}"
