"""Conflicts of a merge as values: where each is, the three versions, and their form for programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from memory.document.lines import heading_title, read_fields, set_field
from memory.document.model import Document

from .pieces import What

_WHY = {
    "title": "both changed the title",
    "text": "both changed the same lines",
    "row": "both changed the same row",
    "section": "both moved the entry, to different sections",
    "entry": "both changed the entry, which cannot be merged in parts",
    "front": "both changed the front matter",
    "file": "the two versions cannot be merged: one leaves a block open, or its structure is unclear",
}


class Conflict(NamedTuple):
    """Something both sides changed, as source lines; None where a side does not have it. And where it is.

    `what` says what it is: a field, the heading line (`title`), lines of text, a table row, the section that an entry
    was moved to (the three are titles then), a whole entry, the front matter or the file. `name` is the field's key or
    the row's key cell.

    `kind` is the kind of the file, `section` the title of a section (empty: before the first), `entry` the title of the
    entry, None where it is not about an entry, and `identity` what the entry is known by. `number` is the same in each
    merge from the same base, for what was in base. `stays` says that one side removed what the other changed.
    """

    what: What
    name: str
    base: str | None
    ours: str | None
    theirs: str | None
    kind: str = ""
    section: str = ""
    entry: str | None = None
    identity: tuple[str, ...] = ()
    number: int = 0
    stays: bool = False

    @property
    def field(self) -> str:
        """The field's key, the row's key cell, else what it is about: `title`, `text`, `section`, `entry`, …"""
        return self.name or self.what

    @property
    def why(self) -> str:
        """Why it is a conflict, in a sentence."""
        if self.stays:
            gone, changed = ("we", "they") if self.ours is None else ("they", "we")
            return f"{gone} removed it, {changed} changed it: it stays"
        return _WHY.get(self.what, f"both changed {self.field}")

    def json(self) -> dict[str, Any]:
        """Return the conflict for programs: section, entry, what, field, why, and the readings of the three sides."""
        base, ours, theirs = [reading(self.what, self.name, text) for text in (self.base, self.ours, self.theirs)]
        return {
            "section": self.section,
            "entry": self.entry,
            "what": self.what,
            "field": self.field,
            "base": base,
            "ours": ours,
            "theirs": theirs,
            "why": self.why,
        }


Decide = Callable[[Conflict], str | None]
"""Returns the source that counts for a conflict; None takes the part away."""


def ours_of(conflict: Conflict) -> str | None:
    """Return our side of a conflict."""
    return conflict.ours


def theirs_of(conflict: Conflict) -> str | None:
    """Return their side of a conflict: what the file has."""
    return conflict.theirs


class MergeResult(NamedTuple):
    """What a merge gives: the document, the conflicts in it, and what stays although one side removed it.

    `kept` has the form of conflicts: an entry or a section's text that one side took away (None) and the other
    changed. The changed one is in the document.
    """

    document: Document
    conflicts: tuple[Conflict, ...] = ()
    kept: tuple[Conflict, ...] = ()


def reading(what: What, name: str, text: str | None) -> str | None:
    """Return the text of one side as a person reads it: a field's value, a title, else the source."""
    if text is None:
        return None
    clean = text.strip("\r\n")
    if what == "field":
        return read_fields(clean).get(name, clean)
    if what == "title":
        return heading_title(clean)
    return clean


def source(conflict: Conflict, text: str | None) -> str | None:
    """Return the source for what a person wrote instead of all sides, in the form of `reading`."""
    if text is not None and conflict.what == "field":
        return set_field("", conflict.name, text)
    if text is not None and conflict.what == "title":
        return f"### {text}"
    return text
