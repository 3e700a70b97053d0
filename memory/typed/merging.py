"""Merge text into a Markdown file: append it, append only new lines, or replace blocks by their headings.

All three accept the bytes of the file and a text, and return bytes. Added text gets the file's line ends. A block is a
section of `memory.document`: a heading of level 1 or 2 with everything up to the next one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from memory.document import Document, Section, parse
from memory.document.lines import decode, encode, ends_line, heading_line, newline_of, without_blank_end
from memory.document.model import BOM
from memory.errors import UsageError


def merged(existing: bytes, content: str, dedupe: str) -> bytes:
    """Return a file's bytes with content merged into them; UsageError `typed.dedupe` for an unknown mode.

    Merging the same content again changes nothing, except with `none`, which always appends.
    """
    merge = _MODES.get(dedupe)
    if merge is None:
        raise UsageError("typed.dedupe", f"no merge mode is called {dedupe!r}", f"use {', '.join(_MODES)}")
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
    """Replace each block whose heading the content also has, and append the other blocks in their order.

    Headings in code fences and HTML blocks do not count, and titles are compared trimmed and with case. Of several
    equal headings in the file the first is replaced and the rest are removed. Text before the first `##` of the content
    is added to the file's own, unless the file has it already.

    Raises UsageError `typed.headings` for a heading that occurs twice in the content, because it is unclear which block
    counts, and `document.unclosed` where an open fence or HTML block would swallow what follows it.
    """
    data = encode(content).removeprefix(BOM)
    blocks = _from_first_block(parse(data))
    twice = [title for (_, title), count in Counter(map(_name, blocks)).items() if count > 1]
    if twice:
        raise UsageError(
            "typed.headings",
            f"the content has the heading {'## ' + twice[0][:60]!r} more than once",
            "write one block of each heading, or append with the mode none",
            headings=twice,
        )
    preamble = data[: len(data) - sum(len(block.raw) for block in blocks)].strip(b"\r\n")
    document = parse(_with_text(existing, preamble, newline.encode()))
    for block in blocks:
        same = [at for at, one in enumerate(document.sections) if _name(one) == _name(block)]
        for at in reversed(same[1:]):
            document = document.remove_section(at)
        if same:
            document = document.with_section(same[0], in_place_of(document.section(same[0]), block))
        else:
            document = document.insert_section(len(document.sections), block)
    return document.dump()


def _name(block: Section) -> tuple[int, str]:
    return block.level, block.title


def _from_first_block(document: Document) -> Sequence[Section]:
    """Return the sections from the first `##` on."""
    sections = document.sections
    return sections[next((at for at, one in enumerate(sections) if one.level == 2), len(sections)) :]


def _with_text(existing: bytes, text: bytes, end: bytes) -> bytes:
    """Return a file with a text added before its first `##`, unless that part has these lines already."""
    document = parse(existing)
    blocks = _from_first_block(document)
    size = len(existing) - sum(len(block.raw) for block in blocks)
    top, rest = existing[:size], existing[size:]
    if not text.strip() or end + text + end in end + top.removeprefix(BOM) + end:
        return existing
    above = top.rstrip(b"\r\n") + end + end if top.removeprefix(BOM).strip() else top
    made = above + text + end + (end + rest if rest else b"")
    if len(_from_first_block(parse(made))) != len(blocks):
        raise UsageError(
            "document.unclosed",
            "a code fence or HTML block before the first ## is never closed",
            "close it, or it swallows the following text",
        )
    return made


def in_place_of(old: Section, new: Section) -> Section:
    """Return a section with the blank lines at the end of the one that it replaces."""
    raw = _without_end(new.raw) + old.raw[len(_without_end(old.raw)) :]
    return parse(raw).sections[0]


def _without_end(raw: bytes) -> bytes:
    return without_blank_end(raw).rstrip(b"\r\n")


def with_blocks(data: bytes, blocks: Iterable[bytes]) -> bytes:
    """Return a file with blocks added at its end, with its line ends and its style of blank lines.

    UsageError `document.unclosed` where the file ends inside a code fence or an HTML block.
    """
    document = parse(data)
    for block in blocks:
        (section,) = parse(block.replace(b"\n", document.newline.encode())).sections
        document = document.insert_section(len(document.sections), section)
    return document.dump()


def block_of(title: str, body: str, code: str) -> bytes:
    """Return a `##` block; UsageError with the code where it would not be read back as one block."""
    raw = encode(f"{heading_line(title, 2)}\n{body}")
    if section_of(raw, code).title != title:
        raise UsageError(code, "its title would be read as another one", "fix it there")
    return raw


def section_of(raw: bytes, code: str) -> Section:
    """Return the one section that a text is; UsageError with the code for any other text."""
    if b"\0" in raw:
        raise UsageError(code, "a NUL in it would make the file unreadable as text", "leave it out")
    document = parse(raw)
    if len(document.sections) != 1 or document.open_end or document.head.raw or document.front_raw:
        raise UsageError(code, "its title or text holds a heading, or leaves a fence open", "use ### for headings")
    return document.sections[0]


_MODES: dict[str, Callable[[bytes, str, str], bytes]] = {
    "none": appended,
    "line_hash": lines_added,
    "section_replace": blocks_replaced,
}
