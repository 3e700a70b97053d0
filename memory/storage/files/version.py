"""What a file looked like from outside when it was read, the bytes that were in it, and how it is recognised again.

After a crash a file is recognised by its inode, or by its bytes where the inode is another.
"""

from __future__ import annotations

import os
import stat as st
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from memory.named_tuple import NamedTuple


class FileVersion(NamedTuple):
    """The stat values that change when a file's bytes do; equal versions mean equal bytes, once settled.

    `size` is in bytes, `mtime_ns` and `ctime_ns` in nanoseconds since 1970 UTC.
    """

    dev: int
    ino: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @property
    def exists(self) -> bool:
        """Whether there was a file."""
        return self.size >= 0

    @classmethod
    def of(cls, stat: os.stat_result) -> FileVersion:
        """Take the version out of a stat result."""
        return cls(stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)

    def settled(self, at_ns: int) -> bool:
        """Whether a write after `at_ns` (nanoseconds since 1970) must have changed this version.

        File systems stamp with the kernel's tick, up to 10 ms coarse: two writes within one tick can look the
        same. Only the ctime counts: no program can set it.
        """
        return at_ns - self.ctime_ns > 20_000_000


ABSENT = FileVersion(0, 0, -1, 0, 0)
"""The version of a file that is not there."""

UNKNOWN = FileVersion(0, 0, -2, 0, 0)
"""The version of a file that cannot be looked at; it equals no version that was ever read."""


class Stored(NamedTuple):
    """The bytes of a file and the version they belong to; `b""` and `ABSENT` where there is no file."""

    data: bytes
    version: FileVersion

    @property
    def exists(self) -> bool:
        """Whether there was a file."""
        return self.version.exists

    @property
    def base(self) -> bytes | None:
        """What `Transaction.write` takes as `base`: the bytes, or None where there is no file."""
        return self.data if self.version.exists else None


MISSING = Stored(b"", ABSENT)
"""What reading a file that is not there gives."""


_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class Mark(NamedTuple):
    """One file's bytes: `size` in bytes, times in nanoseconds since 1970 UTC, `digest` SHA-256 in hex or "".

    `ctime_ns` is 0 where renaming may still change it.
    """

    ino: int
    size: int
    mtime_ns: int
    ctime_ns: int = 0
    digest: str = ""

    @classmethod
    def of(
        cls, found: os.stat_result, *, ctime: bool = False, data: bytes | None = None, sha256: bytes | None = None
    ) -> Mark:
        """Take the mark of a stat result; with its bytes, it is recognised on another disk too.

        `sha256` is that of the bytes, where it is known already.
        """
        stamp = found.st_ctime_ns if ctime else 0
        seen = "" if data is None else sha256.hex() if sha256 is not None else digest(data)
        return cls(found.st_ino, found.st_size, found.st_mtime_ns, stamp, seen)

    def same(self, found: os.stat_result) -> bool:
        """Whether a file is the one that was marked and nobody wrote to it since."""
        if (found.st_ino, found.st_size, found.st_mtime_ns) != (self.ino, self.size, self.mtime_ns):
            return False
        return self.ctime_ns in (0, found.st_ctime_ns)

    def fits(self, name: str, folder: int, found: os.stat_result) -> bool:
        """Whether a file holds the marked bytes; it is only read when its inode is another one."""
        if self.same(found):
            return True
        if not self.digest or found.st_size != self.size:
            return False
        try:
            fd = os.open(name, _LOOK, dir_fd=folder)
        except OSError:
            return False
        try:
            with open(fd, "rb", closefd=False) as file:
                return digest(file.read(self.size + 1)) == self.digest
        finally:
            os.close(fd)


def look(name: str, folder: int) -> os.stat_result | None:
    """Return what stands under a name, None where there is nothing."""
    if folder < 0:
        return None
    try:
        return os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return None


def ours(found: os.stat_result) -> bool:
    """Whether a file is one that a transaction could have put there: regular, with our owner."""
    return st.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()


def digest(data: bytes) -> str:
    """Return the SHA-256 of some bytes in hex."""
    digits: str = sha256(data).hexdigest()
    return digits


_LITTLE = 1 << 18


def sha256(data: bytes) -> Any:
    """Return the hash object of some bytes.

    `hashlib` is quicker, but takes as long to import as the interpreter's own function takes for a few.
    """
    return _light()(data) if len(data) <= _LITTLE and "hashlib" not in sys.modules else _fast(data)


def _fast(data: bytes) -> Any:
    from hashlib import sha256

    return sha256(data)


@cache
def _light() -> Callable[[bytes], Any]:
    """Return the interpreter's own function; it moved to another module with Python 3.12."""
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:
        return _fast
    made: Callable[[bytes], Any] = sha256
    return made
