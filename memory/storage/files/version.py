"""What a file looked like from outside when it was read, and the bytes that were in it."""

from __future__ import annotations

import os

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
