"""The store of one memory system: its files, read with a cache and changed by transactions; and what stores share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Unpack

from memory.errors import BusyError, MemdeckError, RefusedError

from .changes import Change, PlainReading
from .database import Database, DatabaseKind
from .log import ChangeLog
from .own_folders import PrivateState
from .protection import LateBytes, late_bytes, probe
from .store_files import StoreFiles, Stores
from .transaction import Options, Transaction


def refuse_unreviewed(change: Change, folder: str, log: SharedLog) -> None:  # noqa: ARG001
    """Raise RefusedError `review.denied`: the gate of stores whose maker named none."""
    raise RefusedError("review.denied", f"no rules are known here for {change.actor}", "ask the person")


Gate = Callable[[Change, str, "SharedLog"], None]
"""Returns if an agent may make a change at once; `memory.review.proposals.hold` is the one in use.

It gets the change, the folder of its store in the workspace (the paths of the change are relative to it), and the log.
BlockedError where the change became a proposal, RefusedError where it must not be made.
"""


class Store(StoreFiles):
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
        """Store the paths; ValueError when root or folder is outside the workspace."""
        super().__init__(
            root,
            root / ".memdeck" if folder is None else folder,
            root.parent if workspace is None else workspace,
            state,
            PlainReading() if reading is None else reading,
            lock_timeout,
            patience,
        )
        self.together = SharedLog(state, gate) if together is None else together
        if together is None:
            self.together.be_of(self)

    def transaction(self, operation: str, *, actor: str, now: datetime, **options: Unpack[Options]) -> Transaction:
        """Return a transaction to be used in a `with` block; `now` is aware and becomes the time of the change."""
        together = self.together

        def offer(change: Change) -> None:
            together.gate(change, self.prefix, together)

        return Transaction(self, together.history, offer, operation, actor=actor, now=now, **options)

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


class SharedLog(Stores[Store]):
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
        grow: Callable[[str], object] | None = None,
        outside: Callable[[], Iterable[Store]] = tuple,
    ) -> None:
        """`state` is where it is kept, `grow` as in `Stores`; `outside` returns stores with logs of their own that
        belong to this workspace too.
        """
        super().__init__(grow)
        self.state = state
        self.gate = gate
        self.history = ChangeLog(self, state.folder)  # The changes of all actors.
        self._outside = outside
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
