"""The sections of tasks.md: their names, the order in which they stand, and where a missing one belongs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from memory.document import Document, Section

SectionName = Literal["pending", "in-progress", "completed", "archived"]
SECTIONS: tuple[SectionName, ...] = ("pending", "in-progress", "completed")
"""The sections of tasks.md, in their order."""
TITLES = {"pending": "Pending", "in-progress": "In Progress", "completed": "Completed (last 7 days)"}
"""The headings of sections that memdeck creates."""
_BY_NAME: dict[str, SectionName] = {
    "pending": "pending",
    "in progress": "in-progress",
    "in-progress": "in-progress",
    "completed": "completed",
}


def task_sections(document: Document) -> Iterable[tuple[int, SectionName]]:
    """Yield (section index, name) of the sections that hold tasks, in file order."""
    for index, section in enumerate(document.sections):
        name = _name_of(section)
        if name is not None:
            yield index, name


def _name_of(section: Section) -> SectionName | None:
    if section.level != 2:
        return None
    return _BY_NAME.get(section.name) or _BY_NAME.get(section.title.casefold())


def task_places(document: Document) -> Iterator[tuple[int, SectionName, str | None, Section]]:
    """Yield (index, name, heading, section) of each section with entries, in file order; -1 is before all sections.

    The heading is None for a section that has a name here. Entries under any other heading, or under none (""), are
    tasks too and count as pending: nothing that a file holds may vanish because of a slip in a heading, and nothing
    that is perhaps not done may go to the archive.
    """
    for index, section in document.all_sections():
        # A heading above no entry is not even read.
        if len(section):
            name = _name_of(section)
            if name is not None:
                yield index, name, None, section
            else:
                yield index, "pending", section.title if section.heading else "", section


def new_section_index(document: Document, name: SectionName) -> int:
    """Return where a missing section belongs: behind those that come before it, else before those behind it."""
    rank = SECTIONS.index(name)
    known = [(index, SECTIONS.index(found)) for index, found in task_sections(document)]
    before = [index for index, other in known if other < rank]
    if before:
        return max(before) + 1
    return min((index for index, other in known if other > rank), default=len(document.sections))


def with_section(document: Document, name: SectionName) -> tuple[Document, int]:
    """Return the document with that section, made where it is missing, and the index of the first of the name."""
    for index, found in task_sections(document):
        if found == name:
            return document, index
    index = new_section_index(document, name)
    return document.insert_section(index, Section.compose(TITLES[name], newline=document.newline)), index
