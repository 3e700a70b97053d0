"""The parts of the bundle, and the events, as records for search; conversion and agents' entries use the same walk."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any, NamedTuple

from memory.errors import MemdeckError
from memory.search.records import Record

from .files.json_text import line_of
from .files.model import ARCHIVE, EVENTS, SIGNALS, STATE, Json
from .files.reading import StateFiles, read_events

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
        yield record(name, key, values, values.get(title, "Project map"), "\n".join(_texts(values)), name)
    for kind, key in LISTS.items():
        for number, one in enumerate(bundle[key], 1):
            yield record(f"{kind}-{number}", key, one, one["title"], "\n".join(one.values()), kind)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a value, one for each object that has nothing but texts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and all(isinstance(one, str) for one in value.values()):
        yield " ".join(value.values())
    elif isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _event_records(memory: StateFiles, file: str) -> Iterator[Record]:
    found = read_events(memory.read(file).data)
    for event, line in zip(reversed(found.items), reversed(found.lines), strict=True):
        signals = [text for kind in SIGNALS for text in event["signals"][kind]]
        text = "\n".join([event["id"], event["summary"], event["sourceRef"], *signals])
        part = Part(ref_of(event["id"]), line - 1, {})
        yield Record("state", file, event["summary"], text, part, event["createdAt"][:10])
