"""The protocols by which the parts of this package use each other: the store, its transactions, the log, the readings.

They are types only. A transaction, the log and undo depend on these, and the store on all of them.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from memory.document import Document
    from memory.document.compare import Region
    from memory.document.nodes import Entry

    from .changes import Change
    from .intent_log import IntentLog
    from .lock import Lock
    from .own_folders import PrivateState, WorkFolder
    from .protection import LateBytes
    from .recovery import Recovery
    from .safe_open import Stored


class EntryReading(Protocol):
    """Answers the change log's questions about files: which they are, and which entries their bytes hold."""

    def knows(self, path: str) -> bool:
        """Return whether changes of the file at a path can be undone."""

    def lasts(self, path: str) -> bool:
        """Return whether a path is that of a permanent file: that it is missing or empty is never intended."""

    def document(self, path: str, data: bytes) -> Document | None:
        """Return the document of a file's bytes, None for a file that has no sections and entries."""

    def line(self, path: str, line: bytes) -> tuple[str | None, str]:
        """Return the ref (None: it has none) and the title of one line of a file of lines."""

    def ref(self, path: str, section: str | None, entry: Entry) -> str | None:
        """Return the ref of an entry by its file and the title of its section, None where it has none."""


class Reading(EntryReading, Protocol):
    """Interprets the files of one store; paths are relative to the store's root."""

    def stamp(self, document: Document, now: datetime) -> Document:
        """Return the document with the time of its change set to `now`."""


class Writing(Protocol):
    """The part of a transaction that undo needs."""

    def read(self, path: str) -> Stored:
        """Return a file as it is."""

    def write(
        self,
        path: str,
        data: bytes,
        *,
        base: bytes | None,
        mode: int | None = None,
        regions: Sequence[Region] | None = None,
    ) -> None:
        """Plan a file's new bytes; `mode` is for a file that is restored, `regions` are what is different."""

    def remove(self, path: str, *, base: bytes) -> None:
        """Remove a file."""


class OpenChange(Writing, Protocol):
    """A transaction as the log and undo use it."""

    def __enter__(self) -> Self:
        """Take the lock."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release the lock."""

    def commit(self, summary: str = "") -> Change:
        """Carry out the planned changes and return them."""


class ChangeRecorder(Protocol):
    """The history as transactions use it."""

    def expect(self, path: str, data: bytes, *, before: bytes | None, regions: Sequence[Region]) -> None:
        """Take note of bytes that a change will write, and of what is different from the bytes before."""

    def begin(self, change: Change, store: ChangingStore) -> bool:
        """Record a change right before its files are replaced; return whether the log accepted it."""

    def done(self, change_id: str, store: ChangingStore) -> None:
        """Record that the files of a change are in place."""

    def before(self, change_id: str, path: str) -> bytes | None:
        """Return the bytes of a file before a change; None if there was no file, or where they are no longer known."""

    def passing(self, path: str, stored: Stored, within: float) -> bool:
        """Return whether a file changed a moment ago to a state in which programs leave it only briefly."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong with the log, or after a change was made."""

    def warn(self, text: str) -> None:
        """Add a sentence to the warnings, once."""


class ChangingStore(Protocol):
    """A store as transactions, the log and undo use it; see `Store` for its members."""

    root: Path
    workspace: Path
    folder: Path
    prefix: str
    """What every path of the store begins with in the workspace: "", or a folder and `/`."""
    private: str
    """`folder`, memdeck's own one of this store, as a path in the workspace."""
    state: PrivateState | None
    patience: float
    settle: float
    recovered: list[Recovery]

    def let_go(self) -> None:
        """Clear the cache of files that were read."""

    @property
    def history(self) -> ChangeRecorder:
        """The changes that were made."""

    @property
    def reading(self) -> Reading:
        """Interprets the files for the history."""

    @property
    def lock(self) -> Lock:
        """The workspace's lock."""

    @property
    def journal(self) -> IntentLog | None:
        """The intent log, written outside the workspace before files are replaced."""

    @property
    def place(self) -> WorkFolder:
        """The folder of lock and staged files."""

    @property
    def system(self) -> str:
        """The suffix that distinguishes this store's private files from those of other stores in the workspace."""

    def read(self, path: str) -> Stored:
        """Return a file as it is."""

    def cached(self, path: str) -> Stored | None:
        """Return a file as it was last read or written."""

    def remember(self, path: str, stored: Stored | None) -> None:
        """Cache what a transaction just wrote."""

    def shown(self, path: str) -> str:
        """Return a path of the store as a path in the workspace."""

    def check_path(self, path: str) -> None:
        """Raise RefusedError `file.outside` for a path that no transaction may change."""

    def kept(self) -> tuple[LateBytes, ...]:
        """Return bytes that other programs wrote to a file after it had been replaced."""

    def at_once(self) -> Self:
        """Return a store of the same files whose transactions do not wait for the lock."""

    def review(self, change: Change) -> None:
        """Return if an agent may make a change at once; raise if it waits for a person or is refused."""

    def transaction(
        self,
        operation: str,
        *,
        actor: str,
        now: datetime,
        undoes: str | None = None,
        redoes: str | None = None,
        recorded: bool = False,
    ) -> OpenChange:
        """Return a transaction to be used in a `with` block."""


class JoinedStores(EntryReading, Protocol):
    """The stores that share a change log, as the log and undo use them; paths are relative to the workspace."""

    def store_of(self, path: str) -> ChangingStore | None:
        """Return the store that a path belongs to, None if there is none."""

    def find(self, path: str) -> tuple[ChangingStore, str] | None:
        """Return the store of a path, and the path relative to that store."""

    def glance(self) -> AbstractContextManager[None]:
        """Assume, in this thread and during the block, that the stores stay the same."""

    def stamp(self, path: str, document: Document, now: datetime) -> Document:
        """Return the document with the time of its change set to `now`."""

    def derived(self, path: str) -> bool:
        """Return whether a file is made from others, so that it never stands in the way of a change of those."""
