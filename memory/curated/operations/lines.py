"""What operations on curated memory answer people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from memory.base.safe_text import plural

Json = dict[str, Any]


def text(done: Json) -> Iterator[str]:
    """Yield the lines of a text."""
    yield from done["text"].splitlines()


def listed(name: str, form: Callable[[Json], str], none: str = "") -> Callable[[Json], Iterable[str]]:
    """Return what shows the things of a list in a result, each as a line; `none` is the line for an empty list."""
    return lambda done: [form(one).rstrip() for one in done[name]] or ([none] if none else [])


def scope_of(memory: Json) -> str:
    """Return the scope of a memory with its agent."""
    return " ".join(part for part in (memory["scope"], memory["agent_name"], memory["agent_tier"]) if part)


def memories(done: Json) -> Iterator[str]:
    """Yield the memories of a list, then the hidden ones and the files that are no memories."""
    for one in done["memories"]:
        shadow = f"  shadowed by {scope_of(one['shadowed_by'])}" if one.get("shadowed_by") else ""
        yield f"[{scope_of(one)}]  {one['filename']}  {one['description'] or ''}{shadow}".rstrip()
    for one in done["shadowed"]:
        yield f"hidden: [{scope_of(one)}] {one['filename']}, by the one in [{scope_of(one['shadowed_by'])}]"
    for one in done["invalid"]:
        yield f"invalid: [{scope_of(one)}] {one['filename']}:{one['line']}: {one['reason']}"
    if not done["memories"] and not done["invalid"]:
        yield "no memories"


def memory(done: Json) -> Iterator[str]:
    """Yield a memory with its whole text."""
    one = done["memory"]
    yield f"{one['name'] or one['filename']}  [{scope_of(one)}]  {one['filename']}"
    yield from filter(None, (one["description"], one["staleness_banner"]))
    yield ""
    yield from one["content"].splitlines()


def decision(done: Json) -> Iterator[str]:
    """Yield a decision; its rule traces follow in a dry run, when it was looked up, and when nothing was written."""
    one, dry = done["decision"], done.get("dry_run", False)
    done_words = {"add": "added", "update": "updated", "delete": "deleted", "reject": "rejected"}
    plan_words = {"add": "would add", "update": "would update", "delete": "would delete", "reject": "would reject"}
    head = (plan_words if dry else done_words).get(one["op"], "unchanged")
    yield f"{head}  {one['target_filename']}  [{scope_of(one)}]: {one['reason']}"
    for trace in one["rule_trace"] if dry or "applied" not in done or one["op"] in ("noop", "reject") else ():
        details = f" ({trace['details']})" if trace["details"] else ""
        yield f"  {'passed' if trace['passed'] else 'failed'}  {trace['name']}: {trace['reason']}{details}"


def taken_back(done: Json) -> Iterator[str]:
    """Yield what a revert did, or would do."""
    yield f"{'would revert' if done['dry_run'] else 'reverted'} {done['decision']['id']}"


def results(done: Json) -> Iterator[str]:
    """Yield what a search found, with the terms of each score."""
    for one in done["results"]:
        found = one["memory"]
        yield f"{one['score']:.3f}  [{scope_of(found)}]  {found['filename']}  {found['name']}"
        below = (one["snippet"], " ".join(one["why_recalled"]), found["staleness_banner"])
        yield from (f"       {line}" for line in below if line)
    if not done["results"]:
        yield "nothing found"


def run_line(one: Json) -> str:
    """Return a run of dreaming in a line."""
    words = {
        "promoted": f"{one['promoted_count']} of {one['input_count']} memories in {one['target_filename']}",
        "failed": one["error"],
        "skipped": one["reason"] or "nothing promoted",
    }
    return f"{one['started_at']}  {one['id']}  {one['state']}  {words.get(one['state'], '')}".rstrip()


def dreamt(done: Json) -> Iterator[str]:
    """Yield the result of dreaming for each scope."""
    for scope in done["scopes"]:
        yield f"{scope['scope']}: {run_line(scope['dream']) if scope['triggered'] else scope['reason']}"
        if done["dry_run"]:
            yield from (f"  {one['score']:.3f}  {one['filename']}" for one in scope["candidates"])


DECIDED = {"add": "added", "update": "updated", "delete": "deleted", "noop": "known already", "reject": "rejected",
           "waiting": "waiting for approval"}  # fmt: skip
"""What became of suggestions."""


def processed(done: Mapping[str, int], failed: int) -> str:
    """Return how many suggestions were processed, by what became of them."""
    counts = [f"{number} {DECIDED[op]}" for op, number in sorted(done.items())]
    return ", ".join([*counts, *([f"{failed} failed"] if failed else [])]) or "no suggestion was processed"


def drained(done: Json) -> Iterator[str]:
    """Yield what became of the waiting suggestions, and why some still wait."""
    yield processed(done["decisions"], done["failed"])
    if done["remaining"]:
        yield f"{done['remaining']} still waiting" + (f": {done['reason']}" if done["reason"] else "")


def fed(done: Json) -> Iterator[str]:
    """Yield what a turn of a session added."""
    yield f"{plural(done['candidates'], 'suggestion')} from session {done['session_id']}"
    if done["waiting_turns"]:
        yield f"{plural(done['waiting_turns'], 'turn')} waiting for the model"


def health(done: Json) -> Iterator[str]:
    """Yield the state of memory, its problems, and how far dreaming is."""
    yield f"{done['status']}: {plural(done['indexed_files'], 'memory')}"
    yield from (f"  {one}" for one in done["problems"])
    yield from (f"  {scope}: {plural(count, 'memory')}" for scope, count in done["files"].items())
    yield f"decisions: {done['decisions']}, {done['pending_decisions']} pending"
    yield f"provider: {done['provider']['name']} ({done['provider']['status'].replace('_', ' ')})"
    yield from (f"dreaming, {scope}: {words}" for scope, words in done["dream_gates"].items())


def trace(done: Json) -> Iterator[str]:
    """Yield what a recall searched for and found, with the terms of each score."""
    found = done["trace"]
    yield f"{found['executed_at']}  {found['query']}"
    yield found["skipped_reason"] or f"words: {', '.join(found['terms'])}"
    for one in found["candidates"]:
        yield f"{one['score']:.3f}  [{scope_of(one)}]  {one['filename']}  {one['title']}"
        yield f"       {' '.join(one['why_recalled'])}"


def scopes(done: Json) -> Iterator[str]:
    """Yield the folders of memories, the one that counts first."""
    for one in done["precedence"]:
        yield f"{scope_of(one)}  {one['folder']}"


def reset(done: Json) -> Iterator[str]:
    """Yield what a reset did, or would do."""
    count = plural(done["deleted_rows"], "memory")
    yield "nothing is done without --confirm" if done["dry_run"] else f"rebuilt the index of {count}"


def extractor(done: Json) -> Iterator[str]:
    """Yield what waits for the extractor, and what failed or was dropped."""
    one = done["extractor"]
    yield f"{one['status']}: {plural(one['inbox_candidates'], 'suggestion')} waiting, {one['failure_count']} failed"
    if one["model"] or one["waiting_turns"]:
        yield f"{plural(one['waiting_turns'], 'turn')} waiting for the model, {one['dropped_turns']} dropped"


def providers(done: Json) -> Iterator[str]:
    """Yield each provider with its state, then those that cannot be used."""
    yield from map(provider_line, done["providers"])
    yield from (f"{one['provider']}  cannot be used: {one['message']}" for one in done["collisions"])


def provider_line(one: Json) -> str:
    """Return a provider in a line."""
    failed = f", {plural(one['failure_count'], 'failure')}, {one['last_error_code']}" if one["failure_count"] else ""
    return f"{one['name']}  {one['status'].replace('_', ' ')}{failed}"


def provider(done: Json) -> Iterator[str]:
    """Yield one provider."""
    yield provider_line(done["provider"])


def appended(done: Json) -> Iterator[str]:
    """Yield how many events a session has now."""
    yield f"added {plural(done['appended'], 'event')}; session {done['session_id']} has {done['events']}"


def ended(done: Json) -> Iterator[str]:
    """Yield that a session ended, and where its ledger is."""
    one = done["ledger"]
    yield f"session {one['session_id']} ended with {plural(one['event_count'], 'event')}: {one['path']}"


def pruned(done: Json) -> Iterator[str]:
    """Yield how many sessions were deleted, or would be."""
    verb = "would delete" if done["dry_run"] else "deleted"
    yield f"{verb} {plural(done['pruned_sessions'], 'session')} with {plural(done['pruned_events'], 'event')}"


def repaired(done: Json) -> Iterator[str]:
    """Yield how many ledgers were repaired, or would be, and what cannot be."""
    verb = "would repair" if done["dry_run"] else "repaired"
    yield f"{verb} {plural(done['repaired_sessions'], 'ledger')} of {plural(done['checked_sessions'], 'session')}"
    yield from (f"  {one['session_id']}: {one['reason']}" for one in done["problems"])


def gates(done: Json) -> Iterator[str]:
    """Yield the gates of each side, then the newest runs."""
    for scope in done["scopes"]:
        yield f"{scope['scope']}: {'ready' if scope['open'] else 'not yet'}"
        for gate in scope["gates"]:
            yield f"  {'open  ' if gate['open'] else 'closed'}  {gate['words']}"
    yield from map(run_line, done["dreams"])


def dream(done: Json) -> Iterator[str]:
    """Yield a run of dreaming with its artefact."""
    yield run_line(done["dream"])
    yield from ("", *(done["dream"]["artifact"] or "").splitlines())


def _decision_line(one: Json) -> str:
    op = "no change" if one["op"] == "noop" else one["op"]
    return f"{one['id']}  {one['decided_at']}  {op}  {one['target_filename'] or '-'}  {one['reason']}"


decisions = listed("decisions", _decision_line, "no decisions")
days = listed(
    "logs",
    lambda one: f"{one['date']}  {scope_of(one)}  {plural(one['operation_count'], 'operation')}  {one['path'] or ''}",
    "nothing yet",
)
failures = listed("failures", lambda one: f"{one['id']}  {one['session_id']}  {one['reason']}", "nothing failed")
history = listed(
    "operations",
    lambda one: f"{one['timestamp']}  {one['operation']}  {one['filename'] or ''}  {one['summary']}",
    "nothing yet",
)
settings = listed("config", lambda one: f"{one['key']} = {one['value']}  ({one['source']}; default {one['default']})")
events = listed(
    "events", lambda one: f"{one['sequence']}  {one['emitted_at']}  {one['event_type']}  {one['payload'] or ''}"
)
dreams = listed("dreams", run_line, "no dreams yet")
