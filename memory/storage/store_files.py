"""The files beneath the roots of stores: reading them with a cache, and which store a path belongs to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Lock as ThreadLock
from threading import get_ident
from typing import Generic, TypeVar

from memory.document import Document, Entry
from memory.errors import MemdeckError, RefusedError

from . import safe_open
from .changes import PlainReading
from .journal import Journal
from .lock import HELD, NAME, Lock
from .own_folders import PrivateState, WorkFolder
from .safe_open import Stored, check_path


class StoreFiles:
    """The files beneath `root`: reads them with a cache, and has the lock and the journal for changing them.

    Every path is relative to `root`, with `/`. `workspace` is the folder that no link may lead out of, `folder`
    memdeck's own. In seconds: `lock_timeout` for memdeck's own processes, `patience` with a program that has a file
    open for writing. Making one reads and creates nothing.
    """

    def __init__(
        self,
        root: Path,
        folder: Path,
        workspace: Path,
        state: PrivateState,
        reading: PlainReading,
        lock_timeout: float,
        patience: float,
    ) -> None:
        """Store the paths; ValueError when root or folder is outside the workspace."""
        self.patience = patience
        self.root = root
        self.workspace = workspace
        self.folder = folder
        self.state = state
        around = _relative(root, workspace)
        self.prefix = f"{around}/" if around else ""  # What every path of the store begins with in the workspace.
        self.private = _relative(folder, workspace)  # memdeck's own folder, as a path in the workspace.
        self.reading = reading
        self.place = WorkFolder(workspace, self.private)  # The folder of lock and staged files.
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


def _relative(path: Path, workspace: Path) -> str:
    """Return a folder's path in the workspace, "" for the workspace itself."""
    text = path.relative_to(workspace).as_posix()
    return "" if text == "." else text


S = TypeVar("S", bound=StoreFiles)


class Stores(Generic[S]):
    """Stores that are found by the path of a file, and what they say of it; all paths are relative to the workspace."""

    def __init__(self, grow: Callable[[str], object] | None = None) -> None:
        """`grow` is called with a path that belongs to no store, or only to one of the whole workspace, so that it can
        add more stores.
        """
        self._grow = grow
        self._stores: tuple[S, ...] = ()
        self._adding = ThreadLock()
        self._glances: dict[int, dict[str, tuple[S, ...]]] = {}

    def add(self, store: S) -> S:
        """Add a store and return it, or the one with the same private files that another thread added before.

        Its files are those in its folder that are not in the folder of a deeper store. Of two stores with the same
        folder, a file belongs to the one that knows it. Where both do, it belongs to the one whose private path is
        longer, because that one accepts few files and the other any.
        """
        with self._adding:
            for known in self._stores:
                if known.private == store.private:
                    return known
            # Other threads look meanwhile, and a list that is being sorted is empty for them.
            self._stores = tuple(sorted((*self._stores, store), key=lambda one: (-len(one.prefix), -len(one.private))))
        return store

    @property
    def stores(self) -> tuple[S, ...]:
        """The stores, the deepest folders first."""
        return self._stores

    def store_of(self, path: str) -> S | None:
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

    def _search(self, path: str) -> tuple[S, ...]:
        found = self._of(path)
        if (not found or not found[0].prefix) and self._grow is not None:
            self._grow(path)
            found = self._of(path)
        return found

    def _of(self, path: str) -> tuple[S, ...]:
        """Return the stores of the deepest folder that contains a path; several where they share it."""
        around = [store for store in self._stores if path.startswith(store.prefix)]
        return tuple([store for store in around if store.prefix == around[0].prefix])

    def of_all(self, paths: Sequence[str]) -> S | None:
        """Return the store of some memory files, None where they belong to several, or one of them is no memory file.

        Only its owner writes a record; still, a file is not written only because a row names it.
        """
        with self.glance():
            stores = {self.store_of(path) for path in paths}
            return stores.pop() if len(stores) == 1 and all(map(self.knows, paths)) else None

    def find(self, path: str) -> tuple[S, str] | None:
        """Return the store of a path in the workspace, and the path relative to that store."""
        store = self.store_of(path)
        return None if store is None else (store, path.removeprefix(store.prefix))

    def bytes_of(self, path: str) -> bytes | None:
        """Return the bytes of a file now, None where there is none or it belongs to no store; errors as `read`."""
        found = self.find(path)
        return None if found is None else found[0].read(found[1]).base

    # -- what the files mean, as the stores read them ---------------------------------------------------------------

    def _reading(self, path: str) -> tuple[PlainReading, str]:
        """Return what interprets a file, and the path that it takes; a file of no store is read by nothing."""
        found = self.find(path)
        return (_NOTHING, path) if found is None else (found[0].reading, found[1])

    def knows(self, path: str) -> bool:
        """Return whether changes of the file at a path can be undone."""
        reading, inside = self._reading(path)
        return reading.knows(inside)

    def lasts(self, path: str) -> bool:
        """Return whether a path is that of a permanent file."""
        reading, inside = self._reading(path)
        return reading.lasts(inside)

    def document(self, path: str, data: bytes) -> Document | None:
        """Return the document of a file's bytes, None for a file that has no sections and entries."""
        reading, inside = self._reading(path)
        return reading.document(inside, data)

    def ref(self, path: str, section: str | None, entry: Entry) -> str | None:
        """Return the ref of an entry."""
        reading, inside = self._reading(path)
        return reading.ref(inside, section, entry)

    def line(self, path: str, line: bytes) -> tuple[str | None, str]:
        """Return the ref and the title of one line of a file of lines."""
        reading, inside = self._reading(path)
        return reading.line(inside, line)

    def stamp(self, path: str, document: Document, now: datetime) -> Document:
        """Return the document with the time of its change set to `now`."""
        return self._reading(path)[0].stamp(document, now)

    def authored(self, path: str, data: bytes) -> bytes:
        """Return what people and agents wrote in a file, without what memdeck makes of that by itself."""
        reading, inside = self._reading(path)
        return reading.authored(inside, data)

    def writer(self, path: str) -> str:
        """Return the actor of a change to a file that memdeck did not make."""
        return self._reading(path)[0].writer

    def owner(self, path: str) -> str | None:
        """Return the agent whose own memory a file is, None for any other file."""
        reading, inside = self._reading(path)
        return reading.owner(inside)


class _Nothing(PlainReading):
    """Reads no file."""

    def knows(self, path: str) -> bool:  # noqa: ARG002
        """Return False."""
        return False

    def document(self, path: str, data: bytes) -> None:
        """Return None."""


_NOTHING = _Nothing()
