"""One file of a transaction: looked at, staged, put in its place, put back if a later one fails."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import BusyError, ConflictError, MemdeckError
from memory.storage import fsio
from memory.storage.files import errnos as faults
from memory.storage.files import leases
from memory.storage.files.leases import Lease
from memory.storage.files.safe_open import open_target, read_open
from memory.storage.files.version import ABSENT, FileVersion, Mark, Stored, look

from . import placing
from .intent_log import Displaced, IntendedFile

if TYPE_CHECKING:
    from memory.storage.changes import FileChange


class FileStep:
    """What is to happen with one file; the calls come in the order check, stage, apply, verify, then finish or
    put_back, and tidy at the end.

    `shown` is the path from the workspace on, as messages name it; `label` makes the names of staged files
    unique; `patience` is how long (in seconds) a program may keep the file open for writing. `like` is the path of
    a file whose mode, attributes and time a file that is created takes over, for it is that file under a new name.
    """

    def __init__(
        self,
        file: FileChange,
        workspace: Path,
        shown: str,
        stage: int,
        label: str,
        patience: float = 2.0,
        like: str | None = None,
    ) -> None:
        """Plan it; nothing is looked at yet."""
        self.file = file
        self._like = like
        self.shown = shown
        self.label = label
        self._workspace = workspace
        *self._parents, self._name = shown.split("/")
        self._stage = stage
        self._patience = patience
        self._new, self._old = f"{label}.new", f"{label}.old"
        self._folder = self._source = self._staged = -1
        self._found: os.stat_result | None = None
        self._seen: FileVersion = ABSENT
        self._written: FileVersion | None = None
        self._leased = self._begun = self._visible = False
        self._displaced = ""  # The staged name of the file that stood in our place.

    @property
    def folder(self) -> int:
        """The open folder of the file, for syncing it; -1 as long as there is none."""
        return self._folder

    @property
    def parent(self) -> str:
        """The path of that folder, from the workspace on."""
        return "/".join(self._parents)

    def check(self) -> bool:
        """Whether the file on disk is the one that the caller started from; RefusedError if it may not be
        written, BusyError `file.in_use` while another program has it open for writing.
        """
        try:
            self._folder = fsio.open_folder(self._parents, self._workspace)
        except FileNotFoundError:
            return self.file.before is None
        # Root may write everywhere; a folder that its own owner closed is taken at its word only for others.
        if not os.access(".", os.W_OK | os.X_OK, dir_fd=self._folder, effective_ids=True):
            raise faults.writing(PermissionError(13, "folder"), self.shown)
        if not self._open():
            return self.file.before is None
        try:
            self._found = os.fstat(self._source)
            if self.file.before is None or self._found.st_size != len(self.file.before):
                return False
            stored = read_open(self._source, self.shown)
        except OSError as error:
            raise faults.reading(error, self.shown) from error
        if stored is None or stored.data != self.file.before:
            return False
        self._seen = stored.version
        return True

    def _open(self) -> bool:
        """Open the file when nobody is writing to it; False where there is none."""
        deadline, pause = time.monotonic() + self._patience, 0.0005
        while True:
            target = open_target(self._name, self._folder, self.shown)
            if target is None:
                return False
            self._source = target[0]
            lease = leases.take(self._source)
            if lease is not Lease.REFUSED:
                self._leased = lease is Lease.HELD
                return True
            os.close(self._source)
            self._source = -1
            if time.monotonic() > deadline:
                raise in_use(self.shown)
            time.sleep(pause)
            pause = min(2 * pause, 0.02)

    def stage(self) -> None:
        """Write the new bytes on the target's file system and sync them."""
        if self.file.after is None:
            return
        try:
            if self._like is not None and self._stage_like(self._like, self.file.after):
                return
            # Where a file is, its own mode counts.
            mode = self.file.mode if self._found is None else None
            self._staged = fsio.stage(self._new, self._stage, self.file.after, self._found, mode=mode)
            if self._source >= 0:
                fsio.copy_attributes(self._source, self._staged)
            self._written = FileVersion.of(os.fstat(self._staged))
        except OSError as error:
            raise faults.writing(error, self.shown) from error

    def _stage_like(self, like: str, data: bytes) -> bool:
        """Write the new bytes as those of a file that moves; False where that file is gone by now."""
        *parents, name = like.split("/")
        folder = fsio.open_folder(parents, self._workspace)
        try:
            opened = open_target(name, folder, like)
        finally:
            os.close(folder)
        if opened is None:
            return False
        source, found = opened
        try:
            self._staged = fsio.stage(self._new, self._stage, data, found)
            fsio.copy_attributes(source, self._staged)
            fsio.keep_time(found, self._staged)
            self._written = FileVersion.of(os.fstat(self._staged))
        finally:
            os.close(source)
        return True

    def role(self, sha256: Callable[[bytes], bytes | None] | None) -> IntendedFile:
        """Return what an intent says of this step; with `sha256`, it is recognised by its bytes too.

        That returns the SHA-256 of some bytes where it is known already, else None.
        """

        def mark(found: os.stat_result, data: bytes | None) -> Mark:
            if sha256 is None or data is None:
                return Mark.of(found)
            return Mark.of(found, data=data, sha256=sha256(data))

        before = after = None
        if self._found is not None:
            before = mark(self._found, self.file.before)
        if self._staged >= 0:
            after = mark(os.fstat(self._staged), self.file.after)
        return IntendedFile(self.shown, self.label, before, after)

    def with_mode(self) -> FileChange:
        """Return the file of this step; one that is removed with its permission bits."""
        if self.file.after is not None or self._found is None:
            return self.file
        return self.file._replace(mode=self._found.st_mode & 0o777)

    def missing(self) -> list[str]:
        """Return the folders that are still to be made for the file, the outermost first."""
        if self._folder >= 0:
            return []
        paths = ["/".join(self._parents[:depth]) for depth in range(1, len(self._parents) + 1)]
        return [path for path in paths if not os.path.lexists(self._workspace / path)]

    def apply(self, made: list[str]) -> None:
        """Put the file in its place; ConflictError when somebody else changed it since it was checked."""
        try:
            if self._folder < 0:
                self._folder = fsio.open_folder(self._parents, self._workspace, made)
            if not self._unchanged():
                raise conflict([self.shown], crossed=True)
            self._begun = self._visible = True
            if self._found is None:
                placing.create(self._new, self._stage, self._name, self._folder)
            elif self.file.after is None:
                placing.take_away(self._name, self._folder, self._old, self._stage)
                self._displaced = self._old
            else:
                self._displaced = placing.swap(self._new, self._old, self._stage, self._name, self._folder)
        except (FileExistsError, FileNotFoundError) as error:
            self._begun = False  # The call did nothing: there is nothing to put back.
            raise conflict([self.shown], crossed=True) from error
        except OSError as error:
            raise faults.writing(error, self.shown) from error
        self.verify()

    def verify(self) -> None:
        """Look at what was displaced: ConflictError unless it is what was checked and nobody wants to write to it."""
        if self._found is not None and not self._displaced_as_checked():
            raise conflict([self.shown], crossed=True)

    def _unchanged(self) -> bool:
        if self._leased and not leases.unbroken(self._source):
            return False
        try:
            return FileVersion.of(os.lstat(self._name, dir_fd=self._folder)) == self._seen
        except FileNotFoundError:
            return not self._seen.exists

    def _displaced_as_checked(self) -> bool:
        if self._displaced:
            found = look(self._displaced, self._stage)
            if found is None or (found.st_dev, found.st_ino) != self._seen[:2]:
                return False
        if FileVersion.of(os.fstat(self._source))[:4] != self._seen[:4]:  # Renaming changes nothing but the ctime.
            return False
        return not self._leased or leases.unbroken(self._source)

    def put_back(self) -> bool:
        """Undo `apply`, False where it could not be done; what somebody else put there meanwhile stays."""
        if not self._begun:
            return True
        try:
            now = self._inode(self._name, self._folder)
            ours = os.fstat(self._staged).st_ino if self._staged >= 0 else None
            if now != (self._found.st_ino if self._found is not None else None):
                if now != ours or not self._restore(ours):
                    return False
                fsio.sync(self._folder)
        except OSError:
            return False
        self._begun = False
        return True

    def _inode(self, name: str, folder: int) -> int | None:
        found = look(name, folder)
        return None if found is None else found.st_ino

    def _restore(self, ours: int | None) -> bool:
        """Put what was there before in the place of ours."""
        if self.file.before is None:
            fsio.remove(self._new, self._stage)  # The second name that it kept.
            placing.take_away(self._name, self._folder, self._new, self._stage)
            return True
        if self.file.after is None:
            placing.create(self._displaced, self._stage, self._name, self._folder)
            fsio.sync(self._folder)
            fsio.remove(self._displaced, self._stage)
            return True
        if not self._displaced:
            self._displaced = self._old
            os.close(fsio.stage(self._old, self._stage, self.file.before, self._found))
        back = placing.swap_back(self._displaced, self._stage, self._name, self._folder, self._new)
        if self._inode(back, self._stage) not in (ours, None):
            # Somebody replaced ours at this very moment: theirs is the newest, so it goes back to its place.
            self._displaced = placing.swap_back(back, self._stage, self._name, self._folder, self._old)
            return False
        self._displaced = ""
        return True

    def finish(self) -> Stored | None:
        """Return the file as it now stands, None where that cannot be told for sure."""
        if self.file.after is None or self._written is None:
            return None
        try:
            version = FileVersion.of(os.fstat(self._staged))
        except OSError:
            return None  # The change is done; the file will be read again.
        untouched = version[:4] == self._written[:4]  # Renaming changes nothing but the ctime.
        return Stored(self.file.after, version) if untouched else None

    def release(self) -> None:
        """Give up the lease: programs that wait for the file go on, even if a child process has it open as well."""
        if self._leased:
            leases.drop(self._source)
            self._leased = False

    def tidy(self, *, failed: bool) -> list[Displaced]:
        """Close everything; return what stays in the stage folder because others may still write to it.

        That is what was displaced, and what of ours was in place for a moment; the rest is removed.
        """
        left: list[Displaced] = []
        try:
            for name in (self._new, self._old):
                # What cannot even be looked at is for the next start.
                with suppress(OSError):
                    left += self._leave(name, failed)
        finally:
            self.release()
            for fd in (self._folder, self._source, self._staged):
                if fd >= 0:
                    os.close(fd)
            self._folder = self._source = self._staged = -1
        return left

    def _leave(self, name: str, failed: bool) -> list[Displaced]:
        """Remove or keep one file in the stage folder."""
        found = look(name, self._stage)
        if found is None:
            return []
        if not self._visible:
            fsio.remove(name, self._stage)
            return []
        mark = self._expected(found)
        if found.st_nlink > 1 and name == self._new:
            fsio.remove(name, self._stage)  # A file that was created has its own name for good now.
            return []
        # What could not be put back, and what we never saw: a person may want these bytes.
        late = mark is None or (failed and self._begun and name == self._displaced)
        if late:
            with suppress(OSError):
                fsio.rename(name, self._stage, self._old + fsio.KEPT, self._stage)
                name = self._old + fsio.KEPT
        change = self.label.partition(".")[0]
        return [Displaced(name, self.shown, change, mark or Mark.of(found, ctime=True), late)]

    def _expected(self, found: os.stat_result) -> Mark | None:
        """Return how a file in the stage folder should be as long as nobody writes to it; None for a foreign one."""
        for version in (self._seen, self._written):
            if version is not None and found.st_ino == version.ino:
                return Mark(version.ino, version.size, version.mtime_ns, found.st_ctime_ns)
        return None


def conflict(files: list[str], *, crossed: bool = False) -> ConflictError:
    """Return the error for files that are not what the caller started from.

    `crossed` tells that it happened during the change itself: planned again on the newer files, it may well succeed.
    """
    return ConflictError(
        "document.conflict",
        f"{', '.join(files)} was changed by somebody else",
        "look at it again and repeat the change",
        file=files[0],
        files=files,
        **({"crossed": True} if crossed else {}),
    )


def in_use(file: str) -> BusyError:
    """Return the error for a file that another program keeps open for writing."""
    return BusyError(
        "file.in_use",
        f"another program has {file} open for writing",
        "try again when it is done",
        file=file,
    )


def half_done(files: list[str], cause: BaseException) -> MemdeckError:
    """Return the error for a change that failed and of which some files could not be put back."""
    return MemdeckError(
        "change.incomplete",
        f"the change failed ({cause}) and {', '.join(files)} could not be put back",
        "compare these files with your last copy",
        file=files[0],
        files=files,
    )
