"""The sources of imports: adding one, and importing its sessions as events."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import MemdeckError, NotFoundError, UsageError

from .files import schema
from .files.json_text import canonical_bytes
from .files.model import SOURCE_TYPES, SOURCES, Json, event_id, plural, stamp
from .files.reading import StateFiles
from .files.store import NEVER_SYNCED, StateStore, StateWriting, refuse, short
from .imports import ImportedItem, discover, read_item
from .imports.privacy import Cleaner
from .machine_notes import Looks, MachineNotes
from .paths import full_path, shown_path
from .retention import imports_of

if TYPE_CHECKING:
    from memory.storage import Change

SHOWN = 20
"""How many warnings of a source are shown."""

_COUNTED = ("source", "status", "imported", "learned", "skipped", "unchanged")
_NOUNS = {
    "decisions": "decisions",
    "gotchas": "gotchas",
    "nextStepHints": "next steps",
    "keyPaths": "paths",
    "validationObservations": "validations",
}


def source_id(type: str, path: str, name: str | None = None) -> str:  # noqa: A002
    """Return the id of a source: its name, else its type and the last part of its path, in lower case and hyphens."""
    text = name if name is not None else f"{type}-{os.path.basename(path.rstrip('/'))}"
    return re.sub(r"[^a-z0-9-]+", "-", text.lower()).strip("-")


def add_source(
    store: StateStore,
    type: str,  # noqa: A002
    path: str,
    *,
    name: str | None = None,
    home: Path | None,
    folder: str,
    actor: str,
    now: datetime,
) -> tuple[Json, Change]:
    """Add a source; `path` may begin with `~`, or be relative to `folder`. Nothing is imported yet.

    In the file, the path is relative in the workspace, and begins with `~` in the home folder. UsageError
    `state.source.type`, `state.source.name`, `state.source.exists` for a duplicate id or path, MemdeckError
    `state.source.missing` for a missing path.
    """
    if type not in SOURCE_TYPES:
        known = ", ".join(SOURCE_TYPES)
        raise UsageError("state.source.type", f"{type[:60]!r} is no type of source", f"one of {known}")
    absolute = full_path(path, folder, home)
    written, found = shown_path(absolute, store.root, home), source_id(type, absolute, name)
    if not found:
        raise UsageError("state.source.name", f"{name or path!r} gives no id", "name it with letters or digits")
    if not os.path.exists(absolute):
        raise MemdeckError("state.source.missing", f"{written} does not exist", "give the folder of the sessions")

    def build(writing: StateWriting) -> tuple[Json, Change]:
        state, sources = writing.memory.state, writing.memory.sources
        for one in sources:
            same = one["type"] == type and full_path(one["path"], store.root, home) == absolute
            if same or one["id"] == found:
                words = (
                    f"the sessions in {written} are the source {one['id']}" if same else f"there is a source {found}"
                )
                hint = f"`memdeck state sync {one['id']}` imports them" if same else "give another --name"
                raise UsageError("state.source.exists", f"{words} already", hint)
        made = dict.fromkeys(("createdAt", "updatedAt"), stamp(writing.now))
        source = {"id": found, "type": type, "path": written, **made, **NEVER_SYNCED}
        refuse("source", source)
        writing.put(SOURCES, canonical_bytes([*sources, source]))
        maintenance = {**state["maintenance"], "importSourceCount": len(sources) + 1}
        writing.put_state({**state, "maintenance": maintenance})
        return source, writing.commit(f"added the source {found}")

    return store.change("state.add", build, actor=actor, now=now)


def chosen(sources: Sequence[Json], name: str | None) -> list[Json]:
    """Return the source with an id, all without one; NotFoundError `state.source.not_found`."""
    if name is None:
        return list(sources)
    found = [source for source in sources if source["id"] == name]
    if not found:
        known = ", ".join(source["id"] for source in sources) or "there is none"
        raise NotFoundError("state.source.not_found", f"there is no source {name[:60]!r}", f"known: {known}")
    return found


@dataclass(slots=True)
class SourceSync:
    """The result of a sync of one source; `failed` are sentences, one for each session that could not be read.

    `skipped` are sessions that were imported before; `unchanged` of them were not read again. `learned` counts the
    signals of those that were imported. `elsewhere` are the folders of sessions of other projects, which are left out.
    """

    source: str
    imported: int = 0
    learned: int = 0
    skipped: int = 0
    unchanged: int = 0
    elsewhere: list[str] = field(default_factory=list)
    empty: int = 0
    failed: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)

    @property
    def status(self) -> str:
        """`passed`, or `failed` where any session could not be read."""
        return "failed" if self.failed else "passed"

    def json(self) -> Json:
        """Return it for programs."""
        return {
            **{name: getattr(self, name) for name in _COUNTED},
            "elsewhere": len(self.elsewhere),
            "elsewhereFolders": list(dict.fromkeys(self.elsewhere)),
            "empty": self.empty,
            "failed": len(self.failed),
            "errors": self.failed[:SHOWN],
            "warnings": self.warnings[:SHOWN],
            "events": self.events,
        }

    def text(self) -> str:
        """Return one line for people."""
        folders = list(dict.fromkeys(self.elsewhere))
        more = f" and {len(folders) - 1:,} more" if len(folders) > 1 else ""
        said = (
            (True, f"imported {self.imported:,}"),
            (self.imported, f"learned {self.learned:,}{'' if self.learned else ': no markers'}"),
            (self.skipped, f"{self.skipped:,} known already"),
            (folders, f"{len(self.elsewhere):,} left out: another folder, {folders[0] if folders else ''}{more}"),
            (self.empty, f"{self.empty:,} left out: nothing was said"),
            (self.failed, f"{len(self.failed):,} failed"),
        )
        return f"{self.source}: {', '.join(words for applies, words in said if applies)}"


@dataclass(frozen=True, slots=True)
class Synced:
    """The result of a sync, source by source, and its change (None: there was nothing to write)."""

    results: tuple[SourceSync, ...]
    change: Change | None

    @property
    def imported(self) -> int:
        """How many sessions became events."""
        return sum(result.imported for result in self.results)


_Found = list[tuple[Json, SourceSync, list[ImportedItem]]]


def sync(
    store: StateStore,
    ids: Collection[str],
    *,
    home: Path | None,
    actor: str,
    now: datetime,
    quiet: bool = False,
) -> Synced:
    """Import the sessions of some sources as events, in one transaction.

    With `quiet`, nothing is written where no session is new and every source has the same result as before. A session
    that was imported with the same hash is skipped, and not even read while its file has the same size and time; one
    that grew becomes a new event. A session or a source that cannot be read is reported and does not stop the others.
    """
    memory = store.memory()
    _ = memory.state
    notes = MachineNotes(store.root, store.private, home)
    counts = Counter(one[0] for one in imports_of(memory))
    found: _Found = []
    looks: dict[str, Looks] = {}
    for source in memory.sources:
        if source["id"] in ids:
            result, known = SourceSync(source["id"]), notes.files_read(source, counts[source["id"]])
            items, looks[source["id"]] = _read(store.root, home, source, result, known)
            found.append((source, result, items))
    if not found:
        return Synced((), None)
    synced = store.change("state.sync", lambda writing: _write(writing, found, quiet), actor=actor, now=now)
    notes.keep_read(((one, counts[one["id"]] + result.imported, looks[one["id"]]) for one, result, _ in found), now)
    return synced


def _read(
    root: Path,
    home: Path | None,
    source: Json,
    result: SourceSync,
    known: Looks,
) -> tuple[list[ImportedItem], Looks]:
    """Return the sessions of a source to import, and the files that were read now or before."""
    items: list[ImportedItem] = []
    looks: Looks = {}
    folder = full_path(source["path"], root, home)
    try:
        discovered = discover(source["type"], folder, root=root, home=home)
    except (MemdeckError, OSError) as error:
        result.failed.append(_why(error, shown_path(folder, root, home)))
        return items, looks
    clean = Cleaner(root, home).text
    for one in discovered:
        name = clean(one.name)
        try:
            status = os.stat(one.path)
            present = [status.st_size, status.st_mtime_ns]
            if known.get(one.name) == present:
                result.unchanged += 1
            else:
                _take(read_item(one, root=root, home=home), name, result, items, home)
            looks[one.name] = present
        except (MemdeckError, OSError) as error:
            result.failed.append(clean(_why(error, one.name)))
    return items, looks


def _take(item: ImportedItem, name: str, result: SourceSync, items: list[ImportedItem], home: Path | None) -> None:
    """Take a session that was read, and say what was left out of it."""
    for kind, count in item.dropped.items():
        result.warnings.append(f"{name}: the first {count:,} of its {_NOUNS[kind]} are too many and left out")
    if item.bad_lines:
        lines = plural(item.bad_lines, "line")
        result.warnings.append(f"{name}: {lines} cannot be read, the first is line {item.first_bad_line}")
    if item.elsewhere is not None:
        result.elsewhere.append(shown_path(item.elsewhere, None, home))
    elif item.messages:
        items.append(item)
    else:
        result.empty += 1


def _why(error: MemdeckError | OSError, name: str) -> str:
    """Return why the file `name` was not read; the system's own message would contain its absolute path."""
    if isinstance(error, MemdeckError):
        return error.message
    return f"{name} cannot be read: {error.strerror or type(error).__name__}"


def _write(writing: StateWriting, found: _Found, quiet: bool) -> Synced:
    """Plan the new events and the result of each source."""
    memory = writing.memory
    sources = {source["id"]: source for source in memory.sources}
    found = [one for one in found if one[0]["id"] in sources]
    new = _new_events(memory, found)
    at, same = stamp(writing.now), True
    for source, result, _ in found:
        fared = {"lastSyncStatus": result.status, "lastSyncError": short(result.failed[0]) if result.failed else None}
        before = sources[source["id"]]
        same = same and all(before[key] == value for key, value in fared.items())
        when = {"updatedAt": at, "lastSyncedAt": at, "lastImportedCount": result.imported}
        sources[source["id"]] = {**before, **when, **fared}
    results = tuple(result for _, result, _ in found)
    if quiet and not new and same:
        return Synced(results, None)
    if new:
        writing.add_events(new)
    writing.put(SOURCES, canonical_bytes([*sources.values()]))
    counts = {"historyEventCount": len(memory.events) + len(new), "importSourceCount": len(sources)}
    writing.put_state({**memory.state, "maintenance": {**memory.state["maintenance"], **counts}})
    return Synced(results, writing.commit(f"imported {plural(len(new), 'session')}"))


def _new_events(memory: StateFiles, found: _Found) -> list[Json]:
    """Return an event for each session that was not imported before, and count what became of the sessions.

    A recall uses events in the order of their ids: later sessions get later ids, regardless of file names.
    """
    seen, number = imports_of(memory), memory.highest_event()
    new: list[Json] = []
    for _, result, _ in found:
        result.imported, result.learned, result.skipped, result.events = 0, 0, result.unchanged, []
    every = [(source["id"], result, item) for source, result, items in found for item in items]
    for name, result, item in sorted(every, key=lambda one: one[2].created_at):
        key = (name, item.external_item_id, item.content_hash)
        if key in seen:
            result.skipped += 1
            continue
        event = _event(event_id(number + 1), name, item)
        if faults := schema.faults_of("event", event):
            result.failed.append(f"{item.source_ref}: {schema.first_of(faults)}")
            continue
        seen.add(key)
        number += 1
        new.append(event)
        result.imported += 1
        result.learned += sum(map(len, item.signals.values()))
        result.events.append(event["id"])
    return new


def _event(name: str, source: str, item: ImportedItem) -> Json:
    """Return the event of an imported session."""
    return {
        "id": name,
        "kind": "imported_session",
        "sourceId": source,
        "externalItemId": item.external_item_id,
        "createdAt": item.created_at,
        "contentHash": item.content_hash,
        "summary": item.summary,
        "signals": dict(item.signals),
        "sourceRef": item.source_ref,
    }
