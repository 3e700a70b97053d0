"""Rows for lines that no view of their file can read: shown with the problem; the cursor skips them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memory.base.safe_text import visible
from widgets.list.rows import Heading, Note

if TYPE_CHECKING:
    from memory.files.plain import UnreadLine


def unread_rows(found: Sequence[UnreadLine], words: str, *, first: int) -> Sequence[Any]:
    """Return a heading with the section's name for each group, and a line for each entry.

    `words` name the problem; `first` is a number that no note of the pane has.
    """
    rows: list[Any] = []
    heading: str | None = None
    for one in found:
        if one.heading != heading:
            heading = one.heading
            if rows or first:
                rows.append(Note(number=first + len(rows)))
            count = sum(other.heading == heading for other in found)
            rows.append(Heading(visible(heading.strip()) or "NO HEADING", f"{count}  {words}"))
        rows.append(Note(f"  line {one.line + 1}  {visible(one.title)}", number=first + len(rows)))
    return rows
