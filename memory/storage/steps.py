"""One file of a transaction: looked at, staged, put in its place, put back if a later one fails."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from memory.errors import ConflictError, MemdeckError

from . import faults, fsio
from .beneath import read_open
from .changes import FileChange
from .version import ABSENT, Stored, Version


class Step:
    """What is to happen with one file; the calls come in the order check, stage, apply, then finish or
    put_back.

    `shown` is the path from the workspace on, as messages name it; `label` makes the names of staged files
    unique.
    """

    def __init__(self, file: FileChange, workspace: Path, shown: str, stage: int, label: str) -> None:
        """Plan it; nothing is looked at yet."""
        self.file = file
        self.shown = shown
        self._workspace = workspace
        *self._parents, self._name = shown.split("/")
        self._stage = stage
        self._new, self._old = f"{label}.new", f"{label}.old"
        self._folder = self._source = self._staged = -1
        self._found: os.stat_result | None = None
        self._seen: Version = ABSENT
        self._written: Version | None = None
        self._made: list[str] = []
        self._begun = self._kept = False

    @property
    def folder(self) -> int:
        """The open folder of the file, for syncing it."""
        return self._folder

    def check(self) -> bool:
        """Whether the file on disk is the one that the caller started from; RefusedError if it may not be
        written.
        """
        try:
            self._folder = fsio.open_folder(self._parents, self._workspace)
        except FileNotFoundError:
            return self.file.before is None
        # Root may write everywhere; a folder that its own owner closed is taken at its word only for others.
        if not os.access(".", os.W_OK | os.X_OK, dir_fd=self._folder, effective_ids=True):
            raise faults.writing(PermissionError(13, "folder"), self.shown)
        target = fsio.open_target(self._name, self._folder, self.shown)
        if target is None:
            return self.file.before is None
        self._source, self._found = target
        if self._found.st_size != len(self.file.before or b"") or self.file.before is None:
            return False
        try:
            stored = read_open(self._source, self.shown)
        except OSError as error:
            raise faults.reading(error, self.shown) from error
        if stored is None or stored.data != self.file.before:
            return False
        self._seen = stored.version
        return True

    def stage(self) -> None:
        """Write the new bytes beside the target's file system and sync them; missing folders are made."""
        try:
            if self._folder < 0:
                self._folder = fsio.open_folder(self._parents, self._workspace, self._made)
            if self.file.after is not None:
                self._staged = fsio.stage(self._new, self._stage, self.file.after, self._found)
                if self._source >= 0:
                    fsio.copy_attributes(self._source, self._staged)
                self._written = Version.of(os.fstat(self._staged))
        except OSError as error:
            raise faults.writing(error, self.shown) from error

    def apply(self) -> None:
        """Put the file in its place; ConflictError when somebody else changed it since it was checked."""
        try:
            if not self._unchanged():
                raise conflict([self.shown])
            if self._found is not None:
                self._keep()
            self._begun = True
            if self.file.after is None:
                fsio.remove(self._name, self._folder)
            elif self._found is None:
                self._create()
            else:
                fsio.rename(self._new, self._stage, self._name, self._folder)
            # The bytes that were displaced: a writer that had the file open may have got in between.
            if self._found is not None and not self._displaced_as_checked():
                raise conflict([self.shown])
        except FileExistsError as error:
            raise conflict([self.shown]) from error
        except OSError as error:
            raise faults.writing(error, self.shown) from error

    def _unchanged(self) -> bool:
        try:
            return Version.of(os.lstat(self._name, dir_fd=self._folder)) == self._seen
        except FileNotFoundError:
            return not self._seen.exists

    def _keep(self) -> None:
        """Keep the old file under a second name: putting it back needs no room on a full disk."""
        try:
            fsio.link(self._name, self._folder, self._old, self._stage)
            self._kept = True
        except FileNotFoundError:
            raise conflict([self.shown]) from None
        except OSError:
            # A file system without hard links: the bytes would be written again.
            self._kept = False

    def _create(self) -> None:
        """Give the staged file its name only where there is none."""
        try:
            fsio.link(self._new, self._stage, self._name, self._folder)
        except FileExistsError:
            raise
        except OSError:
            fsio.rename(self._new, self._stage, self._name, self._folder)
        else:
            fsio.remove(self._new, self._stage)

    def _displaced_as_checked(self) -> bool:
        return Version.of(os.fstat(self._source))[:4] == self._seen[:4]  # Linking changes nothing but the ctime.

    def put_back(self) -> bool:
        """Undo `apply`, False where it could not be done; what somebody else put there meanwhile stays."""
        if not self._begun:
            return True
        try:
            now = self._inode(self._name)
            ours = os.fstat(self._staged).st_ino if self._staged >= 0 else None
            if now != (self._found.st_ino if self._found is not None else None):
                if now != ours:
                    return False
                self._restore()
                fsio.sync(self._folder)
        except OSError:
            return False
        self._begun = False
        return True

    def _inode(self, name: str) -> int | None:
        try:
            return os.lstat(name, dir_fd=self._folder).st_ino
        except FileNotFoundError:
            return None

    def _restore(self) -> None:
        """Put what was there before in the place of ours."""
        if self.file.before is None:
            fsio.remove(self._name, self._folder)
            return
        if not self._kept:
            os.close(fsio.stage(self._old, self._stage, self.file.before, self._found))
        fsio.rename(self._old, self._stage, self._name, self._folder)
        self._kept = False

    def finish(self) -> Stored | None:
        """Return the file as it now stands, None where that cannot be told for sure."""
        if self.file.after is None or self._written is None:
            return None
        version = Version.of(os.fstat(self._staged))
        untouched = version[:4] == self._written[:4]  # Renaming changes nothing but the ctime.
        return Stored(self.file.after, version) if untouched else None

    def tidy(self, *, failed: bool) -> None:
        """Remove what is left in the stage folder and close everything."""
        self._drop(self._new)
        if self._kept and failed and self._begun:
            # It could not be put back: a person may want these bytes, so the next transaction leaves them
            # alone.
            with suppress(OSError):
                fsio.rename(self._old, self._stage, self._old + fsio.KEPT, self._stage)
        elif self._kept:
            self._drop(self._old)
        if failed and self._made:
            fsio.remove_folders(self._made, self._workspace)
        for fd in (self._folder, self._source, self._staged):
            if fd >= 0:
                os.close(fd)
        self._folder = self._source = self._staged = -1

    def _drop(self, name: str) -> None:
        with suppress(OSError):
            fsio.remove(name, self._stage)


def conflict(files: list[str]) -> ConflictError:
    """Return the error for files that are not what the caller started from."""
    return ConflictError(
        "document.conflict",
        f"{', '.join(files)} was changed by somebody else",
        "look at it again and repeat the change",
        file=files[0],
        files=files,
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
