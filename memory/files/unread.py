"""Entries of a memory file that stand where no view reads them: shown as they are, so that nothing vanishes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memory.named_tuple import NamedTuple

if TYPE_CHECKING:
    from memory.document import Document


class UnreadEntry(NamedTuple):
    """One entry, or the text of a section, that is no item of its file; `line` from 0.

    `heading` are the words of the section above it, "" for none.
    """

    heading: str
    title: str
    line: int


def unread_monitors(document: Document) -> tuple[UnreadEntry, ...]:
    """Return the entries of monitors.md outside of the section Monitors: they are not run."""
    from .monitors import SECTION

    known = set(document.find(SECTION))
    return tuple(
        UnreadEntry(section.title if section.heading else "", entry.title, document.line_of(index, number))
        for index, section in document.all_sections()
        if index not in known
        for number, entry in enumerate(section.entries)
    )


def unread_contacts(document: Document) -> tuple[UnreadEntry, ...]:
    """Return the entries of contacts.md, which holds tables and bullets, and the texts of sections that have no name
    there.
    """
    from .contacts.model import read_sections

    return tuple(_of_contacts(document, read_sections(document)))


def _of_contacts(document: Document, known: frozenset[int]) -> Iterator[UnreadEntry]:
    for index, section in document.all_sections():
        heading = section.title if section.heading else ""
        rows = [line.strip() for line in section.body.splitlines()]
        rows = [line for line in rows if line.strip("|:- ")] if index >= 0 and index not in known else []
        if rows:
            more = f" and {len(rows) - 1} more lines" if len(rows) > 1 else ""
            yield UnreadEntry(heading, rows[0][:100] + more, document.line_of(index))
        for number, entry in enumerate(section.entries):
            yield UnreadEntry(heading, entry.title, document.line_of(index, number))


def unread_settings(document: Document) -> tuple[UnreadEntry, ...]:
    """Return the entries of config.md that hold no setting."""
    return tuple(
        UnreadEntry(section.title if section.heading else "", entry.title, document.line_of(index, number))
        for index, section in document.all_sections()
        for number, entry in enumerate(section.entries)
        if not len(entry.fields)
    )
