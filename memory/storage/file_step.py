"""One file of a transaction: checked, staged, put in place, put back if a later step fails.

Files are swapped in one step where possible; each function falls back to what the file system supports, and a displaced
file keeps a name in the stage folder until the next change, because a program that had it open may still write to it.
If its bytes are still the same then, it is removed; if not, it is kept for the user.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from memory.errors import ConflictError, MemdeckError, read_failed, write_failed

from . import fsio
from .changes import FileChange
from .intent_log import Displaced, IntendedFile
from .safe_open import ABSENT, FileVersion, Mark, Stored, look, open_target, read_open


class FileStep:
    """The planned change of one file; the calls come in the order check, stage, apply, verify, then finish or put_back,
    and tidy at the end.

    `shown` is the path in the workspace, as messages name it; `label` makes the names of staged files unique. `like` is
    the path of a file that is moved: the created file gets its mode, attributes and time.
    """

    def __init__(
        self,
        file: FileChange,
        workspace: Path,
        shown: str,
        stage: int,
        label: str,
        like: str | None = None,
    ) -> None:
        """Plan the step; nothing is read yet."""
        self.file = file
        self._like = like
        self.shown = shown
        self.label = label
        self._workspace = workspace
        *self._parents, self._name = shown.split("/")
        self._stage = stage
        self._new, self._old = f"{label}.new", f"{label}.old"
        self._folder = self._source = self._staged = -1
        self._found: os.stat_result | None = None
        self._seen: FileVersion = ABSENT
        self._written: FileVersion | None = None
        self._begun = self._visible = False
        self._displaced = ""  # The staged name of the file that we replaced.

    @property
    def folder(self) -> int:
        """The open folder of the file, for syncing; -1 if it is not open."""
        return self._folder

    @property
    def parent(self) -> str:
        """The path of the file's folder in the workspace."""
        return "/".join(self._parents)

    def check(self) -> bool:
        """Return whether the file on disk is the one that the caller started from; RefusedError if it may not be
        written.
        """
        try:
            self._folder = fsio.open_folder(self._parents, self._workspace)
        except FileNotFoundError:
            return self.file.before is None
        # Root may write everywhere; for other users, a folder that its own owner closed is respected.
        if not os.access(".", os.W_OK | os.X_OK, dir_fd=self._folder, effective_ids=True):
            raise write_failed(PermissionError(13, "folder"), self.shown)
        target = open_target(self._name, self._folder, self.shown)
        if target is None:
            return self.file.before is None
        self._source = target[0]
        try:
            self._found = os.fstat(self._source)
            if self.file.before is None or self._found.st_size != len(self.file.before):
                return False
            stored = read_open(self._source, self.shown)
        except OSError as error:
            raise read_failed(error, self.shown) from error
        if stored is None or stored.data != self.file.before:
            return False
        self._seen = stored.version
        return True

    def stage(self) -> None:
        """Write the new bytes on the target's file system and sync them."""
        if self.file.after is None:
            return
        try:
            if self._like is not None and self._stage_like(self._like, self.file.after):
                return
            # An existing file keeps its own mode.
            mode = self.file.mode if self._found is None else None
            self._staged = fsio.stage(self._new, self._stage, self.file.after, self._found, mode=mode)
            if self._source >= 0:
                fsio.copy_attributes(self._source, self._staged)
            self._written = FileVersion.of(os.fstat(self._staged))
        except OSError as error:
            raise write_failed(error, self.shown) from error

    def _stage_like(self, like: str, data: bytes) -> bool:
        """Write the new bytes with the attributes of the moved file; False where that file no longer exists."""
        *parents, name = like.split("/")
        with fsio.closing(fsio.open_folder(parents, self._workspace)) as folder:
            opened = open_target(name, folder, like)
        if opened is None:
            return False
        with fsio.closing(opened[0]) as source:
            found = opened[1]
            self._staged = fsio.stage(self._new, self._stage, data, found)
            fsio.copy_attributes(source, self._staged)
            fsio.keep_time(found, self._staged)
            self._written = FileVersion.of(os.fstat(self._staged))
        return True

    def role(self, *, durable: bool) -> IntendedFile:
        """Return the intent's record of this step; if it is durable, the file is recognised by its bytes too."""

        def mark(found: os.stat_result, data: bytes | None) -> Mark:
            return Mark.of(found, data if durable else None)

        before = after = None
        if self._found is not None:
            before = mark(self._found, self.file.before)
        if self._staged >= 0:
            after = mark(os.fstat(self._staged), self.file.after)
        return IntendedFile(self.shown, self.label, before, after)

    def with_mode(self) -> FileChange:
        """Return the file of this step; a removed file with its permission bits."""
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
        """Put the file in place; ConflictError when another program changed it since it was checked."""
        try:
            if self._folder < 0:
                self._folder = fsio.open_folder(self._parents, self._workspace, made)
            if not self._unchanged():
                raise conflict([self.shown], crossed=True)
            self._begun = self._visible = True
            if self._found is None:
                create(self._new, self._stage, self._name, self._folder)
            elif self.file.after is None:
                take_away(self._name, self._folder, self._old, self._stage)
                self._displaced = self._old
            else:
                self._displaced = swap(self._new, self._old, self._stage, self._name, self._folder)
        except (FileExistsError, FileNotFoundError) as error:
            self._begun = False  # The call did nothing: there is nothing to put back.
            raise conflict([self.shown], crossed=True) from error
        except OSError as error:
            raise write_failed(error, self.shown) from error
        self.verify()

    def verify(self) -> None:
        """Check the displaced file: ConflictError unless it is the one that was checked, with its bytes."""
        if self._found is not None and not self._displaced_as_checked():
            raise conflict([self.shown], crossed=True)

    def _unchanged(self) -> bool:
        try:
            return FileVersion.of(os.lstat(self._name, dir_fd=self._folder)) == self._seen
        except FileNotFoundError:
            return not self._seen.exists

    def _displaced_as_checked(self) -> bool:
        if self._displaced:
            found = look(self._displaced, self._stage)
            if found is None or (found.st_dev, found.st_ino) != self._seen[:2]:
                return False
        return FileVersion.of(os.fstat(self._source))[:4] == self._seen[:4]  # Renaming changes nothing but the ctime.

    def put_back(self) -> bool:
        """Undo `apply`, False where that failed; a file that another program put there meanwhile stays."""
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
        """Put the previous file back in the place of ours."""
        if self.file.before is None:
            fsio.remove(self._new, self._stage)  # The second name that it kept.
            take_away(self._name, self._folder, self._new, self._stage)
            return True
        if self.file.after is None:
            create(self._displaced, self._stage, self._name, self._folder)
            fsio.sync(self._folder)
            fsio.remove(self._displaced, self._stage)
            return True
        if not self._displaced:
            self._displaced = self._old
            os.close(fsio.stage(self._old, self._stage, self.file.before, self._found))
        back = swap_back(self._displaced, self._stage, self._name, self._folder, self._new)
        if self._inode(back, self._stage) not in (ours, None):
            # Another program replaced our file at this moment: its file is the newest, so it goes back in place.
            self._displaced = swap_back(back, self._stage, self._name, self._folder, self._old)
            return False
        self._displaced = ""
        return True

    def finish(self) -> Stored | None:
        """Return the file as it is now, None where that is not certain."""
        if self.file.after is None or self._written is None:
            return None
        try:
            version = FileVersion.of(os.fstat(self._staged))
        except OSError:
            return None  # The change is done; the file will be read again.
        untouched = version[:4] == self._written[:4]  # Renaming changes nothing but the ctime.
        return Stored(self.file.after, version) if untouched else None

    def tidy(self, *, failed: bool) -> list[Displaced]:
        """Close everything; return the files kept in the stage folder because programs may still write to them.

        These are the displaced file, and our file if it was in place for a moment; the rest is removed.
        """
        left: list[Displaced] = []
        try:
            for name in (self._new, self._old):
                # A file that cannot be read is left to the next start.
                with suppress(OSError):
                    left += self._leave(name, failed)
        finally:
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
            fsio.remove(name, self._stage)  # The created file has its final name now.
            return []
        # A file that could not be put back, or that we never read: the user may want these bytes.
        late = mark is None or (failed and self._begun and name == self._displaced)
        if late:
            with suppress(OSError):
                fsio.rename(name, self._stage, self._old + fsio.KEPT, self._stage)
                name = self._old + fsio.KEPT
        change = self.label.partition(".")[0]
        return [Displaced(name, self.shown, change, mark or Mark.of(found), late)]

    def _expected(self, found: os.stat_result) -> Mark | None:
        """Return the mark that a staged file has unless a program writes to it; None for a foreign file."""
        for version, data in ((self._seen, self.file.before), (self._written, self.file.after)):
            if version is not None and data is not None and found.st_ino == version.ino:
                return Mark(version.ino, version.size, version.mtime_ns, sha256(data).hexdigest())
        return None


class Appending(FileStep):
    """One file that grows by one write and a sync, instead of being replaced.

    A crash in the middle leaves a torn last line, which the next addition ends with a newline. If a program replaces
    the file at that moment, this is detected, and the addition is planned again on what it wrote.

    The calls come in the order check, append, and close at the end.
    """

    def __init__(self, file: FileChange, workspace: Path, shown: str) -> None:
        """Plan the step; nothing is read yet."""
        super().__init__(file, workspace, shown, -1, "append")

    def append(self) -> Stored | None:
        """Add the new bytes; return the file as it is now, None where another program added to it as well.

        ConflictError (crossed) where the file was changed since the check, or replaced during the write.
        """
        before, after = self.file.before or b"", self.file.after or b""
        added = after[len(before) :]
        try:
            with fsio.closing(fsio.open_append(self._name, self._folder)) as target:
                if FileVersion.of(os.fstat(target)) != self._seen:
                    raise conflict([self.shown], crossed=True)
                fsio.append(target, added)
                return self._look(target, after, added)
        except FileNotFoundError as error:
            raise conflict([self.shown], crossed=True) from error
        except OSError as error:
            raise write_failed(error, self.shown) from error

    def _look(self, target: int, after: bytes, added: bytes) -> Stored | None:
        """Check that the added bytes are in the file that now has the name."""
        version = FileVersion.of(os.fstat(target))
        named = FileVersion.of(os.lstat(self._name, dir_fd=self._folder))
        if (named.dev, named.ino) != (version.dev, version.ino):
            raise conflict([self.shown], crossed=True)
        start = len(after) - len(added)
        if version.size == len(after) and os.pread(target, len(added) + 1, start) == added:
            return Stored(after, version)
        line = added.removeprefix(b"\n")
        now = os.pread(target, max(version.size - start, 0) + len(added), start)
        if not (now.startswith(added) or b"\n" + line in now):
            raise conflict([self.shown], crossed=True)
        return None

    def close(self) -> None:
        """Close everything."""
        for fd in (self._folder, self._source):
            if fd >= 0:
                os.close(fd)
        self._folder = self._source = -1


def conflict(files: list[str], *, crossed: bool = False) -> ConflictError:
    """Return the error for files that are not what the caller started from.

    `crossed` means that it happened during the change itself: planned again on the newer files, it may well succeed.
    """
    return ConflictError(
        "document.conflict",
        f"{', '.join(files)} was changed by somebody else",
        "look at it again and repeat the change",
        file=files[0],
        files=files,
        **({"crossed": True} if crossed else {}),
    )


def half_done(files: list[str], cause: BaseException) -> MemdeckError:
    """Return the error for a failed change some of whose files could not be put back."""
    return MemdeckError(
        "change.incomplete",
        f"the change failed ({cause}) and {', '.join(files)} could not be put back",
        "compare these files with your last copy",
        file=files[0],
        files=files,
    )


# -- names swapped, and displaced files --------------------------------------------------------------------------


def swap(new: str, old: str, stage: int, name: str, folder: int) -> str:
    """Put the staged file `new` in the place of `name`; return the staged name of the displaced file.

    "" where the file system could not keep it. FileNotFoundError where there was no file.
    """
    try:
        fsio.exchange(new, stage, name, folder)
    except OSError as error:
        if error.errno not in fsio.UNSUPPORTED:
            raise
    else:
        return new
    kept = True
    try:
        fsio.link(name, folder, old, stage)
    except OSError as error:
        if error.errno not in fsio.NO_LINKS:
            raise
        kept = False
    fsio.rename(new, stage, name, folder)
    return old if kept else ""


def create(new: str, stage: int, name: str, folder: int) -> None:
    """Give the staged file its name; FileExistsError where the name is taken.

    Where possible it keeps its staged name as well: until the folder is synced, a power cut may remove the other.
    """
    try:
        fsio.link(new, stage, name, folder)
        return
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError as error:
        if error.errno not in fsio.NO_LINKS:
            raise
    try:
        fsio.rename_new(new, stage, name, folder)
    except OSError as error:
        if error.errno not in fsio.UNSUPPORTED:
            raise
        fsio.rename(new, stage, name, folder)


def take_away(name: str, folder: int, old: str, stage: int) -> None:
    """Move a file into the stage folder."""
    try:
        fsio.rename_new(name, folder, old, stage)
    except OSError as error:
        if error.errno not in fsio.UNSUPPORTED:
            raise
        fsio.rename(name, folder, old, stage)


def swap_back(displaced: str, stage: int, name: str, folder: int, spare: str) -> str:
    """Undo a `swap`; return the staged name of the file that was in its place."""
    try:
        fsio.exchange(displaced, stage, name, folder)
    except OSError as error:
        if error.errno not in fsio.UNSUPPORTED:
            raise
    else:
        return displaced
    with suppress(OSError):
        fsio.link(name, folder, spare, stage)
    fsio.rename(displaced, stage, name, folder)
    return spare


def sweep(files: tuple[Displaced, ...], stage: int) -> tuple[Displaced, ...]:
    """Remove the displaced files that no program wrote to, keep the others; return those that stay."""
    left: list[Displaced] = []
    for file in files:
        found = look(file.name, stage)
        if found is None:
            continue
        if file.late:
            left.append(file)
        elif not file.mark.fits(file.name, stage, found):
            left.append(_kept(file, stage, found))
        else:
            with suppress(OSError):
                fsio.remove(file.name, stage)
    return tuple(left)


def _kept(file: Displaced, stage: int, found: os.stat_result) -> Displaced:
    """Rename a file with late bytes so that it is never cleared away."""
    name = file.name.removesuffix(".new").removesuffix(".old") + ".old" + fsio.KEPT
    if look(name, stage) is not None:
        name = file.name + fsio.KEPT
    try:
        fsio.rename(file.name, stage, name, stage)
    except OSError:
        return file
    return file._replace(name=name, mark=Mark.of(found), late=True)
