"""What another program's save took back of changes that memdeck made: it wrote a copy that it had read before them.

Such a save holds nothing of what was changed since that copy was read. One that holds any of it was made from newer
bytes, and what it took out it meant to take out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from memory.document.compare import Region, Unit, apply, inverted, lines_of, sections_in, units_of, updated_of
from memory.document.lines import decode
from memory.document.nodes import bare
from memory.storage.changes import MOST_BEHIND, OUTSIDE

if TYPE_CHECKING:
    from memory.document.nodes import Entry
    from memory.storage.changes import ChangeRecord, Touched

_STEPS = 8
_KEPT_EVERY = 16
_TITLE = 200
_TOP = "front matter"
_SPACE = re.compile(rb"[ \t]+|-{3,}")
_UPDATED = re.compile(rb"updated[ \t]*:")
State = Literal["back", "mixed", "there", "gone"]
"""Of one entry that was changed: as it was before, so in part, as it was changed; or, of a removed one, still gone."""
Regions = Sequence[Region]


@dataclass(frozen=True, slots=True)
class Lost:
    """One entry, or text of a section, of which a change was taken back: what the change had done to it.

    `change` is the id of the newest change of it. `whole` says that it is exactly as it was before: the other program
    did nothing else to it.
    """

    change: str
    ref: str | None
    title: str
    kind: str
    whole: bool


@dataclass(frozen=True, slots=True)
class StaleSave:
    """What a save took back: the id of the oldest change that it lacks, and every entry."""

    since: str
    lost: tuple[Lost, ...]


def taken_back(
    before: bytes,
    after: bytes,
    save: Save,
    newest: Iterable[tuple[ChangeRecord, Regions]],
    compare: Callable[[bytes, bytes], Regions],
    name: Callable[[Regions, Sequence[Unit]], Sequence[Touched]],
    most: int = MOST_BEHIND,
) -> StaleSave | None:
    """Return what a save that turned `before` into `after` took back of the changes made before it; None for nothing.

    `newest` are the changes of the file with what was different, newest first; `compare` says what is different
    between bytes of the file, `name` which entries some regions touch, given what became of their entries. The newest
    `most` changes are looked at.
    """
    if not after.strip():
        return None  # A file that is gone or empty is another matter.
    older = _Older(before, after, save, newest, compare)
    # Each of these compares two files as a whole, so few of them are tried: 1, 2, 4, 8, then what lies between.
    if most < 1 or not older.fits(1):
        return None
    low = 1
    while low * 2 <= most and older.fits(low * 2):
        low *= 2
    high = min(low * 2, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if older.fits(middle) else (low, middle)
    for number in range(low, max(0, low - _STEPS), -1):
        judged, behind = older.judged(number), older.behind[:number]
        states = {state for state, *_ in judged}
        if "back" in states and "gone" not in states and behind[-1][0].actor != OUTSIDE:
            return _stale(behind[-1][0].id, judged, behind, lambda made: name(made, save.units_of(made)))
    return None


class _Older:
    """The older and older bytes of a file, as far as a save may have been made from them."""

    def __init__(
        self,
        before: bytes,
        after: bytes,
        save: Save,
        newest: Iterable[tuple[ChangeRecord, Regions]],
        compare: Callable[[bytes, bytes], Regions],
    ) -> None:
        self.behind: list[tuple[ChangeRecord, Regions]] = []
        self._before = before
        self._kept = {0: before}  # A few of the older bytes, by the number of changes that they lack.
        self._oldest = before
        self._after = after
        self._theirs = save
        self._newest = iter(newest)
        self._compare = compare
        self._known: dict[int, list[Judged]] = {}

    def fits(self, number: int) -> bool:
        """Tell whether a save may lack the newest so many changes: nothing that they did together is in it."""
        return self._reach(number) and all(state != "there" for state, *_ in self.judged(number))

    def judged(self, number: int) -> list[Judged]:
        """Return what the save made of all that the newest so many changes did together."""
        if number not in self._known:
            net = self.behind[0][1] if number == 1 else self._compare(self._lacking(number), self._before)
            self._known[number] = list(self._theirs.judged(net))
        return self._known[number]

    def _reach(self, number: int) -> bool:
        while len(self.behind) < min(number, MOST_BEHIND):
            record, made = next(self._newest, (None, ()))
            if record is None or (not self.behind and _was_seen(self._before, self._after, made)):
                return False
            try:
                self._oldest = apply(inverted(made), self._oldest)
            except ValueError:  # Rows that do not belong together.
                return False
            self.behind.append((record, made))
            if len(self.behind) in (1, 2, 4, 8) or len(self.behind) % _KEPT_EVERY == 0:
                self._kept[len(self.behind)] = self._oldest
        return len(self.behind) >= number

    def _lacking(self, number: int) -> bytes:
        """Return the bytes without the newest so many changes, worked out from the nearest that are kept."""
        start = max(one for one in self._kept if one <= number)
        data = self._kept[start]
        for _, made in self.behind[start:number]:
            data = apply(inverted(made), data)
        return data


def _was_seen(before: bytes, after: bytes, newest: Regions) -> bool:
    """Tell whether a save bears the very time that the newest change put into the front matter."""
    stamped = any(one.kind == "top" and updated_of(one.before) != updated_of(one.after) for one in newest)
    stamp = updated_of(_front(before))
    return stamped and stamp is not None and stamp == updated_of(_front(after))


def _front(data: bytes) -> bytes:
    """Return the beginning of a file, where its front matter is."""
    end = data.find(b"\n---", 3)
    return data[: end if end > 0 else 0]


Judged = tuple[State, "Unit | _Text", bool]


def _stale(
    since: str,
    judged: Sequence[Judged],
    behind: Sequence[tuple[ChangeRecord, Regions]],
    name: Callable[[Regions], Sequence[Touched]],
) -> StaleSave | None:
    """Name what was taken back of memdeck's own changes; what other programs lost to each other is not listed."""
    own = [_OwnChange(record, made, name) for record, made in behind if record.actor != OUTSIDE]
    lost = []
    for state, what, whole in judged:
        if state != "back":
            continue
        titles = {what.title} if isinstance(what, _Text) else {e.title for e in (what.before, what.after) if e}
        for change in own:
            one = change.first(titles)
            if one is not None:
                lost.append(Lost(change.record.id, one.ref, one.title[:_TITLE], one.kind, whole))
                break
            if isinstance(what, _Text) and what.title in change.texts:
                lost.append(Lost(change.record.id, None, what.title[:_TITLE], "edited", whole))
                break
    return StaleSave(since, tuple(lost)) if lost else None


class _OwnChange:
    """What one change of memdeck touched, by title; it may be tens of thousands of entries, and is named once."""

    def __init__(self, record: ChangeRecord, made: Regions, name: Callable[[Regions], Sequence[Touched]]) -> None:
        self.record = record
        self._made = made
        self._name = name

    @cached_property
    def _by_title(self) -> dict[str, tuple[int, Touched]]:
        found: dict[str, tuple[int, Touched]] = {}
        for number, one in enumerate(self._name(self._made)):
            found.setdefault(one.title, (number, one))
        return found

    @cached_property
    def texts(self) -> frozenset[str]:
        """The titles of the texts that it changed."""
        return frozenset(text.title for text in _texts(self._made))

    def first(self, titles: Iterable[str]) -> Touched | None:
        """Return the first of what it touched that has one of some titles."""
        found = [self._by_title[title] for title in titles if title in self._by_title]
        return min(found, key=lambda one: one[0])[1] if found else None


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of a section, or lines of a file of lines, before and after a change."""

    title: str
    before: bytes
    after: bytes


class Save:
    """What a save did to each entry and to each text, asked for by what they were."""

    def __init__(self, regions: Regions) -> None:
        """Look at what is different in the file."""
        self._read: dict[bytes, Entry] = {}
        self._units: list[tuple[Regions, Sequence[Unit]]] = []
        self._by_source: dict[bytes, Unit] = {}
        self._came: set[bytes] = set()
        self._regions = regions
        for unit in self.units_of(regions):
            if unit.before is not None:
                self._by_source.setdefault(bare(unit.before), unit)
            elif unit.after is not None:
                self._came.add(bare(unit.after))
        self._texts: dict[str, _Text] = {}
        for text in _texts(regions):
            self._texts.setdefault(text.title, text)

    def units_of(self, regions: Regions) -> Sequence[Unit]:
        """Return what became of the entries of some regions of the file, worked out once."""
        known = next((units for some, units in self._units if some is regions), None)
        if known is None:
            known = units_of(regions, by_place=False, known=self._read)
            self._units.append((regions, known))
        return known

    @property
    def titles(self) -> frozenset[str] | None:
        """The titles of the entries that it touched; None where it touched other text, which has no title.

        A save takes back a change of an entry only if it touched that entry itself.
        """
        if self._texts:
            return None
        units = self.units_of(self._regions)
        return frozenset(one.title for unit in units for one in (unit.before, unit.after) if one is not None)

    def judged(self, net: Regions) -> Iterator[Judged]:
        """Yield what the save made of each entry and text that some changes touched."""
        for unit in self.units_of(net):
            yield self._unit(unit)
        for text in _texts(net):
            yield self._text(text)

    def _unit(self, unit: Unit) -> Judged:
        if unit.after is None:
            assert unit.before is not None
            return ("back" if bare(unit.before) in self._came else "gone"), unit, True
        done = self._by_source.get(bare(unit.after))
        if done is None:
            return "there", unit, False
        if unit.before is None:
            return ("back" if done.after is None else "there"), unit, True
        if done.after is None:
            return "mixed", unit, False
        if bare(done.after) == bare(unit.before) and done.new_section == unit.section:
            return "back", unit, True
        return _aspects(unit, done, unit.before, unit.after, done.after), unit, False

    def _text(self, text: _Text) -> Judged:
        done = self._texts.get(text.title)
        if done is None:
            return "there", text, False
        old, new, now = _rows(text.before), _rows(text.after), _rows(done.after)
        gone, come = old - new, new - old
        if gone <= now and not come & now:
            return "back", text, now == old
        if come & now or not come:
            return "there", text, False
        keys = {_key(row) for row in come}
        # Another value of what the change wrote: it was read, and changed once more.
        return ("there" if any(_key(row) in keys for row in now - old) else "mixed"), text, False


def _aspects(unit: Unit, done: Unit, old: Entry, new: Entry, now: Entry) -> State:
    """Say of an entry that the save changed in another way too whether all that a change did to it is taken back.

    `old` and `new` are the entry before and after the change, `now` is what the save made of it.
    """
    values = [
        (old.fields.get(key), new.fields.get(key), now.fields.get(key))
        for key in dict.fromkeys((*old.fields, *new.fields))
    ]
    values += [(old.title, new.title, now.title), (unit.section, unit.new_section, done.new_section)]
    changed = [one for one in values if one[0] != one[1]]
    if not changed:
        before, after, here = (set(one.body.splitlines()) for one in (old, new, now))
        return "back" if before - after <= here and not (after - before) & here else "there"
    if all(here == before for before, _, here in changed):
        return "back"
    return "there" if any(here == after for _, after, here in changed) else "mixed"


def _texts(regions: Regions) -> Iterator[_Text]:
    """Yield what regions say of texts that are no entries; the time of a change in the front matter is none."""
    for region in regions:
        if region.kind == "body":
            # Blank lines say nothing that could be taken back.
            if _rows(region.before) != _rows(region.after):
                yield _Text(region.section or "", region.before, region.after)
        elif region.kind == "lines":
            yield from _lines(region)
        elif region.kind == "top":
            text = _Text(_TOP, region.before, region.after)
            if _rows(text.before) != _rows(text.after):
                yield text
        elif region.kind == "sections":
            old = {one.title: one.lead for one in sections_in(region.before)}
            new = {one.title: one.lead for one in sections_in(region.after)}
            for title in dict.fromkeys((*old, *new)):
                text = _Text(title, old.get(title, b""), new.get(title, b""))
                if _rows(text.before) != _rows(text.after):
                    yield text


def _lines(region: Region) -> Iterator[_Text]:
    """Yield lines that went or came, each as a text of its own: a file of lines has no sections."""
    old, new = lines_of(region.before), lines_of(region.after)
    before, after = set(old), set(new)
    for line in old:
        if line not in after:
            yield _Text(decode(line.rstrip()), line, b"")
    for line in new:
        if line not in before:
            yield _Text(decode(line.rstrip()), b"", line)


def _rows(text: bytes) -> set[bytes]:
    """Return the lines of a text that say something, whatever blanks align them."""
    rows = (_SPACE.sub(b" ", line).strip() for line in text.splitlines())
    return {row for row in rows if row.strip(b" |:-") and not _UPDATED.match(row)}


def _key(row: bytes) -> bytes:
    """Return what a line is about: the first cell of a row, the key of a field, the first words of other text."""
    if row[:1] == b"|":
        return row.split(b"|")[1].strip()
    head, colon, _ = row.partition(b":")
    return head if colon else b" ".join(row.split()[:3])
