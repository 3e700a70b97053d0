"""The parts of the bundle, and the events: as records for search and agents, and as items of a conversion."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.base.items import Committed, Item, Loss, Skipped, Taken, losses_of
from memory.errors import MemdeckError
from memory.search.records import Record

from .bundles import edit, existing, init
from .files.model import ARCHIVE, EVENTS, SIGNALS, STATE, Json, line_of
from .files.reading import StateFiles, read_events
from .files.schema import SHAPES

if TYPE_CHECKING:
    from .files.store import StateStore

LISTS = {"gotcha": "gotchas", "next-step": "nextSteps"}
"""The lists of the bundle whose entries are parts of their own: the name of an entry, and the key of the list."""


class Part(NamedTuple):
    """A part of the bundle, or an event: its ref, its line (from 0), and, of a part, its values and its kind."""

    ref: str
    line: int
    values: Json
    kind: str = ""

    def json(self) -> dict[str, Any]:
        """Return the values."""
        return dict(self.values)


def ref_of(name: str) -> str:
    """Return the ref of an event, a checkpoint, or a part of the bundle: `state#evt-000001`."""
    return f"state#{name}"


def records_of(memory: StateFiles, refused: MutableMapping[str, MemdeckError] | None = None) -> Iterator[Record]:
    """Yield the parts of the bundle, the events and those of the archive; a file that cannot be read goes to `refused`,
    or raises without it.
    """
    archived = (f"{ARCHIVE}/{batch}/events.jsonl" for batch in reversed(memory.batches))
    for file in (STATE, EVENTS, *archived):
        try:
            yield from bundle_records(memory) if file == STATE else _event_records(memory, file)
        except MemdeckError as error:
            if refused is None:
                raise
            refused[file] = error


def bundle_records(memory: StateFiles) -> Iterator[Record]:
    """Yield the parts of the bundle: project, project map, current focus, then each gotcha and each next step."""
    stored = memory.read(STATE)
    if not stored.exists:
        return
    bundle, date = memory.bundle, memory.state["generatedAt"][:10]

    def record(name: str, key: str, values: Json, title: str, text: str, kind: str) -> Record:
        part = Part(ref_of(name), line_of(stored.data, key) - 1, values, kind)
        return Record("state", STATE, title, text, part, date)

    for name, key, title in (("project", "project", "name"), ("project-map", "projectMap", ""),
                             ("current-focus", "currentFocus", "summary")):  # fmt: skip
        values = bundle[key]
        yield record(name, key, values, values.get(title, "Project map"), "\n".join(texts_of(values)), name)
    for kind, key in LISTS.items():
        for number, one in enumerate(bundle[key], 1):
            yield record(f"{kind}-{number}", key, one, one["title"], "\n".join(one.values()), kind)


def texts_of(value: Any) -> Iterator[str]:
    """Yield the texts in a part of a bundle, one for each object that has nothing but texts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and all(isinstance(one, str) for one in value.values()):
        yield " ".join(value.values())
    elif isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts_of(one)


def _event_records(memory: StateFiles, file: str) -> Iterator[Record]:
    found = read_events(memory.read(file).data)
    for event, line in zip(reversed(found.items), reversed(found.lines), strict=True):
        signals = [text for kind in SIGNALS for text in event["signals"][kind]]
        text = "\n".join([event["id"], event["summary"], event["sourceRef"], *signals])
        part = Part(ref_of(event["id"]), line - 1, {})
        yield Record("state", file, event["summary"], text, part, event["createdAt"][:10])


# -- conversion from and to other memories ------------------------------------------------------------------------

_FIELDS = {"gotcha": [*SHAPES["gotcha"]][1:], "next-step": [*SHAPES["step"]][1:]}
"""The fields of an item, except its title."""
_CHECKPOINTS = 50
"""How many checkpoints are searched for former items; retention keeps ten of the old ones."""
_UNKNOWN = "-"
"""The value of an unknown field; the schema requires a text."""


def items_of(memory: StateFiles) -> Iterator[Item]:
    """Yield the gotchas and next steps, the project and its current focus as notes, and the events."""
    for one in records_of(memory):
        kind, where = getattr(one.item, "kind", ""), f"{one.file}:{one.line + 1}"
        if kind in LISTS:
            said = {name: one.item.values[name] for name in _FIELDS[kind] if one.item.values[name] != _UNKNOWN}
            yield Item(kind, one.title, "", where, fields=said)
        elif kind == "project":
            yield Item("note", one.title, one.item.values["summary"], where)
        elif kind == "current-focus":
            lists = (one.item.values[key] for key in ("currentState", "knownRisks", "suggestedNextActions"))
            yield Item("note", one.title, "\n".join(f"- {line}" for lines in lists for line in lines), where)
        elif not kind:
            yield Item("event", one.title, one.text, where, one.date, one.tags)


def take(store: StateStore, items: Sequence[Item], *, actor: str, now: datetime) -> Taken:
    """Convert items to the project state: open tasks become next steps, gotchas become gotchas; other items do not fit.

    An item whose title is in a checkpoint existed before, and was done or removed since. The commit makes one change
    for each of the two lists, and before them the state itself, from the repository, where there is none.
    """
    memory = store.memory()
    is_new = not existing(store)
    bundles = [] if is_new else [memory.bundle, *(one["bundle"] for one in memory.latest_checkpoints(_CHECKPOINTS))]
    known = {kind: {one["title"] for bundle in bundles for one in bundle[name]} for kind, name in LISTS.items()}
    new: dict[str, list[Json]] = {kind: [] for kind in LISTS}
    converted: list[Item] = []
    skipped: list[Skipped] = []
    losses: list[Loss] = []
    for item in items:
        is_open = item.kind == "task" and item.fields.get("section") not in ("completed", "archived")
        kind = "next-step" if is_open else item.kind
        value, lost = _value(kind, item) if kind in LISTS else ({}, [])
        if not value:
            skipped.append(Skipped(item.what, "project state takes open tasks, next steps and gotchas"))
        elif not item.title.strip():
            skipped.append(Skipped(item.what, f"a {kind} needs a title"))
        elif item.title in known[kind] or value in new[kind]:
            skipped.append(Skipped(item.what, "it already exists"))
        else:
            new[kind].append(value)
            converted.append(item)
            losses += lost

    def commit() -> Committed:
        changes = []
        if is_new:
            from .analysis.analyse import analyse

            made = init(store, analyse(store.root), actor=actor, now=now).change
            changes += [] if made is None else [made.id]
        for kind, values in new.items():
            if values:
                before = store.memory().bundle[LISTS[kind]]
                done = edit(store, f"{kind}s", [*before, *values], base=before, actor=actor, now=now)
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
