"""The workspace: find, open and initialise it, look at its files, change them in transactions."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from memory.named_tuple import NamedTuple

from .attached import Attached, Systems
from .errors import ConflictError, MemdeckError, UsageError
from .files.snapshot import Snapshot, Views, WrittenFiles
from .registry import registered, workspace_of
from .storage import PrivateState, Store, Stored
from .storage.shared_log import SharedLog

if TYPE_CHECKING:
    from .document import Document, Entry
    from .document.compare import Region
    from .files.edit import Edit
    from .files.neighbours import Folder
    from .files.refs.refs import RefTrace
    from .storage import Change
    from .storage.contracts import ChangingStore, Reading
    from .storage.watch import Watcher

SYSTEM_FOLDER = ".aiter"
MEMORY_FOLDER = ".aiter/memory"
_INSIDE = "memory/"
_TRIES = 12  # How often a change is planned again while other programs write to the same files.
_LONGEST_PAUSE = 0.1  # Seconds between two of them at most.


class Outcome(NamedTuple):
    """What a change did: its record (`change.files` is empty where nothing had to be written), the summary for
    people, and the ref of the entry it was about (None: none).

    `snapshot` are the files as the change left them, whatever others made of them since; None for other systems.
    `entry` is what `Edit.entry` is. `kept` are sentences about entries that stay although one side removed them, for
    the other changed them; `secrets` about what was written and looks like a password or a key, without showing it;
    `remarks` about how a title or ref was understood.
    """

    change: Change
    summary: str
    ref: str | None = None
    kept: tuple[str, ...] = ()
    entry: Entry | None = None
    secrets: tuple[str, ...] = ()
    snapshot: Snapshot | None = None
    remarks: tuple[str, ...] = ()


class Workspace:
    """A folder with memory files; safe to share between threads, except `change`, which is for one at a time.

    `root` is the folder that holds the memory systems, `memory` is `.aiter/memory` in it. Each system has a store of
    its own, all share the change log (`together`). `machine_zone` counts where
    config.md names no zone. `home` is the person's home folder, where some systems list what else is theirs; None for
    none. Make one with `open` or `init`.
    """

    def __init__(
        self,
        root: Path,
        *,
        state_home: Path | None,
        machine_zone: tzinfo | None = None,
        home: Path | None = None,
    ) -> None:
        """Keep where things are; nothing is read yet. Without `state_home` nothing is kept outside of the folder."""
        self.root = root
        self.home = home
        self.memory = root / MEMORY_FOLDER
        self.state = None if state_home is None else PrivateState(state_home, root, home)
        self._systems = Systems(root, home, self)
        self.together = SharedLog(self.state, self._systems.add_around)
        self.store = self.add_store(SYSTEM_FOLDER, _Reading(self))
        self._zone = machine_zone
        self._documents: dict[str, tuple[Stored, Document]] = {}
        self._coming: dict[str, Document] = {}
        self._earlier: dict[str, Document] = {}
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
                    "workspace.not_found", f"{place} is not a folder", "make it one, or take it away", folder=start
                )
        raise UsageError(
            "workspace.not_found",
            f"no memory in {start} or above it",
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
        home: Path | None = None,
        files: dict[str, str] | None = None,
    ) -> tuple[Workspace, tuple[str, ...]]:
        """Create the memory files that are missing in a folder, and `archive/`; return what was created.

        `files` (name → text) replaces the templates, for a sample workspace. No file that is there is touched.
        """
        from .storage.fsio import make_folder

        root = Path(_absolute(path))
        make_folder(root)
        workspace = cls(root, state_home=state_home, machine_zone=machine_zone, home=home)
        if files is None:
            from .files.templates import template_files

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

    def close(self) -> None:
        """Close the change log and what the memory systems opened; what is asked later opens it again."""
        self._systems.close()
        self.together.close()
        for store in self._outside.values():
            store.together.close()

    def let_go(self) -> None:
        """Let go of all that was read and is open; what is asked later is read again."""
        self._documents.clear()
        self._coming = {}
        self._views = Views()
        for store in self.together.stores:
            store.let_go()
        if self.state is not None:  # a log that is kept nowhere would be gone
            self.close()

    def __enter__(self) -> Workspace:
        """Return the workspace, which is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    @property
    def machine_zone(self) -> tzinfo:
        """The zone that counts where config.md names none."""
        if self._zone is None:
            from .base.clock import machine_zone

            self._zone = machine_zone(os.environ)
        return self._zone

    @property
    def zone(self) -> tzinfo:
        """The zone of the workspace as its files stand now."""
        return self.snapshot().zone

    # -- the memory systems --------------------------------------------------------------------------------------

    def add_store(self, folder: str, reading: Reading, *, private: str | None = None) -> Store:
        """Return a store of the files beneath a folder of the workspace ("": of the workspace itself), which shares the
        change log; its lock and staged files lie in `private` (default: `.memdeck` in that folder).
        """
        root = self.root / folder if folder else self.root
        place = None if private is None else self.root / private
        store = Store(root, place, self.state, workspace=self.root, reading=reading, together=self.together)
        self.together.add(store)
        # What a crash interrupted is finished or discarded; reading goes on where that is not possible.
        with suppress(MemdeckError):
            store.recover()
        return store

    def system(self, name: str) -> Attached:
        """Return the object of a memory system, present or not; `memory.systems.system_of` returns it with its type.

        Raises MemdeckError `system.failed` where the code of another package does not load.
        """
        return self._systems.get(name)

    def system_names(self) -> tuple[str, ...]:
        """Return the names of the memory systems that are here; one is imported only where the home folder lists it."""
        return self._systems.names()

    def present(self) -> tuple[str, ...]:
        """Return the names of the systems that are present, in the order in which they are shown.

        One that fails counts as present where its mark is, so that it is reported.
        """
        return self._systems.present()

    def stores(self) -> tuple[ChangingStore, ...]:
        """Return the stores of the systems that are present, each with a lock and a stage folder of its own."""
        self.present()
        return tuple(store for store in self.together.stores if store.root.is_dir())

    def outside(self) -> tuple[Store, ...]:
        """Return the stores of its systems that lie outside of the workspace, each with a change log of its own.

        They are those of what a person has for all workspaces, and of agents that live elsewhere. Empty where nothing
        is remembered, and without a home folder.
        """
        if self.home is None or self.state is None:
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
        """Return one look at the files; a file that did not change keeps its document and its views.

        `zone_refused` is told why config.md cannot be read where only its zone was asked for; see `Snapshot`.
        """
        reader = _Reader(self, self.store.read)
        snapshot = Snapshot(reader, lambda: self.machine_zone, self._views, self._systems.look, zone_refused)
        snapshot.past = self._past
        return snapshot

    def _past(self, kind: str, digits: str) -> RefTrace | None:
        """Return what the change log knows of a ref that fits no entry any more."""
        from .files.refs.traces import Trail, trace

        zone = lambda: self.snapshot(zone_refused=lambda _: None).zone  # noqa: E731
        return trace(Trail(self.store.history, f"{MEMORY_FOLDER}/", zone), kind, digits)

    def document_of(self, name: str, stored: Stored) -> Document:
        """Return the document of a file's bytes; only what differs from the last look is scanned."""
        known = self._documents.get(name)
        if known is not None and known[0] is stored:
            return known[1]
        document = _document(stored.data, None if known is None else known[1])
        if known is not None:
            self._earlier[name] = known[1]
        self._documents[name] = (stored, document)
        return document

    def watcher(self, callback: Callable[[frozenset[str]], object]) -> Watcher:
        """Return a watcher, not yet started; its thread calls `callback` with the names that changed.

        Memory files are named as in the memory folder, files of other systems as seen from the workspace.
        """
        from .storage.watch import Watcher

        def more() -> dict[str, Path]:
            return {path: self.root / path for path in self._systems.folders()}

        return Watcher(self.memory, callback, more=more, within=self.root)

    # -- changing ---------------------------------------------------------------------------------------------

    def change(self, operation: str, build: Callable[[Snapshot], Edit], *, actor: str, now: datetime) -> Outcome:
        """Make a change: under the lock, `build` gets the files as they are now and returns the edit.

        When another program writes to the same files just then, `build` is called again with what it wrote.
        `updated:` is set in every changed file that has the key. Errors of `build` leave everything as it was;
        BusyError `file.locked`, ConflictError `document.conflict`, RefusedError `file.*` as transactions raise.
        """
        for tries in range(1, _TRIES + 1):
            try:
                return self._attempt(operation, build, actor, now)
            except ConflictError as error:
                # Another program wrote in that very moment: planned again on what it wrote, nothing is in the way.
                if tries == _TRIES or not error.details.get("crossed"):
                    raise
                # One that writes all the time is given longer and longer to come to an end.
                time.sleep(min(0.001 * 2**tries, _LONGEST_PAUSE))
        raise AssertionError("the last try returns or raises")

    def _attempt(self, operation: str, build: Callable[[Snapshot], Edit], actor: str, now: datetime) -> Outcome:
        from .document.compare import compare

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
                    from .files.edit import refuse_unwritable

                    if not regions:
                        transaction.hold(_INSIDE + name, base=stored.data)
                        continue
                    refuse_unwritable(name, before)
                    document = stamped(document, now)
                data = document.dump()
                # With the time of the change in it, it is another document than the one compared.
                known = regions if document is edit.documents[name] else None
                self.store.history.expect(self.store.shown(_INSIDE + name), data, before=stored.base, regions=known)
                transaction.write(_INSIDE + name, data, base=stored.base)
                written[name] = document
            self._coming = written
            change = transaction.commit(edit.summary)
        try:
            return self._outcome(change, edit, edited, snapshot, written)
        except MemoryError:
            return self._outcome(change, edit, edited, snapshot, written)

    def _outcome(
        self,
        change: Change,
        edit: Edit,
        edited: Sequence[tuple[str, Document, Sequence[Region]]],
        before: Snapshot,
        written: dict[str, Document],
    ) -> Outcome:
        """Return what a change did. It is made: nothing that fails here may be taken for its failure."""
        secrets: tuple[str, ...] = ()
        try:
            for name, document in written.items():
                # Where another program has written since, the next look reads the file.
                stored = self.store.cached(_INSIDE + name)
                if stored is not None and stored.data is document.dump():
                    self._documents[name] = (stored, document)
            if not edit.moves:
                from .files.edit import secrets_in

                secrets = secrets_in(edited)
        except Exception as error:
            self.store.history.warn(f"the change is made, but not looked at for secrets: {type(error).__name__}")
        after = Snapshot(WrittenFiles(before, written), lambda: self.machine_zone, self._views, None, _nobody)
        after.past = self._past
        said = tuple(before.remarks)
        return Outcome(
            change, edit.summary, edit.ref, edit.kept, entry=edit.entry, secrets=secrets, snapshot=after, remarks=said
        )

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
        """Save a file that was edited from an older look, `base`: under the lock it is merged with what is there now.

        `name` is relative to the memory folder. For editors, forms and scripts that hold a whole file; what others
        changed meanwhile stays. A file that is missing or empty now counts as unchanged: nobody deletes like that.
        ConflictError `document.conflict` where both changed the same, with `fields` and `conflicts` in its details
        (a `MergeConflict`, to choose from); then nothing is written. Other errors as `change`.
        """
        from .files.edit import Edit, refuse_unwritable
        from .files.merging import merge_file

        said = summary or f"saved {name}"

        def build(snapshot: Snapshot) -> Edit:
            current = snapshot.document(name)
            if not current.dump().strip():
                current = base
            elif ours.dump() != base.dump():
                refuse_unwritable(name, current)
            merged = merge_file(name, base, ours, current)
            kept = tuple(f"{one.entry or one.section}: {one.why}" for one in merged.kept)
            return Edit({name: merged.document}, said, kept=kept)

        return self.change(operation, build, actor=actor, now=now)

    def undo(self, *, actor: str, now: datetime) -> Change:
        """Take back the newest change that `actor` made, in whichever process; raises `change.none`,
        `document.conflict` where somebody touched the same entries since, `change.thinned`.
        """
        return self.store.history.undo(actor=actor, now=now)

    def redo(self, *, actor: str, now: datetime) -> Change:
        """Do again what was undone last; a new change of the same actor ends that."""
        return self.store.history.redo(actor=actor, now=now)

    def revert(self, change_id: str, *, actor: str, now: datetime) -> Change:
        """Take back one change, whoever made it; raises `change.not_found`, `change.undone` and as `undo`.

        For a save of another program that took back changes see `memory.history.taken_back.revert_change`.
        """
        return self.store.history.revert(change_id, actor=actor, now=now)

    def restore(self, ref: str, *, actor: str, now: datetime) -> Outcome:
        """Bring an archived entry back to where it came from; raises as `memory.files.restore.restore_entry`."""
        from .files.restore import restore_entry

        return self.change("restore", lambda snapshot: restore_entry(snapshot, ref, now=now), actor=actor, now=now)

    def notice(self, now: datetime) -> int:
        """Look at the files of all systems and note what other programs did to them; return how many changes that were.

        Nothing is written but the change log outside of the workspace. What cannot be read is left out.
        """
        history, readable = self.store.history, []
        names = self._systems.files() | set(history.to_look_at())
        with self.together.glance():
            for name in sorted(names):
                with suppress(MemdeckError):
                    found = self.together.find(name)
                    if found is not None:
                        found[0].read(found[1])
                        readable.append(name)
            try:
                return history.notice(readable, now)
            finally:
                # What changed is compared with what stood there before, and then nobody asks for that again.
                self._earlier.clear()


class _Reading:
    """What the change log asks about the files of the workspace memory."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def knows(self, path: str) -> bool:
        """Tell whether a path is one of a memory file or of an archive."""
        name = path.removeprefix(_INSIDE).removeprefix("archive/")
        return path.startswith(_INSIDE) and name.endswith(".md") and "/" not in name and name[0] != "."

    def lasts(self, path: str) -> bool:
        """Tell whether a path is one of the seven memory files."""
        from .files import MEMORY_FILES

        return path.removeprefix(_INSIDE) in MEMORY_FILES and path.startswith(_INSIDE)

    def document(self, path: str, data: bytes) -> Document | None:
        """Return the document of a file's bytes; what is known of other bytes of the file is shared."""
        if not path.endswith(".md"):
            return None
        name = path.removeprefix(_INSIDE)
        known = self._workspace._documents.get(name)
        earlier = self._workspace._earlier.get(name)
        for document in (self._workspace._coming.get(name), None if known is None else known[1], earlier):
            if document is not None and (document.dump() is data or document.dump() == data):
                return document
        return _document(data, None if known is None or not data else known[1])

    def ref(self, path: str, section: str | None, entry: Entry) -> str | None:
        """Return the ref of an entry."""
        from .files.refs.entry_refs import ref_of

        return ref_of(path.removeprefix(_INSIDE), section, entry)

    def line(self, path: str, line: bytes) -> tuple[str | None, str]:  # noqa: ARG002 - no memory file is one of lines
        """Return nothing."""
        return None, ""

    def stamp(self, document: Document, now: datetime) -> Document:
        """Set the time of the change."""
        return stamped(document, now)


def stamped(document: Document, now: datetime) -> Document:
    """Return the document with `updated:` set to now where its front matter has that key and can be edited."""
    if b"updated" not in document.front_raw or document.meta.get("updated") is None:
        return document
    from .base.clock import format_utc

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
    """Leave it to the next look to say why config.md cannot be read."""


class _Reader:
    """Reads documents for a snapshot, from the store or from a transaction."""

    def __init__(self, workspace: Workspace, read: Callable[[str], Stored]) -> None:
        self._workspace = workspace
        self._read = read

    def document(self, name: str) -> Document | None:
        stored = self._read(_INSIDE + name)
        return self._workspace.document_of(name, stored) if stored.exists else None

    def archives(self) -> tuple[str, ...]:
        from .storage.files.listing import names_in

        names = names_in(self._workspace.memory / "archive", self._workspace.root)
        if not isinstance(names, tuple):
            return ()
        return tuple(f"archive/{name}" for name in names if name.endswith(".md") and name[0] != ".")

    def folder(self) -> Folder:
        from .files.neighbours import Folder
        from .storage.files.listing import names_in

        memory, root = self._workspace.memory, self._workspace.root
        return Folder(names_in(memory, root), names_in(memory / "archive", root))


def _document(data: bytes, known: Document | None) -> Document:
    """Return the document of a file's bytes, which shares with one of earlier bytes what did not change."""
    if known is None:
        # Of the module itself: asked of the package it takes twice as long, for every archive.
        from memory.document.model import parse

        return parse(data)
    from memory.document.rescan import updated

    return updated(known, data)
