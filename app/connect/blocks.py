"""A block of lines of our own in a text file of another program; taking it away gives back the file as it was."""

from __future__ import annotations

import re

from memory.errors import UsageError

_BEGIN, _END = b"# memdeck begin", b"# memdeck end"
_JOINED, _NEW = b", after a line without an end", b", a file of its own"
_BLOCK = re.compile(
    rb"^" + re.escape(_BEGIN) + rb"(?P<how>[^\r\n]*)\r?\n.*?^" + re.escape(_END) + rb"(?:\r?\n|\Z)",
    re.MULTILINE | re.DOTALL,
)


def with_block(data: bytes | None, lines: list[str]) -> bytes:
    """Return a file with the block at its end, or in the place where it is already; None is a file to be made."""
    old = without_block(data)
    kept = old or b""
    newline = b"\r\n" if b"\r\n" in kept else b"\n"
    joined = bool(kept) and not kept.endswith(b"\n")
    how = _NEW if old is None else _JOINED if joined else b""
    block = newline.join([_BEGIN + how, *(line.encode() for line in lines), _END, b""])
    return kept + (newline if joined else b"") + block


def without_block(data: bytes | None) -> bytes | None:
    """Return a file without the block, byte for byte as it was before; None where the file was made for it.

    What somebody added around the block stays. Raises UsageError `connect.block` where only one end of it is left.
    """
    if data is None:
        return None
    found = _BLOCK.search(data)
    if found is None:
        if re.search(rb"^# memdeck (?:begin|end)\b", data, re.MULTILINE):
            raise UsageError(
                "connect.block",
                "the lines `# memdeck begin` and `# memdeck end` do not belong together any more",
                "remove the rest of the block by hand",
            )
        return data
    before, after = data[: found.start()], data[found.end() :]
    if found["how"] == _JOINED and not after:
        before = before.removesuffix(b"\n").removesuffix(b"\r")
    return None if found["how"] == _NEW and not before + after else before + after


def has_block(data: bytes | None) -> bool:
    """Tell whether the file has the block."""
    return data is not None and _BLOCK.search(data) is not None
