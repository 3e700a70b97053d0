"""Edits of a document: sections and entries put in, replaced and taken out, so that no part swallows another.

Blank lines before headings are kept as the file has them. What an edit puts before a heading has to end its line
and may leave no fence or HTML block open; only new nodes are scanned for that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memory.errors import UsageError

from .lines_and_headings import blank_end, ends_line, heading_end, scan, with_line_end, without_blank_end
from .nodes import Entry, Section

if TYPE_CHECKING:
    from .model import Document


def sealed(known: set[int], new: Section, *, last: bool, newline: str) -> Section:
    """Return a section whose parts cannot run together; raises `UsageError` (`document.unclosed`) for open ones.

    `last` says that nothing follows. `known` holds the identities of entries that are known to be closed.
    """
    entries = list(new.entries)
    heading, lead = new.heading, new.lead
    if (lead or entries) and not ends_line(heading):
        heading += newline.encode()
    if (entries or not last) and lead:
        if scan(lead).open_end:
            raise unclosed(new.title)
        if not ends_line(lead):
            lead += newline.encode()
    elif not entries and not last and not ends_line(heading):
        heading += newline.encode()
    for index, entry in enumerate(entries):
        if last and index == len(entries) - 1:
            continue
        if id(entry) not in known and entry.open_ended:
            raise unclosed(entry.title)
        if not ends_line(entry.raw):
            entries[index] = entry.with_raw(entry.raw + newline.encode())
    if heading == new.heading and lead == new.lead and all(a is b for a, b in zip(entries, new.entries, strict=True)):
        return new
    return Section.of(new.level, heading, lead, tuple(entries))


def closed_entries(document: Document, sections: Iterable[Section]) -> set[int]:
    """Return the identities of the entries of some sections, but for one that the document ends open in."""
    known = {id(entry) for part in sections for entry in part.entries}
    last = document.section(len(document.sections) - 1)
    if document.open_end and len(last):
        known.discard(id(last.entries[-1]))
    return known


def insert_section(document: Document, index: int, section: Section) -> Document:
    """Return the document with a section put at `index`; blank lines as the file keeps them."""
    newline, spaced = document.newline, document.spaced
    last = index == len(document.sections)
    section = sealed(set(), section, last=False, newline=newline)
    if section.open_ended:
        raise unclosed(section.title)
    if not last and spaced and not blank_end(section.raw):
        section = _extended(section, newline)
    document = closed(document, index - 1)
    before = document.section(index - 1)
    tail = before.raw if index else document.bom + document.front_raw + before.raw
    alone = index == 0 and not before.raw and not document.front_raw
    if tail and not alone and spaced and not blank_end(tail):
        document = document.trusted(index - 1, _extended(before, newline, document.front_raw))
    return document.replaced(sections=(*document.sections[:index], section, *document.sections[index:]))


def replace_entry(document: Document, section: int, entry: int, new: Entry) -> Document:
    """Return the document with one entry replaced by another version of it."""
    part = document.section(section)
    if part.entries[entry] is new:
        return document
    if section != len(document.sections) - 1 or entry != len(part) - 1:
        if new.open_ended:
            raise unclosed(new.title)
        if not ends_line(new.raw):
            new = new.with_raw(new.raw + document.newline.encode())
    return document.trusted(section, part.with_entry(entry, new))


def insert_entry(document: Document, section: int, entry: int, new: Entry) -> Document:
    """Return the document with an entry put at a place in a section; its bytes stay, blank lines apart."""
    if new.open_ended:
        raise unclosed(new.title)
    newline, spaced = document.newline, document.spaced
    if entry or not len(document.section(section)):
        document = closed(document, section, entry)
    part = document.section(section)
    lead, entries = part.lead, part.entries
    if entry == 0:
        if spaced and (part.heading or lead) and not blank_end(part.heading + lead):
            lead = with_line_end(part.heading + lead, newline)[len(part.heading) :]
    elif spaced and not blank_end(entries[entry - 1].raw):
        entries = put(entries, entry - 1, _blank_behind(entries[entry - 1], newline))
    raw = new.raw if ends_line(new.raw) else new.raw + newline.encode()
    if section == len(document.sections) - 1 and entry == len(entries):
        bare = without_blank_end(raw)
        # A blank line may be what ends an HTML block.
        raw = raw if scan(bare).open_end else bare
    elif spaced and not blank_end(raw):
        raw = with_line_end(raw, newline)
    if raw != new.raw:
        new = new.with_raw(raw)
    part = Section.of(part.level, part.heading, lead, (*entries[:entry], new, *entries[entry:]))
    return document.trusted(section, part)


def closed(document: Document, section: int, entry: int | None = None) -> Document:
    """Return the document with a line end where something will follow; refuse a place inside an open block.

    The place is before the entry `entry` of a section, or behind the whole section.
    """
    part = document.section(section)
    if section != len(document.sections) - 1 or (entry is not None and entry < len(part)):
        return document
    if document.open_end:
        raise unclosed(part.entries[-1].title if len(part) else part.title)
    return document if part.ends_line else document.trusted(section, _extended(part, document.newline))


def unclosed(title: str) -> UsageError:
    """Return the error for what would swallow the rest of the file."""
    return UsageError(
        "document.unclosed",
        f"a code fence or HTML block in {title!r} is never closed",
        "close it first, or what follows is swallowed; `memdeck check` names file and line",
    )


def put(entries: tuple[Entry, ...], index: int, new: Entry) -> tuple[Entry, ...]:
    """Return the entries with one of them replaced."""
    return (*entries[:index], new, *entries[index + 1 :])


def is_spaced(document: Document) -> bool:
    """Tell whether a file keeps a blank line before its headings; true for a file that has none yet."""
    votes = seen = 0
    for index, part in document.all_sections():
        if len(part) > 1:
            first = [blank_end(part.source(at)) for at in range(min(20, len(part) - 1))]
            votes += 2 * sum(first) - len(first)
            seen += len(first)
        if part.heading and not part.lead.strip():
            votes += 1 if part.lead else -1
            seen += 1
        end = part.source(-1) if len(part) else part.lead
        if part.heading and end.strip() and index + 1 < len(document.sections):
            votes += 1 if blank_end(end) else -1
            seen += 1
        if seen > 40:
            break
    return votes >= 0


def _blank_behind(entry: Entry, newline: str) -> Entry:
    return entry.with_raw(with_line_end(entry.raw, newline))


def _extended(part: Section, newline: str, front: bytes = b"") -> Section:
    """Return a section with one more line end behind it; `front` is what stands before an empty one."""
    if len(part):
        return part.with_entry(len(part) - 1, _blank_behind(part.entries[-1], newline))
    raw = part.heading + part.lead
    source = raw + with_line_end(raw or front, newline)[len(raw or front) :]
    split = heading_end(source) if part.heading else 0
    return Section.of(part.level, source[:split], source[split:], ())
