"""One file of a change: compared, staged, put in its place, and taken back if the change cannot be completed.

`Step` knows a file by the SHA-256 of its bytes before and after the change, so that it can tell after a crash how far
the file had come. `FileStep` adds what only the running change knows: the bytes, and which file it checked.
"""

from __future__ import annotations

import os
import re
import stat as st
from contextlib import ExitStack, suppress
from hashlib import sha256
from pathlib import Path

from memory.errors import ConflictError, MemdeckError, reading, write_failed, writing

from . import fsio
from .changes import FileChange
from .safe_open import ABSENT, FileVersion, read_open

KEPT = ".kept"
"""The name suffix of a displaced file with bytes that no other file holds."""
_SHORT, _NONE = 16, "0" * 16  # Characters of a digest in a name, and those for no file.
_LABEL = re.compile(rf"[0-9A-Z]{{26}}\.[0-9]{{1,6}}\.([0-9a-f]{{{_SHORT}}})\.([0-9a-f]{{{_SHORT}}})")
HALF_DONE = "change.incomplete"
"""The code of the error for a change some of whose files could not be put back."""
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def digest_of(data: bytes | None) -> str | None:
    """Return the SHA-256 of bytes in hex, None for no file."""
    return None if data is None else sha256(data).hexdigest()


def digest_in(name: str, folder: int) -> str | None:
    """Return the SHA-256 of a file in an open folder, None where there is none, "" where it is not a file of ours."""
    try:
        found = os.lstat(name, dir_fd=folder)
        if not st.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            return ""
        with fsio.closing(os.open(name, _READ, dir_fd=folder)) as fd:
            return digest_of(os.pread(fd, found.st_size + 1, 0))
    except FileNotFoundError:
        return None


class Folders:
    """The folders around the files of one change, each opened once: a process has only so many files open.

    `stage` is the open stage folder.
    """

    def __init__(self, workspace: Path, stage: int) -> None:
        """Nothing is opened yet."""
        self.workspace = workspace
        self.stage = stage
        self._open: dict[str, int] = {}

    def open(self, path: str) -> int:
        """Return a folder by its path in the workspace; FileNotFoundError where there is none."""
        if path not in self._open:
            self._open[path] = fsio.open_folder(path.split("/") if path else [], self.workspace)
        return self._open[path]

    def close(self) -> None:
        """Close them."""
        while self._open:
            os.close(self._open.popitem()[1])


class Step:
    """One file of a change, by its digests `before` and `after` (None: no file); `path` is relative to the workspace.

    The new bytes are staged under the name `label`, and the displaced file gets that name; where two files cannot be
    exchanged, it is gone. The label names the change, the file's place in it, and the digests: they say later whether
    a program that had the replaced file open wrote to it. `look` sets the digests `here` (in place) and `staged`.
    """

    def __init__(self, path: str, before: str | None, after: str | None, place: str, folders: Folders) -> None:
        """Store the plan; nothing is read yet. `place` is the change's id, a dot and the number of the file in it."""
        self.path = path
        self.before, self.after = before, after
        self.label = f"{place}.{(before or _NONE)[:_SHORT]}.{(after or _NONE)[:_SHORT]}"
        self.parent, _, self.name = path.rpartition("/")
        self.folders = folders
        self.stage_folder = folders.stage
        self.folder = -1
        self.here: str | None = None
        self.staged: str | None = None

    def enter(self) -> None:
        """Open the folder of the file; FileNotFoundError where there is none."""
        self.folder = self.folders.open(self.parent)

    def look(self) -> None:
        """Compare the file in place and the staged one with the digests."""
        self.here = None if self.folder < 0 else digest_in(self.name, self.folder)
        self.staged = digest_in(self.label, self.stage_folder)

    @property
    def crossed(self) -> bool:
        """Whether the file is in its place and displaced other bytes than those that were checked."""
        return self.here == self.after and self.staged not in (None, self.before, self.after)

    @property
    def blocked(self) -> bool:
        """Whether another program changed the file before it could be put in its place."""
        return self.staged == self.after and self.here not in (self.before, self.after)

    @property
    def done(self) -> bool:
        """Whether the file is in its place, or another program changed it after it was."""
        if self.here == self.after:
            return not self.crossed
        return self.here != self.before and not self.blocked and self.staged in (None, self.before)

    @property
    def open(self) -> bool:
        """Whether the file is as it was before, and can still be put in its place."""
        return self.here == self.before and (self.after is None or self.staged == self.after)

    def put(self) -> None:
        """Put the file in its place; FileExistsError or FileNotFoundError where another program was first."""
        if self.before is None:
            fsio.add_name(self.label, self.stage_folder, self.name, self.folder)
        elif self.after is None:
            fsio.move(self.name, self.folder, self.label, self.stage_folder)
        elif not fsio.exchanged(self.label, self.stage_folder, self.name, self.folder):
            fsio.rename(self.label, self.stage_folder, self.name, self.folder)

    def take_back(self) -> bool:
        """Put the displaced file back in place; False where it is gone, or another program wrote in between."""
        self.look()
        if self.here == self.before:
            return True
        if self.here != self.after or (self.before is not None and self.staged in (None, self.after)):
            return False
        if self.before is None:
            fsio.remove(self.label, self.stage_folder)  # The second name that the created file kept.
            fsio.move(self.name, self.folder, self.label, self.stage_folder)
        elif self.after is None:
            fsio.add_name(self.label, self.stage_folder, self.name, self.folder)
            fsio.sync(self.folder)
            fsio.remove(self.label, self.stage_folder)
        else:
            fsio.exchanged(self.label, self.stage_folder, self.name, self.folder)
            if digest_in(self.label, self.stage_folder) != self.after:
                # Another program replaced our file at this moment: its file is the newest, so it goes back in place.
                fsio.exchanged(self.label, self.stage_folder, self.name, self.folder)
                return False
        fsio.sync(self.folder)
        return True


def sweep(stage: int) -> None:
    """Clear the stage folder, but for displaced files to which another program wrote late: these are kept."""
    for name in os.listdir(stage):
        if name.endswith(KEPT):
            continue
        label = _LABEL.fullmatch(name)
        found = digest_in(name, stage) if label is not None else None
        if label is None or not found or found[:_SHORT] in label.groups() or _has_other_name(name, stage):
            with suppress(IsADirectoryError, PermissionError):
                fsio.remove(name, stage)
        else:
            fsio.rename(name, stage, name + KEPT, stage)


def _has_other_name(name: str, folder: int) -> bool:
    """Return whether a file is in its place as well: one that was created keeps its staged name until it is synced."""
    return os.lstat(name, dir_fd=folder).st_nlink > 1


class FileStep(Step):
    """The step of a running change; the calls come in the order check, prepare, apply, verify.

    `like` is the path of a file that is moved: the created file gets its mode, attributes and time. With `adds` the
    new bytes are only added to the end of the file, and the change has no other step.
    """

    def __init__(
        self, file: FileChange, path: str, place: str, folders: Folders, like: str = "", *, adds: bool = False
    ) -> None:
        """Plan the step; nothing is read yet."""
        super().__init__(path, digest_of(file.before), digest_of(file.after), place, folders)
        self.file = file
        self._like = like
        self.adds = adds
        self._found: os.stat_result | None = None
        self._seen = ABSENT
        self.begun = False
        """Whether the file may be in its place."""

    def check(self) -> bool:
        """Return whether the file on disk is the one that the caller started from; RefusedError if it may not be
        written.
        """
        try:
            self.enter()
        except FileNotFoundError:
            return self.file.before is None
        # Root may write everywhere; for other users, a folder that its own owner closed is respected.
        if not os.access(".", os.W_OK | os.X_OK, dir_fd=self.folder, effective_ids=True):
            raise write_failed(PermissionError(13, "folder"), self.path)
        target = fsio.open_target(self.name, self.folder, self.path)
        if target is None:
            return self.file.before is None
        with reading(self.path), fsio.closing(target[0]) as source:
            self._found = os.fstat(source)
            stored = read_open(source, self.path)
        if stored is None or stored.data != self.file.before:
            return False
        self._seen = stored.version
        return True

    def prepare(self) -> None:
        """Write the new bytes on the target's file system and sync them."""
        if self.file.after is None or self.adds:
            return
        path = self._like or self.path
        parent, _, name = path.rpartition("/")
        new = f"{self.label}.new"  # A torn file must not have the name of a whole one.
        with writing(self.path), ExitStack() as opened:
            exists = self._like or self._seen.exists
            target = fsio.open_target(name, self.folders.open(parent), path) if exists else None
            found = None if target is None else target[1]
            if target is not None:
                opened.enter_context(fsio.closing(target[0]))
            staged = fsio.write_new(new, self.stage_folder, self.file.after, like=found, mode=self.file.mode)
            opened.enter_context(fsio.closing(staged))
            if target is not None:
                fsio.copy_attributes(target[0], staged)
                if self._like:
                    fsio.keep_time(target[1], staged)
            fsio.rename(new, self.stage_folder, self.label, self.stage_folder)

    def recorded(self) -> FileChange:
        """Return the file for the change log: by its path in the workspace, a removed one with its permission bits."""
        file = self.file._replace(path=self.path)
        if file.after is not None or self._found is None:
            return file
        return file._replace(mode=self._found.st_mode & 0o777)

    def apply(self) -> None:
        """Put the file in place; ConflictError when another program changed it since it was checked."""
        with writing(self.path):
            try:
                if self.adds:
                    self._append()
                    return
                self.enter()
                if not self._unchanged():
                    raise conflict(self.path)
                self.begun = True
                self.put()
            except (FileExistsError, FileNotFoundError) as error:
                self.begun = False  # The call did nothing: there is nothing to take back.
                raise conflict(self.path) from error

    def verify(self) -> None:
        """Compare the displaced file: ConflictError unless it has the bytes that were checked."""
        if not self.begun:
            return
        with reading(self.path):
            self.staged = digest_in(self.label, self.stage_folder)
        gone = self.staged is None and self.after is not None  # Files cannot be exchanged here.
        if self.before is not None and self.staged != self.before and not gone:
            raise conflict(self.path)

    def _unchanged(self) -> bool:
        try:
            return FileVersion.of(os.lstat(self.name, dir_fd=self.folder)) == self._seen
        except FileNotFoundError:
            return not self._seen.exists

    def _append(self) -> None:
        """Add the new bytes in one write and a sync, instead of replacing the file.

        A crash in the middle leaves a torn last line, which the next addition ends with a newline. ConflictError
        (crossed) where the file was changed since the check, or replaced during the write.
        """
        after = self.file.after or b""
        start = len(self.file.before or b"")
        added = after[start:]
        with fsio.closing(fsio.open_append(self.name, self.folder)) as target:
            if FileVersion.of(os.fstat(target)) != self._seen:
                raise conflict(self.path)
            fsio.append(target, added)
            version = FileVersion.of(os.fstat(target))
            named = FileVersion.of(os.lstat(self.name, dir_fd=self.folder))
            now = os.pread(target, max(version.size - start, 0) + len(added), start)
        whole = now.startswith(added) or b"\n" + added.removeprefix(b"\n") in now
        if (named.dev, named.ino) != (version.dev, version.ino) or not whole:
            raise conflict(self.path)


def conflict(*files: str) -> ConflictError:
    """Return the error for files that are not what the caller started from.

    `crossed` means that it happened during the change itself: planned again on the newer files, it may well succeed.
    """
    return ConflictError(
        "document.conflict",
        f"{', '.join(files)} was changed by another program",
        "look at it again and repeat the change",
        file=files[0],
        files=list(files),
        crossed=True,
    )


def half_done(files: list[str], cause: BaseException) -> MemdeckError:
    """Return the error for a failed change some of whose files could not be put back."""
    return MemdeckError(
        HALF_DONE,
        f"the change failed ({cause}) and {', '.join(files)} could not be put back",
        "compare these files with your last copy",
        file=files[0],
        files=files,
    )
