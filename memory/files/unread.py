"""Entries of a memory file in places that no view reads: shown as they are, so that nothing is hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .contacts.model import read_sections
from .monitors import SECTION

if TYPE_CHECKING:
    from memory.document import Document


class UnreadEntry(NamedTuple):
    """One entry, or the text of a section, that is not an item of its file; `line` from 0.

    `heading` is the title of its section, "" for none.
    """

    heading: str
    title: str
    line: int


def unread_monitors(document: Document) -> tuple[UnreadEntry, ...]:
    """Return the entries of monitors.md outside the section Monitors: they are not run."""
    known = set(document.find(SECTION))
    return tuple(
        UnreadEntry(section.title if section.heading else "", entry.title, document.line_of(index, number))
        for index, section in document.all_sections()
        if index not in known
        for number, entry in enumerate(section.entries)
    )


def unread_contacts(document: Document) -> tuple[UnreadEntry, ...]:
    """Return the entries of contacts.md, which should hold only tables and bullets, and the texts of its unknown
    sections.
    """
    known = read_sections(document)
    found: list[UnreadEntry] = []
    for index, section in document.all_sections():
        heading = section.title if section.heading else ""
        rows = [line.strip() for line in section.body.splitlines()]
        rows = [line for line in rows if line.strip("|:- ")] if index >= 0 and index not in known else []
        if rows:
            more = f" and {len(rows) - 1} more lines" if len(rows) > 1 else ""
            found.append(UnreadEntry(heading, rows[0][:100] + more, document.line_of(index)))
        for number, entry in enumerate(section.entries):
            found.append(UnreadEntry(heading, entry.title, document.line_of(index, number)))
    return tuple(found)


def unread_settings(document: Document) -> tuple[UnreadEntry, ...]:
    """Return the entries of config.md that hold no setting."""
    return tuple(
        UnreadEntry(section.title if section.heading else "", entry.title, document.line_of(index, number))
        for index, section in document.all_sections()
        for number, entry in enumerate(section.entries)
        if not len(entry.fields)
    )
