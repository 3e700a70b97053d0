"""Merge text into a Markdown file: append it, append only new lines, or replace blocks by their headings.

All three accept the bytes of the file and a text, and return bytes. Added text gets the file's line ends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from memory.document.lines import LINE_END, decode, encode, ends_line, heading_end, heading_title, newline_of, scan
from memory.document.model import BOM, front_end
from memory.errors import MemdeckError, UsageError

_HTML_ENDS = (b"-->", b"</script>", b"</pre>", b"</style>", b"</textarea>", b"?>", b"]]>", b">")


def merged(existing: bytes, content: str, dedupe: str) -> bytes:
    """Return a file's bytes with content merged into them; UsageError `typed.dedupe` for an unknown mode.

    Merging the same content again changes nothing, except with `none`, which always appends.
    """
    merge = _MODES.get(dedupe)
    if merge is None:
        raise UsageError("typed.dedupe", f"there is no way to merge called {dedupe!r}", f"use {', '.join(_MODES)}")
    newline = "\r\n" if newline_of(existing, newline_of(encode(content))) == "\r\n" else "\n"
    return merge(existing, content.replace("\r\n", "\n").replace("\n", newline), newline)


def appended(existing: bytes, content: str, newline: str) -> bytes:
    """Append content after exactly one newline: the file's own, or a new one where its last line has none.

    The file's bytes stay as they are; newlines at the start of the content are dropped, and content of newlines alone
    changes nothing.
    """
    text = encode(content)
    bare = text.lstrip(b"\r\n")
    if not bare:
        return existing
    if not existing.removeprefix(BOM):
        return existing + text
    return existing + (b"" if ends_line(existing) else newline.encode()) + bare


def lines_added(existing: bytes, content: str, newline: str) -> bytes:
    """Append the lines whose exact text is not yet in the file and not earlier in the same content.

    Blank lines separate the kept lines. One with nothing left to separate is dropped; where lines between blank lines
    were left out, only one blank line stays; where the file and the content meet there are never two in a row.
    """
    lines = _lines(decode(existing))
    known = set(lines)
    empty = not existing.removeprefix(BOM)
    blank_end = empty or (len(lines) > 1 and not lines[-1].strip() and not lines[-2].strip())
    added: list[str] = []
    blank, skipped = 0, False
    for line in _lines(content):
        if not line.strip():
            blank += 1
        elif line in known:
            skipped = True
        else:
            if blank and not added:
                blank = 0 if blank_end else 1
            added += [""] * (min(blank, 1) if skipped else blank)
            added.append(line)
            known.add(line)
            blank, skipped = 0, False
    if not added:
        return existing
    joint = b"" if empty or ends_line(existing) else newline.encode()
    return existing + joint + encode("".join(line + newline for line in added))


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.split("\n")]


# -- blocks -----------------------------------------------------------------------------------------------------


class _Block(NamedTuple):
    """A piece of a file: the text before the first `##` (level 0), a `##` block, or a `#` part after one."""

    level: int
    title: str
    raw: bytes


def blocks_replaced(existing: bytes, content: str, newline: str) -> bytes:
    """Replace each block whose `##` heading the content also has, and append the other blocks in their order.

    A block ends at the next heading of level 1 or 2. Headings in code fences and HTML blocks do not count, and titles
    are compared trimmed and with case. Of several equal headings in the file the first is replaced and the rest are
    removed. Text before the first `##` of the content is added to the file's own, unless the file has it already. A
    fence that is left open is closed.

    Raises UsageError `typed.headings` for a heading that occurs twice in the content, because it is unclear which block
    counts; and MemdeckError `typed.merge` where the result would not have the expected headings.
    """
    end = newline.encode()
    head, *blocks = _split(existing)
    # Only the last block of a text can be left open: it would hide the headings after it.
    preamble, *coming = _split(close_end(encode(content), newline))
    _refuse_equal(coming)
    result = [_with_text(head, _trimmed(preamble.raw), newline, last=not blocks)]
    newest = {block.title: block for block in coming if block.level == 2}
    placed: set[str] = set()
    for block in blocks:
        if block.level != 2 or block.title not in newest:
            result.append(block)
        elif block.title not in placed:
            placed.add(block.title)
            result.append(block._replace(raw=_cut(newest[block.title].raw) + _tail(block.raw)))
    for block in coming:
        is_there = _contains(b"".join(one.raw for one in result), block.raw) if block.level == 1 else False
        if is_there or (block.level == 2 and block.title in placed):
            continue
        before = close_end(result[-1].raw, newline)
        if before.removeprefix(BOM).strip():
            tail = _tail(before)
            tail = tail if len(LINE_END.findall(tail)) > 1 else end + end
            result[-1] = result[-1]._replace(raw=_cut(before) + tail)
        result.append(block._replace(raw=_cut(block.raw) + end))
    made = b"".join(block.raw for block in result)
    if _split(made) != result:
        raise MemdeckError(
            "typed.merge",
            "merged by blocks, text of one block would change which headings the file has",
            "close the code fences and HTML blocks of both, or append instead",
        )
    return made


def _refuse_equal(coming: Sequence[_Block]) -> None:
    """Raise UsageError `typed.headings` where two blocks have the same heading."""
    counts = Counter(block.title for block in coming if block.level == 2)
    twice = [title for title, count in counts.items() if count > 1]
    if twice:
        raise UsageError(
            "typed.headings",
            f"the content has the heading {'## ' + twice[0][:60]!r} {counts[twice[0]]} times",
            "write one block of each heading, or append with the mode none",
            headings=twice,
        )


def _split(data: bytes) -> list[_Block]:
    """Return the text before the first `##`, then the blocks; joined they are the original bytes."""
    outline = scan(data, _start(data))
    marks = [(at, level) for at, level in zip(outline.starts, outline.levels, strict=True) if level <= 2]
    while marks and marks[0][1] == 1:
        del marks[0]
    ends = [*(at for at, _ in marks), len(data)]
    blocks = [_Block(0, "", data[: ends[0]])]
    for (at, level), end in zip(marks, ends[1:], strict=True):
        raw = data[at:end]
        blocks.append(_Block(level, heading_title(decode(raw[: heading_end(raw)]).rstrip("\r\n")), raw))
    return blocks


def _start(data: bytes) -> int:
    return front_end(data, len(BOM) if data.startswith(BOM) else 0)


def _with_text(head: _Block, text: bytes, newline: str, *, last: bool) -> _Block:
    """Return the text before the first block with more text appended, unless it contains that already."""
    text = _trimmed(text.removeprefix(BOM))
    if not text or _contains(head.raw, text):
        return head
    end, tail = newline.encode(), _tail(head.raw)
    if head.raw.removeprefix(BOM).strip():
        raw = _cut(close_end(head.raw, newline)) + end + end + text
    else:
        raw, tail = head.raw + (b"" if ends_line(head.raw.removeprefix(BOM)) else end) + text, b""
    if len(LINE_END.findall(tail)) <= (not last):
        tail = end if last else end + end
    return head._replace(raw=_cut(raw) + tail)


def _tail(raw: bytes) -> bytes:
    """Return the last line end of a source and the blank lines behind it."""
    return raw[len(_cut(raw)) :]


def _cut(raw: bytes) -> bytes:
    """Return a source without its last line end and the blank lines behind it."""
    stripped = raw.rstrip(b" \t\r\n")
    found = LINE_END.search(raw, len(stripped))
    return raw[: found.start()] if stripped and found else raw if stripped else b""


def _trimmed(raw: bytes) -> bytes:
    """Return a source without blank lines at its start and end; the last line has no line end."""
    return re.sub(rb"\A(?:[ \t]*(?:\r\n|\n|\r))+", b"", _cut(raw))


def close_end(data: bytes, newline: str) -> bytes:
    """Return a source to which a heading can be appended: a fence or HTML block open at its end is closed."""
    if not _is_open(data):
        return data
    end = newline.encode()
    longest = {mark: max(map(len, re.findall(mark + b"{3,}", data)), default=3) for mark in (b"`", b"~")}
    closers = (b"", *(mark * length for mark, length in longest.items()), *_HTML_ENDS)
    before = data + (b"" if ends_line(data) else end)
    return next((made for mark in closers if not _is_open(made := before + mark + end)), data)


def _is_open(raw: bytes) -> bool:
    return scan(raw, _start(raw)).open_end


def _contains(data: bytes, text: bytes) -> bool:
    """Return whether a source contains some lines one after the other, with any line ends."""
    return b"\n" + _plain(_trimmed(text)) + b"\n" in b"\n" + _plain(data.removeprefix(BOM)) + b"\n"


def _plain(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


_MODES: dict[str, Callable[[bytes, str, str], bytes]] = {
    "none": appended,
    "line_hash": lines_added,
    "section_replace": blocks_replaced,
}
