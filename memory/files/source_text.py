"""What edits of entries share: a file that may not be there yet, and an entry's source out of an editor."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from memory.document import Document, Entry, parse

if TYPE_CHECKING:
    from .reader import Files


def started_document(snapshot: Files, name: str, now: datetime) -> Document:
    """Return the document of a file; where the file is missing or blank, its template."""
    document = snapshot.document(name)
    if document.dump().strip():
        return document
    from .templates import template_files

    return parse(template_files(now)[name].encode())


def entry_of_text(text: str, old: Entry, base: Entry | None, title: str) -> Entry | None:
    """Return the entry that replaces `old` when an editor gives back its source; None if there is nothing to do.

    Line ends and the blank lines behind the entry stay as they were. Where `old` differs from `base`, the entry that
    the editor began with, the two are merged by fields and lines. Raises UsageError `document.structure` or
    `document.unclosed` for a text that is not one entry, ConflictError `document.conflict` (with `fields` and
    `conflicts`) where both changed the same.
    """
    if "\r" not in text and old.newline != "\n":
        text = text.replace("\n", old.newline)
    content = text.rstrip(" \t\r\n")
    before = old.text
    new = Entry.from_text(content + before[len(before.rstrip(" \t\r\n")) :])
    if base is not None and base.raw != old.raw:
        if content == base.text.rstrip(" \t\r\n"):
            return None
        from .merging import merge_changed_entry

        new = merge_changed_entry(base, new, old, title)
    return None if new.raw == old.raw else new
