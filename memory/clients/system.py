"""The memories that clients of agents keep themselves, as a system."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memory.base.items import Item, Skipped, Taken
from memory.base.problems import Problem
from memory.base.safe_text import plural
from memory.errors import MemdeckError
from memory.search.records import FileRecords, Record
from memory.storage import PrivateState
from memory.storage.fsio import make_folder
from memory.storage.safe_open import version_of
from memory.system import Advice, BriefLine, System
from memory.workspace import Workspace

from .folders import ClientFolder, FolderWriter, Lost, folder_named, lost_of, notice, read_folder, record_of
from .index import holds_text
from .instructions import Instructions, instructions, with_memory
from .memories import KIND, files_of, read_memory
from .sources import INDEX, TITLES, ClientStore, Moved, Source, claude_folder, moved_from, sources

_LASTING = ("knowledge", "contacts", "facts", "typed", "state", "curated")
"""The kinds of other systems that say what holds: no tasks, and no history."""


class ClientsLook(NamedTuple):
    """A snapshot of the clients' folders."""

    folders: tuple[ClientFolder, ...]

    def lost(self, now: datetime | None) -> tuple[Lost, ...]:
        """Return the memories that clients deleted and that are still missing, newest first; see `lost_of`."""
        found = [one for folder in self.folders for one in lost_of(folder.store, now)]
        return tuple(sorted(found, key=lambda one: (one.record.time, one.record.seq), reverse=True))


class ClientMemories(System):
    """The folders of memories that clients keep about a workspace; verbs and other programs use `folders`."""

    name = "clients"

    def __init__(self, workspace: Workspace) -> None:
        """Keep the workspace; nothing is read yet."""
        self.workspace = workspace
        self._stores: dict[Source, ClientStore] = {}
        self._last: ClientsLook | None = None

    # -- where ----------------------------------------------------------------------------------------------------

    def sources(self) -> tuple[Source, ...]:
        """Return the folders that exist."""
        return sources(self.workspace.root, self.workspace.home, os.environ)

    def present(self) -> bool:
        """Return whether a client keeps memories about this workspace."""
        found = self.sources()
        for source in found:
            if source.inside:
                self._store(source)
        return bool(found)

    def stores(self) -> tuple[ClientStore, ...]:
        """Return the stores of the folders that exist; those outside of the workspace have their own change logs."""
        return tuple(map(self._store, self.sources()))

    def _store(self, source: Source) -> ClientStore:
        if source not in self._stores:
            workspace = self.workspace
            if not source.inside:
                for one in workspace.outside():
                    if isinstance(one, ClientStore):
                        self._stores.setdefault(one.source, one)
            if source not in self._stores:
                state = None if workspace.state is None else workspace.state.folder.home
                where = workspace.root if source.inside else source.root
                together = workspace.together if source.inside else None
                made = ClientStore(source, PrivateState(state, where, workspace.home), where, together)
                store = self._stores.setdefault(source, made)
                if together is not None:
                    together.add(store)
        return self._stores[source]

    def folders(self) -> Iterable[str]:
        """Yield the folders that are watched, those outside of the workspace by their whole paths."""
        for source in self.sources():
            top = source.shown if source.inside else str(source.root)
            inner = {path.rpartition("/")[0] for path in files_of(source)} - {""}
            yield from (top, *(f"{top}/{path}" for path in sorted(inner)))

    def files(self) -> Iterable[str]:
        """Yield the files in the workspace; those outside are looked at by `notice`."""
        for source in self.sources():
            if source.inside:
                yield from (f"{source.shown}/{path}" for path in files_of(source))

    def owns(self, name: str) -> bool:
        """Return whether a file is in one of the folders."""
        return any(name.startswith(f"{one.shown}/") for one in self.sources())

    # -- looking --------------------------------------------------------------------------------------------------

    def look(self) -> ClientsLook:
        """Return a snapshot of the folders; the same object as long as no file changes."""
        found = ClientsLook(tuple(map(read_folder, self.stores())))
        if self._last is None or _facts(found) != _facts(self._last):
            self._last = found
        return self._last

    def notice(self, now: datetime) -> int:
        """Log what the clients did in their own folders, by their names."""
        return sum(notice(store, now) for store in self.stores() if not store.source.inside)

    def moved(self) -> tuple[Moved, ...]:
        """Return the memories of this project under an earlier path; none where Claude Code has a folder for it now."""
        if any(one.client == "claude-code" and one.scope == "project" and not one.agents for one in self.sources()):
            return ()
        return moved_from(self.workspace.root, self.workspace.home, os.environ)

    def rejoin(self, moved: Sequence[Moved], *, actor: str, now: datetime, dry_run: bool) -> tuple[str, int]:
        """Copy the memories of earlier folders of this project to its present one; return its path and how many files.

        Of a file in several folders, the newest folder's is copied. The present one has none, so none is overwritten.
        """
        home = self.workspace.home
        if home is None or not moved:
            return "", 0
        root = claude_folder(self.workspace.root, home, os.environ)
        files: dict[str, tuple[bytes | None, bytes]] = {}
        for one in reversed(moved):
            old = Source("claude-code", "project", one.root, str(one.root), indexed=True)
            store = ClientStore(old, PrivateState(None, one.root, home), one.root)
            files.update({path: (None, read_memory(store, path).stored.data) for path in files_of(old)})
        shown = f"~/{root.relative_to(home)}" if root.is_relative_to(home) else str(root)
        if not dry_run:
            make_folder(root)
            store = next(one for one in self.stores() if one.source.root == Path(os.path.realpath(root)))
            store.allow(now)
            was = ", ".join(one.was for one in moved)
            FolderWriter(store, actor, now).write_all(files, "clients.rejoin", f"copied the memories of {was}")
        return shown, len(files)

    def instructions(self) -> tuple[Instructions, ...]:
        """Return what each client loads: instruction files, and the beginning of its own memory."""
        return with_memory(instructions(self.workspace.root, self.workspace.home, os.environ), self.look().folders)

    def check(self, names: Sequence[str] | None = None) -> tuple[Problem, ...]:
        """Return the findings about the folders, about copies of what other systems hold, and about deletions."""
        from memory.clients.care import problems_in

        systems = (system for system in self.workspace.systems() if system.name != self.name)
        others = [record for system in systems for record in system.records(_LASTING, {})]
        found = (*self._deleted(), *problems_in(self.look().folders, others))
        return tuple(one for one in found if names is None or one.file in names)

    def _deleted(self) -> Iterator[Problem]:
        """Yield a finding for each folder from which its client deleted memories."""
        for store in self.stores():
            lost = lost_of(store)
            if lost:
                words = f"{TITLES[store.source.client]} deleted {plural(len(lost), 'memory')}, last {lost[0].path}"
                back = "`memdeck clients restore` brings them back, `--keep` leaves them deleted"
                yield Problem("warning", store.source.shown, 0, "clients.deleted", f"{words}; {back}")

    def mend(self, names: Sequence[str] | None, *, actor: str, now: datetime, dry_run: bool) -> tuple[Problem, ...]:
        """Mend the indexes: add missing lines, remove lines that lead nowhere; return the settled findings."""
        from memory.clients.care import mends_of

        mended: list[Problem] = []
        for folder in self.look().folders:
            for mend in mends_of(folder):
                if not mend.problems or (names is not None and folder.shown(mend.path) not in names):
                    continue
                if not folder.store.allowed:
                    words = f"not fixed before `memdeck clients allow {folder.source.name}`"
                    mended.append(Problem("note", folder.shown(mend.path), 0, "clients.consent", words))
                    continue
                if not dry_run:
                    FolderWriter(folder.store, actor, now).mend(mend.path, mend.lines, mend.dead)
                mended += mend.problems
        return tuple(mended)

    def records(
        self, kinds: Collection[str] | None = None, refused: MutableMapping[str, MemdeckError] | None = None
    ) -> Iterator[Record]:
        """Yield the memories, folder by folder; what cannot be read goes to `refused`, or raises."""
        if kinds is not None and KIND not in kinds:
            return
        for folder in self.look().folders:
            for path, error in folder.refused.items():
                if refused is None:
                    raise error
                refused[folder.shown(path)] = error
            yield from map(record_of, folder.memories)

    def records_by_file(self, refused: MutableMapping[str, MemdeckError]) -> Iterator[FileRecords]:
        """Yield the records file by file, each with the stamp of its file; only changed files are read again."""
        for store in self.stores():
            source = store.source
            for path in files_of(source):
                version = version_of(path, source.root)
                stamp = ".".join(map(str, version)) if version.exists else ""
                yield FileRecords(f"{source.shown}/{path}", stamp, _reading(store, path, refused))

    def may_be_told(self) -> bool:
        """Return False: each client loads its own memory itself."""
        return False

    def items(self) -> Iterator[Item | Skipped]:
        """Yield the memories for another memory, with their types and descriptions."""
        for folder in self.look().folders:
            for path, error in folder.refused.items():
                yield Skipped(folder.shown(path), error.message)
            for one in folder.memories:
                fields = {key: value for key in ("type", "description") if (value := getattr(one, key))}
                yield Item("memory", one.title, one.body.strip("\n"), one.file, one.date, fields=fields)

    def take(self, items: Sequence[Item], *, place: str = "", actor: str, now: datetime) -> Taken:
        """Convert items to memories of the folder that `place` names (default: Claude Code's of this project)."""
        from memory.clients.exchange import take

        return take(folder_named(self.look().folders, place or "claude-code"), items, actor=actor, now=now)

    def status(self, now: datetime) -> Mapping[str, object]:
        """Return how many memories there are by client, what they deleted, and how full the indexes are."""
        look = self.look()
        lost = look.lost(now)
        counts: dict[str, int] = {"memories": sum(len(one.memories) for one in look.folders)}
        for one in look.folders:
            title = TITLES[one.source.client]
            counts[title] = counts.get(title, 0) + len(one.memories)
        if lost:
            counts["deleted by clients"] = len(lost)
        return {
            "counts": counts,
            "folders": [folder_json(one) for one in look.folders],
            "deleted": [one.json() for one in lost],
        }

    def brief_lines(self, now: datetime) -> Iterable[BriefLine]:
        """Yield a line for each folder: how many memories it has, how full its index is, and what vanished."""
        look = self.look()
        lost = look.lost(now)
        for folder in look.folders:
            words = plural(len(folder.memories), "memory")
            gone = [one for one in lost if one.store is folder.store]
            due = [f"{len(gone):,} deleted by {TITLES[folder.source.client]}"] if gone else []
            due += [f"index {one.state}: {one.words()}" for one in folder.gauges.values() if one.state != "ok"]
            target = folder.memories[0].file if folder.memories else ""
            yield BriefLine(self.name, target, folder.source.title, words, ", ".join(due))

    def doctor_lines(self) -> Iterable[Advice]:
        """Yield the memories of this project that Claude Code no longer finds because the folder was renamed."""
        for one in self.moved():
            words = f"Claude Code keeps memories of {one.was}, which is gone; this may be the same project"
            yield Advice(words, "`memdeck clients rejoin` copies them to where it looks now")


def folder_json(folder: ClientFolder) -> dict[str, object]:
    """Return a folder for programs."""
    source = folder.source
    return {
        "name": source.name,
        "client": source.client,
        "scope": source.scope,
        "folder": source.shown,
        "memories": len(folder.memories),
        "allowed": folder.store.allowed,
        "off": source.off,
        "index": {path: one.json() for path, one in folder.gauges.items()},
    }


def _reading(
    store: ClientStore, path: str, refused: MutableMapping[str, MemdeckError]
) -> Callable[[], Sequence[Record]]:
    def read() -> Sequence[Record]:
        try:
            memory = read_memory(store, path)
        except MemdeckError as error:
            refused[f"{store.source.shown}/{path}"] = error
            return []
        index = store.source.indexed and path.rpartition("/")[2] == INDEX and not holds_text(memory.text)
        return [] if index or not memory.stored.exists else [record_of(memory)]

    return read


def _facts(look: ClientsLook) -> object:
    """Return what distinguishes two snapshots."""
    return [
        (one.source, [(m.path, m.stored) for m in (*one.memories, *one.indexes.values())], list(one.refused))
        for one in look.folders
    ]
