"""Merge text into a Markdown file: append it, append only new lines, or replace blocks by their headings.

All three accept the bytes of the file and a text, and return bytes. Added text gets the file's line ends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memory.document.lines import (
    LINE_END,
    decode,
    encode,
    ends_line,
    heading_end,
    heading_title,
    newline_of,
    scan,
)
from memory.document.model import BOM, front_end
from memory.errors import MemdeckError, UsageError


def merged(existing: bytes, content: str, dedupe: str) -> bytes:
    """Return a file's bytes with content merged into them; UsageError `typed.dedupe` for an unknown mode.

    Merging the same content again changes nothing, except with `none`, which always appends.
    """
    merge = _MODES.get(dedupe)
    if merge is None:
        raise UsageError("typed.dedupe", f"there is no way to merge called {dedupe!r}", f"use {', '.join(_MODES)}")
    newline = "\r\n" if newline_of(existing, newline_of(encode(content))) == "\r\n" else "\n"
    content = content.replace("\r\n", "\n").replace("\n", newline)
    return merge(existing, content, newline)


def appended(existing: bytes, content: str, newline: str) -> bytes:
    """Append content after exactly one newline: the file's own, or a new one where its last line has none.

    The file's bytes stay as they are, including blank lines at its end; newlines at the start of the content are
    dropped. Nothing is put between where the file is empty, and content of newlines alone changes nothing.
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
    were left out, only one blank line stays; where the file and the content meet there are never two in a row. The
    file's own lines stay as they are.
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
            if blank:
                if not added:
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


@dataclass(frozen=True, slots=True)
class _Block:
    """A piece of a file: the text before the first `##` (level 0), a `##` block, or a `#` part after one."""

    level: int
    title: str
    raw: bytes


def blocks_replaced(existing: bytes, content: str, newline: str) -> bytes:
    """Replace each block whose `##` heading the content also has, and append the other blocks in their order.

    A block ends at the next heading of level 1 or 2. Headings in code fences and HTML blocks do not count, and titles
    are compared trimmed and with case. Of several equal headings in the file the first is replaced and the rest are
    removed. Text before the first `##` of the content is added to the file's own, unless it is there already. A fence
    that the content leaves open is closed.

    Raises UsageError `typed.headings` for a heading that occurs twice in the content, because it is unclear which block
    counts; and MemdeckError `typed.merge` where the result would not have the expected headings.
    """
    blocks = _split(existing)
    head, *coming = _split(encode(content))
    _refuse_equal(coming)
    blocks[0] = _with_text(blocks[0], head.raw, newline, last=len(blocks) == 1)
    newest = {block.title: block for block in coming if block.level == 2}
    placed: set[str] = set()
    result: list[_Block] = []
    for block in blocks:
        if block.level != 2 or block.title not in newest:
            result.append(block)
        elif block.title not in placed:
            placed.add(block.title)
            result.append(_in_place(block, newest[block.title], newline))
    for block in coming:
        if block.level == 2:
            if block.title in placed:
                continue
            placed.add(block.title)
        elif _contains(b"".join(one.raw for one in result), block.raw):
            continue
        result[-1] = _followed(result[-1], newline)
        result.append(_in_place(_Block(2, "", newline.encode()), block, newline))
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
        shown = twice[0] if len(twice[0]) <= 60 else twice[0][:59] + "…"
        raise UsageError(
            "typed.headings",
            f"the content has the heading {'## ' + shown!r} {counts[twice[0]]} times",
            "write one block of each heading, or append with the mode none",
            headings=twice,
        )


def _split(data: bytes) -> list[_Block]:
    """Return the text before the first `##`, then the blocks; joined they are the original bytes."""
    start = front_end(data, len(BOM) if data.startswith(BOM) else 0)
    outline = scan(data, start)
    marks = [(at, level) for at, level in zip(outline.starts, outline.levels, strict=True) if level <= 2]
    while marks and marks[0][1] == 1:
        del marks[0]
    ends = [*(at for at, _ in marks[1:]), len(data)][: len(marks)]
    blocks = [_Block(0, "", data[: marks[0][0] if marks else len(data)])]
    for (at, level), end in zip(marks, ends, strict=True):
        raw = data[at:end]
        blocks.append(_Block(level, heading_title(decode(raw[: heading_end(raw)]).rstrip("\r\n")), raw))
    return blocks


def _with_text(head: _Block, text: bytes, newline: str, *, last: bool) -> _Block:
    """Return the text before the first block with more text appended, unless it contains that already."""
    while (bare := _trimmed(text).removeprefix(BOM)) != text:
        text = bare
    if not text or _contains(head.raw, text):
        return head
    body, tail = _cut(head.raw)
    end = newline.encode()
    if body.removeprefix(BOM):
        body = _closed(body, end, newline) + end + end
    else:
        body, tail = head.raw + (b"" if ends_line(head.raw.removeprefix(BOM)) else end), b""
    raw = body + text
    tail = tail if tail.count(b"\n") + tail.count(b"\r") > (0 if last else 1) else end if last else end + end
    return replace(head, raw=_closed(raw, tail, newline) + tail)


def _in_place(old: _Block, new: _Block, newline: str) -> _Block:
    """Return a new block with the blank lines at the end of the old one."""
    tail = _cut(old.raw)[1]
    body = _trimmed(new.raw)
    if not tail and _is_open(body):
        tail = newline.encode()
    return replace(new, raw=_closed(body, tail, newline) + tail)


def _followed(block: _Block, newline: str) -> _Block:
    """Return a block after which a heading can follow: nothing is open, and it ends with a blank line."""
    body, tail = _cut(block.raw)
    if not body.removeprefix(BOM):
        return block
    end = newline.encode()
    if len(LINE_END.findall(tail)) < 2:
        tail = end + end
    return replace(block, raw=_closed(body, tail, newline) + tail)


def _cut(raw: bytes) -> tuple[bytes, bytes]:
    """Return a source without its last line end and blank lines, and those as the second part."""
    stripped = raw.rstrip(b" \t\r\n")
    found = LINE_END.search(raw, len(stripped))
    at = found.start() if found else len(raw)
    if not stripped:
        return b"", raw
    return raw[:at], raw[at:]


def _trimmed(raw: bytes) -> bytes:
    """Return a source without blank lines at its start and end; the last line has no line end."""
    body = _cut(raw)[0]
    return re.sub(rb"\A(?:[ \t]*(?:\r\n|\n|\r))+", b"", body)


def _closed(body: bytes, tail: bytes, newline: str) -> bytes:
    """Return a body with the end of a fence or HTML block added where it would still be open before the tail."""
    if not _is_open(body + tail):
        return body
    end = newline.encode()
    longest = {mark: max(map(len, re.findall(mark + b"{3,}", body)), default=3) for mark in (b"`", b"~")}
    closers = (b"", *(mark * length for mark, length in longest.items()), *_HTML_ENDS)
    for closer in closers:
        closed = body + end + closer
        if not _is_open(closed + tail):
            return closed
    return body


def close_end(data: bytes, newline: str) -> bytes:
    """Return a source to which a heading can be appended: a fence or HTML block open at its end is closed."""
    return _closed(data, b"", newline) + newline.encode() if _is_open(data) else data


def _is_open(raw: bytes) -> bool:
    return scan(raw, front_end(raw, len(BOM) if raw.startswith(BOM) else 0)).open_end


_HTML_ENDS = (b"-->", b"</script>", b"</pre>", b"</style>", b"</textarea>", b"?>", b"]]>", b">")


def _contains(data: bytes, text: bytes) -> bool:
    """Return whether a source contains some lines one after the other, whatever the line ends."""
    return b"\n" + _plain(_trimmed(text)) + b"\n" in b"\n" + _plain(data.removeprefix(BOM)) + b"\n"


def _plain(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


_MODES: dict[str, Callable[[bytes, str, str], bytes]] = {
    "none": appended,
    "line_hash": lines_added,
    "section_replace": blocks_replaced,
}
