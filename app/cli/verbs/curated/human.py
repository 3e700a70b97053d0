"""What the verbs on curated memory say to people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .human_workers import WORKERS, worker_lines

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
            for one in done["decisions"]:
                yield f"{one['id']}  {one['decided_at']}  {one['op']}  {one['target_filename'] or '-'}  {one['reason']}"
            if not done["decisions"]:
                yield "no decisions"
        case "decisions show":
            yield from _decision(done["decision"], traces=True)
        case "decisions revert":
            yield "the decision can be taken back" if done["dry_run"] else f"took back {done['decision']['id']}"
        case "snapshot":
            yield from done["snapshot"]["text"].splitlines()
        case "recall block":
            yield from done["text"].splitlines()
        case "history":
            for one in done["operations"]:
                yield f"{one['timestamp']}  {one['operation']}  {one['filename'] or ''}  {one['summary']}".rstrip()
            if not done["operations"]:
                yield "nothing yet"
        case "config":
            for one in done["config"]:
                yield f"{one['key']} = {one['value']}  ({one['source']}; default {one['default']})"
        case _ if name.partition(" ")[0] in WORKERS:
            yield from worker_lines(name, done)
        case _:
            yield from _plain(done)


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
