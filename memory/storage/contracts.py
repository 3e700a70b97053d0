"""What the parts of this room ask of each other, as protocols: the store, its transactions, the log and the readings.

They are types only. A transaction, the log and undo depend on these, and the store on all of them.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import datetime

    from memory.document import Document
    from memory.document.nodes import Entry

    from .changes import Change
    from .files.lock import Lock
    from .files.protection import LateBytes
    from .files.version import Stored
    from .places import WorkFolder
    from .state import PrivateState
    from .transaction.intent_log import IntentLog
    from .transaction.recovery import Recovery


class EntryReading(Protocol):
    """What the change log asks about files: which they are, and which entries their bytes hold."""

    def knows(self, path: str) -> bool:
        """Tell whether a path is one of a file that changes may be taken back in."""

    def lasts(self, path: str) -> bool:
        """Tell whether a path is one of a file that is there for good: that it is gone or empty is never meant."""

    def document(self, path: str, data: bytes) -> Document | None:
        """Return the document of a file's bytes, None for a file that has no sections and entries."""

    def line(self, path: str, line: bytes) -> tuple[str | None, str]:
        """Return the ref (None: it has none) and the title of one line of a file of lines."""

    def ref(self, path: str, section: str | None, entry: Entry) -> str | None:
        """Return the ref of an entry by its file and the title of its section, None where it has none."""


class Reading(EntryReading, Protocol):
    """How the files of one store are read by who knows what they mean; paths are relative to the store's root."""

    def stamp(self, document: Document, now: datetime) -> Document:
        """Return a document that was changed now."""


class Writing(Protocol):
    """What taking a change back needs of a transaction."""

    def read(self, path: str) -> Stored:
        """Return a file as it is."""

    def write(self, path: str, data: bytes, *, base: bytes | None, mode: int | None = None) -> None:
        """Give a file other bytes; `mode` is for one that comes back."""

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
        """Do what was planned, and return it."""


class ChangeRecorder(Protocol):
    """The history as transactions use it."""

    def begin(self, change: Change, store: ChangingStore) -> bool:
        """Note a change right before its files move; return whether the log took it."""

    def done(self, change_id: str, store: ChangingStore) -> None:
        """Note that the files of a change are in their places."""

    def sha256(self, data: bytes) -> bytes | None:
        """Return the SHA-256 of bytes of the change that was just noted, None where it is not known."""

    def before(self, change_id: str, path: str) -> bytes | None:
        """Return the bytes that a file had before a change; None for no file, or where they are no longer known."""

    def passing(self, path: str, stored: Stored, within: float) -> bool:
        """Tell whether a file changed a moment ago to a state that programs leave behind only for a moment."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong with the log, or behind a change that was made."""

    def warn(self, text: str) -> None:
        """Add a sentence to the warnings, once."""


class ChangingStore(Protocol):
    """A store as transactions, the log and undo use it; the members are described where `Store` has them."""

    root: Path
    workspace: Path
    folder: Path
    state: PrivateState | None
    patience: float
    settle: float
    recovered: list[Recovery]

    def let_go(self) -> None:
        """Let go of the files that were read."""

    @property
    def history(self) -> ChangeRecorder:
        """The changes that were made."""

    @property
    def reading(self) -> Reading:
        """What tells the history what the files mean."""

    @property
    def lock(self) -> Lock:
        """The workspace's lock."""

    @property
    def journal(self) -> IntentLog | None:
        """What is written down outside the workspace before files move."""

    @property
    def place(self) -> WorkFolder:
        """The folder of lock and staged files."""

    @property
    def private(self) -> str:
        """memdeck's own folder of this store, as seen from the workspace."""

    @property
    def system(self) -> str:
        """What tells the private files of this store from those of others in the workspace."""

    def read(self, path: str) -> Stored:
        """Return a file as it is."""

    def cached(self, path: str) -> Stored | None:
        """Return a file as it was read or written last."""

    def remember(self, path: str, stored: Stored | None) -> None:
        """Take over what a transaction just wrote."""

    def shown(self, path: str) -> str:
        """Return a path as seen from the workspace."""

    def check_path(self, path: str) -> None:
        """Raise RefusedError `file.outside` for a path that no transaction may change."""

    def kept(self) -> tuple[LateBytes, ...]:
        """Return the bytes of other programs that came too late for their file."""

    def forget(self, late: LateBytes, now: datetime) -> None:
        """Remove bytes that `kept` returned, once they are merged."""

    def look_after(self, now: datetime) -> None:
        """Look at all that changes displaced, so that `kept` has what was written to it since."""

    def sweeps_all(self) -> bool:
        """Tell whether it is time to look at all that was displaced."""

    def at_once(self) -> Self:
        """Return a store of the same files whose transactions do not wait for the lock."""

    def review(self, change: Change) -> None:
        """Return where an agent may make a change at once; raise where it waits for a person, or is refused."""

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
    """The stores that share a change log, as the log and undo use them; paths are as seen from the workspace."""

    def store_of(self, path: str) -> ChangingStore | None:
        """Return the store that a path belongs to; None: to none."""

    def find(self, path: str) -> tuple[ChangingStore, str] | None:
        """Return the store of a path, and the path as that store has it."""

    def glance(self) -> AbstractContextManager[None]:
        """Take the stores for the same, in this thread, as long as the block lasts."""

    def stamp(self, path: str, document: Document, now: datetime) -> Document:
        """Return a document that was changed now."""
