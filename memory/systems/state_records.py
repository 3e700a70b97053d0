"""The search records of the project state."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import NamedTuple

from memory.errors import MemdeckError
from memory.search.records import Record
from memory.state.diff import name_of
from memory.state.files.json_text import line_of
from memory.state.files.model import ARCHIVE, EVENTS, SIGNALS, STATE, Json
from memory.state.files.reading import StateFiles, read_events

from .state_reading import ref_of

KIND = "state"


class StateItem(NamedTuple):
    """The item behind a record: its ref and line."""

    ref: str
    line: int


def records_of(memory: StateFiles, refused: MutableMapping[str, MemdeckError] | None) -> Iterator[Record]:
    """Yield the parts of the bundle, the events and those of the archive; a file that cannot be read goes to `refused`,
    or raises without it.
    """
    archived = (f"{ARCHIVE}/{batch}/events.jsonl" for batch in reversed(memory.batches))
    for file in (STATE, EVENTS, *archived):
        try:
            yield from _bundle(memory) if file == STATE else _events(memory, file)
        except MemdeckError as error:
            if refused is None:
                raise
            refused[file] = error


def _bundle(memory: StateFiles) -> Iterator[Record]:
    stored = memory.read(STATE)
    if not stored.exists:
        return
    bundle, date = memory.bundle, memory.state["generatedAt"][:10]
    focus = bundle["currentFocus"]

    def record(name: str, title: str, text: str, key: str) -> Record:
        return Record(KIND, STATE, title, text, StateItem(ref_of(name), line_of(stored.data, key) - 1), date)

    project = bundle["project"]
    words = " ".join([project["summary"], project["primaryEcosystem"], *project["keyPaths"]])
    yield record("project", project["name"], words, "project")
    parts = bundle["projectMap"]
    lines = [
        f"{name_of(one)} {' '.join(map(str, one.values()))}"
        for key in ("modules", "entrypoints", "denseSourceAreas")
        for one in parts[key]
    ]
    yield record("project-map", "Project map", "\n".join([*lines, *parts["architectureNotes"]]), "projectMap")
    text = "\n".join([focus["summary"], *focus["currentState"], *focus["knownRisks"], *focus["suggestedNextActions"]])
    yield record("current-focus", focus["summary"], text, "currentFocus")
    for kind, key in (("gotcha", "gotchas"), ("next-step", "nextSteps")):
        for number, one in enumerate(bundle[key], 1):
            yield record(f"{kind}-{number}", one["title"], "\n".join(one.values()), key)


def _events(memory: StateFiles, file: str) -> Iterator[Record]:
    found = read_events(memory.read(file).data)
    for event, line in zip(reversed(found.items), reversed(found.lines), strict=True):
        yield Record(
            KIND,
            file,
            event["summary"],
            _text(event),
            StateItem(ref_of(event["id"]), line - 1),
            event["createdAt"][:10],
        )


def _text(event: Json) -> str:
    signals = [text for kind in SIGNALS for text in event["signals"][kind]]
    return "\n".join([event["id"], event["summary"], event["sourceRef"], *signals])
