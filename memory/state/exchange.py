"""Conversion of the project state from and to other memories: gotchas, next steps, the project, events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from memory.base.items import Committed, Item, Loss, Skipped, Taken, losses_of

from .bundles import edit
from .files.json_text import line_of
from .files.model import KEYS, STATE, Json
from .files.reading import StateFiles
from .files.schema import SHAPES

if TYPE_CHECKING:
    from .files.store import StateStore

_SECTIONS = {"gotcha": "gotchas", "next-step": "next-steps"}
"""The kinds of items that are lists of the bundle, with their sections."""
_FIELDS = {"gotcha": [*SHAPES["gotcha"]][1:], "next-step": [*SHAPES["step"]][1:]}
"""The fields of an item, except its title."""
_CHECKPOINTS = 50
"""How many checkpoints are looked at for what was there; retention keeps ten of those that are old."""
_UNKNOWN = "-"
"""The value of an unknown field; the schema requires a text."""


def parts_of(memory: StateFiles) -> Iterator[Item]:
    """Yield the bundle as items: gotchas, next steps, the project and its current focus."""
    stored = memory.read(STATE)
    if not stored.exists:
        return

    def where(key: str) -> str:
        return f"{STATE}:{line_of(stored.data, key)}"

    bundle = memory.bundle
    for kind, section in _SECTIONS.items():
        for one in bundle[KEYS[section]]:
            said = {name: one[name] for name in _FIELDS[kind] if one[name] != _UNKNOWN}
            yield Item(kind, one["title"], "", where(KEYS[section]), fields=said)
    project, focus = bundle["project"], bundle["currentFocus"]
    yield Item("note", project["name"], project["summary"], where("project"))
    lines = [f"- {line}" for key in ("currentState", "knownRisks", "suggestedNextActions") for line in focus[key]]
    yield Item("note", focus["summary"], "\n".join(lines), where("currentFocus"))


def take(store: StateStore, items: Sequence[Item], *, actor: str, now: datetime) -> Taken:
    """Convert items to the project state: open tasks become next steps, gotchas become gotchas; other items do not fit.

    What a checkpoint has under its title was there already, and was done or removed since. The commit makes one change
    for each of the two lists.
    """
    memory = store.memory()
    bundles = [memory.bundle, *(one["bundle"] for one in memory.latest_checkpoints(_CHECKPOINTS))]
    known = {
        kind: {one["title"] for bundle in bundles for one in bundle[KEYS[name]]} for kind, name in _SECTIONS.items()
    }
    new: dict[str, list[Json]] = {kind: [] for kind in _SECTIONS}
    converted: list[Item] = []
    skipped: list[Skipped] = []
    losses: list[Loss] = []
    for item in items:
        is_open = item.kind == "task" and item.fields.get("section") not in ("completed", "archived")
        kind = "next-step" if is_open else item.kind
        if kind not in _SECTIONS:
            skipped.append(Skipped(item.what, "project state takes open tasks, next steps and gotchas"))
        elif not item.title.strip():
            skipped.append(Skipped(item.what, f"a {kind} needs a title"))
        else:
            value, lost = _value(kind, item)
            if item.title in known[kind] or value in new[kind]:
                skipped.append(Skipped(item.what, "it is there already"))
            else:
                new[kind].append(value)
                converted.append(item)
                losses += lost

    def commit() -> Committed:
        changes = []
        for kind, values in new.items():
            if values:
                before = store.memory().bundle[KEYS[_SECTIONS[kind]]]
                done = edit(store, _SECTIONS[kind], [*before, *values], base=before, actor=actor, now=now)
                changes += [] if done.change is None else [done.change.id]
        return Committed(changes)

    return Taken(converted, skipped, losses, commit)


def _value(kind: str, item: Item) -> tuple[Json, list[Loss]]:
    """Return an item as a value of a list, and what it loses; notes and text go into the first field."""
    names, said = _FIELDS[kind], dict(item.fields)
    own = ("notes", "section") if item.kind == "task" else ()
    texts = [one for one in (said.get("notes", "") if own else "", item.text) if one.strip()]
    if texts:
        said.setdefault(names[0], "\n".join(texts))
    reason = f"a {kind} has title, {', '.join(names)}"
    losses = losses_of(item, (*names, *own), reason)
    given = {"tags": item.tags, "created": item.created}
    losses += [Loss(item.what, name, reason) for name, one in given.items() if one and name not in item.fields]
    known = {name: value for name, value in said.items() if value.strip()}
    return {"title": item.title, **{name: known.get(name, _UNKNOWN) for name in names}}, losses
