"""Adding to the end of a file: one write and a sync, instead of replacing the file.

A crash in the middle leaves a torn last line, which the next addition ends with a newline. If a program replaces the
file at that moment, this is detected, and the addition is planned again on what it wrote.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import write_failed

from . import fsio
from .file_step import FileStep, conflict
from .safe_open import FileVersion, Stored

if TYPE_CHECKING:
    from .changes import FileChange


class Appending(FileStep):
    """One file that grows; the calls come in the order check, append, and close at the end."""

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
            target = fsio.open_append(self._name, self._folder)
        except FileNotFoundError as error:
            raise conflict([self.shown], crossed=True) from error
        except OSError as error:
            raise write_failed(error, self.shown) from error
        try:
            if FileVersion.of(os.fstat(target)) != self._seen:
                raise conflict([self.shown], crossed=True)
            fsio.append(target, added)
            return self._look(target, after, added)
        except OSError as error:
            raise write_failed(error, self.shown) from error
        finally:
            os.close(target)

    def _look(self, target: int, after: bytes, added: bytes) -> Stored | None:
        """Check that the added bytes are in the file that now has the name."""
        version = FileVersion.of(os.fstat(target))
        try:
            named = FileVersion.of(os.lstat(self._name, dir_fd=self._folder))
        except FileNotFoundError as error:
            raise conflict([self.shown], crossed=True) from error
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
