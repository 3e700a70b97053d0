"""What is wrong with the structure of a document, whatever kind of memory file it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .fields import Fields, count_lines, read_bullets
from .nodes import count_line_ends

if TYPE_CHECKING:
    from .model import Document
    from .nodes import Block

_MARKERS = re.compile(rb"^(?:<{7} [^\r\n]*|={7}|>{7} [^\r\n]*)\r?$", re.MULTILINE)
_MEANT = re.compile(r"[*+] +[A-Za-z][A-Za-z0-9_-]*: |- ?[A-Za-z][A-Za-z0-9_-]*:[^\s/]")
_MEANT_QUICK = re.compile(r"^(?:[*+] +[A-Za-z]|-[A-Za-z]|- +[A-Za-z][A-Za-z0-9_-]*:[^\s/])", re.MULTILINE)


def structure_problems(document: Document) -> list[tuple[int, str, str]]:
    """Return (line from 0, code, sentence) for every finding, in line order."""
    data = document.dump()
    found = [*_encoding(data), *_front(document, data), *_conflicts(data), *_places(document)]
    for index, section in document.all_sections():
        base = document.line_of(index)
        found.extend(_fields(section, base + (1 if section.heading else 0)))
        lines = section.entry_lines()
        for number, entry in enumerate(section.entries):
            found.extend(_fields(entry, base + lines[number] + 1))
    return sorted(found, key=lambda problem: problem[0])


def has_conflict_markers(document: Document) -> bool:
    """Tell whether git's conflict markers stand in the file: it is shown, but not written."""
    data = document.dump()
    return b"<<<<<<< " in data and b">>>>>>> " in data and len(_MARKERS.findall(data)) >= 3


def _line(data: bytes, offset: int) -> int:
    return count_line_ends(data[:offset])


def _encoding(data: bytes) -> list[tuple[int, str, str]]:
    found: list[tuple[int, str, str]] = []
    offset = 0
    while len(found) < 20:
        try:
            data[offset:].decode("utf-8")
        except UnicodeDecodeError as error:
            at = offset + error.start
            line = _line(data, at)
            if not found or found[-1][0] != line:
                found.append((line, "document.encoding", f"byte 0x{data[at]:02x} is not UTF-8; it is kept as it is"))
            offset += error.end
            continue
        break
    if b"\0" in data:
        found.append((_line(data, data.index(b"\0")), "document.nul", "a NUL byte stands in the text; it is kept"))
    return found


def _front(document: Document, data: bytes) -> list[tuple[int, str, str]]:
    if document.front_raw:
        return list(document.meta.problems)
    start = data[len(document.bom) : len(document.bom) + 5]
    if start.startswith((b"---\n", b"---\r")) or start == b"---":
        return [(0, "front.unclosed", "the front matter is never closed, so it is read as text")]
    return []


def _conflicts(data: bytes) -> list[tuple[int, str, str]]:
    marks = list(_MARKERS.finditer(data))
    if len(marks) < 3 or not any(mark.group().startswith(b"<") for mark in marks):
        return []
    line = _line(data, next(mark.start() for mark in marks if mark.group().startswith(b"<")))
    return [
        (
            line,
            "document.conflict_markers",
            "git's conflict markers are in the file; resolve them, memdeck only reads it",
        )
    ]


def _places(document: Document) -> list[tuple[int, str, str]]:
    found = [
        (
            document.line_of(-1, index),
            "document.loose_entry",
            f"the entry {entry.title!r} stands before any section",
        )
        for index, entry in enumerate(document.head.entries)
    ]
    names: dict[str, int] = {}
    for index, section in enumerate(document.sections):
        if section.level == 2 and section.name in names:
            line = names[section.name] + 1
            found.append(
                (
                    document.line_of(index),
                    "document.twin_section",
                    f"the section {section.title!r} stands in line {line} too",
                )
            )
        names.setdefault(section.name, document.line_of(index))
    if document.open_end:
        last = document.section(len(document.sections) - 1)
        at = document.line_of(len(document.sections) - 1, len(last) - 1 if len(last) else None)
        found.append(
            (
                at,
                "document.unclosed",
                "a code fence or HTML block is never closed: it swallows the rest of the file",
            )
        )
    return found


def _fields(block: Block, line: int) -> list[tuple[int, str, str]]:
    body = block.body
    found: list[tuple[int, str, str]] = []
    fields = block.fields if isinstance(block.fields, Fields) else Fields(body)
    if _has_twins(body, fields):
        seen: set[str] = set()
        for node in fields.nodes:
            if node.key in seen:
                found.append(
                    (
                        line + node.line,
                        "field.twice",
                        f"the field {node.key!r} stands twice; the first counts",
                    )
                )
            seen.add(node.key)
    if _MEANT_QUICK.search(body) is not None:
        for bullet in read_bullets(body):
            source = body[bullet.start : bullet.end]
            if _MEANT.match(source) is not None and bullet.marker != "-":
                found.append(
                    (
                        line + bullet.line,
                        "field.bullet",
                        f"{source.strip()[:40]!r} is text; a field begins with a dash",
                    )
                )
        for number, source in _tight(body):
            found.append(
                (
                    line + number,
                    "field.space",
                    f"{source.strip()[:40]!r} is text; a space belongs behind the colon",
                )
            )
    return found


def _has_twins(body: str, fields: Fields) -> bool:
    return body.count("\n- ") + body.startswith("- ") > len(fields) and len(fields.nodes) > len(fields)


def _tight(body: str) -> list[tuple[int, str]]:
    """Return lines such as `- key:value` and `-key: value`, where a field was likely meant."""
    pattern = re.compile(
        r"^(?:- +[A-Za-z][A-Za-z0-9_-]*:[^\s/:][^\r\n]*|-[A-Za-z][A-Za-z0-9_-]*: [^\r\n]*)", re.MULTILINE
    )
    return [(count_lines(body, match.start()), match.group()) for match in pattern.finditer(body)]
