"""The sources of imports: adding one, and importing its sessions as events."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memory.base.safe_text import plural
from memory.errors import MemdeckError, NotFoundError, UsageError
from memory.state.files import model
from memory.state.files.model import Json, canonical_bytes, event_id, full_path, shown_path, stamp
from memory.state.files.reading import StateFiles
from memory.state.files.store import NEVER_SYNCED, StateStore, StateWriting, refuse, short
from memory.state.retention import import_key, imports_of

from .privacy import Cleaner
from .read import ImportedItem, discover, read_item

if TYPE_CHECKING:
    from memory.storage import Change

SHOWN = 20
"""How many warnings of a source are shown."""


def add_source(
    store: StateStore, kind: str, path: str, *, name: str | None = None, home: Path | None, actor: str, now: datetime
) -> tuple[Json, Change]:
    """Add a source; `path` may begin with `~`, or be relative to the workspace. Nothing is imported yet.

    In the file, the path is relative in the workspace, and begins with `~` in the home folder. The id is the name, else
    the type and the last part of the path, in lower case and hyphens. UsageError `state.source.type`,
    `state.source.name`, `state.source.exists` for a duplicate id or path, MemdeckError `state.source.missing` for a
    missing path.
    """
    if kind not in model.SOURCE_TYPES:
        known = ", ".join(model.SOURCE_TYPES)
        raise UsageError("state.source.type", f"{kind[:60]!r} is not a type of source", f"one of {known}")
    absolute = full_path(path, store.root, home)
    written = shown_path(absolute, store.root, home)
    text = name if name is not None else f"{kind}-{os.path.basename(absolute)}"
    found = re.sub(r"[^a-z0-9-]+", "-", text.lower()).strip("-")
    if not found:
        raise UsageError("state.source.name", f"{name or path!r} gives no id", "name it with letters or digits")
    if not os.path.exists(absolute):
        raise MemdeckError("state.source.missing", f"{written} does not exist", "give the folder of the sessions")

    def build(writing: StateWriting) -> tuple[Json, Change]:
        sources = writing.memory.sources
        for one in sources:
            if one["type"] == kind and full_path(one["path"], store.root, home) == absolute:
                words = f"the sessions in {written} are the source {one['id']} already"
                raise UsageError("state.source.exists", words, f"`memdeck state sync {one['id']}` imports them")
            if one["id"] == found:
                raise UsageError("state.source.exists", f"there is a source {found} already", "give another --name")
        made = dict.fromkeys(("createdAt", "updatedAt"), stamp(writing.now))
        source = {"id": found, "type": kind, "path": written, **made, **NEVER_SYNCED}
        refuse("source", source)
        writing.put(model.SOURCES, canonical_bytes([*sources, source]))
        writing.put_maintenance(importSourceCount=len(sources) + 1)
        return source, writing.commit(f"added the source {found}")

    return store.change("state.add", build, actor=actor, now=now)


def chosen(sources: Sequence[Json], name: str | None) -> list[Json]:
    """Return the source with an id, all without one; NotFoundError `state.source.not_found`."""
    found = [source for source in sources if name in (None, source["id"])]
    if name is not None and not found:
        known = ", ".join(source["id"] for source in sources) or "there is none"
        raise NotFoundError("state.source.not_found", f"there is no source {name[:60]!r}", f"known: {known}")
    return found


@dataclass(slots=True)
class SourceSync:
    """The result of a sync of one source; `failed` are sentences, one for each session that could not be read.

    `learned` counts the signals of the sessions that were imported, `skipped` are sessions that were imported before,
    `elsewhere` the folders of sessions of other projects, which are left out.
    """

    source: str
    imported: int = 0
    learned: int = 0
    skipped: int = 0
    empty: int = 0
    elsewhere: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def status(self) -> str:
        """`passed`, or `failed` where any session could not be read."""
        return "failed" if self.failed else "passed"

    def json(self) -> Json:
        """Return it for programs."""
        return {**asdict(self), "status": self.status}

    def text(self) -> str:
        """Return one line for people."""
        folders = list(dict.fromkeys(self.elsewhere))
        more = f" and {len(folders) - 1:,} more" if len(folders) > 1 else ""
        said = (
            (True, f"imported {self.imported:,}"),
            (self.imported, f"learned {self.learned:,}{'' if self.learned else ': no markers'}"),
            (self.skipped, f"{self.skipped:,} known already"),
            (folders, f"{len(self.elsewhere):,} left out: another folder, {', '.join(folders[:1])}{more}"),
            (self.empty, f"{self.empty:,} left out: nothing was said"),
            (self.failed, f"{len(self.failed):,} failed"),
        )
        return f"{self.source}: {', '.join(words for applies, words in said if applies)}"


class Synced(NamedTuple):
    """The result of a sync, source by source, and its change (None: there was nothing to write)."""

    results: list[SourceSync]
    change: Change | None

    @property
    def imported(self) -> int:
        """How many sessions became events."""
        return sum(result.imported for result in self.results)


_Found = list[tuple[SourceSync, list[ImportedItem]]]
"""What is said of each source, and its sessions."""


def sync(
    store: StateStore, ids: Collection[str], *, home: Path | None, actor: str, now: datetime, quiet: bool = False
) -> Synced:
    """Import the sessions of some sources as events, in one transaction.

    With `quiet`, nothing is written where no session is new and every source has the same result as before. A session
    that was imported with the same hash is skipped, one that grew becomes a new event. A session or a source that
    cannot be read is reported and does not stop the others.
    """
    memory = store.memory()
    _ = memory.state
    found: _Found = []
    for source in memory.sources:
        if source["id"] in ids:
            result = SourceSync(source["id"])
            found.append((result, list(_read(store.root, home, source, result))))
    if not found:
        return Synced([], None)
    return store.change("state.sync", lambda writing: _write(writing, found, quiet), actor=actor, now=now)


def _read(root: Path, home: Path | None, source: Json, result: SourceSync) -> Iterator[ImportedItem]:
    """Yield the sessions of a source that may be imported; say what is left out of it."""
    folder, clean = full_path(source["path"], root, home), Cleaner(root, home).text
    try:
        discovered = discover(source["type"], folder, root=root, home=home)
    except (MemdeckError, OSError) as error:
        result.failed.append(_why(error, shown_path(folder, root, home)))
        return
    for one in discovered:
        try:
            item = read_item(one, root=root, home=home)
        except (MemdeckError, OSError) as error:
            result.failed.append(clean(_why(error, one.name)))
            continue
        many = item.dropped.items()
        told = [f"the first {count:,} of its {model.SIGNALS[kind]}s are too many and left out" for kind, count in many]
        if item.bad_lines:
            told.append(f"{plural(item.bad_lines, 'line')} cannot be read, the first is line {item.first_bad_line}")
        result.warnings += [f"{clean(one.name)}: {words}" for words in told]
        if item.elsewhere is not None:
            result.elsewhere.append(shown_path(item.elsewhere, None, home))
        elif item.messages:
            yield item
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
    found = [one for one in found if one[0].source in sources]
    new = _new_events(memory, found)
    at, same, results = stamp(writing.now), True, [result for result, _ in found]
    for result in results:
        known, error = sources[result.source], short(result.failed[0]) if result.failed else None
        same = same and (known["lastSyncStatus"], known["lastSyncError"]) == (result.status, error)
        sources[result.source] = {
            **known, "updatedAt": at, "lastSyncedAt": at, "lastImportedCount": result.imported,
            "lastSyncStatus": result.status, "lastSyncError": error,
        }  # fmt: skip
    if quiet and not new and same:
        return Synced(results, None)
    if new:
        writing.add_events(new)
    writing.put(model.SOURCES, canonical_bytes([*sources.values()]))
    writing.put_maintenance(historyEventCount=len(memory.events) + len(new), importSourceCount=len(sources))
    return Synced(results, writing.commit(f"imported {plural(len(new), 'session')}"))


def _new_events(memory: StateFiles, found: _Found) -> list[Json]:
    """Return the events of the sessions that were not imported yet, in the order of their times."""
    seen, number = imports_of(memory), memory.highest_event()
    new: list[Json] = []
    for result, _ in found:  # The transaction may be tried again.
        result.imported, result.learned, result.skipped = 0, 0, 0
    every = [(result, item) for result, items in found for item in items]
    for result, item in sorted(every, key=lambda one: one[1].event["createdAt"]):
        event = {"id": event_id(number + len(new) + 1), "kind": "imported_session", "sourceId": result.source}
        event |= item.event
        key = import_key(event)
        if key in seen:
            result.skipped += 1
            continue
        seen.add(key)
        new.append(event)
        result.imported += 1
        result.learned += sum(map(len, item.signals.values()))
    return new
