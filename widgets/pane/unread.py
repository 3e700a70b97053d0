"""Rows for lines of a file that nothing reads: the cursor stops on them, and $EDITOR opens the file there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from memory.base.safe_text import visible
from memory.document import Document
from memory.files.plain import UnreadLine, unread_lines
from memory.files.snapshot import Snapshot
from widgets.list.rows import Heading, Note

from .rows import LineRow

LARGEST = 200_000
"""The bytes of the largest file whose lines are looked at: `memdeck check` lists those of larger ones."""


def unread_rows(name: str, snapshot: Snapshot, words: str, *, first: int) -> Sequence[Any]:
    """Return a heading with the section's name for each group of unread lines of a file, and a row for each line.

    `words` name the problem; `first` is a number that no note of the pane has.
    """
    document = snapshot.document(name)
    found = _unread(name, document) if len(document.dump()) <= LARGEST else ()
    rows: list[Any] = []
    heading: str | None = None
    for one in found:
        if one.heading != heading:
            heading = one.heading
            if rows or first:
                rows.append(Note(number=first + len(rows)))
            count = sum(other.heading == heading for other in found)
            rows.append(Heading(visible(heading.strip()) or "NO HEADING", f"{count}  {words}"))
        rows.append(LineRow(name, one.line, visible(one.title), words))
    return rows


@lru_cache(maxsize=16)
def _unread(name: str, document: Document) -> tuple[UnreadLine, ...]:
    """Return the unread lines; an unchanged file has the same document in each snapshot."""
    return unread_lines(name, document)
