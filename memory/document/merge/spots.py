"""Says where the conflicts of a merge stand in the merged document, in sentences and in names that last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .conflicts import Conflict, MergeResult, Spot
from .match import identity

if TYPE_CHECKING:
    from memory.document.model import Document

    from .plan import Doubt

_WHY = {
    "title": "both changed the title",
    "text": "both changed the same lines",
    "row": "both changed the same row",
    "section": "both moved the entry, to different sections",
    "entry": "both changed the entry, and its parts cannot be told apart",
    "front": "both changed the front matter",
}


def settle(
    document: Document,
    kind: str,
    texts: Sequence[tuple[int | None, Doubt]],
    entries: Sequence[Doubt],
    placed: dict[int, tuple[int, int]],
    strict: bool,
) -> MergeResult:
    """Return the merge with its conflicts; `placed` says at which section and entry each part ended up.

    Sections are listed there under -1 less their number; a part that is gone is not in it.
    """
    spots = _Spots(document, kind) if texts or entries else None
    found: list[Conflict] = []
    for number, doubt in texts:
        at = placed.get(-1 - number) if number is not None else None
        found.append(_conflict(spots, doubt, at, placed))
    for doubt in entries:
        at = placed.get(doubt.name) or placed.get(-1 - doubt.section)
        found.append(_conflict(spots, doubt, at, placed))
    stays = [doubt.stays for _, doubt in texts] + [doubt.stays for doubt in entries]
    conflicts = [one for one, kept in zip(found, stays, strict=True) if strict or not kept]
    kept = [one for one, kept in zip(found, stays, strict=True) if kept and not strict]
    return MergeResult(document, tuple(conflicts), tuple(kept))


def section_of(document: Document, title: str, nth: int) -> int | None:
    """Return the index of the section with that title, the nth of its name; -1 is the part before the first."""
    if not title and not nth:
        return -1
    found = [index for index, section in enumerate(document.sections) if section.title == title]
    return found[nth] if nth < len(found) else None


def entries_of(document: Document, kind: str, known_as: Sequence[tuple[str, ...]]) -> list[tuple[int, int]]:
    """Return where the entries of an identity stand, in file order."""
    titles = [names[1 if kind == "journal" else 0] for names in known_as]
    return [
        (index, number)
        for index, section in document.all_sections()
        for number, entry in enumerate(section.entries)
        # Looking at the title first spares reading the fields of every entry.
        if any(title in entry.title for title in titles) and identity(kind, section, entry) in known_as
    ]


class _Spots:
    """Names for the places of a document; what is equal is counted once for all of them."""

    def __init__(self, document: Document, kind: str) -> None:
        self.document = document
        self.kind = kind
        self.titles = [section.title for section in document.sections]
        seen: dict[str, int] = {}
        self.nth = []
        for title in self.titles:
            self.nth.append(seen.get(title, 0))
            seen[title] = self.nth[-1] + 1
        self._twins: dict[tuple[str, ...], list[tuple[int, int]]] | None = None

    def title(self, index: int) -> str:
        return self.titles[index] if index >= 0 else ""

    def spot(self, doubt: Doubt, at: tuple[int, int]) -> Spot:
        index, number = at
        nth = self.nth[index] if index >= 0 else 0
        if doubt.name < 0:
            return Spot(self.kind, self.title(index), nth)
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


def _conflict(
    spots: _Spots | None, doubt: Doubt, at: tuple[int, int] | None, placed: dict[int, tuple[int, int]]
) -> Conflict:
    assert spots is not None
    spot = Spot(spots.kind) if at is None else spots.spot(doubt, at)
    places = None
    if doubt.places:
        found = [placed.get(-1 - number) for number in doubt.places]
        titles = [spots.title(one[0]) if one else "" for one in found]
        places = (titles[0], titles[1], titles[2])
    return Conflict(spot, doubt.clash, _why(doubt), places)


def _why(doubt: Doubt) -> str:
    clash = doubt.clash
    if doubt.stays:
        gone, changed = ("we", "they") if clash.ours is None else ("they", "we")
        return f"{gone} removed it, {changed} changed it: it stays"
    if clash.what == "field":
        return f"both changed {clash.name}"
    return _WHY.get(clash.what, "both changed it")
