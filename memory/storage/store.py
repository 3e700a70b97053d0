"""The store of one memory system: its files, read with a cache and changed by transactions; and what stores share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from threading import Lock as ThreadLock
from threading import get_ident
from typing import Unpack

from memory.document import Document, Entry
from memory.errors import BusyError, MemdeckError, RefusedError

from . import safe_open
from .changes import Change, PlainReading
from .database import Database, DatabaseKind
from .journal import Journal
from .lock import HELD, NAME, Lock
from .log import ChangeLog
from .own_folders import PrivateState, WorkFolder
from .protection import LateBytes, late_bytes, probe
from .safe_open import Stored, check_path
from .transaction import Options, Transaction


def refuse_unreviewed(change: Change, folder: str, log: SharedLog) -> None:  # noqa: ARG001
    """Raise RefusedError `review.denied`: the gate of stores whose maker named none."""
    raise RefusedError("review.denied", f"no rules are known here for {change.actor}", "ask the person")


Gate = Callable[[Change, str, "SharedLog"], None]
"""Returns if an agent may make a change at once; `memory.review.proposals.hold` is the one in use.

It gets the change, the folder of its store in the workspace (the paths of the change are relative to it), and the log.
BlockedError where the change became a proposal, RefusedError where it must not be made.
"""


class Store:
    """Reads and changes the files in one folder of a workspace; safe to share between threads.

    `root` is the system's folder (`.aiter`), and every path is relative to it, with `/`: `memory/tasks.md`,
    `memory/archive/tasks-2024-01.md`. `workspace` is the folder that no link may lead out of (default: the parent of
    `root`). `folder` is memdeck's own (default: `root/.memdeck`). `state` is the private folder outside the workspace
    for its records. `reading` interprets the files for the history. Stores of one workspace share a change log by
    `together`, to which the caller adds them; a single store has its own, whose changes by agents pass the `gate`.

    In seconds: `lock_timeout` for memdeck's own processes, `patience` with a program that has a file open for writing.
    """

    def __init__(
        self,
        root: Path,
        folder: Path | None = None,
        *,
        state: PrivateState,
        workspace: Path | None = None,
        lock_timeout: float = 5.0,
        reading: PlainReading | None = None,
        patience: float = 2.0,
        together: SharedLog | None = None,
        gate: Gate = refuse_unreviewed,
    ) -> None:
        """Store the paths, and read and create nothing; ValueError when root or folder is outside the workspace."""
        self.root = root
        self.workspace = root.parent if workspace is None else workspace
        self.state = state
        self.reading = reading or PlainReading()
        self.patience = patience
        around = _relative(root, self.workspace)
        self.prefix = f"{around}/" if around else ""  # What every path of the store begins with in the workspace.
        # memdeck's own folder, as a path in the workspace, with the lock and staged files.
        self.folder = folder or root / ".memdeck"
        self.private = _relative(self.folder, self.workspace)
        self.place = WorkFolder(self.workspace, self.private)
        self.lock = Lock(f"{self.private}/{NAME}", lock_timeout)
        # Two stores may share a root, but never private files: these are named after the folder around memdeck's own.
        apart, _, name = self.private.rpartition("/")
        apart = apart if name == ".memdeck" else around
        self.system = apart.replace("/", "+") or "root"
        self.journal = Journal(state.folder, self.system)
        self._cache: dict[str, tuple[Stored, bool]] = {}
        self.together = together or SharedLog(state, gate)
        if together is None:
            self.together.be_of(self)

    def read(self, path: str) -> Stored:
        """Read a file, `Stored(b"", ABSENT)` where there is none; the same object as long as the file is unchanged.

        Writes nothing, not even a lock. RefusedError `file.*` for files that must not be read, MemdeckError `file.io`.
        """
        shown = self.prefix + path
        cached, settled = self._cache.get(path, (None, False))
        if cached is not None and settled and safe_open.version_of(shown, self.workspace) == cached.version:
            return cached
        # The file system's clock, not the one a caller may set with `now`.
        at = time.time_ns()
        stored = safe_open.read(shown, self.workspace)
        settled = stored.version.settled(at)
        if cached is not None and cached.version == stored.version and cached.data == stored.data:
            stored = cached
        self._cache[path] = (stored, settled)
        return stored

    def forget(self, path: str) -> None:
        """Let go of the bytes of a file that was read."""
        self._cache.pop(path, None)

    def let_go(self) -> None:
        """Clear the cache of files that were read."""
        self._cache.clear()

    def busy(self) -> bool:
        """Return whether the lock file names a holder: a change is under way, or its process was killed."""
        try:
            # A folder that leads out of the workspace is not entered.
            return safe_open.read(f"{self.private}/{NAME}", self.workspace).data.startswith(HELD)
        except MemdeckError:
            return False

    def shown(self, path: str) -> str:
        """Return a path of the store as a path in the workspace, which is how messages name it."""
        return self.prefix + path

    def check_path(self, path: str) -> None:
        """Raise RefusedError `file.outside` for a path that no transaction may change."""
        check_path(self.shown(path), self.private)
        if self.state.folder.holds(self.shown(path)):
            raise RefusedError("file.outside", f"{path} is one of memdeck's own records", file=path)

    def transaction(self, operation: str, *, actor: str, now: datetime, **options: Unpack[Options]) -> Transaction:
        """Return a transaction to be used in a `with` block; `now` is aware and becomes the time of the change."""
        return Transaction(self, operation, actor=actor, now=now, **options)

    @property
    def history(self) -> ChangeLog:
        """The changes of all actors, kept in the state folder."""
        return self.together.history

    def recover(self) -> None:
        """Complete or take back a change that a crash interrupted; for the start of a process.

        Nothing is done while another process holds the lock: that one recovers it. Writes nothing when all is well.
        MemdeckError `file.io`, RefusedError where it cannot be done.
        """
        intent = self.journal.under_way() if self.busy() and not self.lock.held else None
        if intent is not None:
            with suppress(BusyError), self.transaction("recover", actor="recover", now=intent.time, wait=False):
                pass

    def protection(self) -> tuple[str, ...]:
        """Test how well changes are protected here from crashes and other programs; return the missing
        protections, for `doctor`.
        """
        return probe(self.root, self.state)

    def kept(self) -> tuple[LateBytes, ...]:
        """Return the files in `stage` with what other programs wrote to a file that had been replaced, oldest first."""
        return late_bytes(self.place, self.prefix, self.history)


def _relative(path: Path, workspace: Path) -> str:
    """Return a folder's path in the workspace, "" for the workspace itself."""
    text = path.relative_to(workspace).as_posix()
    return "" if text == "." else text


class SharedLog:
    """Stores that share a change log and the databases beside it; all paths are relative to the workspace.

    That of a store outside the workspace has its folder as `place`; of the proposals in its database only those for
    `folder` count (None: all), because it may be that of another workspace. `own` says that it is the user's own
    memory, whose changes are listed and taken back from any workspace.
    """

    place = ""
    folder: str | None = None
    own = False

    def __init__(
        self,
        state: PrivateState,
        gate: Gate = refuse_unreviewed,
        *,
        grow: Callable[[str], object] = lambda _path: None,
        outside: Callable[[], Iterable[Store]] = tuple,
    ) -> None:
        """`state` is where it is kept. `grow` is called with a path that belongs to no store, or only to one of the
        whole workspace, so that it can add more stores; `outside` returns stores with logs of their own that belong to
        this workspace too.
        """
        self.state = state
        self.gate = gate
        self.history = ChangeLog(self, state.folder)  # The changes of all actors.
        self.stores: tuple[Store, ...] = ()
        """The stores, the deepest folders first."""
        self._grow = grow
        self._outside = outside
        self._adding = ThreadLock()
        self._glances: dict[int, dict[str, tuple[Store, ...]]] = {}
        self._databases: dict[str, Database] = {}

    def be_of(self, store: Store) -> None:
        """Become the log of one store."""
        self.add(store)
        self.place, self.folder, self.own = str(store.root), store.prefix, store.reading.own

    def logs(self) -> tuple[SharedLog, ...]:
        """Return this log, and those of the stores of the workspace that are outside it."""
        here = self.state.folder.path
        others = [one.together for one in self._outside() if one.state.folder.path != here]
        return (self, *others)

    def database(self, kind: DatabaseKind) -> Database:
        """Return a database beside the change log, open as long as the log is."""
        return self._databases.setdefault(kind.name, Database(self.state.folder, kind))

    def notice(self, paths: Iterable[str], now: datetime) -> int:
        """Look at files as `ChangeLog.notice`; changes that a killed process left are completed or taken back first."""
        for store in self.stores:
            with suppress(MemdeckError):
                store.recover()
        return self.history.notice(paths, now)

    def close(self) -> None:
        """Close the open databases of the private state folder; the next use opens them again."""
        self.history.close()
        for database in tuple(self._databases.values()):  # Other threads may open one meanwhile.
            database.close()

    # -- which store a file belongs to ------------------------------------------------------------------------------

    def add(self, store: Store) -> Store:
        """Add a store and return it, or the one with the same private files that another thread added before.

        Its files are those in its folder that are not in the folder of a deeper store. Of two stores with the same
        folder, a file belongs to the one that knows it. Where both do, it belongs to the one whose private path is
        longer, because that one accepts few files and the other any.
        """
        with self._adding:
            for known in self.stores:
                if known.private == store.private:
                    return known
            # Other threads look meanwhile, and a list that is being sorted is empty for them.
            self.stores = tuple(sorted((*self.stores, store), key=lambda one: (-len(one.prefix), -len(one.private))))
        return store

    def store_of(self, path: str) -> Store | None:
        """Return the store that a path in the workspace belongs to, None if there is none."""
        known = self._glances.get(get_ident())
        if known is None:
            stores = self._search(path)
        else:
            folder = path.rpartition("/")[0]
            if folder not in known:
                known[folder] = self._search(path)
            stores = known[folder]
        if len(stores) < 2:
            return stores[0] if stores else None
        # Of those that share a folder the one that knows the file; the first where none does.
        inside = path.removeprefix(stores[0].prefix)
        return next((store for store in stores if store.reading.knows(inside)), stores[0])

    @contextmanager
    def glance(self) -> Iterator[None]:
        """Assume, in this thread and during the block, that the stores stay the same: each folder is searched once.

        Which stores exist depends on other files, and reading those again for each of many thousand files would take
        longer than the actual work.
        """
        thread = get_ident()
        if thread in self._glances:
            yield
            return
        self._glances[thread] = {}
        try:
            yield
        finally:
            del self._glances[thread]

    def _search(self, path: str) -> tuple[Store, ...]:
        found = self._of(path)
        if not found or not found[0].prefix:
            self._grow(path)
            found = self._of(path)
        return found

    def _of(self, path: str) -> tuple[Store, ...]:
        """Return the stores of the deepest folder that contains a path; several where they share it."""
        around = [store for store in self.stores if path.startswith(store.prefix)]
        return tuple([store for store in around if store.prefix == around[0].prefix])

    def of_all(self, paths: Sequence[str]) -> Store | None:
        """Return the store of some memory files, None where they belong to several, or one of them is no memory file.

        Only its owner writes a record; still, a file is not written only because a row names it.
        """
        with self.glance():
            found = [self.find(path) for path in paths]
            stores = {one[0] if one is not None and one[0].reading.knows(one[1]) else None for one in found}
            return stores.pop() if len(stores) == 1 else None

    def find(self, path: str) -> tuple[Store, str] | None:
        """Return the store of a path in the workspace, and the path relative to that store."""
        store = self.store_of(path)
        return None if store is None else (store, path.removeprefix(store.prefix))

    def bytes_of(self, path: str) -> bytes | None:
        """Return the bytes of a file now, None where there is none or it belongs to no store; errors as `read`."""
        found = self.find(path)
        return None if found is None else found[0].read(found[1]).base

    # -- what the files mean, as the stores read them ---------------------------------------------------------------

    def reading(self, path: str) -> tuple[PlainReading, str]:
        """Return what interprets a file, and the path that it takes."""
        found = self.find(path)
        return (_PLAIN, path) if found is None else (found[0].reading, found[1])

    def document(self, path: str, data: bytes) -> Document | None:
        """Return the document of a file's bytes, None for a file that has no sections and entries."""
        reading, inside = self.reading(path)
        return reading.document(inside, data)

    def ref(self, path: str, section: str | None, entry: Entry) -> str | None:
        """Return the ref of an entry."""
        reading, inside = self.reading(path)
        return reading.ref(inside, section, entry)

    def line(self, path: str, line: bytes) -> tuple[str | None, str]:
        """Return the ref and the title of one line of a file of lines."""
        reading, inside = self.reading(path)
        return reading.line(inside, line)

    def stamp(self, path: str, document: Document, now: datetime) -> Document:
        """Return the document with the time of its change set to `now`."""
        return self.reading(path)[0].stamp(document, now)

    def authored(self, path: str, data: bytes) -> bytes:
        """Return what people and agents wrote in a file, without what memdeck makes of that by itself."""
        reading, inside = self.reading(path)
        return reading.authored(inside, data)


_PLAIN = PlainReading()
"""Interprets the files that belong to no store."""
