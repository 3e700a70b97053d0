"""Curated memories on their way from and to other memories; every one that comes passes the controller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from memory.base.items import Committed, Item, Skipped, Taken
from memory.document.item_block import body_of, item_of_block
from memory.errors import MemdeckError, UsageError

from .control.apply import Proposed, propose
from .control.candidate import Candidate
from .curated import Curated
from .model import SCOPES, TYPES, Header, Invalid, Memory, Root

_TYPES = {"contact": "user", "task": "project", "next-step": "project", "decision": "project"}
_HEADER = ("description", "type", "scope", "agent", "tier")
"""Fields that the header of a memory holds."""
_LONGEST = 160


def items_of(memories: Sequence[Memory], invalid: Sequence[Invalid], folder: str) -> Iterator[Item | Skipped]:
    """Yield memories as items; files that are none are skipped with their reason."""
    for one in memories:
        header = one.header
        where = f"{folder}/{one.root.folder}/{one.filename}"
        found = item_of_block("memory", header.name, one.body, where)
        said = {"description": header.description, "type": header.type, "scope": one.root.scope}
        if one.root.agent:
            said |= {"agent": one.root.agent, "tier": one.root.tier or ""}
        created = found.created or header.provenance.created_at or ""
        if found.kind == "memory":
            yield Item("memory", header.name, one.body.strip("\n"), where, created, (), said)
        else:
            yield Item(found.kind, found.title, found.text, where, created, found.tags, found.fields)
    for bad in invalid:
        yield Skipped(f"{folder}/{bad.root.folder}/{bad.filename}:{bad.line}", bad.reason)


def take(curated: Curated, items: Sequence[Item], place: str, *, actor: str, now: datetime) -> Taken:
    """Return what becomes of items as memories of a scope (default: the workspace), each decided by the controller.

    What the controller rejects or knows already is skipped with its reason.
    """
    scope = place or "workspace"
    if scope not in SCOPES or scope == "agent":
        raise UsageError("convert.scope", f"{scope[:40]!r} is no scope for it", "use workspace or global")
    root = curated.root(scope)
    converted: list[Item] = []
    skipped: list[Skipped] = []
    for item in items:
        refused = _proposed(curated, root, item, actor, now, dry_run=True)
        if isinstance(refused, str):
            skipped.append(Skipped(item.what, refused))
        else:
            converted.append(item)

    def commit() -> Committed:
        changes: list[str] = []
        refused: list[tuple[Item, str]] = []
        for item in converted:
            made = _proposed(curated, root, item, actor, now, dry_run=False)
            if isinstance(made, str):
                refused.append((item, made))
            elif made.change is not None:
                changes.append(made.change.id)
        return Committed(changes, refused)

    return Taken(converted, skipped, (), commit)


def _proposed(curated: Curated, root: Root, item: Item, actor: str, now: datetime, *, dry_run: bool) -> Proposed | str:
    """Return what the controller made of an item, or why it does not come along."""
    try:
        made = propose(curated, _candidate(root, item), actor=actor, now=now, dry_run=dry_run)
    except MemdeckError as error:
        return error.message
    if made.decision.op in ("reject", "noop"):
        return made.decision.reason
    return made


def _candidate(root: Root, item: Item) -> Candidate:
    kind = item.fields.get("type", "")
    kind = kind if kind in TYPES else _TYPES.get(item.kind, "reference")
    rest = {key: value for key, value in item.fields.items() if key not in _HEADER or item.kind != "memory"}
    plain = item.kind in ("memory", "note", "fact") and not rest and not item.tags
    kept = Item(item.kind, item.title, item.text, item.where, item.created, item.tags, rest)
    content = (item.text or item.title) if plain else body_of(kept)
    description = item.fields.get("description") or _first_line(item.text) or item.title[:_LONGEST]
    header = Header(item.title, description, kind, root.scope, root.agent, root.tier)
    return Candidate(root, "cli", header, content)


def _first_line(text: str) -> str:
    return next((" ".join(line.split())[:_LONGEST] for line in text.splitlines() if line.strip()), "")
