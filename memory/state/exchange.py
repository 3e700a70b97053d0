"""Conversion of the project state from and to other memories: gotchas, next steps, the project, events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from memory.base.items import Committed, Item, Loss, Skipped, Taken, losses_of

from .files.json_text import line_of
from .files.model import STATE, Json
from .files.reading import StateFiles
from .operations import edit

if TYPE_CHECKING:
    from .files.store import StateStore


class _List(NamedTuple):
    """A list of the bundle: the kind of its items, its section, its key, and the fields of an item except its title."""

    kind: str
    section: str
    key: str
    names: tuple[str, ...]


_GOTCHAS = _List("gotcha", "gotchas", "gotchas", ("symptom", "cause", "correctPath"))
_STEPS = _List("next-step", "next-steps", "nextSteps", ("why", "start", "done"))
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
    for kind, _, key, names in (_GOTCHAS, _STEPS):
        for one in bundle[key]:
            said = {name: one[name] for name in names if one[name] != _UNKNOWN}
            yield Item(kind, one["title"], "", where(key), fields=said)
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
    known = {place: {one["title"] for bundle in bundles for one in bundle[place.key]} for place in (_GOTCHAS, _STEPS)}
    new: dict[_List, list[Json]] = {_GOTCHAS: [], _STEPS: []}
    converted: list[Item] = []
    skipped: list[Skipped] = []
    losses: list[Loss] = []
    for item in items:
        place = _place(item)
        if place is None:
            skipped.append(Skipped(item.what, "project state takes open tasks, next steps and gotchas"))
            continue
        if not item.title.strip():
            skipped.append(Skipped(item.what, f"a {place.kind} needs a title"))
            continue
        value, lost = _value(place, item)
        if value["title"] in known[place] or value in new[place]:
            skipped.append(Skipped(item.what, "it is there already"))
            continue
        new[place].append(value)
        converted.append(item)
        losses += lost

    def commit() -> Committed:
        changes = []
        for place, values in new.items():
            if values:
                before = store.memory().bundle[place.key]
                done = edit(store, place.section, [*before, *values], base=before, actor=actor, now=now)
                changes += [] if done.change is None else [done.change.id]
        return Committed(changes)

    return Taken(converted, skipped, losses, commit)


def _place(item: Item) -> _List | None:
    if item.kind == "gotcha":
        return _GOTCHAS
    is_open = item.kind == "task" and item.fields.get("section") not in ("completed", "archived")
    return _STEPS if is_open or item.kind == "next-step" else None


def _value(place: _List, item: Item) -> tuple[Json, list[Loss]]:
    """Return an item as a value of a list, and what it loses; notes and text go into the first field."""
    said = dict(item.fields)
    own = ("notes", "section") if item.kind == "task" else ()
    texts = [one for one in (said.get("notes", "") if own else "", item.text) if one.strip()]
    if texts:
        said.setdefault(place.names[0], "\n".join(texts))
    reason = f"a {place.kind} has title, {', '.join(place.names)}"
    losses = losses_of(item, (*place.names, *own), reason)
    losses += [
        Loss(item.what, name, reason)
        for name, given in (("tags", item.tags), ("created", item.created))
        if given and name not in item.fields
    ]
    known = {name: value for name, value in said.items() if value.strip()}
    return {"title": item.title, **{name: known.get(name, _UNKNOWN) for name in place.names}}, losses
