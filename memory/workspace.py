"""The workspace: find, open and initialise it, read its files, change them in transactions."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, NamedTuple

from memory.files.versions.diff import Trail, trace

from .base.clock import format_utc, machine_zone
from .base.programs import retry
from .document import Document, Entry
from .document.compare import Region, compare
from .document.model import parse, updated
from .errors import MemdeckError, UsageError
from .files import MEMORY_FILES, MEMORY_FOLDER, template_files
from .files.edit import Edit, refuse_unwritable, secrets_in
from .files.refs import RefTrace
from .files.snapshot import Folder, Snapshot, Views, WrittenFiles, ref_of
from .registry import registered, workspace_of
from .review.proposals import hold
from .storage import Change, PrivateState, Store, Stored
from .storage.changes import PlainReading
from .storage.fsio import make_folder
from .storage.safe_open import names_in
from .storage.store import SharedLog
from .storage.watch import Watcher
from .system import System, Systems

SYSTEM_FOLDER = ".aiter"
_INSIDE = "memory/"


class Outcome(NamedTuple):
    """The result of a change: its record (`change.files` is empty where nothing had to be written), the summary for the
    user, and the ref of the entry it concerns (None: none).

    `snapshot` holds the files as the change left them, without later changes by others, and `item` is the entry of the
    ref in them; None for other systems. The rest are sentences: `kept` about entries that stay although one side
    removed them, because the other changed them; `secrets` about written text that looks like a password or a key,
    without showing it; `remarks` about how a title or ref was understood.
    """

    change: Change
    summary: str
    ref: str | None = None
    kept: tuple[str, ...] = ()
    item: Any = None
    secrets: tuple[str, ...] = ()
    snapshot: Snapshot | None = None
    remarks: tuple[str, ...] = ()


class Workspace:
    """A folder with memory files; threads may share it, but only one at a time may call `change`.

    `root` is the folder that holds the memory systems, `memory` is `.aiter/memory` in it. Each system has its own
    store; all share the change log (`together`). `machine_zone` applies where config.md names no zone. `home` is the
    user's home folder, where some systems list further folders of theirs; None for none. Make one with `open` or
    `init`.
    """

    def __init__(
        self,
        root: Path,
        *,
        state_home: Path | None,
        machine_zone: tzinfo | None = None,
        home: Path | None = None,
    ) -> None:
        """Store the paths; nothing is read yet. Without `state_home` it is the one that the environment names."""
        self.root = root
        self.home = home
        self.memory = root / MEMORY_FOLDER
        self.state = PrivateState(state_home, root, home)
        self._systems = Systems(root, home, self)
        self.together = SharedLog(self.state, hold, grow=self._systems.add_around, outside=self.outside)
        self.store = self.add_store(SYSTEM_FOLDER, _Reading(self))
        self._zone = machine_zone
        self._documents: dict[str, tuple[Stored, Document]] = {}
        self._coming: dict[str, Document] = {}
        self._views = Views()
        self._outside: dict[str, Store] = {}

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        state_home: Path | None = None,
        machine_zone: tzinfo | None = None,
        home: Path | None = None,
    ) -> Workspace:
        """Return the workspace that contains `path`: the nearest folder upwards that holds any memory system.

        A change that a crash interrupted is finished or discarded first.

        Raises UsageError `workspace.not_found` when there is none, `workspace.no_folder` when path is no folder.
        """
        start = _absolute(path)
        if not os.path.isdir(start):
            raise UsageError("workspace.no_folder", f"{os.fspath(path)!r} is not a folder", "name a folder")
        folder = workspace_of(start)
        if folder is not None:
            return cls(Path(folder), state_home=state_home, machine_zone=machine_zone, home=home)
        for place in (os.path.join(start, SYSTEM_FOLDER), os.path.join(start, MEMORY_FOLDER)):
            if os.path.lexists(place) and not os.path.isdir(place):
                raise UsageError(
                    "workspace.not_found",
                    f"{place} is not a folder",
                    "replace it with a folder, or remove it",
                    folder=start,
                )
        raise UsageError(
            "workspace.not_found",
            f"no memory in {start} or above it",
            "`memdeck init` creates it here; `memdeck demo` opens a sample",
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
        home: Path | None = None,
        files: dict[str, str] | None = None,
    ) -> tuple[Workspace, tuple[str, ...]]:
        """Create the memory files that are missing in a folder, and `archive/`; return what was created.

        `files` (name → text) replaces the templates, for a sample workspace. Existing files are not touched.
        """
        root = Path(_absolute(path))
        make_folder(root)
        workspace = cls(root, state_home=state_home, machine_zone=machine_zone, home=home)
        if files is None:
            files = template_files(now)
        created = []
        with workspace.store.transaction("init", actor=actor, now=now) as transaction:
            for name, text in files.items():
                if not transaction.read(_INSIDE + name).exists:
                    transaction.write(_INSIDE + name, text.encode(), base=None)
                    created.append(name)
            transaction.commit(f"created {len(created)} memory files")
        make_folder(workspace.memory / "archive")
        return workspace, tuple(created)

    def close(self) -> None:
        """Close the change log and what the memory systems opened; the next use opens them again."""
        self._systems.close()
        self.together.close()
        for store in tuple(self._outside.values()):  # Other threads may meet one meanwhile.
            store.together.close()

    def let_go(self) -> None:
        """Drop all cached data and close open files; the next use reads again."""
        self._documents.clear()
        self._coming = {}
        self._views = Views()
        for store in self.together.stores:
            store.let_go()
        self.close()

    def __enter__(self) -> Workspace:
        """Return the workspace, which is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the workspace."""
        self.close()

    @property
    def machine_zone(self) -> tzinfo:
        """The zone that applies where config.md names none."""
        if self._zone is None:
            self._zone = machine_zone(os.environ)
        return self._zone

    @property
    def zone(self) -> tzinfo:
        """The zone of the workspace, read from its files now."""
        return self.snapshot().zone

    # -- the memory systems --------------------------------------------------------------------------------------

    def add_store(self, folder: str, reading: PlainReading, *, private: str | None = None) -> Store:
        """Return a store of the files below a folder of the workspace ("": of the workspace itself), which shares the
        change log; its lock and staged files are in `private` (default: `.memdeck` in that folder).
        """
        root = self.root / folder if folder else self.root
        place = None if private is None else self.root / private
        made = Store(root, place, state=self.state, workspace=self.root, reading=reading, together=self.together)
        store = self.together.add(made)
        # A change that a crash interrupted is finished or discarded. Where that fails, reading still works.
        with suppress(MemdeckError):
            store.recover()
        return store

    def system(self, name: str) -> System:
        """Return the object of a memory system, present or not; `memory.systems.system_of` returns it with its type.

        Raises MemdeckError `system.failed` where the code of another package does not load.
        """
        return self._systems.get(name)

    def system_names(self) -> tuple[str, ...]:
        """Return the names of this workspace's memory systems; one is imported only where the home folder lists it."""
        return self._systems.names()

    def systems(self) -> tuple[System, ...]:
        """Return the systems that are present, in the order in which they are shown; a failure of one does not affect
        the others (`memory.system`).
        """
        return self._systems.present()

    def guarded(self, name: str) -> System:
        """Return a system, present or not, whose failures do not affect others."""
        return self._systems.guarded(name)

    def present(self) -> tuple[str, ...]:
        """Return the names of the systems that are present."""
        return tuple(system.name for system in self._systems.present())

    def failures(self) -> tuple[MemdeckError, ...]:
        """Return what failed in the code of systems since the workspace was opened; the `details` name the system."""
        return tuple(self._systems.failed.values())

    def stores(self) -> tuple[Store, ...]:
        """Return the stores of the systems that are present, each with its own lock and stage folder."""
        self.present()
        return tuple(store for store in self.together.stores if store.root.is_dir())

    def outside(self) -> tuple[Store, ...]:
        """Return the stores of its systems that are outside the workspace, each with its own change log.

        They hold the user's memory for all workspaces, and memory of agents in other folders. Empty without a home
        folder.
        """
        if self.home is None:
            return ()
        from importlib import import_module

        found: dict[str, Store] = {}
        for system in registered():
            if not system.outside:
                continue
            module, _, name = system.outside.partition(":")
            for store in getattr(import_module(module), name)(self.root, self.home, self.state.folder.home):
                place = str(store.root)
                found[place] = self._outside.setdefault(place, store)
        return tuple(found.values())

    # -- reading ----------------------------------------------------------------------------------------------

    def snapshot(self, *, zone_refused: Callable[[MemdeckError], object] | None = None) -> Snapshot:
        """Return a snapshot of the files; a file that did not change keeps its document and its views.

        `zone_refused` is called with the error where config.md cannot be read and only its zone is needed; see
        `Snapshot`.
        """
        reader = _Reader(self, self.store.read)
        snapshot = Snapshot(
            reader, lambda: self.machine_zone, self._views, lambda name: self.guarded(name).look(), zone_refused
        )
        snapshot.past = self._past
        return snapshot

    def _past(self, kind: str, digits: str) -> RefTrace | None:
        """Return what the change log knows about a ref that no longer fits an entry."""
        zone = lambda: self.snapshot(zone_refused=lambda _: None).zone  # noqa: E731
        return trace(Trail(self.store.history, f"{MEMORY_FOLDER}/", zone), kind, digits)

    def document_of(self, name: str, stored: Stored) -> Document:
        """Return the document of a file's bytes; only what differs from the last read is scanned."""
        known = self._documents.get(name)
        if known is not None and known[0] is stored:
            return known[1]
        coming = self._coming.get(name)
        if coming is not None and coming.dump() == stored.data:
            document = coming  # A change wrote it here.
        else:
            document = _document(stored.data, None if known is None else known[1])
        self._documents[name] = (stored, document)
        return document

    def watcher(self, callback: Callable[[frozenset[str]], object]) -> Watcher:
        """Return a watcher, not yet started; its thread calls `callback` with the names that changed.

        Memory files are named as in the memory folder, files of other systems by their path in the workspace.
        """

        def more() -> dict[str, Path]:
            return {path: self.root / path for system in self.systems() for path in system.folders()}

        return Watcher(self.memory, callback, more=more, within=self.root)

    # -- changing ---------------------------------------------------------------------------------------------

    def change(self, operation: str, build: Callable[[Snapshot], Edit], *, actor: str, now: datetime) -> Outcome:
        """Make a change: under the lock, `build` gets the files as they are now and returns the edit.

        When another program writes to the same files at that moment, `build` is called again with what it wrote.
        `updated:` is set in every changed file that has the key. Errors of `build` leave everything as it was;
        BusyError `file.locked`, ConflictError `document.conflict`, RefusedError `file.*` as transactions raise.
        """
        return retry(lambda: self._attempt(operation, build, actor, now))

    def _attempt(self, operation: str, build: Callable[[Snapshot], Edit], actor: str, now: datetime) -> Outcome:

        with self.store.transaction(operation, actor=actor, now=now) as transaction:
            snapshot = Snapshot(_Reader(self, transaction.read), lambda: self.machine_zone, self._views)
            snapshot.past = self._past
            edit = build(snapshot)
            written: dict[str, Document] = {}
            edited: list[tuple[str, Document, Sequence[Region]]] = []
            for name, document in edit.documents.items():
                stored = transaction.read(_INSIDE + name)
                before = snapshot.document(name)
                regions = compare(before, document)
                edited.append((name, document, regions))
                if stored.exists:
                    if not regions:
                        transaction.hold(_INSIDE + name, base=stored.data)
                        continue
                    refuse_unwritable(name, before)
                    document = stamped(document, now)
                transaction.write(_INSIDE + name, document.dump(), base=stored.base)
                written[name] = document
            self._coming = written
            change = transaction.commit(edit.summary)
        return self._outcome(change, edit, edited, snapshot, written)

    def _outcome(
        self,
        change: Change,
        edit: Edit,
        edited: Sequence[tuple[str, Document, Sequence[Region]]],
        before: Snapshot,
        written: dict[str, Document],
    ) -> Outcome:
        """Return what a change did. It is already made, so an error in here must not look as if it had failed."""
        secrets: tuple[str, ...] = ()
        after = Snapshot(WrittenFiles(before, written), lambda: self.machine_zone, self._views, None, _nobody)
        after.past = self._past
        item = None if edit.at is None else after.item(*edit.at)
        try:
            if not edit.moves:
                secrets = secrets_in(edited)
        except Exception as error:
            self.store.history.warn(f"the change was made, but not checked for secrets: {type(error).__name__}")
        said, ref = tuple(before.remarks), None if item is None else item.ref
        return Outcome(change, edit.summary, ref, edit.kept, item, secrets, after, said)

    def save(
        self,
        operation: str,
        name: str,
        base: Document,
        ours: Document,
        *,
        actor: str,
        now: datetime,
        summary: str = "",
    ) -> Outcome:
        """Save a file that was edited from an older version, `base`: under the lock it is merged with the current file.

        `name` is relative to the memory folder. For editors, forms and scripts that hold a whole file; changes that
        others made meanwhile stay. A file that is missing or empty now counts as unchanged, because that is no way to
        delete entries. ConflictError `document.conflict` where both changed the same part, with `fields` and
        `conflicts` in its details (a `MergeConflict`, to choose from); then nothing is written. Other errors as
        `change`.
        """
        said = summary or f"saved {name}"

        def build(snapshot: Snapshot) -> Edit:
            current = snapshot.document(name)
            if not current.dump().strip():
                current = base
            elif ours.dump() != base.dump():
                refuse_unwritable(name, current)
            from .files.versions.merging import merge_file  # only where the files moved on

            merged = merge_file(name, base, ours, current)
            kept = tuple(f"{one.entry or one.section}: {one.why}" for one in merged.kept)
            return Edit({name: merged.document}, said, kept=kept)

        return self.change(operation, build, actor=actor, now=now)

    def notice(self, now: datetime) -> int:
        """Record what other programs changed in the files of all systems; return the number of changes.

        Only the change log outside the workspace is written. Files that cannot be read are left out.
        """
        history = self.store.history
        systems = self.systems()
        of_systems = [name for system in systems for name in system.files()]
        names = sorted({*of_systems, *history.to_look_at()})
        return self.together.notice(names, now) + sum(system.notice(now) for system in systems)


class _Reading(PlainReading):
    """Answers the change log's questions about the files of the workspace memory."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def knows(self, path: str) -> bool:
        """Return whether a path is that of a memory file or an archive."""
        name = path.removeprefix(_INSIDE).removeprefix("archive/")
        return path.startswith(_INSIDE) and name.endswith(".md") and "/" not in name and name[0] != "."

    def lasts(self, path: str) -> bool:
        """Return whether a path is one of the seven memory files."""
        return path.removeprefix(_INSIDE) in MEMORY_FILES and path.startswith(_INSIDE)

    def document(self, path: str, data: bytes) -> Document | None:
        """Return the document of a file's bytes; it shares unchanged parts with a known document of the file."""
        if not path.endswith(".md"):
            return None
        name = path.removeprefix(_INSIDE)
        known = self._workspace._documents.get(name)
        for document in (self._workspace._coming.get(name), None if known is None else known[1]):
            if document is not None and (document.dump() is data or document.dump() == data):
                return document
        return _document(data, None if known is None or not data else known[1])

    def ref(self, path: str, section: str | None, entry: Entry) -> str | None:
        """Return the ref of an entry."""
        return ref_of(path.removeprefix(_INSIDE), section, entry)

    def stamp(self, document: Document, now: datetime) -> Document:
        """Set `updated:` to the time of the change."""
        return stamped(document, now)


def stamped(document: Document, now: datetime) -> Document:
    """Return the document with `updated:` set to now where its front matter has that key and can be edited."""
    if b"updated" not in document.front_raw or document.meta.get("updated") is None:
        return document

    try:
        return document.set_meta("updated", format_utc(now))
    except MemdeckError:
        return document


def _absolute(path: str | os.PathLike[str]) -> str:
    try:
        return os.path.abspath(path)
    except OSError as error:  # a relative path, and the current folder was removed
        raise UsageError(
            "workspace.no_folder",
            f"the current folder cannot be found ({error.strerror})",
            "change to another one, or name the workspace with -w",
        ) from error


def _nobody(_: MemdeckError) -> None:
    """Ignore the error: the next snapshot reports why config.md cannot be read."""


class _Reader:
    """Reads documents for a snapshot, from the store or from a transaction."""

    def __init__(self, workspace: Workspace, read: Callable[[str], Stored]) -> None:
        self._workspace = workspace
        self._read = read
        self.root = workspace.root

    def document(self, name: str) -> Document | None:
        stored = self._read(_INSIDE + name)
        return self._workspace.document_of(name, stored) if stored.exists else None

    def archives(self) -> tuple[str, ...]:

        names = names_in(self._workspace.memory / "archive", self._workspace.root)
        if not isinstance(names, tuple):
            return ()
        return tuple([f"archive/{name}" for name in names if name.endswith(".md") and name[0] != "."])

    def folder(self) -> Folder:

        memory, root = self._workspace.memory, self._workspace.root
        return Folder(names_in(memory, root), names_in(memory / "archive", root))


def _document(data: bytes, known: Document | None) -> Document:
    """Return the document of a file's bytes; it shares unchanged parts with `known`, the document of earlier bytes."""
    return parse(data) if known is None else updated(known, data)
