"""The files of one memory system: read with a cache, changed by transactions."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import BusyError, MemdeckError, RefusedError

from .files import safe_open as beneath
from .shared_log import SharedLog

if TYPE_CHECKING:
    from .changes import Change
    from .contracts import Reading
    from .files.lock import Lock
    from .files.protection import LateBytes, Protection
    from .files.version import Stored
    from .log.history import History
    from .places import WorkFolder
    from .state import PrivateState
    from .transaction.intent_log import IntentLog
    from .transaction.recovery import Recovery
    from .transaction.transaction import AcceptedProposal, Transaction


class Store:
    """Reads and changes the files beneath one folder of a workspace; safe to share between threads.

    `root` is the system's folder (`.aiter`), and every path is relative to it, with `/`: `memory/tasks.md`,
    `memory/archive/tasks-2024-01.md`. `workspace` is the folder no link may lead out of (default: the parent
    of `root`). `folder` is memdeck's own (default: `root/.memdeck`). Without `state` nothing is remembered
    outside the workspace, and a change of several files is not protected from a crash. `reading` tells
    the history what the files mean. Stores of one workspace share a change log by `together`, to which the caller adds
    them; a store alone has its own. Making a store looks at nothing and makes nothing.

    In seconds: `lock_timeout` for memdeck's own processes, `patience` with a program that has a file open for writing,
    `settle` for how long a displaced file is watched for late bytes. `recovered` lists the changes that this store
    found interrupted by a crash, and how they ended.
    """

    def __init__(
        self,
        root: Path,
        folder: Path | None = None,
        state: PrivateState | None = None,
        *,
        workspace: Path | None = None,
        lock_timeout: float = 5.0,
        reading: Reading | None = None,
        patience: float = 2.0,
        settle: float = 2.0,
        together: SharedLog | None = None,
    ) -> None:
        """Keep where things are; ValueError when root or folder lies outside the workspace."""
        self.patience = patience
        self.settle = settle
        self.recovered: list[Recovery] = []
        self.root = root
        self.workspace = root.parent if workspace is None else workspace
        self.folder = root / ".memdeck" if folder is None else folder
        self.state = state
        self._prefix = _relative(root, self.workspace)
        self._private = _relative(self.folder, self.workspace)
        self._timeout = lock_timeout
        self._reading = reading
        self.together = SharedLog(state) if together is None else together
        self._cache: dict[str, tuple[Stored, bool]] = {}
        self._locks: dict[str, Lock] = {}
        self._journal: IntentLog | None = None
        self._swept: float | None = None
        if together is None:
            self.together.add(self)

    def read(self, path: str) -> Stored:
        """Read a file, `Stored(b"", ABSENT)` where there is none; the same object as long as the file is the
        same.

        Writes nothing, not even a lock. RefusedError `file.*` for what must not be read, MemdeckError
        `file.io`.
        """
        shown = self.shown(path)
        cached, settled = self._cache.get(path, (None, False))
        if cached is not None and settled and beneath.version_of(shown, self.workspace) == cached.version:
            return cached
        # The clock is that of the file system's stamps, not the one a caller may set with `now`.
        at = time.time_ns()
        stored = beneath.read(shown, self.workspace)
        settled = stored.version.settled(at)
        if cached is not None and cached.version == stored.version and cached.data == stored.data:
            stored = cached
        self._cache[path] = (stored, settled)
        return stored

    def remember(self, path: str, stored: Stored | None) -> None:
        """Take over what a transaction just wrote, which saves reading it again; None forgets the path."""
        if stored is None:
            self._cache.pop(path, None)
        else:
            self._cache[path] = (stored, False)

    def let_go(self) -> None:
        """Let go of the files that were read."""
        self._cache.clear()

    def transaction(
        self,
        operation: str,
        *,
        actor: str,
        now: datetime,
        undoes: str | None = None,
        redoes: str | None = None,
        part: tuple[bytes, int] | None = None,
        recorded: bool = False,
        accepted: AcceptedProposal | None = None,
    ) -> Transaction:
        """Return a transaction to be used in a `with` block; `now` is aware and becomes the time of the
        change.

        `part` is (8 random bytes, number) of a change that is made in several transactions and undone as one.
        `recorded` fails a change that the change log does not take, for what it removes would be gone. `accepted` names
        the proposal that a person accepted; without it what an agent does passes the rules of `memory.storage.review`.
        """
        from .transaction.transaction import Transaction

        return Transaction(
            self,
            operation,
            actor=actor,
            now=now,
            undoes=undoes,
            redoes=redoes,
            part=part,
            recorded=recorded,
            accepted=accepted,
        )

    def review(self, change: Change) -> None:
        """Return where an agent may make a change of this store at once; errors as `pass_or_hold`."""
        from .review.gate import pass_or_hold

        pass_or_hold(change, self.shown(""), self.together, self.state)

    @property
    def history(self) -> History:
        """The changes that were made, by whomever; kept in the state folder, or with the process without one."""
        return self.together.history

    @property
    def reading(self) -> Reading:
        """What tells the history what the files mean."""
        if self._reading is None:
            from .log.records import PlainReading

            self._reading = PlainReading()
        return self._reading

    def cached(self, path: str) -> Stored | None:
        """Return a file as it was read or written last, without looking at it again."""
        return self._cache.get(path, (None, False))[0]

    def at_once(self) -> Store:
        """Return a store of the same files whose transactions do not wait for the lock."""
        return Store(
            self.root,
            self.folder,
            self.state,
            workspace=self.workspace,
            lock_timeout=0,
            patience=self.patience,
            settle=self.settle,
            together=self.together,
        )

    @property
    def lock(self) -> Lock:
        """The workspace's lock; transactions take it."""
        if not self._locks:
            from .files.lock import NAME, Lock

            self._locks.setdefault("", Lock(f"{self._private}/{NAME}", self._timeout))
        return self._locks[""]

    @property
    def system(self) -> str:
        """What tells the private files of this store from those of others in the workspace."""
        from .transaction.intent_log import suffix_of

        return suffix_of(self._apart)

    @property
    def _apart(self) -> str:
        """The folder that memdeck's own one lies in: two stores may share a root, and none of their private files."""
        private = self._private
        return private.rpartition("/")[0] if private.rpartition("/")[2] == ".memdeck" else self._prefix

    @property
    def private(self) -> str:
        """memdeck's own folder of this store, as seen from the workspace."""
        return self._private

    @property
    def journal(self) -> IntentLog | None:
        """What is written down outside the workspace before files move; None without a state folder."""
        if self.state is None:
            return None
        if self._journal is None:
            from .transaction.intent_log import IntentLog

            self._journal = IntentLog(self.state.folder, self._apart)
        return self._journal

    def recover(self) -> None:
        """Finish or discard what a crash interrupted, if there is anything; meant for the start of a process.

        Where another process is at work nothing is done: it sees to it. Writes nothing when all is well. MemdeckError
        `file.io`, RefusedError where it cannot be done.
        """
        if self.state is None:
            return
        try:
            # Only a hint: whoever holds the lock writes its name there, and takes it away at the end. A folder that
            # leads out of the workspace is not entered.
            holder = beneath.read(f"{self._private}/lock", self.workspace).data
        except MemdeckError:
            return
        if not holder.startswith(b"pid=") or self.journal is None:
            return
        intent = self.journal.waiting()
        if intent is None:
            return
        since = datetime.fromisoformat(intent.time)
        with suppress(BusyError), self.transaction("recover", actor=intent.actor, now=since):
            pass

    def protection(self) -> Protection:
        """Find out how well changes are protected here from crashes and from other programs; for `doctor`."""
        from .files.protection import probe

        return probe(self.root, self.state)

    def kept(self) -> tuple[LateBytes, ...]:
        """Return the bytes of other programs that came too late for their file, oldest first; for merging."""
        if self.journal is None or not any(file.late for file in self.journal.noted()):
            return ()
        from .files.protection import kept

        return kept(self.journal, self.place, self.shown(""))

    def forget(self, late: LateBytes, now: datetime) -> None:
        """Remove bytes that `kept` returned, once they are merged; errors as those of a transaction."""
        with self.transaction("merge", actor="outside", now=now) as transaction:
            transaction.forget(late.name, late.data or b"")

    def look_after(self, now: datetime) -> None:
        """Look at all that changes displaced, so that `kept` has what was written to it since.

        Nothing is done where there is nothing, or where another process is at work: that one sees to it.
        """
        if self.journal is None or not self.journal.noted():
            return
        with suppress(BusyError), self.at_once().transaction("recover", actor="outside", now=now):
            pass

    def sweeps_all(self) -> bool:
        """Tell whether it is time to look at all that was displaced: at first, then no more often than it may go."""
        now = time.monotonic()
        if self._swept is not None and now - self._swept < self.settle:
            return False
        self._swept = now
        return True

    @property
    def place(self) -> WorkFolder:
        """The folder of lock and staged files."""
        from .places import WorkFolder

        return WorkFolder(self.workspace, self._private)

    def shown(self, path: str) -> str:
        """Return a path as seen from the workspace, which is how messages name it."""
        return f"{self._prefix}/{path}" if self._prefix else path

    def check_path(self, path: str) -> None:
        """Raise RefusedError `file.outside` for a path that no transaction may change."""
        from .transaction.transaction import check_path

        check_path(self.shown(path), self._private)
        if self.state is not None and self.state.folder.holds(self.shown(path)):
            raise RefusedError("file.outside", f"{path} is one of memdeck's own records", file=path)


def _relative(path: Path, workspace: Path) -> str:
    """Return a folder's path from the workspace on, empty for the workspace itself."""
    text = path.relative_to(workspace).as_posix()
    return "" if text == "." else text
