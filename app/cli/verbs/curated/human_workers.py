"""What the verbs on dreams, the extractor, sessions, daily logs and providers say to people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
WORKERS = frozenset({"dream", "extractor", "session", "daily", "provider"})
"""The groups of verbs whose words are here."""


def worker_lines(name: str, done: Json) -> Iterator[str]:
    """Yield the lines of the result of an operation."""
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
            yield from (_run(one) for one in done["dreams"])
        case "dream list":
            yield from (_run(one) for one in done["dreams"])
            if not done["dreams"]:
                yield "no dreams yet"
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
            for one in done["failures"]:
                yield f"{one['id']}  {one['session_id']}  {one['reason']}"
            if not done["failures"]:
                yield "nothing failed"
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
            for one in done["logs"]:
                parts = [
                    one["date"],
                    one["scope"],
                    one["agent_name"],
                    f"{one['operation_count']} operations",
                    one["path"],
                ]
                yield "  ".join(part for part in parts if part)
            if not done["logs"]:
                yield "nothing yet"
        case "daily show":
            yield from done["text"].splitlines()
        case "daily sweep":
            words = "would be: " if done["dry_run"] else ""
            yield f"{words}{done['written']} written, {done['archived']} archived, {done['purged']} purged"
        case "daily restore":
            yield from done["restored"]
        case "daily purge":
            yield f"{'would remove' if done['dry_run'] else 'removed'} {done['purged']} logs before {done['before']}"
        case "provider list":
            for one in done["providers"]:
                yield _provider(one)
            yield from (f"cannot be used: {one['provider']}: {one['message']}" for one in done["collisions"])
        case "provider pre-compress":
            yield from done["notes"].splitlines() or ("nothing is to survive",)
        case _:
            yield _provider(done["provider"])


def _provider(one: Json) -> str:
    failed = f"{one['failure_count']} failures, {one['last_error_code']}" if one["failure_count"] else ""
    parts = [one["name"], one["status"], one["package"] or "memdeck", " ".join(one["tools"]), failed]
    return "  ".join(part for part in parts if part)


def _run(one: Json) -> str:
    words = {
        "promoted": f"{one['promoted_count']} of {one['input_count']} memories in {one['target_filename']}",
        "failed": one["error"],
        "skipped": one["reason"] or "nothing promoted",
    }
    return f"{one['started_at']}  {one['id']}  {one['state']}  {words.get(one['state'], '')}".rstrip()
