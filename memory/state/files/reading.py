"""What the files of the project state hold: read strictly, each fault with its file, line and code."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from memory.errors import MemdeckError, NotFoundError
from memory.storage.files.version import Stored

from . import schema
from .json_text import line_of, load, no_constant
from .model import (
    ARCHIVE,
    CHECKPOINTS,
    CONFIG,
    EVENTS,
    SCOPES,
    SOURCES,
    STATE,
    Json,
    checkpoint_id,
    is_echo,
    number_of,
    scope_of,
)
from .pause import without_collector

Read = Callable[[str], Stored]
"""Reads a file by its path from the workspace on, as `Store.read`."""
Names = Callable[[str], tuple[str, ...]]
"""Returns what lies in a folder of the workspace, sorted; nothing for one that cannot be listed."""

_BATCH = re.compile(r"(?:prune|init|repair)-\d{8}T\d{9}Z(?:-\d{1,4})?")


def _wrong(code: str, file: str, line: int, why: str) -> MemdeckError:
    where = f"{file}:{line}" if line else file
    return MemdeckError(
        code, f"{where}: {why}", "`memdeck state validate --repair` shows what can be done", file=file, line=line
    )


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line (from 1) of events.jsonl that holds no event, and why."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class EventFile:
    """What events.jsonl holds: the events in their order, the line (from 1) of each, and what is none."""

    items: tuple[Json, ...]
    lines: tuple[int, ...] = ()
    bad: tuple[BadLine, ...] = ()


def read_events(data: bytes) -> EventFile:
    """Return the events of a file, with what is wrong in it; lines end in a newline only."""
    with without_collector():
        return _events(data)


def _events(data: bytes) -> EventFile:
    items: list[Json] = []
    lines: list[int] = []
    bad: list[BadLine] = []
    decode = json.JSONDecoder(parse_constant=no_constant).decode
    for number, raw in enumerate(data.split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            event = decode(raw.decode("utf-8"))
        except RecursionError:
            bad.append(BadLine(number, "is nested too deeply"))
            continue
        except ValueError as error:
            bad.append(BadLine(number, f"is not JSON ({getattr(error, 'msg', error)})"))
            continue
        faults: schema.Faults = []
        schema.EVENT(event, "", faults)
        if faults:
            bad.append(BadLine(number, schema.first_of(faults)))
        else:
            items.append(event)
            lines.append(number)
    return EventFile(tuple(items), tuple(lines), tuple(bad))


class Parsed:
    """What was read of files, kept as long as the files are the same."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._known: dict[str, tuple[Stored, Any]] = {}

    def of(self, path: str, stored: Stored, parse: Callable[[bytes], Any]) -> Any:
        """Return what `parse` makes of a file; an error is not kept."""
        known = self._known.get(path)
        if known is not None and known[0] is stored:
            return known[1]
        value = parse(stored.data)
        self._known[path] = (stored, value)
        return value


class StateFiles:
    """One look at the files; each is read when it is asked for first, and raises then what is wrong with it.

    Errors: MemdeckError `state.missing`, `state.schema`, `state.events`, `state.sources`, `state.checkpoint.*`,
    ConfigError `state.*.json` and `state.config.*`, and what reading a file raises.
    """

    def __init__(self, root: Path, read: Read, names: Names, parsed: Parsed | None = None) -> None:
        """`root` is the workspace; nothing is read yet."""
        self.root = root
        self.read = read
        self.names = names
        self._parsed = parsed or Parsed()

    # -- the files ----------------------------------------------------------------------------------------------

    @cached_property
    def state(self) -> Json:
        """The state, its hash not compared."""
        stored = self.read(STATE)
        if not stored.exists:
            way = "`memdeck state validate --repair` shows what can be done" if self.checkpoint_ids else ""
            raise NotFoundError("state.missing", f"there is no {STATE}", way or "`memdeck state init` makes it")
        state: Json = self._parsed.of(STATE, stored, _state)
        return state

    @cached_property
    def found_events(self) -> EventFile:
        """The events and the lines that hold none; `state.events.missing` without the file."""
        stored = self.read(EVENTS)
        if not stored.exists:
            raise _wrong("state.events.missing", EVENTS, 0, "the file is missing")
        events: EventFile = self._parsed.of(EVENTS, stored, read_events)
        return events

    @cached_property
    def events(self) -> tuple[Json, ...]:
        """The events in the order of the file; MemdeckError `state.events` where a line holds none."""
        found = self.found_events
        if found.bad:
            raise _wrong("state.events.read", EVENTS, found.bad[0].line, found.bad[0].why)
        return found.items

    @cached_property
    def sources(self) -> list[Json]:
        """The sources of imports; none without the file."""
        stored = self.read(SOURCES)
        if not stored.exists:
            return []
        sources: list[Json] = self._parsed.of(SOURCES, stored, _sources)
        return sources

    @cached_property
    def config(self) -> Json:
        """The settings, those that are missing from the defaults."""
        from .config import read_config

        stored = self.read(CONFIG)
        config: Json = self._parsed.of(CONFIG, stored, read_config) if stored.exists else read_config(None)
        return config

    @cached_property
    def checkpoint_names(self) -> tuple[str, ...]:
        """What lies in the folder of checkpoints."""
        return self.names(CHECKPOINTS)

    @cached_property
    def checkpoint_ids(self) -> tuple[str, ...]:
        """The ids of the checkpoints by their files, the oldest first."""
        ids = [name.removesuffix(".json") for name in self.checkpoint_names if name.endswith(".json")]
        return tuple(sorted((one for one in ids if number_of(one, "chk")), key=lambda one: number_of(one, "chk")))

    def checkpoint(self, name: str) -> Json:
        """Return a checkpoint by its id; NotFoundError `state.checkpoint.missing`, MemdeckError
        `state.checkpoint.schema`.
        """
        if not number_of(name, "chk"):
            raise NotFoundError("state.checkpoint.missing", f"{name[:60]!r} is no id of a checkpoint", _LISTED)
        path = checkpoint_path(name)
        stored = self.read(path)
        if not stored.exists:
            raise NotFoundError("state.checkpoint.missing", f"there is no checkpoint {name}", _LISTED)
        checkpoint: Json = self._parsed.of(path, stored, lambda data: _checkpoint(data, path, name))
        return checkpoint

    def latest_checkpoints(self, most: int) -> list[Json]:
        """Return the newest checkpoints that can be read, the newest first."""
        found: list[Json] = []
        for name in reversed(self.checkpoint_ids):
            if len(found) == most:
                break
            try:
                found.append(self.checkpoint(name))
            except MemdeckError:
                continue
        return found

    @cached_property
    def batches(self) -> tuple[str, ...]:
        """The names of the archive's batches that hold anything; what is called otherwise is none."""
        return tuple(name for name in self.names(ARCHIVE) if _BATCH.fullmatch(name) and self.holds(f"{ARCHIVE}/{name}"))

    def holds(self, folder: str, depth: int = 4) -> bool:
        """Tell whether a folder has more in it than empty folders, as they stay behind when a batch is undone."""
        for name in self.names(folder):
            path = self.root / folder / name
            if depth == 0 or path.is_symlink() or not path.is_dir() or self.holds(f"{folder}/{name}", depth - 1):
                return True
        return False

    def manifest(self, batch: str) -> Json:
        """Return the manifest of a batch; MemdeckError `state.archive.manifest`."""
        path = f"{ARCHIVE}/{batch}/manifest.json"
        stored = self.read(path)
        if not stored.exists:
            raise _wrong("state.archive.manifest", path, 0, "the file is missing")
        manifest: Json = self._parsed.of(path, stored, lambda data: _manifest(data, path))
        return manifest

    # -- what follows from them -----------------------------------------------------------------------------------

    @property
    def exists(self) -> bool:
        """Whether there is a state."""
        return self.read(STATE).exists

    @property
    def bundle(self) -> Json:
        """The bundle of the state."""
        bundle: Json = self.state["bundle"]
        return bundle

    def cursor(self, scope: str) -> int:
        """Return the number of the event up to which a scope was recalled, 0 for none."""
        return number_of(self.state["maintenance"]["recallCursors"][scope]["lastRecalledEventId"])

    def is_recalled(self, event: Json) -> bool:
        """Tell whether an event is in the bundle: by a recall of its own scope or all, or from the start."""
        return is_echo(event) or number_of(event["id"]) <= max(self.cursor("all"), self.cursor(scope_of(event)))

    def unrecalled(self, scope: str = "all") -> list[Json]:
        """Return the events of a scope that no recall has looked at; those that were written along with a
        bundle never count, for they say what is in it."""
        every = self.cursor("all")
        cursors = {one: max(every, self.cursor(one)) for one in SCOPES[1:]}
        least = min(cursors.values())
        return [
            event
            for event in self.events
            if (number := number_of(event["id"])) > least
            and number > cursors[kind := scope_of(event)]
            and scope in ("all", kind)
            and not is_echo(event)
        ]

    def highest_event(self) -> int:
        """Return the highest number that an event ever had, as far as anything here remembers."""
        numbers = [0, *(number_of(one["eventId"]) for one in self.latest_checkpoints(1))]
        if self.read(EVENTS).exists:
            numbers += [number_of(event["id"]) for event in self.found_events.items]
        try:
            state = self.state
        except MemdeckError:
            state = None
        if state is not None:
            numbers += [self.cursor(scope) for scope in SCOPES]
            numbers.append(number_of(state["maintenance"]["lastRecalledEventId"]))
        for manifest in self._manifests():
            numbers += map(number_of, manifest["archivedEventIds"])
        return max(numbers)

    def highest_checkpoint(self) -> int:
        """Return the highest number that a checkpoint ever had, as far as anything here remembers."""
        numbers = [0, *(number_of(one, "chk") for one in self.checkpoint_ids)]
        try:
            numbers.append(number_of(self.state["maintenance"]["latestCheckpointId"], "chk"))
        except MemdeckError:
            pass
        for manifest in self._manifests():
            numbers += [number_of(one, "chk") for one in manifest["archivedCheckpointIds"]]
        return max(numbers)

    def _manifests(self) -> Sequence[Mapping[str, Any]]:
        found = []
        for batch in self.batches:
            try:
                found.append(self.manifest(batch))
            except MemdeckError:
                continue
        return found


_LISTED = "`memdeck state checkpoints` lists them"


def checkpoint_path(name: str) -> str:
    """Return the path of a checkpoint's file by its id."""
    return f"{CHECKPOINTS}/{name}.json"


def next_checkpoint(memory: StateFiles) -> str:
    """Return the id of the next checkpoint."""
    return checkpoint_id(memory.highest_checkpoint() + 1)


def _state(data: bytes) -> Json:
    state = load(data, STATE, "state.json")
    faults = schema.faults_of(schema.STATE, state)
    if faults:
        line = line_of(data, faults[0].where.rpartition(".")[2].partition("[")[0])
        raise _wrong("state.schema", STATE, line, schema.first_of(faults))
    found: Json = state
    return found


def _sources(data: bytes) -> list[Json]:
    sources = load(data, SOURCES, "state.sources.json")
    faults = schema.faults_of(schema.many(schema.SOURCE), sources)
    if faults:
        raise _wrong("state.sources.schema", SOURCES, 0, schema.first_of(faults))
    known: set[str] = set()
    for source in sources:
        one = source["id"]
        if one in known:
            raise _wrong("state.sources.twice", SOURCES, 0, f"the source {one[:60]!r} is there twice")
        known.add(one)
    found: list[Json] = sources
    return found


def _checkpoint(data: bytes, path: str, name: str) -> Json:
    checkpoint = load(data, path, "state.checkpoint.json", twice=False)
    faults = schema.faults_of(schema.CHECKPOINT, checkpoint)
    if not faults and checkpoint["id"] != name:
        faults.append(schema.Fault("id", f"is {checkpoint['id']}, and the file is called {name}"))
    if faults:
        raise _wrong("state.checkpoint.schema", path, 0, schema.first_of(faults))
    found: Json = checkpoint
    return found


def _manifest(data: bytes, path: str) -> Json:
    manifest = load(data, path, "state.archive.manifest")
    faults = schema.faults_of(schema.MANIFEST, manifest)
    if faults:
        raise _wrong("state.archive.manifest", path, 0, schema.first_of(faults))
    found: Json = manifest
    return found
