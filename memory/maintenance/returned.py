"""Entries that came back from the archive: in an old copy that another program saved, or by a person's restore.

One of an old copy stands in its archive already and is not archived a second time. As many of an entry's copies count
as come back as stand in the archive, byte for byte; of two equal tasks that were never archived both are. For one that
was brought back the day of that counts as its own, so that it stays a while.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from memory.base.clock import Moment
from memory.document import parse
from memory.document.lines_and_headings import without_blank_end
from memory.document.nodes import bare
from memory.errors import MemdeckError
from memory.named_tuple import NamedTuple

from .archive import JOURNAL, archive_name
from .rules import LeavingEntries, RuleResult, Today

if TYPE_CHECKING:
    from memory.document import Document
    from memory.document.nodes import Entry, Section
    from memory.workspace import Workspace

Key = tuple[bytes, bytes]
"""The heading of a journal entry's section, empty for other entries, and the entry without blank lines at its end."""
LeftBy = Callable[[str], "bytes | None"]
"""Returns the bytes in which the last maintenance left a file, None where nobody knows."""

FARTHEST = 2
"""How many days the date of an instant may move when a workspace takes another zone: they span 26 hours."""


class Returned:
    """What came back of one file: it tells picks that leave for good from picks that stand in an archive already."""

    def __init__(self, kind: str, document: Document, archive: Callable[[str], Document | None], left: LeftBy) -> None:
        """`archive` returns an archive file as it is, by its name; nothing is looked at yet."""
        self._kind = kind
        self._document = document
        self._archive = archive
        self._left = left
        self._stands: dict[str, Counter[Key]] = {}
        self._days: dict[str, set[bytes]] = {}
        self._near: dict[date, list[date]] = {}
        self._came: Counter[Key] | None = None

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
        """Return those of `_days_of` that have an archive; thousands of entries share a day, and most have none."""
        if day not in self._near:
            names = ((near, archive_name(self._kind, near)) for near in self._days_of(day))
            self._near[day] = [near for near, name in names if self._archive(name) is not None]
        return self._near[day]

    def _days_of(self, day: date) -> Iterator[date]:
        """Yield a day for each archive in which entries of a day may stand, that of the workspace's zone first.

        Tasks and plans may have been archived while the workspace had another zone.
        """
        yield day
        if self._kind == JOURNAL:
            return
        for step in (-1, 1):
            for far in range(1, FARTHEST + 1):
                try:
                    near = day + far * timedelta(step)
                except OverflowError:
                    break
                if near.month != day.month:
                    yield near
                    break

    def _stands_in(self, name: str, section: Section) -> Counter[Key]:
        """Return how often each entry stands in an archive and was not counted yet; to be counted down."""
        archive = self._archive(name)
        if archive is None or (self._kind == JOURNAL and not self._has_day(name, archive, section)):
            return Counter()
        if name not in self._stands:
            self._stands[name] = Counter(self._keys(archive))
        return self._stands[name]

    def _takes(self, stands: Counter[Key], key: Key) -> bool:
        """Tell whether one more copy of an entry came back, and count it."""
        if not stands[key] or (self._kind == JOURNAL and not self._since_then[key]):
            return False
        stands[key] -= 1
        if self._kind == JOURNAL:
            self._since_then[key] -= 1
        return True

    @property
    def _since_then(self) -> Counter[Key]:
        """How many copies of each entry the journal got since the last maintenance.

        The oldest entries over a number may part two equal ones: then one is in the archive and the other, which
        never was, in the journal.
        """
        if self._came is None:
            left = self._left("journal.md")
            now = Counter(self._keys(self._document))
            self._came = Counter() if left is None else now - Counter(self._keys(parse(left)))
        return self._came

    def _keys(self, document: Document) -> Iterable[Key]:
        return (self._key(section, entry) for _, section in document.all_sections() for entry in section.entries)

    def _key(self, section: Section, entry: Entry) -> Key:
        heading = section.heading.rstrip(b"\r\n") if self._kind == JOURNAL else b""
        return heading, without_blank_end(entry.raw).rstrip(b"\r\n")

    def _has_day(self, name: str, archive: Document, section: Section) -> bool:
        """Tell whether an archive has a section of the same heading: else its entries need not be looked at."""
        if name not in self._days:
            self._days[name] = {other.heading.rstrip(b"\r\n") for _, other in archive.all_sections()}
        return section.heading.rstrip(b"\r\n") in self._days[name]


OPERATION = "restore"
"""The operation that brings an archived entry back."""


class Restored(NamedTuple):
    """One entry that was brought back: when, its source without the blank lines at its end, and its ref."""

    time: datetime
    source: bytes
    ref: str | None


RestoredIn = Callable[[str], Sequence[Restored]]
"""Returns what was brought back into a memory file, by its name in the memory folder; newest first."""


def restored_in(workspace: Workspace) -> RestoredIn:
    """Return what tells which entries were brought back, by the change log; nothing where there is none."""

    def found(name: str) -> Sequence[Restored]:
        from memory.document.units import units_of
        from memory.files.refs.entry_refs import ref_of

        path = workspace.store.shown(f"memory/{name}")
        history = workspace.store.history
        restored: list[Restored] = []
        try:
            for record in history.done_to(OPERATION, path):
                file = next(one for one in record.files if one.path == path)
                for unit in units_of(history.regions(record, file)):
                    if unit.after is not None and unit.before is None:
                        ref = ref_of(name, unit.new_section, unit.after)
                        restored.append(Restored(record.time, bare(unit.after), ref))
        except MemdeckError:
            return ()  # `doctor` says what is wrong with the log; without it entries go by their own dates.
        return restored

    return found


def staying(
    name: str, document: Document, restored: Sequence[Restored], today: Today, age: timedelta
) -> frozenset[tuple[int, int]]:
    """Return the places (section, entry) of what was brought back at most `age` ago, whatever became of its fields.

    An entry that is not there as it was brought back is known by its ref.
    """
    fresh = [
        one for one in restored if not today.older(Moment("", one.time.astimezone(today.zone).date(), one.time), age)
    ]
    if not fresh:
        return frozenset()
    from memory.files.refs.entry_refs import ref_of

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


def without(choice: RuleResult, places: Container[tuple[int, int]]) -> RuleResult:
    """Return a choice without the entries of some places: they stay like any that is young enough."""
    if places == frozenset():
        return choice
    picks = []
    for pick in choice.picks:
        numbers = [number for number in pick.entries if (pick.section, number) not in places]
        if len(numbers) == len(pick.entries):
            picks.append(pick)
        elif numbers:
            picks.append(LeavingEntries(pick.section, numbers, pick.date))
    return choice._replace(picks=tuple(picks))
