"""Conflicts of a merge as values: where they stand, what each side says, and their form for programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memory.document.fields import read_fields
from memory.document.lines_and_headings import heading_title

if TYPE_CHECKING:
    from memory.document.model import Document

    from .bodies import BodyClash
    from .pieces import What


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a conflict stands in the merged file.

    `section` is the section's title (empty: before the first) and `section_nth` counts sections of that name from 0;
    `entry` is the entry's title, None for the section's own text, `identity` what it is known by, `nth` its place
    among equal ones, counted from the end. `aliases` are identities that it takes when ours is applied.
    """

    kind: str
    section: str = ""
    section_nth: int = 0
    entry: str | None = None
    identity: tuple[str, ...] = ()
    nth: int = 0
    aliases: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Conflict:
    """Something both sides changed. The file has theirs; `apply_mine` puts ours in its place.

    `what` says what it is: a field, the heading line (`title`), lines of text, a table row, the section that an entry
    was moved to, a whole entry, the front matter or the file. `base`, `ours` and `theirs` are source text, None where
    there is nothing. `places` are the titles of the three sections of an entry that was moved. `why` is a sentence.
    """

    spot: Spot
    clash: BodyClash
    why: str
    places: tuple[str, str, str] | None = None

    @property
    def what(self) -> What:
        """What the conflict is about."""
        return self.clash.what

    @property
    def section(self) -> str:
        """The title of the section, empty before the first one."""
        return self.spot.section

    @property
    def entry(self) -> str | None:
        """The title of the entry in the merged file, None where it is not about an entry."""
        return self.spot.entry

    @property
    def field(self) -> str:
        """The field's key, the row's key cell, else what it is about: `title`, `text`, `section`, `entry`, …"""
        return self.clash.name or self.clash.what

    @property
    def base(self) -> str | None:
        """The source that both started from."""
        return self.clash.base

    @property
    def ours(self) -> str | None:
        """Our source."""
        return self.clash.ours

    @property
    def theirs(self) -> str | None:
        """Their source: what stands in the file."""
        return self.clash.theirs

    def json(self) -> dict[str, Any]:
        """Return the conflict for programs: section, entry, what, field, why, and the readings of the three sides."""
        sides: tuple[str | None, ...] = self.places or (self.base, self.ours, self.theirs)
        base, ours, theirs = [reading(self.what, self.clash.name, text) for text in sides]
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


@dataclass(frozen=True, slots=True)
class MergeResult:
    """What a merge gives: the document, the conflicts in it, and what stays although one side removed it.

    `kept` has the form of conflicts: an entry or a section's text that one side took away (None) and the other
    changed. The changed one stands in the document.
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
