"""Entries that came back from the archive: in an old copy that another program saved, or by a person's restore.

An entry of an old copy is in its archive already and is not archived again. As many copies of an entry count as
returned as the archive contains, byte for byte; two equal tasks that were never archived are both archived. For a
restored entry the day of the restore counts as its date, so that it stays for a while.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, timedelta
from functools import cached_property

from memory.base.clock import Moment
from memory.document import Document, parse
from memory.document.lines import without_blank_end
from memory.document.nodes import Entry, Section, bare
from memory.files.snapshot import ref_of

from .rules import JOURNAL, LeavingEntries, LeftBy, Restored, Today, archive_name

Key = tuple[bytes, bytes]
"""The heading of a journal entry's section (b"" for other entries), and the entry without blank lines at its end."""
FARTHEST = 2
"""How many days the date of an instant may change with the workspace's zone: zones span 26 hours."""


class Returned:
    """Separates the picks of one file that are to be archived from those that are in an archive already."""

    def __init__(self, kind: str, document: Document, archive: Callable[[str], Document | None], left: LeftBy) -> None:
        """`archive` returns an archive file by its name; nothing is read yet."""
        self._kind = kind
        self._document = document
        self._archive = archive
        self._left = left
        self._stands: dict[str, Counter[Key]] = {}
        self._days: dict[str, set[bytes]] = {}
        self._near: dict[date, list[date]] = {}

    def split(self, picks: Sequence[LeavingEntries]) -> tuple[tuple[LeavingEntries, ...], tuple[LeavingEntries, ...]]:
        """Return the picks to archive and those that came back, both in file order; each copy counts once."""
        new: list[LeavingEntries] = []
        back: list[LeavingEntries] = []
        for pick in picks:
            section, left = self._document.section(pick.section), pick.entries
            for day in self._archived(pick.date):
                stands = self._stands_in(archive_name(self._kind, day), section)
                if not stands:
                    continue
                entries = section.entries
                found = {number for number in left if self._takes(stands, self._key(section, entries[number]))}
                if found:
                    back.append(LeavingEntries(pick.section, sorted(found), day))
                    left = [number for number in left if number not in found]
            if left:
                new.append(pick if left is pick.entries else pick._replace(entries=left))
        return tuple(new), tuple(back)

    def _archived(self, day: date) -> Sequence[date]:
        """Return those of `_days_of` that have an archive, cached: thousands of entries share a day, and most have
        none.
        """
        if day not in self._near:
            names = ((near, archive_name(self._kind, near)) for near in self._days_of(day))
            self._near[day] = [near for near, name in names if self._archive(name) is not None]
        return self._near[day]

    def _days_of(self, day: date) -> Iterator[date]:
        """Yield a day for each archive that may contain entries of a day, that of the workspace's zone first.

        Tasks and plans may have been archived while the workspace had another zone.
        """
        yield day
        if self._kind == JOURNAL:
            return
        for far in (-FARTHEST, FARTHEST):
            try:
                near = day + timedelta(days=far)
            except OverflowError:
                continue
            if near.month != day.month:
                yield near

    def _stands_in(self, name: str, section: Section) -> Counter[Key]:
        """Return how often each entry is in an archive and was not matched yet; the caller counts it down."""
        archive = self._archive(name)
        if archive is None or (self._kind == JOURNAL and not self._has_day(name, archive, section)):
            return Counter()
        if name not in self._stands:
            self._stands[name] = Counter(self._keys(archive))
        return self._stands[name]

    def _takes(self, stands: Counter[Key], key: Key) -> bool:
        """Return whether one more copy of an entry came back, and count it."""
        if not stands[key] or (self._kind == JOURNAL and not self._since_then[key]):
            return False
        stands[key] -= 1
        if self._kind == JOURNAL:
            self._since_then[key] -= 1
        return True

    @cached_property
    def _since_then(self) -> Counter[Key]:
        """How many copies of each entry the journal got since the last maintenance.

        A limit on the number of entries may separate two equal ones: then one is in the archive, and the other, which
        was never archived, in the journal.
        """
        left = self._left("journal.md")
        return Counter() if left is None else Counter(self._keys(self._document)) - Counter(self._keys(parse(left)))

    def _keys(self, document: Document) -> Iterable[Key]:
        return (self._key(section, entry) for _, section in document.all_sections() for entry in section.entries)

    def _key(self, section: Section, entry: Entry) -> Key:
        heading = section.heading.rstrip(b"\r\n") if self._kind == JOURNAL else b""
        return heading, without_blank_end(entry.raw).rstrip(b"\r\n")

    def _has_day(self, name: str, archive: Document, section: Section) -> bool:
        """Return whether an archive has a section with the same heading: else its entries need not be read."""
        if name not in self._days:
            self._days[name] = {other.heading.rstrip(b"\r\n") for _, other in archive.all_sections()}
        return section.heading.rstrip(b"\r\n") in self._days[name]


def staying(
    name: str, document: Document, restored: Sequence[Restored], today: Today, age: timedelta
) -> frozenset[tuple[int, int]]:
    """Return the places (section, entry) of entries restored at most `age` ago, even if their fields changed since.

    An entry that is no longer as it was restored is found by its ref.
    """
    fresh = [
        one for one in restored if not today.older(Moment("", one.time.astimezone(today.zone).date(), one.time), age)
    ]
    if not fresh:
        return frozenset()

    by_source: dict[bytes, set[tuple[int, int]]] = {}
    by_ref: dict[str, set[tuple[int, int]]] = {}
    sources, refs = {one.source for one in fresh}, {one.ref for one in fresh if one.ref}
    for index, section in document.all_sections():
        for number, entry in enumerate(section.entries):
            if (source := bare(entry)) in sources:
                by_source.setdefault(source, set()).add((index, number))
            elif refs and (ref := ref_of(name, section.title or None, entry)) in refs and ref is not None:
                by_ref.setdefault(ref, set()).add((index, number))
    found: set[tuple[int, int]] = set()
    for one in fresh:
        found |= by_source.get(one.source) or by_ref.get(one.ref or "", set())
    return frozenset(found)
