"""The overlap of texts, and lists from which texts that say the same are merged.

Normalised text is in lower case, with one space for every run of characters other than letters and digits. The overlap
of two texts is the number of words they share, divided by the number of different words of the one that has more. Every
word counts, so `Phase 1` and `Phase 2` are not the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, pairwise, product
from math import ceil
from typing import Any, NamedTuple

ALIKE = 0.8
"""The overlap from which two texts say the same."""

Entry = Mapping[str, Any]

_SPACES = {code: " " for code in range(128) if not chr(code).isalnum()}
_BETWEEN = re.compile(r"[\W_]+")


class Absorbed(NamedTuple):
    """An entry merged into another: its text or title, and the text or title that stayed."""

    text: str
    into: str


class UniqueLines(NamedTuple):
    """A list of entries without duplicates, and what was absorbed, in the order of merging."""

    items: list[dict[str, Any]]
    absorbed: list[Absorbed]


class MergedLines(NamedTuple):
    """Lines without duplicates, and what was absorbed, in the order of merging."""

    items: list[str]
    absorbed: list[Absorbed]


def normalise(text: str) -> str:
    """Return a text in lower case, with one space for each run other than letters and digits, and none at the ends."""
    if text.isascii():
        return " ".join(text.lower().translate(_SPACES).split())
    return _BETWEEN.sub(" ", text.lower()).strip()


def overlap(one: str, other: str) -> float:
    """Return the overlap of two texts, from 0 to 1; it is 0 for a text without a word."""
    mine, theirs = (frozenset(normalise(text).split()) for text in (one, other))
    return len(mine & theirs) / max(len(mine), len(theirs)) if mine and theirs else 0.0


def merge_gotchas(items: Iterable[Entry]) -> UniqueLines:
    """Merge gotchas whose titles are equal, or whose titles and causes or correct paths overlap by `ALIKE`.

    Of two texts of a field the longer one stays (of equally long ones the first), in the position of the first gotcha.
    Merging the result again changes nothing.
    """
    return _merge_entries(items, ("cause", "correctPath"), by_title=True)


def merge_next_steps(items: Iterable[Entry]) -> UniqueLines:
    """Merge next steps whose titles, and whose starts or ends (`done`), overlap by `ALIKE`; fields as in gotchas."""
    return _merge_entries(items, ("start", "done"), by_title=False)


def merge_lines(lines: Iterable[str]) -> MergedLines:
    """Merge lines that say the same; the longer one stays, in the position of the first.

    Lines say the same when they are equal after normalising, one contains the words of the other in sequence, or they
    overlap by `ALIKE`. Takes time in proportion to the lines.
    """
    texts = list(lines)
    if len(texts) < 2:
        return MergedLines(texts, [])
    absorbed: list[Absorbed] = []
    index = _LineIndex(texts)
    kept: dict[int, str] = {}
    for place, text in enumerate(texts):
        now, at = text, place
        while (found := index.find(now, kept)) is not None:
            other = kept.pop(found)
            longer = _longer(other, now)
            shorter = now if longer is other else other
            if shorter != longer:
                absorbed.append(Absorbed(shorter, longer))
            now, at = longer, min(at, found)
        kept[at] = now
        index.add(at, now)
    return MergedLines([kept[place] for place in sorted(kept)], absorbed)


def _longer(one: str, other: str) -> str:
    return one if len(one) >= len(other) else other


def _merge_entries(items: Iterable[Entry], others: tuple[str, str], *, by_title: bool) -> UniqueLines:
    """Merge entries: each is compared with those kept so far, and a merged entry is compared again."""
    entries = [dict(item) for item in items]
    absorbed: list[Absorbed] = []
    index = _EntryIndex(entries, others, by_title=by_title)
    kept: dict[int, dict[str, Any]] = {}
    for place, entry in enumerate(entries):
        now, at = entry, place
        while (found := index.find(now, kept)) is not None:
            other = kept.pop(found)
            first, second = (other, now) if found < at else (now, other)
            merged = {key: _longer_value(first.get(key), second.get(key)) for key in {**first, **second}}
            shorter = first if merged.get("title") == second.get("title") else second
            absorbed.append(Absorbed(str(shorter.get("title")), str(merged.get("title"))))
            now, at = merged, min(at, found)
        kept[at] = now
        index.add(at, now)
    return UniqueLines([kept[place] for place in sorted(kept)], absorbed)


def _longer_value(one: object, other: object) -> object:
    if isinstance(one, str) and isinstance(other, str):
        return _longer(one, other)
    return other if one is None else one


class _Text:
    """A text prepared for comparison: its words in order, between spaces, as a set, and the rarest first.

    `runs` are the pairs of successive words, joined by a space; for a single word, that word.
    """

    def __init__(self, text: str) -> None:
        """Split a text; `ordered` is set when the counts of all texts are known."""
        normal = normalise(text)
        self.equal = normal or text.strip()
        self.row = normal.split()
        self.run = f" {normal} "
        self.words = frozenset(self.row)
        self.ordered: list[str] = []

    @cached_property
    def runs(self) -> list[str]:
        return [f"{one} {other}" for one, other in pairwise(self.row)] if len(self.row) > 1 else self.row


def _prepared(texts: Iterable[str]) -> dict[str, _Text]:
    """Return all texts that are compared, each split once, its words ordered by the number of texts that have them."""
    found = {text: _Text(text) for text in texts}
    counts = Counter(word for one in found.values() for word in one.words)
    for one in found.values():
        one.ordered = sorted(sorted(one.words), key=counts.__getitem__)
    return found


def _prefix(text: _Text, shared: int = 1) -> list[str]:
    """Return so many of the rarest words that a text overlapping by `ALIKE` shares at least `shared` of them."""
    size = len(text.ordered)
    return text.ordered[: size - ceil(ALIKE * size) + shared]


def _pairs(text: _Text) -> Iterator[object]:
    """Yield pairs of rare words; a text that overlaps by `ALIKE` has one of them. For a single word, that word."""
    return combinations(_prefix(text, 2), 2) if len(text.ordered) > 1 else iter(text.ordered)


class _LineIndex:
    """Finds the first kept line that says the same as another.

    Lines that are no longer kept stay in the index and are skipped: each place is looked up in `kept`.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        """Split all lines, and count their words and pairs of words."""
        self._texts = _prepared(lines)
        self._runs = Counter(run for line in lines for run in self._texts[line].runs)
        self._words = any(len(self._texts[line].row) == 1 for line in lines)
        self._equal: dict[object, list[int]] = {}
        self._alike: dict[object, list[int]] = {}
        self._whole: dict[object, list[int]] = {}
        self._inner: dict[object, list[int]] = {}

    def add(self, place: int, line: str) -> None:
        """Add a kept line."""
        text = self._texts[line]
        self._equal.setdefault(text.equal, []).append(place)
        for key in _pairs(text):
            self._alike.setdefault(key, []).append(place)
        if text.row:
            self._whole.setdefault(self._rarest(text), []).append(place)
        for run in text.runs:
            self._inner.setdefault(run, []).append(place)
        if self._words and len(text.row) > 1:
            # A line of one word may be contained in this one.
            for word in text.words:
                self._inner.setdefault(word, []).append(place)

    def _rarest(self, text: _Text) -> object:
        return min(text.runs, key=self._runs.__getitem__)

    def find(self, line: str, kept: Mapping[int, str]) -> int | None:
        """Return the first place of a kept line that says the same as `line`."""
        text = self._texts[line]
        # A line that contains another also contains that one's rarest pair of words.
        near = set(self._equal.get(text.equal, ()))
        alike, whole = self._alike, self._whole
        for key in _pairs(text):
            if key in alike:
                near.update(alike[key])
        if text.row:
            near.update(self._inner.get(self._rarest(text), ()))
            for run in text.runs:
                if run in whole:
                    near.update(whole[run])
            if self._words and len(text.row) > 1:
                for word in text.words:
                    near.update(whole.get(word, ()))
        if not near:
            return None
        texts = self._texts
        return next((place for place in sorted(near) if place in kept and _same(text, texts[kept[place]])), None)


def _same(one: _Text, other: _Text) -> bool:
    if one.equal == other.equal:
        return True
    if not one.words or not other.words:
        return False
    return _is_alike(one.words, other.words) or one.run in other.run or other.run in one.run


def _is_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two sets of words overlap by `ALIKE`; sets of too different sizes are not compared."""
    few, most = sorted((len(one), len(other)))
    return few >= ALIKE * most > 0 and len(one & other) >= ALIKE * most


class _EntryIndex:
    """Finds the first kept entry that says the same as another, by its title and one of two other fields."""

    def __init__(self, entries: Sequence[Entry], others: tuple[str, str], *, by_title: bool) -> None:
        """Split the fields of all entries that are compared."""
        self._others, self._by_title = others, by_title
        self._texts = {name: _prepared(_field(entry, name) for entry in entries) for name in ("title", *others)}
        self._places: dict[object, list[int]] = {}
        self._asked: tuple[Entry, list[object]] = ({}, [])

    def _of(self, entry: Entry, name: str) -> _Text:
        return self._texts[name][_field(entry, name)]

    def _keys(self, entry: Entry) -> list[object]:
        """Return the keys of an entry; the last ones are cached: an entry is mostly looked up and then added."""
        if self._asked[0] is not entry:
            title = self._of(entry, "title")
            keys: list[object] = [title.equal] if self._by_title else []
            rare = _prefix(title)
            for name in self._others:
                keys += product((name,), rare, _prefix(self._of(entry, name)))
            self._asked = (entry, keys)
        return self._asked[1]

    def add(self, place: int, entry: Entry) -> None:
        """Add a kept entry."""
        for key in self._keys(entry):
            self._places.setdefault(key, []).append(place)

    def find(self, entry: Entry, kept: Mapping[int, Entry]) -> int | None:
        """Return the first place of a kept entry that says the same."""
        near = {place for key in self._keys(entry) for place in self._places.get(key, ())}
        return next((place for place in sorted(near) if place in kept and self._same(entry, kept[place])), None)

    def _same(self, one: Entry, other: Entry) -> bool:
        mine, theirs = self._of(one, "title"), self._of(other, "title")
        if self._by_title and mine.equal == theirs.equal:
            return True
        return _is_alike(mine.words, theirs.words) and any(
            _is_alike(self._of(one, name).words, self._of(other, name).words) for name in self._others
        )


def _field(entry: Entry, name: str) -> str:
    return str(entry.get(name, ""))
