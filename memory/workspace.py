"""The workspace: find, open and initialise it, look at its files, change them in transactions."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from memory.document import Document, parse
from memory.errors import ConflictError, MemdeckError, UsageError
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot, Views
from memory.storage import Change, State, Store, Stored

if TYPE_CHECKING:
    from memory.storage.watch import Watcher

SYSTEM_FOLDER = ".aiter"
MEMORY_FOLDER = ".aiter/memory"
_INSIDE = "memory/"
_TRIES = 12  # How often a change is planned again while other programs write to the same files.


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a change did: its record (`change.files` is empty where nothing had to be written), the summary for
    people, and the ref of the entry it was about (None: none).
    """

    change: Change
    summary: str
    ref: str | None = None


class Workspace:
    """A folder with memory files; safe to share between threads, except `change`, which is for one at a time.

    `root` is the folder that holds `.aiter`, `memory` is `.aiter/memory` in it. `machine_zone` counts where
    config.md names no zone. Make one with `open` or `init`.
    """

    def __init__(self, root: Path, *, state_home: Path | None, machine_zone: tzinfo | None = None) -> None:
        """Keep where things are; nothing is read yet. Without `state_home` nothing is kept outside of the folder."""
        self.root = root
        self.memory = root / MEMORY_FOLDER
        self.state = None if state_home is None else State(state_home, root)
        self.store = Store(root / SYSTEM_FOLDER, state=self.state)
        self._zone = machine_zone
        self._documents: dict[str, tuple[Stored, Document]] = {}
        self._views = Views()

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        state_home: Path | None = None,
        machine_zone: tzinfo | None = None,
    ) -> Workspace:
        """Return the workspace that contains `path`: the nearest folder upwards that holds `.aiter/memory`.

        A change that a crash interrupted is finished or discarded first.

        Raises UsageError `workspace.not_found` when there is none, `workspace.no_folder` when path is no folder.
        """
        start = os.path.abspath(path)
        if not os.path.isdir(start):
            raise UsageError("workspace.no_folder", f"{os.fspath(path)!r} is not a folder", "name a folder")
        folder = start
        while True:
            if os.path.isdir(os.path.join(folder, MEMORY_FOLDER)):
                workspace = cls(Path(folder), state_home=state_home, machine_zone=machine_zone)
                # Reading goes on where that is not possible; the next change says why.
                with suppress(MemdeckError):
                    workspace.store.recover()
                return workspace
            parent = os.path.dirname(folder)
            if parent == folder:
                break
            folder = parent
        raise UsageError(
            "workspace.not_found",
            f"no {MEMORY_FOLDER} in {start} or above it",
            "`memdeck init` creates it here, `memdeck demo` shows a sample",
            folder=start,
        )

    @classmethod
    def init(
        cls,
        path: str | os.PathLike[str],
        now: datetime,
        *,
        actor: str,
        state_home: Path | None = None,
        machine_zone: tzinfo | None = None,
        files: dict[str, str] | None = None,
    ) -> tuple[Workspace, tuple[str, ...]]:
        """Create the memory files that are missing in a folder, and `archive/`; return what was created.

        `files` (name → text) replaces the templates, for a sample workspace. No file that is there is touched.
        """
        from memory.storage.fsio import make_folder

        root = Path(os.path.abspath(path))
        make_folder(root)
        workspace = cls(root, state_home=state_home, machine_zone=machine_zone)
        if files is None:
            from memory.files.templates import template_files

            files = template_files(now)
        created = []
        with workspace.store.transaction("init", actor=actor, now=now) as transaction:
            transaction.folder("memory/archive")
            for name, text in files.items():
                if not transaction.read(_INSIDE + name).exists:
                    transaction.write(_INSIDE + name, text.encode(), base=None)
                    created.append(name)
            transaction.commit(f"created {len(created)} memory files")
        return workspace, tuple(created)

    @property
    def machine_zone(self) -> tzinfo:
        """The zone that counts where config.md names none."""
        if self._zone is None:
            from memory.clock import machine_zone

            self._zone = machine_zone(os.environ)
        return self._zone

    @property
    def zone(self) -> tzinfo:
        """The zone of the workspace as its files stand now."""
        return self.snapshot().zone

    # -- reading ----------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return one look at the files; a file that did not change keeps its document and its views."""
        return Snapshot(_Reader(self, self.store.read), lambda: self.machine_zone, self._views)

    def document_of(self, name: str, stored: Stored) -> Document:
        """Return the document of a file's bytes; only what differs from the last look is scanned."""
        known = self._documents.get(name)
        if known is not None and known[0] is stored:
            return known[1]
        document = parse(stored.data) if known is None else known[1].updated(stored.data)
        self._documents[name] = (stored, document)
        return document

    def watcher(self, callback: Callable[[frozenset[str]], object]) -> Watcher:
        """Return a watcher, not yet started; its thread calls `callback` with the names that changed."""
        from memory.storage.watch import Watcher

        return Watcher(self.memory, callback)

    # -- changing ---------------------------------------------------------------------------------------------

    def change(self, operation: str, build: Callable[[Snapshot], Edit], *, actor: str, now: datetime) -> Outcome:
        """Make a change: under the lock, `build` gets the files as they are now and returns the edit.

        When another program writes to the same files just then, `build` is called again with what it wrote.
        `updated:` is set in every changed file that has the key. Errors of `build` leave everything as it was;
        BusyError `file.locked`, ConflictError `document.conflict`, RefusedError `file.*` as transactions raise.
        """
        for left in range(_TRIES - 1, -1, -1):
            try:
                return self._attempt(operation, build, actor, now)
            except ConflictError as error:
                # Another program wrote in that very moment: planned again on what it wrote, nothing is in the way.
                if not (left and error.details.get("crossed")):
                    raise
        raise AssertionError("the last try returns or raises")

    def _attempt(self, operation: str, build: Callable[[Snapshot], Edit], actor: str, now: datetime) -> Outcome:
        with self.store.transaction(operation, actor=actor, now=now) as transaction:
            snapshot = Snapshot(_Reader(self, transaction.read), lambda: self.machine_zone, self._views)
            edit = build(snapshot)
            written: dict[str, Document] = {}
            for name, document in edit.documents.items():
                stored = transaction.read(_INSIDE + name)
                data = document.dump()
                if stored.exists and data == stored.data:
                    continue
                if stored.exists:
                    _refuse_conflicted(name, snapshot.document(name))
                    document = stamped(document, now)
                    data = document.dump()
                transaction.write(_INSIDE + name, data, base=stored.base)
                written[name] = document
            change = transaction.commit(edit.summary)
        for name, document in written.items():
            self._documents[name] = (self.store.read(_INSIDE + name), document)
        return Outcome(change, edit.summary, edit.ref)

    def undo(self, *, actor: str, now: datetime) -> Change:
        """Take back the last change that `actor` made in this process; raises `change.none`, `document.conflict`."""
        return self.store.history.undo(self.store, actor=actor, now=now)

    def redo(self, *, actor: str, now: datetime) -> Change:
        """Do again what was undone last."""
        return self.store.history.redo(self.store, actor=actor, now=now)


def stamped(document: Document, now: datetime) -> Document:
    """Return the document with `updated:` set to now where its front matter has that key and can be edited."""
    if b"updated" not in document.front_raw or document.meta.get("updated") is None:
        return document
    from memory.clock import format_utc

    try:
        return document.set_meta("updated", format_utc(now))
    except MemdeckError:
        return document


def _refuse_conflicted(name: str, document: Document) -> None:
    from memory.document.check import has_conflict_markers

    if has_conflict_markers(document):
        raise MemdeckError(
            "file.conflict_markers",
            f"git's conflict markers stand in {name}",
            "resolve them in an editor; until then memdeck only reads the file",
            file=name,
        )


class _Reader:
    """Reads documents for a snapshot, from the store or from a transaction."""

    def __init__(self, workspace: Workspace, read: Callable[[str], Stored]) -> None:
        self._workspace = workspace
        self._read = read

    def document(self, name: str) -> Document | None:
        stored = self._read(_INSIDE + name)
        return self._workspace.document_of(name, stored) if stored.exists else None

    def archives(self) -> tuple[str, ...]:
        try:
            names = os.listdir(self._workspace.memory / "archive")
        except OSError:
            return ()
        return tuple(sorted(f"archive/{name}" for name in names if name.endswith(".md") and name[0] != "."))
