"""Merge text into a Markdown file: append it, append only new lines, or replace blocks by their headings.

All three accept the bytes of the file and a text, and return bytes. Added text gets the file's line ends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from memory.document import parse
from memory.document.lines import LINE_END, decode, encode, ends_line, newline_of, scan
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


def blocks_replaced(existing: bytes, content: str, newline: str) -> bytes:
    """Replace each block whose `##` heading the content also has, and append the other blocks in their order.

    A block ends at the next heading of level 1 or 2. Headings in code fences and HTML blocks do not count, and titles
    are compared trimmed and with case. Of several equal headings in the file the first is replaced and the rest are
    removed. Text before the first `##` of the content is added to the file's own, unless the file has it already. A
    fence that is left open is closed.

    Raises UsageError `typed.headings` for a heading that occurs twice in the content, because it is unclear which block
    counts; and MemdeckError `typed.merge` where the result would not have the expected headings.
    """
    # Only the last block of a text can be left open: it would hide the headings after it.
    (_, preamble), *coming = _parts(close_end(encode(content), newline))
    _refuse_equal(coming)
    (_, top), *blocks = _parts(existing)
    newest = {title: _cut(raw) for title, raw in coming if title is not None}
    placed: dict[str | None, bytes] = {}
    made: list[_Part] = [(None, _with_text(top, _trimmed(preamble), newline, last=not blocks))]
    for title, raw in blocks:
        if title is None or title not in newest:
            made.append((title, raw))
        elif title not in placed:
            placed[title] = newest[title] + raw[len(_cut(raw)) :]
            made.append((title, placed[title]))
    data = b"".join(raw for _, raw in made)
    titles = [title for title, _ in made]
    for title, raw in coming:
        if title not in placed if title is not None else not _contains(data, raw):
            data = behind(data, [_cut(raw) + newline.encode()])
            titles.append(title)
    if [title for title, _ in _parts(data)] != titles:
        raise MemdeckError(
            "typed.merge",
            "merged by blocks, text of one block would change which headings the file has",
            "close the code fences and HTML blocks of both, or append instead",
        )
    return data


_Part = tuple["str | None", bytes]
"""The title and the source of a `##` block; other text has no title."""


def _refuse_equal(coming: Sequence[_Part]) -> None:
    """Raise UsageError `typed.headings` where two blocks have the same heading."""
    counts = Counter(title for title, _ in coming if title is not None)
    twice = [title for title, count in counts.items() if count > 1]
    if twice:
        raise UsageError(
            "typed.headings",
            f"the content has the heading {'## ' + twice[0][:60]!r} {counts[twice[0]]} times",
            "write one block of each heading, or append with the mode none",
            headings=twice,
        )


def _parts(data: bytes) -> list[_Part]:
    """Return the text before the first `##`, then the blocks and `#` parts; joined they are the original bytes."""
    sections = parse(data).sections
    first = next((at for at, section in enumerate(sections) if section.level == 2), len(sections))
    top = len(data) - sum(len(section.raw) for section in sections[first:])
    blocks = [(section.title if section.level == 2 else None, section.raw) for section in sections[first:]]
    return [(None, data[:top]), *blocks]


def _with_text(top: bytes, text: bytes, newline: str, *, last: bool) -> bytes:
    """Return the text before the first block with more text appended, unless it contains that already."""
    text = text.removeprefix(BOM)
    if not text or _contains(top, text):
        return top
    end = newline.encode()
    if top.removeprefix(BOM).strip():
        return behind(top, [text]) + (end if last else end + end)
    return top + (b"" if ends_line(top.removeprefix(BOM)) else end) + text + (end if last else end + end)


def behind(data: bytes, blocks: Sequence[bytes]) -> bytes:
    """Return a file with blocks appended, a blank line before each, with the file's own line ends.

    A code fence or HTML block that the file leaves open would swallow them, so it is closed first.
    """
    newline = newline_of(data) if data else "\n"
    text = b"\n".join(blocks)
    if newline != "\n":
        text = encode(decode(text).replace("\r\n", "\n").replace("\n", newline))
    data = close_end(data, newline)
    return data.rstrip(b"\r\n") + newline.encode() * 2 + text if data.strip() else text


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
    return scan(raw, front_end(raw, len(BOM) if raw.startswith(BOM) else 0)).open_end


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
