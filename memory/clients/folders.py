"""The folders of clients as they are at one moment, and their changes: each is one transaction of one folder."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import NamedTuple, TypeVar

from memory.base.clock import exact_utc
from memory.base.programs import retry
from memory.base.safe_text import plural
from memory.base.values import folded
from memory.document.lines import decode
from memory.errors import AmbiguousError, ConflictError, MemdeckError, NotFoundError, UsageError
from memory.search.records import Record
from memory.storage import ABSENT, Change, Stored
from memory.storage.changes import ChangeRecord
from memory.storage.records import KEEP, NOT_KEPT, time_text
from memory.storage.transaction import Transaction

from .index import Gauge, gauge, holds_text, line_for, links_of, with_lines, with_words, without
from .memories import (
    KIND,
    ClientMemory,
    file_name,
    files_of,
    new_memory,
    read_memory,
    with_body,
    with_values,
)
from .sources import INDEX, ClientStore, Source, is_memory

REMINDED = timedelta(days=7)
"""How long it is told that a client deleted memories."""
_LOOKED_BACK = 50
"""In how many of its newest changes an index is searched for a line that it had."""


@dataclass(frozen=True)
class ClientFolder:
    """One folder as it is now: its memories, its indexes by their paths, and the files that cannot be read."""

    source: Source
    store: ClientStore
    memories: tuple[ClientMemory, ...]
    indexes: Mapping[str, ClientMemory]
    refused: Mapping[str, MemdeckError] = field(default_factory=dict)

    @property
    def files(self) -> dict[str, ClientMemory]:
        """The memories by their paths."""
        return {one.path: one for one in self.memories}

    @cached_property
    def gauges(self) -> dict[str, Gauge]:
        """How full its indexes are, by their paths."""
        return {path: gauge(one.stored.data) for path, one in self.indexes.items()}

    def shown(self, path: str) -> str:
        """Return a path of it for people."""
        return f"{self.source.shown}/{path}"

    def beside(self, index: str) -> dict[str, ClientMemory]:
        """Return the memories that an index is about, by their paths relative to it."""
        top = index.removesuffix(INDEX)
        return {path.removeprefix(top): one for path, one in self.files.items() if path.startswith(top)}


def read_folder(store: ClientStore) -> ClientFolder:
    """Return a folder as it is now; a file that cannot be read is in `refused`."""
    source, refused = store.source, dict[str, MemdeckError]()
    found, indexes = list[ClientMemory](), dict[str, ClientMemory]()
    for path in files_of(source):
        try:
            memory = read_memory(store, path)
        except MemdeckError as error:
            refused[path] = error
            continue
        if not memory.stored.exists:
            continue
        if source.indexed and posixpath.basename(path) == INDEX:
            indexes[path] = memory
        if path not in indexes or holds_text(memory.text):
            found.append(memory)
    return ClientFolder(source, store, tuple(found), indexes, refused)


def record_of(memory: ClientMemory) -> Record:
    """Return the search record of a memory."""
    tags = (memory.type,) if memory.type else ()
    return Record(KIND, memory.file, memory.title, memory.text, memory, memory.date, tags)


def found_in(folders: Sequence[ClientFolder], ref: str) -> tuple[ClientFolder, ClientMemory]:
    """Return a memory by its ref, the hex of it, its path, or a unique part of its title; errors `clients.*`."""
    every = [(folder, one) for folder in folders for one in {**folder.files, **folder.indexes}.values()]
    text = ref.strip()
    for same in (
        lambda one: text in (one.file, one.path) or one.ref.partition("#")[2].startswith(text.rpartition("#")[2]),
        lambda one: folded(one.title) == folded(text),
        lambda one: folded(text) in folded(one.title),
    ):
        found = [pair for pair in every if text and same(pair[1])]
        if len(found) > 1:
            raise AmbiguousError(
                "clients.ambiguous",
                f"{len(found)} memories match {ref[:60]!r}",
                "name one by its ref",
                candidates=[{"ref": one.ref, "title": one.title, "file": one.file} for _, one in found[:20]],
            )
        if found:
            return found[0]
    raise NotFoundError(
        "clients.not_found", f"no client memory matches {ref[:60]!r}", "`memdeck clients list` lists them"
    )


def folder_named(folders: Sequence[ClientFolder], name: str) -> ClientFolder:
    """Return the folder that a name such as `claude-code` or `claude-code:project` picks; errors `clients.folder`."""
    found = [one for one in folders if name in (one.source.name, one.source.client, one.source.shown)]
    exact = [one for one in found if name != one.source.client] or found
    project = [one for one in exact if one.source.scope == "project" and not one.source.agents] or exact
    if project:
        return project[0]
    known = ", ".join(dict.fromkeys(one.source.name for one in folders)) or "none"
    raise NotFoundError("clients.folder", f"no client has a folder {name[:60]!r} here", f"use one of {known}")


# -- changes ---------------------------------------------------------------------------------------------------------

Check = Callable[[ClientMemory], object]
R = TypeVar("R")


class FolderWriter(NamedTuple):
    """Changes one folder at an aware time and for an actor; BlockedError `clients.consent` before it is allowed."""

    store: ClientStore
    actor: str
    now: datetime

    def add(self, title: str, body: str, kind: str, description: str, agent: str = "") -> tuple[str, Change]:
        """Add a memory and its line in the index; return its path. UsageError `clients.agent` without a subagent."""
        source = self.store.source
        refuse_adding(source, agent)

        def build(transaction: Transaction) -> tuple[str, Change]:
            top = source.top(agent)
            taken = {path.removeprefix(top) for path in files_of(source)}
            path = top + file_name(title, kind, taken)
            data = new_memory(title, body, kind, description, self.now)
            transaction.write(path, data, base=None)
            if source.indexed:
                memory = ClientMemory(source, path, Stored(data, ABSENT))
                self._index(
                    transaction, top, lambda index: with_lines(index, [line_for(memory, path.removeprefix(top))])
                )
            return path, transaction.commit(f"added {title[:60]!r} to the memory of {source.title}")

        return self._change("clients.add", build)

    def edit(
        self,
        path: str,
        values: Mapping[str, str],
        body: str | None,
        check: Check,
        text: str | None = None,
        why: str = "",
    ) -> Change:
        """Set fields, or replace the body or the whole text; a new title is set in the index as well."""
        source = self.store.source

        def build(transaction: Transaction) -> Change:
            before = self._found(transaction, path, check)
            stored = before.stored
            data = stored.data if text is None else text.encode("utf-8", "surrogateescape")
            data = with_values(with_body(data, body) if body is not None else data, values)
            transaction.write(path, data, base=stored.data)
            top = path.removesuffix(posixpath.basename(path))
            words = (values.get("name"), values.get("description"))
            if source.indexed and path != f"{top}{INDEX}" and words != (None, None):
                self._index(transaction, top, lambda index: with_words(index, path.removeprefix(top), *words))
            return transaction.commit(f"changed {before.title[:60]!r} in the memory of {source.title}{why}")

        return self._change("clients.edit", build)

    def remove(self, path: str, check: Check, why: str = "") -> Change:
        """Remove a memory and its line in the index."""
        source = self.store.source

        def build(transaction: Transaction) -> Change:
            before = self._found(transaction, path, check)
            transaction.remove(path, base=before.stored.data)
            top = path.removesuffix(posixpath.basename(path))
            if source.indexed and path != f"{top}{INDEX}":
                self._index(transaction, top, lambda index: without(index, (path.removeprefix(top),)))
            return transaction.commit(f"removed {before.title[:60]!r} from the memory of {source.title}{why}")

        return self._change("clients.remove", build)

    def mend(self, index: str, lines: Sequence[str], dead: Collection[str]) -> Change:
        """Add lines for memories that an index does not name, and remove those that lead nowhere."""
        top = index.removesuffix(INDEX)
        count = plural(len(lines) + len(dead), "line")

        def build(transaction: Transaction) -> Change:
            self._index(transaction, top, lambda data: with_lines(without(data, dead), lines))
            return transaction.commit(f"fixed {count} of {index}")

        return self._change("clients.mend", build)

    def write_all(self, files: Mapping[str, tuple[bytes | None, bytes]], operation: str, summary: str) -> Change:
        """Write files that are as expected now (None: not there), in one change."""

        def build(transaction: Transaction) -> Change:
            for path, (base, data) in files.items():
                transaction.write(path, data, base=base)
            return transaction.commit(summary)

        return self._change(operation, build)

    def _found(self, transaction: Transaction, path: str, check: Check) -> ClientMemory:
        memory = ClientMemory(self.store.source, path, transaction.read(path))
        if not memory.stored.exists:
            raise NotFoundError("clients.not_found", f"{path} no longer exists", "list them again")
        check(memory)
        return memory

    def _index(self, transaction: Transaction, top: str, build: Callable[[bytes], bytes]) -> None:
        stored = transaction.read(top + INDEX)
        data = build(stored.data)
        if data != stored.data:
            transaction.write(top + INDEX, data, base=stored.base)

    def _change(self, operation: str, build: Callable[[Transaction], R]) -> R:
        def attempt() -> R:
            with self.store.transaction(operation, actor=self.actor, now=self.now) as transaction:
                return build(transaction)

        if not self.store.source.inside:
            notice(self.store, self.now)  # Existing files must not look like made after this change.
        return retry(attempt)


def refuse_adding(source: Source, agent: str = "") -> None:
    """Raise UsageError `clients.one_file` or `clients.agent` where nothing can be added for a subagent, or for none."""
    if source.only:
        raise UsageError("clients.one_file", f"{source.shown} holds one file", "edit that")
    if source.agents and (not agent or not is_memory(f"{agent}/x.md") or "/" in agent):
        raise UsageError("clients.agent", "this folder holds memories of subagents", "name one with --agent")


# -- what a client did -----------------------------------------------------------------------------------------------


def notice(store: ClientStore, now: datetime) -> int:
    """Log what other programs changed in a folder, as the client's changes; return how many changes that were."""
    history = store.history
    names = {store.shown(path) for path in files_of(store.source)}
    known = set(history.seen())
    if known and not names <= known:
        history.expect(names - known)  # The folder was looked at before, so its new files were made since.
    return store.together.notice(sorted({*names, *history.to_look_at()}), now)


class Lost(NamedTuple):
    """A memory that a client deleted and that is still missing: its path, the change, and when it was noticed."""

    store: ClientStore
    path: str
    record: ChangeRecord

    @property
    def shown(self) -> str:
        """The path for people."""
        return f"{self.store.source.shown}/{self.path}"

    def json(self) -> dict[str, object]:
        """Return it for programs."""
        source = self.store.source
        return {
            "client": source.client,
            "scope": source.scope,
            "file": self.shown,
            "change": self.record.id,
            "time": exact_utc(self.record.time),
        }


def lost_of(store: ClientStore, now: datetime | None = None) -> tuple[Lost, ...]:
    """Return the memories that the client deleted and that are still missing, newest first.

    Left out are those that the user left deleted, and with `now` those of more than a week ago. In a workspace nothing
    says that it was the client: there the workspace's own reminder of what other programs removed tells it.
    """
    if store.source.inside:
        return ()
    since = "" if now is None else time_text(now - REMINDED)
    condition = f"actor = ? AND operation = 'edit' AND undone_by IS NULL AND time > ? AND {NOT_KEPT}"
    found = dict[str, Lost]()
    for record in store.history.records(condition, [f"agent:{store.source.client}", since], 0):
        for one in record.files:
            path = one.path.removeprefix(store.prefix)
            gone = one.after is None and not os.path.lexists(store.root / path)
            if gone and one.path.startswith(store.prefix) and store.reading.knows(path):
                found.setdefault(path, Lost(store, path, record))
    return tuple(found.values())


def leave_deleted(lost: Sequence[Lost], *, actor: str, now: datetime) -> None:
    """Keep that deleted memories shall stay deleted, so that nothing reminds of them."""
    for one in lost:
        one.store.history.note(KEEP, f"left deleted: {one.path}", actor=actor, now=now, undoes=one.record.id)


def bring_back(lost: Sequence[Lost], *, actor: str, now: datetime) -> tuple[Change, ...]:
    """Write deleted memories back with their last bytes, one change for each folder.

    The index gets their lines, as they were if the log still has them. ConflictError
    `change.thinned` where the bytes of one are no longer kept.
    """
    made = []
    for store in dict.fromkeys(one.store for one in lost):
        files: dict[str, tuple[bytes | None, bytes]] = {}
        for one in (one for one in lost if one.store is store):
            data = store.history.before(one.record.id, store.shown(one.path))
            if data is None:
                raise ConflictError(
                    "change.thinned", f"the old content of {one.path} is no longer kept", "see the change log"
                )
            files[one.path] = (None, data)
        count = plural(len(files), "memory")
        files.update(dict(index_lines(store, files, again=True)))
        words = f"brought back {count} of {store.source.title}"
        made.append(FolderWriter(store, actor, now).write_all(files, "clients.restore", words))
    return tuple(made)


def index_lines(
    store: ClientStore, files: Mapping[str, tuple[bytes | None, bytes]], *, again: bool = False
) -> Iterator[tuple[str, tuple[bytes | None, bytes]]]:
    """Yield the indexes with a line for each file among these that is new and not named, as `write_all` takes them.

    With `again` a line that the index had before is used again, in the order of then. No index is made in an inner
    folder: its files get only such lines, in the index above.
    """
    source = store.source
    folders = {path.rpartition("/")[0] for path in files} if source.indexed else set()
    above = {folder.partition("/")[0] if source.agents else "" for folder in folders}
    for folder in sorted(folders | above):
        top = f"{folder}/".lstrip("/")
        index = top + INDEX
        base = store.read(index).base
        if base is None and index not in files and not source.is_top(folder):
            continue
        data = files[index][1] if index in files else base or b""
        named = {link.file for link in links_of(decode(data))}
        beside = {path.removeprefix(top): path for path in files if path.startswith(top) and path != index}
        new = {name: path for name, path in beside.items() if files[path][0] is None and name not in named}
        lines = _earlier_lines(store, index, new) if again and new else []
        named.update(link.file for line in lines for link in links_of(line))
        lines += [
            line_for(ClientMemory(source, path, Stored(files[path][1], ABSENT)), name)
            for name, path in new.items()
            if name not in named and "/" not in name
        ]
        if lines:
            yield index, (base, with_lines(data, lines))


def _earlier_lines(store: ClientStore, index: str, files: Collection[str]) -> list[str]:
    """Return the newest lines about nothing but some files that an index had when it was last seen, or before."""
    path, history = store.shown(index), store.history
    last = history.last_bytes(path) or b""
    before = islice(history.walk(path, last), _LOOKED_BACK)
    found: dict[str, str] = {}
    for data in (last, *(data for _, data, _ in before)):
        text = decode(data)
        lines = text.splitlines()
        found |= {link.file: lines[link.line] for link in links_of(text) if link.entry and link.file not in found}
    return [line for line in dict.fromkeys(found.values()) if all(link.file in files for link in links_of(line))]
