"""A block of memdeck's lines in a text file of another program; removing it restores the original file."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory.errors import UsageError

_JOINED, _NEW = b", after a line without an end", b", a file of its own"


@dataclass(frozen=True, slots=True)
class Comment:
    """The comment syntax of the file: what precedes and follows the words of a comment line."""

    before: bytes
    behind: bytes = b""

    @property
    def begin(self) -> bytes:
        """The beginning of the first line of a block."""
        return self.before + b"memdeck begin"

    @property
    def end(self) -> bytes:
        """The last line of a block."""
        return self.before + b"memdeck end" + self.behind

    @property
    def block(self) -> re.Pattern[bytes]:
        """The pattern of a block; `how` says how it was inserted."""
        pattern = rb"^%s(?P<how>[^\r\n]*?)%s\r?\n.*?^%s(?:\r?\n|\Z)"
        return re.compile(
            pattern % tuple(map(re.escape, (self.begin, self.behind, self.end))), re.MULTILINE | re.DOTALL
        )


HASH = Comment(b"# ")
MARKUP = Comment(b"<!-- ", b" -->")


def with_block(data: bytes | None, comment: Comment, lines: list[str]) -> bytes:
    """Return a file with the block at its end, replacing an older one; None is a file to be created."""
    old = without_block(data, comment)
    kept = old or b""
    newline = b"\r\n" if b"\r\n" in kept else b"\n"
    joined = bool(kept) and not kept.endswith(b"\n")
    how = _NEW if old is None else _JOINED if joined else b""
    first = comment.begin + how + comment.behind
    block = newline.join([first, *(line.encode() for line in lines), comment.end, b""])
    return kept + (newline if joined else b"") + block


def without_block(data: bytes | None, comment: Comment) -> bytes | None:
    """Return a file without the block, byte for byte as it was before; None if the file was created for it.

    What others added around the block stays. Raises UsageError `connect.block` if only one end of it is left.
    """
    if data is None:
        return None
    found = comment.block.search(data)
    if found is None:
        if re.search(rb"^" + re.escape(comment.before) + rb"memdeck (?:begin|end)\b", data, re.MULTILINE):
            raise UsageError(
                "connect.block",
                "the lines `memdeck begin` and `memdeck end` do not belong together any more",
                "remove the rest of the block by hand",
            )
        return data
    before, after = data[: found.start()], data[found.end() :]
    if found["how"] == _JOINED and not after:
        before = before.removesuffix(b"\n").removesuffix(b"\r")
    return None if found["how"] == _NEW and not before + after else before + after


def has_block(data: bytes | None, comment: Comment) -> bool:
    """Return whether the file has the block."""
    return data is not None and comment.block.search(data) is not None
