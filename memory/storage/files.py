"""The files of one memory system, read with a cache; and the stores of a workspace, found by path."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import get_ident

from memory.document import Document, Entry
from memory.errors import MemdeckError, RefusedError

from . import safe_open
from .changes import PlainReading, Reading
from .journal import Journal
from .lock import HELD, NAME, Lock
from .own_folders import PrivateState, WorkFolder
from .safe_open import Stored, check_path


class StoreFiles:
    """The files in one folder of a workspace; safe to share between threads.

    The arguments are those of `Store`, which changes them. Making one reads and creates nothing.
    """

    def __init__(
        self,
        root: Path,
        folder: Path | None,
        state: PrivateState,
        workspace: Path | None,
        lock_timeout: float,
        reading: Reading | None,
        patience: float,
    ) -> None:
        """Store the paths; ValueError when root or folder is outside the workspace."""
        self.patience = patience
        self.root = root
        self.workspace = root.parent if workspace is None else workspace
        self.folder = root / ".memdeck" if folder is None else folder
        self.state = state
        around = _relative(root, self.workspace)
        self.prefix = f"{around}/" if around else ""  # What every path of the store begins with in the workspace.
        self.private = _relative(self.folder, self.workspace)  # memdeck's own folder, as a path in the workspace.
        self.reading: Reading = PlainReading() if reading is None else reading
        self.place = WorkFolder(self.workspace, self.private)  # The folder of lock and staged files.
        self.lock = Lock(f"{self.private}/{NAME}", lock_timeout)
        # Two stores may share a root, but never private files: these are named after the folder around memdeck's own.
        apart, _, name = self.private.rpartition("/")
        apart = apart if name == ".memdeck" else around
        self.system = apart.replace("/", "+") or "root"  # Distinguishes the private files of the stores.
        self.journal = Journal(state.folder, self.system)
        self._cache: dict[str, tuple[Stored, bool]] = {}

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

    def remember(self, path: str, stored: Stored | None) -> None:
        """Cache what a transaction just wrote, which saves reading it again; None forgets the path."""
        if stored is None:
            self._cache.pop(path, None)
        else:
            self._cache[path] = (stored, False)

    def cached(self, path: str) -> Stored | None:
        """Return a file as it was last read or written, without reading it again."""
        return self._cache.get(path, (None, False))[0]

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


def _relative(path: Path, workspace: Path) -> str:
    """Return a folder's path in the workspace, "" for the workspace itself."""
    text = path.relative_to(workspace).as_posix()
    return "" if text == "." else text


class Stores:
    """The stores of a workspace, found by path; answers questions about their files.

    All paths are relative to the workspace.
    """

    def __init__(self, grow: Callable[[str], object] | None = None) -> None:
        """`grow` is called with a path that belongs to no store, or only to one of the whole workspace, so that it can
        add more stores.
        """
        self._grow = grow
        self._stores: list[StoreFiles] = []
        self._glances: dict[int, dict[str, tuple[StoreFiles, ...]]] = {}

    def add(self, store: StoreFiles) -> None:
        """Add a store; its files are those in its folder that are not in the folder of a deeper store.

        Of two stores with the same folder, a file belongs to the one that knows it. Where both do, it belongs to the
        one whose private path is longer, because that one accepts few files and the other any.
        """
        self._stores.append(store)
        self._stores.sort(key=lambda one: (-len(one.prefix), -len(one.private)))

    @property
    def stores(self) -> tuple[StoreFiles, ...]:
        """The stores, the deepest folders first."""
        return tuple(self._stores)

    def store_of(self, path: str) -> StoreFiles | None:
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

    def _search(self, path: str) -> tuple[StoreFiles, ...]:
        found = self._of(path)
        if (not found or not found[0].prefix) and self._grow is not None:
            self._grow(path)
            found = self._of(path)
        return found

    def _of(self, path: str) -> tuple[StoreFiles, ...]:
        """Return the stores of the deepest folder that contains a path; several where they share it."""
        around = [store for store in self._stores if path.startswith(store.prefix)]
        return tuple([store for store in around if store.prefix == around[0].prefix])

    def find(self, path: str) -> tuple[StoreFiles, str] | None:
        """Return the store of a path in the workspace, and the path relative to that store."""
        store = self.store_of(path)
        return None if store is None else (store, path.removeprefix(store.prefix))

    # -- what the change log asks about files; paths are relative to the workspace --------------------------------

    def knows(self, path: str) -> bool:
        """Return whether changes of the file at a path can be undone."""
        found = self.find(path)
        return found is not None and found[0].reading.knows(found[1])

    def lasts(self, path: str) -> bool:
        """Return whether a path is that of a permanent file; False for a system of another package without `lasts`."""
        return self.lasting(path) is not None

    def lasting(self, path: str) -> tuple[StoreFiles, str] | None:
        """Return what `find` does for the path of a permanent file, None for any other."""
        found = self.find(path)
        lasts = None if found is None else getattr(found[0].reading, "lasts", None)
        return found if found is not None and lasts is not None and lasts(found[1]) else None

    def document(self, path: str, data: bytes) -> Document | None:
        """Return the document of a file's bytes, None for a file that has no sections and entries."""
        found = self.find(path)
        return None if found is None else found[0].reading.document(found[1], data)

    def ref(self, path: str, section: str | None, entry: Entry) -> str | None:
        """Return the ref of an entry."""
        found = self.find(path)
        return None if found is None else found[0].reading.ref(found[1], section, entry)

    def line(self, path: str, line: bytes) -> tuple[str | None, str]:
        """Return the ref and the title of one line of a file of lines."""
        found = self.find(path)
        return (None, "") if found is None else found[0].reading.line(found[1], line)

    def stamp(self, path: str, document: Document, now: datetime) -> Document:
        """Return the document with the time of its change set to `now`."""
        found = self.find(path)
        return document if found is None else found[0].reading.stamp(document, now)

    def derived(self, path: str) -> bool:
        """Return whether a file is made from others, such as an index: no bytes of it have an author."""
        found = self.find(path)
        authored = None if found is None else getattr(found[0].reading, "authored", None)
        return found is not None and authored is not None and not authored(found[1], b"any")
