"""Conflicts of a merge as values: where they stand, what each side says, and their form for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory.document.lines import heading_title, read_fields
from memory.document.model import Document

from .bodies import BodyClash
from .match import identity
from .pieces import What
from .plan import Doubt

_WHY = {
    "title": "both changed the title",
    "text": "both changed the same lines",
    "row": "both changed the same row",
    "section": "both moved the entry, to different sections",
    "entry": "both changed the entry, and its parts cannot be told apart",
    "front": "both changed the front matter",
}


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


def settle(
    document: Document,
    kind: str,
    doubts: Sequence[Doubt],
    placed: dict[int | None, tuple[int, int]],
    strict: bool,
) -> MergeResult:
    """Return the merge with its conflicts; `placed` says at which section and entry each part ended up.

    Sections are listed there under -1 less their number; a part that is gone is not in it.
    """
    spots = _Spots(document, kind, placed)
    conflicts: list[Conflict] = []
    kept: list[Conflict] = []
    for doubt in doubts:
        (kept if doubt.stays and not strict else conflicts).append(spots.conflict(doubt))
    return MergeResult(document, tuple(conflicts), tuple(kept))


class _Spots:
    """Names for the places of a document; what is equal is counted once for all of them."""

    def __init__(self, document: Document, kind: str, placed: dict[int | None, tuple[int, int]]) -> None:
        self.document = document
        self.kind = kind
        self.placed = placed
        self.titles = [section.title for section in document.sections]
        seen: dict[str, int] = {}
        self.nth = []
        for title in self.titles:
            self.nth.append(seen.get(title, 0))
            seen[title] = self.nth[-1] + 1
        self._twins: dict[tuple[str, ...], list[tuple[int, int]]] | None = None

    def conflict(self, doubt: Doubt) -> Conflict:
        at = self.placed.get(doubt.name) or self._section(doubt.section)
        spot = Spot(self.kind) if at is None else self._spot(doubt, at)
        places = None
        if doubt.places:
            before, mine, theirs = [
                self._title(found[0]) if (found := self._section(number)) else "" for number in doubt.places
            ]
            places = (before, mine, theirs)
        return Conflict(spot, doubt.clash, _why(doubt), places)

    def _section(self, number: int | None) -> tuple[int, int] | None:
        return None if number is None else self.placed.get(-1 - number)

    def _title(self, index: int) -> str:
        return self.titles[index] if index >= 0 else ""

    def _spot(self, doubt: Doubt, at: tuple[int, int]) -> Spot:
        index, number = at
        nth = self.nth[index] if index >= 0 else 0
        if doubt.name is None:
            return Spot(self.kind, self._title(index), nth)
        section = self.document.section(index)
        aliases = tuple(dict.fromkeys(identity(self.kind, section, entry) for entry in doubt.titles))
        if number < 0:
            entry = doubt.titles[0]
            return Spot(self.kind, section.title, nth, entry.title, identity(self.kind, section, entry), 0, aliases)
        entry = section.entries[number]
        known = identity(self.kind, section, entry)
        twins = self._known()[known]
        return Spot(self.kind, section.title, nth, entry.title, known, len(twins) - 1 - twins.index(at), aliases)

    def _known(self) -> dict[tuple[str, ...], list[tuple[int, int]]]:
        if self._twins is None:
            self._twins = {}
            for index, section in self.document.all_sections():
                for number, entry in enumerate(section.entries):
                    self._twins.setdefault(identity(self.kind, section, entry), []).append((index, number))
        return self._twins


def _why(doubt: Doubt) -> str:
    clash = doubt.clash
    if doubt.stays:
        gone, changed = ("we", "they") if clash.ours is None else ("they", "we")
        return f"{gone} removed it, {changed} changed it: it stays"
    if clash.what == "field":
        return f"both changed {clash.name}"
    return _WHY.get(clash.what, "both changed it")
