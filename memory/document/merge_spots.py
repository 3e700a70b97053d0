"""Says where the conflicts of a merge stand in the merged document, in sentences and in names that last."""

from __future__ import annotations

from collections.abc import Sequence

from .merge_conflicts import Conflict, Merged, Spot
from .merge_match import identity
from .merge_plan import Doubt
from .model import Document
from .nodes import Entry, Section

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
) -> Merged:
    """Return the merge with its conflicts; `placed` says at which section and entry each part ended up.

    Sections are listed there under -1 less their number; a part that is gone is not in it.
    """
    found: list[Conflict] = []
    for number, doubt in texts:
        at = placed.get(-1 - number) if number is not None else None
        found.append(_conflict(document, kind, doubt, at))
    for doubt in entries:
        at = placed.get(doubt.name) or placed.get(-1 - doubt.section)
        found.append(_conflict(document, kind, doubt, at, placed))
    stays = [doubt.stays for _, doubt in texts] + [doubt.stays for doubt in entries]
    conflicts = [one for one, kept in zip(found, stays, strict=True) if strict or not kept]
    kept = [one for one, kept in zip(found, stays, strict=True) if kept and not strict]
    return Merged(document, tuple(conflicts), tuple(kept))


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


def _conflict(
    document: Document,
    kind: str,
    doubt: Doubt,
    at: tuple[int, int] | None,
    placed: dict[int, tuple[int, int]] | None = None,
) -> Conflict:
    spot = Spot(kind)
    if at is not None:
        section = document.section(at[0])
        twins = [index for index, one in enumerate(document.sections) if one.title == section.title]
        nth = twins.index(at[0]) if at[0] >= 0 else 0
        if doubt.name < 0:
            spot = Spot(kind, section.title, nth)
        else:
            spot = _entry_spot(document, kind, doubt, at, section, nth)
    places = None
    if doubt.places and placed is not None:
        found = [placed.get(-1 - number) for number in doubt.places]
        titles = [document.section(one[0]).title if one else "" for one in found]
        places = (titles[0], titles[1], titles[2])
    return Conflict(spot, doubt.clash, _why(doubt), places)


def _entry_spot(
    document: Document, kind: str, doubt: Doubt, at: tuple[int, int], section: Section, section_nth: int
) -> Spot:
    def known(entry: Entry) -> tuple[str, ...]:
        return identity(kind, section, entry)

    aliases = tuple(dict.fromkeys(known(entry) for entry in doubt.titles))
    if at[1] < 0:
        entry = doubt.titles[0]
        return Spot(kind, section.title, section_nth, entry.title, known(entry), 0, aliases)
    entry = section.entries[at[1]]
    twins = entries_of(document, kind, [known(entry)])
    nth = len(twins) - 1 - twins.index(at)
    return Spot(kind, section.title, section_nth, entry.title, known(entry), nth, aliases)


def _why(doubt: Doubt) -> str:
    clash = doubt.clash
    if doubt.stays:
        gone, changed = ("we", "they") if clash.ours is None else ("they", "we")
        return f"{gone} removed it, {changed} changed it: it stays"
    if clash.what == "field":
        return f"both changed {clash.name}"
    return _WHY.get(clash.what, "both changed it")
