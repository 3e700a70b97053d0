"""Reading the files of the project state strictly; each fault has its file, line and code."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from memory.base.values import no_constant
from memory.document.model import BOM
from memory.errors import MemdeckError, NotFoundError
from memory.state.files.model import is_there
from memory.storage.safe_open import Stored

from . import model, schema
from .model import Json, checkpoint_id, is_echo, line_of, load, number_of, scope_of
from .schema import DEFAULTS, read_config

Read = Callable[[str], Stored]
"""Reads a file by its path relative to the workspace, like `Store.read`."""
Names = Callable[[str], tuple[str, ...]]
"""Returns the names in a folder of the workspace, sorted; none for a folder that cannot be listed."""

Parsed = dict[str, tuple[Stored, Any]]
"""Values read from files, by path: valid as long as the file is the same."""
T = TypeVar("T")

_BATCH = re.compile(r"(?:prune|init|repair)-\d{8}T\d{9}Z(?:-\d{1,4})?")


def _wrong(code: str, file: str, line: int, why: str) -> MemdeckError:
    where = f"{file}:{line}" if line else file
    return MemdeckError(
        code, f"{where}: {why}", "`memdeck state validate --repair` shows what can be done", file=file, line=line
    )


class BadLine(NamedTuple):
    """A line (from 1) of events.jsonl that is not an event, and why."""

    line: int
    why: str


class EventFile(NamedTuple):
    """The content of events.jsonl: the events in their order, the line (from 1) of each, and the bad lines."""

    items: tuple[Json, ...]
    lines: tuple[int, ...]
    bad: tuple[BadLine, ...]


def read_events(data: bytes) -> EventFile:
    """Return the events of a file and its bad lines; only a newline ends a line, a byte order mark in front is none."""
    found: list[tuple[Json, int]] = []
    bad: list[BadLine] = []
    decode = json.JSONDecoder(parse_constant=no_constant).decode
    for number, raw in enumerate(data.removeprefix(BOM).split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            event = decode(raw.decode("utf-8"))
            why = schema.first_of(schema.faults_of("event", event))
        except (ValueError, RecursionError) as error:
            why = f"is not JSON ({getattr(error, 'msg', error)})"
        if why:
            bad.append(BadLine(number, why))
        else:
            found.append((event, number))
    return EventFile(tuple(one for one, _ in found), tuple(line for _, line in found), tuple(bad))


class StateFiles:
    """A snapshot of the files; each is read when first used, and its errors are raised then.

    Errors: MemdeckError `state.missing`, `state.schema`, `state.events`, `state.sources`, `state.checkpoint.*`,
    ConfigError `state.*.json` and `state.config.*`, and what reading a file raises.
    """

    def __init__(self, root: Path, read: Read, names: Names, parsed: Parsed) -> None:
        """`root` is the workspace; nothing is read yet."""
        self.root = root
        self.read = read
        self.names = names
        self._parsed = parsed

    def _parse(self, path: str, stored: Stored, parse: Callable[[bytes], T]) -> T:
        """Return the result of `parse` for a file; errors are not cached."""
        known = self._parsed.get(path)
        if known is None or known[0] is not stored:
            known = self._parsed[path] = (stored, parse(stored.data))
        value: T = known[1]
        return value

    # -- the files ----------------------------------------------------------------------------------------------

    @cached_property
    def state(self) -> Json:
        """The state; its hash is not compared."""
        stored = self.read(model.STATE)
        if not stored.exists:
            way = "`memdeck state validate --repair` shows what can be done" if self.checkpoint_ids else ""
            raise NotFoundError("state.missing", f"there is no {model.STATE}", way or "`memdeck state init` creates it")
        return self._parse(model.STATE, stored, _state)

    @cached_property
    def found_events(self) -> EventFile:
        """The events and the bad lines; `state.events.missing` without the file."""
        stored = self.read(model.EVENTS)
        if not stored.exists:
            raise _wrong("state.events.missing", model.EVENTS, 0, "the file is missing")
        return self._parse(model.EVENTS, stored, read_events)

    @cached_property
    def events(self) -> tuple[Json, ...]:
        """The events in file order; MemdeckError `state.events` where a line is not an event."""
        found = self.found_events
        if found.bad:
            raise _wrong("state.events.read", model.EVENTS, found.bad[0].line, found.bad[0].why)
        return found.items

    @cached_property
    def sources(self) -> list[Json]:
        """The sources of imports; none without the file."""
        stored = self.read(model.SOURCES)
        return self._parse(model.SOURCES, stored, _sources) if stored.exists else []

    @cached_property
    def config(self) -> Json:
        """The settings; missing ones have their defaults."""
        stored = self.read(model.CONFIG)
        return self._parse(model.CONFIG, stored, read_config) if stored.exists else DEFAULTS

    @cached_property
    def checkpoint_ids(self) -> tuple[str, ...]:
        """The ids of the checkpoints by their file names, the oldest first."""
        names = (name.removesuffix(".json") for name in self.names(model.CHECKPOINTS) if name.endswith(".json"))
        numbers = (number_of(name, "chk") for name in names)
        return tuple(checkpoint_id(number) for number in sorted(filter(None, numbers)))

    def checkpoint(self, name: str) -> Json:
        """Return a checkpoint by its id; NotFoundError `state.checkpoint.missing`, MemdeckError
        `state.checkpoint.schema`.
        """
        path = checkpoint_path(name)
        if not number_of(name, "chk") or not self.read(path).exists:
            hint = "`memdeck state show checkpoints` lists them"
            raise NotFoundError("state.checkpoint.missing", f"there is no checkpoint {name[:60]!r}", hint)
        return self._parse(path, self.read(path), lambda data: _checkpoint(data, path, name))

    def latest_checkpoints(self, most: int) -> list[Json]:
        """Return the newest checkpoints that can be read, the newest first."""
        found: list[Json] = []
        for name in reversed(self.checkpoint_ids):
            if len(found) < most:
                with suppress(MemdeckError):
                    found.append(self.checkpoint(name))
        return found

    def has(self, path: str) -> bool:
        """Return whether a file or folder of the repository exists; links that lead out do not count."""
        return is_there(self.root, path)

    @cached_property
    def batches(self) -> tuple[str, ...]:
        """The names of the archive's batches that hold anything; other names are not batches."""
        names = filter(_BATCH.fullmatch, self.names(model.ARCHIVE))
        return tuple(name for name in names if self.holds(f"{model.ARCHIVE}/{name}"))

    def holds(self, folder: str) -> bool:
        """Return whether a folder holds more than empty folders, which remain when a batch is undone."""
        return any(files for _, _, files in os.walk(self.root / folder))

    def manifest(self, batch: str) -> Json:
        """Return the manifest of a batch; MemdeckError `state.archive.manifest`."""
        return self._of_kind(f"{model.ARCHIVE}/{batch}/manifest.json", "manifest", "state.archive.manifest")

    def _of_kind(self, path: str, kind: str, code: str) -> Json:
        """Return the object of a file if it is of a kind; MemdeckError `code`."""
        stored = self.read(path)
        if not stored.exists:
            raise _wrong(code, path, 0, "the file is missing")
        return self._parse(path, stored, lambda data: checked(data, path, kind, code))

    # -- what follows from them -----------------------------------------------------------------------------------

    @property
    def bundle(self) -> Json:
        """The bundle of the state."""
        bundle: Json = self.state["bundle"]
        return bundle

    @cached_property
    def _recalled(self) -> dict[str, int]:
        """The number of the last recalled event of each kind: by a recall of that kind or of all."""
        cursors = self.state["maintenance"]["recallCursors"].items()
        last = {scope: number_of(cursor["lastRecalledEventId"]) for scope, cursor in cursors}
        return {scope: max(last["all"], number) for scope, number in last.items()}

    def is_recalled(self, event: Json) -> bool:
        """Return whether an event is in the bundle: by a recall, or because it was written along with a bundle."""
        return number_of(event["id"]) <= self._recalled[scope_of(event)] or is_echo(event)

    def unrecalled(self, scope: str = "all") -> list[Json]:
        """Return the events of a scope that were not recalled yet."""
        return [event for event in self.events if scope in ("all", scope_of(event)) and not self.is_recalled(event)]

    def highest_event(self) -> int:
        """Return the highest number that an event ever had, as far as the files show."""
        ids = [one["eventId"] for one in self.latest_checkpoints(1)]
        if self.read(model.EVENTS).exists:
            ids += [event["id"] for event in self.found_events.items]
        with suppress(MemdeckError):
            maintenance = self.state["maintenance"]
            ids += [one["lastRecalledEventId"] for one in (maintenance, *maintenance["recallCursors"].values())]
        return max([0, *map(number_of, ids), *self.archived_numbers()])

    def next_checkpoint(self) -> str:
        """Return the id of the next checkpoint, later than all that there ever were, as far as the files show."""
        ids = list(self.checkpoint_ids)
        with suppress(MemdeckError):
            ids.append(self.state["maintenance"]["latestCheckpointId"])
        for manifest in self._manifests():
            ids += manifest["archivedCheckpointIds"]
        return checkpoint_id(max((number_of(one, "chk") for one in ids), default=0) + 1)

    def archived_numbers(self) -> frozenset[int]:
        """Return the numbers of the events that the archive has or had, as far as its manifests can be read."""
        ids = (one for manifest in self._manifests() for one in manifest["archivedEventIds"])
        return frozenset(map(number_of, (*self.expired["events"], *ids)))

    @cached_property
    def expired(self) -> Json:
        """What has left the archive: the ids of its events, and the imported sessions among them."""
        with suppress(MemdeckError):
            return self._of_kind(model.EXPIRED, "expired", "state.archive.expired")
        return {"events": [], "imports": []}

    def _manifests(self) -> Iterator[Json]:
        for batch in self.batches:
            with suppress(MemdeckError):
                yield self.manifest(batch)


def checkpoint_path(name: str) -> str:
    """Return the path of a checkpoint's file by its id."""
    return f"{model.CHECKPOINTS}/{name}.json"


def _state(data: bytes) -> Json:
    state: Json
    try:
        state = checked(data, model.STATE, "state", "state.schema", "state.json")
    except MemdeckError as error:
        if "schemaVersion is not" in error.message:
            error.hint = "`memdeck state init --force` archives it and starts again"
        raise
    return state


def _sources(data: bytes) -> list[Json]:
    sources: list[Json] = checked(data, model.SOURCES, "source*", "state.sources.schema", "state.sources.json")
    counts = Counter(source["id"] for source in sources)
    if sources and (twice := counts.most_common(1)[0])[1] > 1:
        raise _wrong("state.sources.schema", model.SOURCES, 0, f"the source {twice[0][:60]!r} occurs twice")
    return sources


def _checkpoint(data: bytes, path: str, name: str) -> Json:
    code = "state.checkpoint.schema"
    checkpoint: Json = checked(data, path, "checkpoint", code, "state.checkpoint.json")
    if checkpoint["id"] != name:
        raise _wrong(code, path, 0, f"id is {checkpoint['id']}, and the file is called {name}")
    return checkpoint


def checked(data: bytes, path: str, kind: str, code: str, unread: str = "") -> Any:
    """Return the JSON of a file if it is of a kind; MemdeckError `code`, ConfigError `unread` if it is not JSON."""
    value = load(data, path, unread or code)
    if faults := schema.faults_of(kind, value):
        line = line_of(data, faults[0].where.rpartition(".")[2].partition("[")[0])
        raise _wrong(code, path, line, schema.first_of(faults))
    return value
