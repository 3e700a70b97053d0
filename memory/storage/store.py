"""The store of one memory system: its files, changed by transactions; and the change log that stores share."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Unpack

from memory.errors import BusyError

from .changes import Change, Reading
from .files import StoreFiles, Stores
from .log.history import History
from .own_folders import PrivateState
from .protection import LateBytes, late_bytes, probe
from .review.gate import pass_or_hold
from .review.proposals import Proposals
from .transaction import Options, Transaction


class Store(StoreFiles):
    """Reads and changes the files in one folder of a workspace; safe to share between threads.

    `root` is the system's folder (`.aiter`), and every path is relative to it, with `/`: `memory/tasks.md`,
    `memory/archive/tasks-2024-01.md`. `workspace` is the folder that no link may lead out of (default: the parent of
    `root`). `folder` is memdeck's own (default: `root/.memdeck`). `state` is the private folder outside the workspace
    for its records. `reading` interprets the files for the history. Stores of one workspace share a change log by
    `together`, to which the caller adds them; a single store has its own. Making a store reads and creates nothing.

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
        reading: Reading | None = None,
        patience: float = 2.0,
        together: SharedLog | None = None,
    ) -> None:
        """Store the paths; ValueError when root or folder is outside the workspace."""
        super().__init__(root, folder, state, workspace, lock_timeout, reading, patience)
        self.together = SharedLog(state) if together is None else together
        if together is None:
            self.together.add(self)

    def transaction(self, operation: str, *, actor: str, now: datetime, **options: Unpack[Options]) -> Transaction:
        """Return a transaction to be used in a `with` block; `now` is aware and becomes the time of the change."""
        review = partial(self.together.review, self)
        return Transaction(self, self.history, review, operation, actor=actor, now=now, **options)

    @property
    def history(self) -> History:
        """The changes of all actors, kept in the state folder."""
        return self.together.history

    def recover(self) -> None:
        """Complete or take back a change that a crash interrupted; for the start of a process.

        Nothing is done while another process holds the lock: that one recovers it. Writes nothing when all is well.
        MemdeckError `file.io`, RefusedError where it cannot be done.
        """
        intent = self.journal.under_way() if self.busy() else None
        if intent is not None:
            with suppress(BusyError), self.transaction("recover", actor="recover", now=intent.time, wait=False):
                pass

    def protection(self) -> tuple[str, ...]:
        """Test how well changes are protected here from crashes and other programs; return what is missing, for
        `doctor`.
        """
        return probe(self.root, self.state)

    def kept(self) -> tuple[LateBytes, ...]:
        """Return bytes that other programs wrote to a file after it had been replaced, oldest first; for merging."""
        return late_bytes(self.journal, self.place, self.prefix)


class SharedLog(Stores):
    """The stores that share a change log and a record of proposals."""

    def __init__(self, state: PrivateState, grow: Callable[[str], object] | None = None) -> None:
        """`state` is where both are kept; `grow` as in `Stores`."""
        super().__init__(grow)
        self.history = History(state.folder, self, self.review)  # The changes of all actors.
        self._state = state

    @cached_property
    def proposals(self) -> Proposals:
        """The changes by agents that wait for a person's review."""
        return Proposals(self._state.folder)

    @property
    def stores(self) -> tuple[Store, ...]:
        """The stores, the deepest folders first."""
        return tuple(store for store in self._stores if isinstance(store, Store))

    def review(self, store: StoreFiles, change: Change) -> None:
        """Return if an agent may make a change of a store at once; errors as `pass_or_hold`."""
        pass_or_hold(change, store.prefix, self, self.history, self.proposals, self._state)

    def close(self) -> None:
        """Close what is open in the private state folder; the next use opens it again."""
        self.history.close()
        if "proposals" in self.__dict__:
            self.proposals.close()
