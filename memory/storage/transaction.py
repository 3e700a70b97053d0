"""The only way files change: locked, compared with the files on disk, staged, synced, replaced."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypedDict, Unpack

from memory.errors import BusyError, MemdeckError, RefusedError, in_words, no_room, writing

from . import fsio, safe_open
from .changes import Change, FileChange, is_agent, new_id
from .journal import Intent, go_back
from .own_folders import OpenFolder
from .safe_open import Stored, parts_of
from .step import HALF_DONE, FileStep, Folders, conflict, half_done, sweep

if TYPE_CHECKING:
    from .store import Store

_PAUSE = 0.01  # Seconds between two reads of a file that another program is writing.


class Links(TypedDict, total=False):
    """What a change may have to do with others, as `Change` has it; an agent's change without a `proposal` must pass
    the rules of `memory.review`.
    """

    undoes: str | None
    redoes: str | None
    proposal: str | None
    reviewer: str | None


class Options(Links, total=False):
    """What a transaction may be told besides its operation, actor and time.

    With `recorded`, a change that the change log does not accept fails, because what it removes would be lost. Without
    `wait`, BusyError comes at once where the lock is held.
    """

    recorded: bool
    wait: bool


class Transaction:
    """A change of one or more files, all or nothing; `Store.transaction` makes it.

    Inside the `with` block the workspace's lock is held. Nothing is changed without `commit`. An error is raised before
    anything is replaced, or what was replaced is put back. Paths are relative to the store's root. The intent of a
    change is written before its files are replaced, and the change finished or discarded after a crash. Files are
    replaced in the order of the `write` calls, removals last.
    """

    def __init__(
        self,
        store: Store,
        operation: str,
        *,
        actor: str,
        now: datetime,
        recorded: bool = False,
        wait: bool = True,
        **links: Unpack[Links],
    ) -> None:
        """Store what the change is about; the lock is taken on entry. See `Options`."""
        self._change = Change(new_id(now), now, actor, operation, "", (), **links)
        self._store = store
        self._log = store.history
        self._recorded = recorded
        self._wait = wait
        self._files: dict[str, FileChange] = {}
        self._like: dict[str, str] = {}
        self._held: dict[str, bytes] = {}
        self._appended: str | None = None
        self._marks: dict[str, int] = {}
        self._reads: dict[str, Stored] = {}
        self._open: OpenFolder | None = None
        self._entered = ExitStack()
        self._journal = store.journal
        self._committed = False
        self._made = False  # The change is made: later errors do not make it fail.

    def __enter__(self) -> Transaction:
        """Take the lock and recover an interrupted change; BusyError `file.locked`.

        RefusedError `system.unsupported` where files cannot be changed safely at all, `state.*`.
        """
        refuse_system(sys.platform)
        store = self._store
        with writing(store.place.path), ExitStack() as stack:
            self._open = store.place.open()
            stack.callback(self._open.close)
            store.lock.acquire(self._open.folder, self._change.operation, self._change.time, wait=self._wait)
            stack.callback(store.lock.release)
            with _room_for_records():
                self._recover(self._open)
            self._entered = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release the lock; a change that was not committed is dropped."""
        self._open = None
        with self._warning() if self._made else nullcontext():
            self._entered.close()

    @contextmanager
    def _warning(self) -> Iterator[None]:
        """Make a warning of an error after the change was made; the caller must not see it as a failed change."""
        try:
            yield
        except Exception as error:
            with suppress(Exception):
                self._log.warn(f"the change was made, but a later step failed: {in_words(error)}")

    def _recover(self, places: OpenFolder) -> None:
        """Complete or take back an interrupted change, and clear the stage folder."""
        store, journal = self._store, self._journal
        if journal.recover(store.workspace, places.stage, self._check_shown):
            store.let_go()
        sweep(places.stage)

    def _check_shown(self, path: str) -> None:
        """Raise RefusedError `file.outside` unless a recorded path is one that this store could have written."""
        prefix = self._store.prefix
        if not path.startswith(prefix):
            raise RefusedError("file.outside", f"{path} is not a file of this memory system", file=path)
        self._store.check_path(path.removeprefix(prefix))

    def read(self, path: str) -> Stored:
        """Read a file under the lock; errors as `Store.read`. Writes of this transaction are not seen.

        Reading again returns the same: a caller bases its change on what it read first. Where a file is missing or
        incomplete because another program is writing it, this waits up to the store's patience.
        """
        if path not in self._reads:
            self._reads[path] = self._whole(path)
        return self._reads[path]

    def _whole(self, path: str) -> Stored:
        store = self._store
        deadline = time.monotonic() + store.patience
        while True:
            stored = store.read(path)
            if time.monotonic() >= deadline or not self._log.passing(store.shown(path), stored, store.patience):
                return stored
            time.sleep(_PAUSE)

    def write(self, path: str, data: bytes, *, base: bytes | None, mode: int | None = None) -> None:
        """Plan a file's new bytes; `base` is what the caller started from, None if there must be no file yet.

        Bytes equal to the base are dropped. `mode` holds the permission bits of a file that is restored. ValueError
        when the path is already planned.
        """
        self._plan(FileChange(path, base, data, mode))

    def remove(self, path: str, *, base: bytes) -> None:
        """Plan to remove a file that still holds `base`."""
        self._plan(FileChange(path, base, None))

    def move(self, source: str, target: str, *, base: bytes, over: bytes | None = None) -> None:
        """Plan to rename a file that still holds `base`, keeping its mode and time.

        `over` holds the bytes of the file that has the new name now, None if there must be none.
        """
        self.write(target, base, base=over)
        self.remove(source, base=base)
        self._like[target] = source

    def bytes_of(self, shown: str) -> bytes | None:
        """Return the bytes of a file by its path in the workspace, None where there is none; errors as `read`."""
        return self.read(shown.removeprefix(self._store.prefix)).base

    def take(self, files: Sequence[FileChange]) -> None:
        """Plan to write and remove files as a merge says; their paths are relative to the workspace."""
        for file in files:
            path = file.path.removeprefix(self._store.prefix)
            if file.after is not None:
                self.write(path, file.after, base=file.before, mode=file.mode)
            elif file.before is not None:
                self.remove(path, base=file.before)

    def hold(self, path: str, *, base: bytes) -> None:
        """Plan to make the change only if another file, which it does not write, holds `base`, on the disk too.

        For removing what that file holds as well.
        """
        self._store.check_path(path)
        self._held[path] = base

    def append(self, path: str, data: bytes, *, base: bytes) -> None:
        """Plan to add bytes to the end of a file that still holds `base`, in one write and a sync.

        It must be the only file of the change. A last line without a newline gets one first, so that a torn line stays
        a line of its own. For a missing file, use `write`.
        """
        mend = b"\n" if base and not base.endswith(b"\n") else b""
        self._plan(FileChange(path, base, base + mend + data))
        self._appended = path

    def mark(self, path: str, number: int) -> None:
        """Plan to write a growing number to a small file, durably and before the change, so that no number is used
        twice. It is not part of the change and is not undone with it.
        """
        self._store.check_path(path)
        self._marks[path] = number

    def _plan(self, file: FileChange) -> None:
        self._store.check_path(file.path)
        if file.path in self._files:
            raise ValueError(f"{file.path} is already planned")
        self._files[file.path] = file

    def commit(self, summary: str = "") -> Change:
        """Make the change durably, record it in the store's history, and return it.

        All files are compared with their bases first: after ConflictError `document.conflict` (`details["files"]`)
        nothing was written. RefusedError `file.*` for files that may not be written, MemdeckError `file.io` with
        `errno` for a disk that fails, `change.unrecorded`, `change.incomplete` if a file could then not be put back.
        Once the files are in place, errors become `warnings` of the history. RuntimeError outside the `with` block and
        the second time. An agent's change is checked against the review rules first: BlockedError `review.waiting`
        where it became a proposal, RefusedError `review.denied`.
        """
        if self._open is None or self._committed:
            raise RuntimeError("a transaction is committed once, inside its with block")
        self._committed = True
        planned = [file for file in self._files.values() if file.before != file.after]
        planned.sort(key=lambda file: file.after is None)
        if self._appended is not None and len(planned) > 1:
            raise ValueError("a file is added to in a change of its own")
        change = self._change._replace(summary=summary, files=tuple(planned))
        if planned and change.proposal is None and is_agent(change.actor):
            self._store.together.gate(change, self._store.prefix, self._store.together)
        if planned:
            with writing(self._store.place.path):
                self._carry_out(change, self._open)
        return change

    def _carry_out(self, change: Change, places: OpenFolder) -> None:
        """Check all files, stage them, write the intent, then replace one after the other."""
        store = self._store
        around = Folders(store.workspace, places.stage)
        steps = []
        for number, file in enumerate(change.files):
            like = store.shown(self._like[file.path]) if file.path in self._like else ""
            adds = file.path == self._appended
            steps.append(FileStep(file, store.shown(file.path), f"{change.id}.{number}", around, like, adds=adds))
        durable = True
        try:
            self._check(steps)
            for step in steps:
                step.prepare()
            folders = self._missing(steps)
            # A change of one file survives a power cut by itself, so its intent is not synced.
            durable = len(steps) > 1 or bool(folders)
            if durable:
                self._sync([places.stage])
            recorded = change._replace(files=tuple(step.recorded() for step in steps))
            if not self._log.begin(recorded) and self._recorded:
                raise _unrecorded(self._log.warnings)
            self._put_marks(places.stage)
            # An addition is not taken back by its record: a torn line is ended by the next one.
            files = tuple((step.path, step.before, step.after) for step in steps if not step.adds)
            with _room_for_records():
                self._journal.begin(Intent(change.id, change.time, files, tuple(folders)), durable=durable)
            self._put_in_place(steps, places, folders)
            self._made = True
            with self._warning():
                self._log.done(recorded)
            self._end(steps, durable=durable)
        except BaseException as error:
            # Half of a change stays as it is, with its intent and the staged files: the next start tries again.
            if not (isinstance(error, MemdeckError) and error.code == HALF_DONE):
                self._end(steps, durable=durable)
            raise
        finally:
            around.close()

    def _end(self, steps: list[FileStep], *, durable: bool) -> None:
        """Remove staged names that have no use any more, and the intent; displaced files wait for the next change."""
        for step in steps:
            with suppress(OSError):  # A name that cannot be removed is left to the next start.
                if not step.begun or step.before is None:
                    fsio.remove(step.label, step.stage_folder)
        # The change is done or taken back: if that cannot be written, the next start finds it so.
        with suppress(MemdeckError):
            self._journal.end(durable=durable)

    def _check(self, steps: list[FileStep]) -> None:
        """Compare all files with what the caller started from."""
        if changed := [step.path for step in steps if not step.check()]:
            raise conflict(*changed)
        self._look_at_held(sync=True)
        if not self._store.lock.intact():
            raise BusyError("file.lock_lost", "another program removed the workspace's lock file", "try again")

    def _look_at_held(self, *, sync: bool = False) -> None:
        """Raise ConflictError unless the held files are unchanged; with `sync`, sync them to the disk first.

        Another program wrote them, and may not have synced them.
        """
        store = self._store
        for path, base in self._held.items():
            shown = store.shown(path)
            if sync:
                _sync_file(shown, store.workspace)
            if safe_open.read(shown, store.workspace).base != base:
                raise conflict(shown)

    def _put_marks(self, stage: int) -> None:
        for path, number in self._marks.items():
            *parents, name = parts_of(self._store.shown(path))
            with fsio.closing(fsio.open_folder(parents, self._store.workspace, made=[])) as folder:
                os.close(fsio.write_new(name, stage, b"%d\n" % number))
                fsio.rename(name, stage, name, folder)
                fsio.sync(folder)

    def _missing(self, steps: list[FileStep]) -> list[str]:
        """Return the folders that the change makes, the outermost first."""
        wanted = [step.parent.split("/") for step in steps if step.folder < 0]
        paths = ["/".join(parts[:depth]) for parts in wanted for depth in range(1, len(parts) + 1)]
        return [path for path in dict.fromkeys(paths) if not os.path.lexists(self._store.workspace / path)]

    def _put_in_place(self, steps: list[FileStep], places: OpenFolder, folders: list[str]) -> None:
        """Replace the files and sync; when one fails, put back those before it."""
        made: list[str] = []
        try:
            for path in folders:
                os.close(fsio.open_folder(path.split("/"), self._store.workspace, made))
            for number, step in enumerate(steps, 1):
                step.apply()
                if step.begun and (number == len(steps) or _sync_between(step, steps[number])):
                    self._sync([step.folder])
            if not any(step.adds for step in steps):
                self._sync([places.stage])
            for step in steps:
                step.verify()
            self._look_at_held()
        except BaseException as error:
            begun, back = [step for step in steps if step.begun], False
            with suppress(OSError):
                back = go_back(begun)
            if not back:
                raise half_done([step.path for step in begun if step.here != step.before], error) from error
            fsio.remove_folders(made, self._store.workspace)
            raise

    def _sync(self, folders: list[int]) -> None:
        for folder in folders:
            fsio.sync(folder)


def _sync_file(shown: str, workspace: Path) -> None:
    """Sync a file of another program to the disk; the later comparison detects a missing one."""
    with writing(shown), suppress(FileNotFoundError), fsio.closing(safe_open.open_beneath(shown, workspace)) as fd:
        fsio.sync(fd)


def _unrecorded(warnings: tuple[str, ...]) -> MemdeckError:
    """Return the error for a change that must not be made without being recorded."""
    why = f" ({warnings[-1]})" if warnings else ""
    return MemdeckError(
        "change.unrecorded", f"the change log does not take the change{why}, so it was not made", "see `memdeck doctor`"
    )


def _sync_between(step: FileStep, following: FileStep) -> bool:
    """Return whether the folder of a step must be synced before the following step.

    It must be before a removal: a power cut must not keep the removal and lose the step before it. It must be before a
    step in another folder too: a file system that orders names only within a folder could keep the stage folder's half
    of one exchange and the memory folder's half of another. Then neither all old bytes nor all new ones have a name.
    """
    removal = following.file.after is None and step.file.after is not None
    return removal or step.parent != following.parent


@contextmanager
def _room_for_records() -> Iterator[None]:
    """Turn the error of a state folder that takes no record into RefusedError `state.full`."""
    try:
        yield
    except MemdeckError as error:
        if not no_room(error):
            raise
        raise RefusedError(
            "state.full",
            f"a change needs a record in the state folder, and {error.message}",
            "make room there, or set XDG_STATE_HOME to another disk",
        ) from error


def refuse_system(platform: str) -> None:
    """Raise RefusedError `system.unsupported` on systems where it is not proven that a change survives a crash."""
    if platform not in ("linux", "darwin"):
        raise RefusedError(
            "system.unsupported",
            f"memory files are changed on Linux and macOS only, not on {platform}",
            "read them here, and change them there",
        )
