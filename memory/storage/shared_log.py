"""The stores of one workspace: each has its own folder, lock and reading, all share one change log.

In the log every path is as seen from the workspace (`.aiter/memory/tasks.md`), so that no two systems mean different
files by one path. A change is made by one store, and all its files are that store's.
"""

from __future__ import annotations

from _thread import get_ident  # `threading` is not needed for reading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.document import Document
    from memory.document.nodes import Entry
    from memory.storage.contracts import ChangingStore
    from memory.storage.review.proposals import Proposals
    from memory.storage.state import PrivateState

    from .log.history import History


class SharedLog:
    """The stores that share a change log, found by path; it reads for the log whatever belongs to one of them."""

    def __init__(self, state: PrivateState | None, grow: Callable[[str], object] | None = None) -> None:
        """`state` is where the log is kept, None for a log that lives as long as the process.

        `grow` is called with a path that is of no store, or of none but one of the whole workspace: whoever knows of
        more stores adds them.
        """
        self._state = state
        self._grow = grow
        self._stores: list[ChangingStore] = []
        self._histories: dict[str, History] = {}
        self._proposals: dict[str, Proposals] = {}
        self._glances: dict[int, dict[str, tuple[ChangingStore, ...]]] = {}

    def add(self, store: ChangingStore) -> None:
        """Take a store in; its files are those beneath its folder that lie beneath no deeper one.

        Of two with the same folder a file belongs to the one that knows it; to the one whose own folder lies deeper,
        where both do, for that one takes few files and the other any.
        """
        self._stores.append(store)
        self._stores.sort(key=lambda one: (-len(one.shown("")), -len(one.private)))

    @property
    def stores(self) -> tuple[ChangingStore, ...]:
        """The stores, the deepest folders first."""
        return tuple(self._stores)

    def store_of(self, path: str) -> ChangingStore | None:
        """Return the store that a path, as seen from the workspace, belongs to; None: to none."""
        known = self._glances.get(get_ident())
        if known is None:
            return _knowing(self._search(path), path)
        folder = path.rpartition("/")[0]
        if folder not in known:
            known[folder] = self._search(path)
        return _knowing(known[folder], path)

    @contextmanager
    def glance(self) -> Iterator[None]:
        """Take the stores for the same, in this thread, as long as the block lasts: each folder is looked for once.

        Which stores there are depends on other files, and to read those again for each of many thousand files would
        take longer than what is done with them.
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

    def _search(self, path: str) -> tuple[ChangingStore, ...]:
        found = self._of(path)
        if (not found or not found[0].shown("")) and self._grow is not None:
            self._grow(path)
            found = self._of(path)
        return found

    def _of(self, path: str) -> tuple[ChangingStore, ...]:
        """Return the stores of the deepest folder around a path; more than one where they share it."""
        around = [store for store in self._stores if path.startswith(store.shown(""))]
        return tuple(store for store in around if store.shown("") == around[0].shown(""))

    def find(self, path: str) -> tuple[ChangingStore, str] | None:
        """Return the store of a path as seen from the workspace, and the path as that store has it."""
        store = self.store_of(path)
        return None if store is None else (store, path.removeprefix(store.shown("")))

    @property
    def history(self) -> History:
        """The changes that were made, by whomever; kept in the state folder, or with the process without one."""
        if not self._histories:
            from .log.history import History
            from .log.log import ChangeLog

            # One step even between threads, without an import that reading does not need.
            log = ChangeLog(self._state.folder if self._state else None, self)
            self._histories.setdefault("", History(log, self))
        return self._histories[""]

    @property
    def proposals(self) -> Proposals:
        """What agents want to change and a person has to see first; kept as the history is."""
        if not self._proposals:
            from memory.storage.review.proposals import Proposals

            self._proposals.setdefault("", Proposals(self._state.folder if self._state else None))
        return self._proposals[""]

    def close(self) -> None:
        """Close what is open in the private state folder; what is asked later opens it again."""
        if self._histories:
            self.history.close()
        for proposals in self._proposals.values():
            proposals.close()

    # -- what the change log asks about files; paths as seen from the workspace -----------------------------------

    def knows(self, path: str) -> bool:
        """Tell whether a path is one of a file that changes may be taken back in."""
        found = self.find(path)
        return found is not None and found[0].reading.knows(found[1])

    def lasts(self, path: str) -> bool:
        """Tell whether a path is one of a file that is there for good; a system of another package may not say so."""
        found = self.find(path)
        lasts = None if found is None else getattr(found[0].reading, "lasts", None)
        return found is not None and lasts is not None and bool(lasts(found[1]))

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
        """Return a document that was changed now."""
        found = self.find(path)
        return document if found is None else found[0].reading.stamp(document, now)


def _knowing(stores: tuple[ChangingStore, ...], path: str) -> ChangingStore | None:
    """Return the store that knows a file, of those that share its folder; the first where none does."""
    if len(stores) < 2:
        return stores[0] if stores else None
    inside = path.removeprefix(stores[0].shown(""))
    return next((store for store in stores if store.reading.knows(inside)), stores[0])
