"""What two texts share, and lists in which what says the same stands once.

Normalised text is in lower case with one space for every run of other than letters and digits. The overlap of two
texts is the number of words they share, divided by the number of different words of the one that has more. Every word
counts, so `Phase 1` and `Phase 2` are not the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise, product
from math import ceil
from typing import Any, NamedTuple

ALIKE = 0.8
"""The overlap from which two texts say the same."""

Entry = Mapping[str, Any]

_SPACES = {code: " " for code in range(128) if not chr(code).isalnum()}
_BETWEEN = re.compile(r"[\W_]+")


class Absorbed(NamedTuple):
    """What went into another of the list: its text or title, and the text or title that stayed."""

    text: str
    into: str


class UniqueLines(NamedTuple):
    """A list without what says the same twice, and what was absorbed, in the order of merging."""

    items: list[dict[str, Any]]
    absorbed: list[Absorbed]


class MergedLines(NamedTuple):
    """Lines without what says the same twice, and what was absorbed, in the order of merging."""

    items: list[str]
    absorbed: list[Absorbed]


def normalise(text: str) -> str:
    """Return a text in lower case, with one space for each run of other than letters and digits, none at the ends."""
    if text.isascii():
        return " ".join(text.lower().translate(_SPACES).split())
    return _BETWEEN.sub(" ", text.lower()).strip()


def words(text: str) -> frozenset[str]:
    """Return the different words of a text, normalised."""
    return frozenset(normalise(text).split())


def overlap(one: str, other: str) -> float:
    """Return how much two texts share, from 0 to 1; a text without a word shares nothing."""
    return _share(words(one), words(other))


def merge_gotchas(items: Iterable[Entry]) -> UniqueLines:
    """Merge gotchas whose titles are equal, or whose titles and causes or correct paths overlap by `ALIKE`.

    Of two texts of a field the longer stays (of equally long ones the first), in the place of the first gotcha. The
    result does not depend on being merged before.
    """
    return _merge_entries(items, "title", ("cause", "correctPath"), by_title=True)


def merge_next_steps(items: Iterable[Entry]) -> UniqueLines:
    """Merge next steps whose titles, and whose starts or ends (`done`), overlap by `ALIKE`; fields as in gotchas."""
    return _merge_entries(items, "title", ("start", "done"), by_title=False)


def says_same(one: str, other: str) -> bool:
    """Tell whether two lines say the same: equal, one containing the other's words in a row, or alike."""
    mine, theirs = normalise(one), normalise(other)
    if not mine or not theirs:
        return one.strip() == other.strip()
    return _contains(f" {mine} ", f" {theirs} ") or overlap(one, other) >= ALIKE


def merge_lines(lines: Iterable[str]) -> MergedLines:
    """Merge lines that are equal when normalised, of which one contains the words of the other in a row, or that
    overlap by `ALIKE`; the longer stays, in the place of the first. Takes time in proportion to the lines.
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


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(len(one), len(other)) if one and other else 0.0


def _longer(one: str, other: str) -> str:
    return one if len(one) >= len(other) else other


def _merge_entries(items: Iterable[Entry], title: str, others: tuple[str, str], *, by_title: bool) -> UniqueLines:
    """Merge entries: each is put among those that were kept; what comes of a merge is looked at again."""
    entries = [dict(item) for item in items]
    absorbed: list[Absorbed] = []
    index = _EntryIndex(entries, title, others, by_title=by_title)
    kept: dict[int, dict[str, Any]] = {}
    for place, entry in enumerate(entries):
        now, at = entry, place
        while (found := index.find(now, kept)) is not None:
            other = kept.pop(found)
            first, second = (other, now) if found < at else (now, other)
            merged = {key: _longer_value(first.get(key), second.get(key)) for key in {**first, **second}}
            shorter = first if merged.get(title) == second.get(title) else second
            absorbed.append(Absorbed(str(shorter.get(title)), str(merged.get(title))))
            now, at = merged, min(at, found)
        kept[at] = now
        index.add(at, now)
    return UniqueLines([kept[place] for place in sorted(kept)], absorbed)


def _longer_value(one: object, other: object) -> object:
    if isinstance(one, str) and isinstance(other, str):
        return _longer(one, other)
    return other if one is None else one


class _Text:
    """A text as it is compared: its words in their order, between spaces as a whole, as a set, the rarest first.

    `runs` are the pairs of words that follow each other, with a space between; of one word, that word.
    """

    __slots__ = ("_runs", "equal", "ordered", "row", "run", "words")

    def __init__(self, text: str) -> None:
        """Split a text; `ordered` waits for the counts of all texts."""
        normal = normalise(text)
        self.equal = normal or text.strip()
        self.row = normal.split()
        self.run = f" {normal} "
        self.words = frozenset(self.row)
        self.ordered: list[str] = []
        self._runs: list[str] | None = None

    @property
    def runs(self) -> list[str]:
        if self._runs is None:
            row = self.row
            self._runs = [f"{one} {other}" for one, other in pairwise(row)] if len(row) > 1 else row
        return self._runs


class _Texts:
    """All texts that will ever be compared, each split once, and in how many of them each word is."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Split the texts and count their words."""
        self._texts = {text: _Text(text) for text in texts}
        counts = Counter(word for one in self._texts.values() for word in one.words)
        for one in self._texts.values():
            one.ordered = sorted(sorted(one.words), key=counts.__getitem__)

    def of(self, text: str) -> _Text:
        """Return a text as it is compared."""
        return self._texts[text]


def _prefix(text: _Text, shared: int = 1) -> list[str]:
    """Return as many of the rarest words as a text that overlaps by `ALIKE` shares `shared` of, at least."""
    size = len(text.ordered)
    return text.ordered[: size - ceil(ALIKE * size) + shared]


def _pairs(text: _Text) -> Iterator[object]:
    """Yield the pairs of rare words of which a text that overlaps by `ALIKE` has one too; of one word, that word."""
    return combinations(_prefix(text, 2), 2) if len(text.ordered) > 1 else iter(text.ordered)


class _LineIndex:
    """Finds the first kept line that says the same as another.

    What is no longer kept stays in the index and is passed over: each place is looked up in what is kept.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        """Split all lines, and count the words and the pairs of words in them."""
        self._texts = _Texts(lines)
        self._runs = Counter(run for line in lines for run in self._texts.of(line).runs)
        self._words = any(len(self._texts.of(line).row) == 1 for line in lines)
        self._equal: dict[object, list[int]] = {}
        self._alike: dict[object, list[int]] = {}
        self._whole: dict[object, list[int]] = {}
        self._inner: dict[object, list[int]] = {}

    def add(self, place: int, line: str) -> None:
        """Put a kept line in."""
        text = self._texts.of(line)
        self._equal.setdefault(text.equal, []).append(place)
        for key in _pairs(text):
            self._alike.setdefault(key, []).append(place)
        if text.row:
            self._whole.setdefault(self._rarest(text), []).append(place)
        for run in text.runs:
            self._inner.setdefault(run, []).append(place)
        if self._words and len(text.row) > 1:
            # A line of one word may be in this one.
            for word in text.words:
                self._inner.setdefault(word, []).append(place)

    def _rarest(self, text: _Text) -> object:
        return min(text.runs, key=self._runs.__getitem__)

    def find(self, line: str, kept: Mapping[int, str]) -> int | None:
        """Return the first place of a kept line that says the same as `line`."""
        text = self._texts.of(line)
        # A line that holds another has that one's rarest pair of words.
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
        return next((place for place in sorted(near) if place in kept and _same(text, texts.of(kept[place]))), None)


def _same(one: _Text, other: _Text) -> bool:
    if one.equal == other.equal:
        return True
    if not one.words or not other.words:
        return False
    return _is_alike(one.words, other.words) or _contains(one.run, other.run)


def _is_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Tell whether two sets of words overlap by `ALIKE`; sets whose sizes are too far apart are not compared."""
    few, most = sorted((len(one), len(other)))
    return few >= ALIKE * most > 0 and len(one & other) >= ALIKE * most


def _contains(one: str, other: str) -> bool:
    return one in other or other in one


class _EntryIndex:
    """Finds the first kept entry that says the same as another, by its title and one of two more fields."""

    def __init__(self, entries: Sequence[Entry], title: str, others: tuple[str, str], *, by_title: bool) -> None:
        """Split the fields of all entries that will ever be compared."""
        self._title, self._others, self._by_title = title, others, by_title
        self._texts = {name: _Texts(_field(entry, name) for entry in entries) for name in (title, *others)}
        self._places: dict[object, list[int]] = {}
        self._asked: tuple[Entry, list[object]] = ({}, [])

    def _of(self, entry: Entry, name: str) -> _Text:
        return self._texts[name].of(_field(entry, name))

    def _keys(self, entry: Entry) -> list[object]:
        """Return the keys of an entry; one that was asked for is mostly put in next."""
        if self._asked[0] is not entry:
            title = self._of(entry, self._title)
            keys: list[object] = [title.equal] if self._by_title else []
            rare = _prefix(title)
            for name in self._others:
                keys += product((name,), rare, _prefix(self._of(entry, name)))
            self._asked = (entry, keys)
        return self._asked[1]

    def add(self, place: int, entry: Entry) -> None:
        """Put a kept entry in."""
        for key in self._keys(entry):
            self._places.setdefault(key, []).append(place)

    def find(self, entry: Entry, kept: Mapping[int, Entry]) -> int | None:
        """Return the first place of a kept entry that says the same."""
        near = {place for key in self._keys(entry) for place in self._places.get(key, ())}
        return next((place for place in sorted(near) if place in kept and self._same(entry, kept[place])), None)

    def _same(self, one: Entry, other: Entry) -> bool:
        mine, theirs = self._of(one, self._title), self._of(other, self._title)
        if self._by_title and mine.equal == theirs.equal:
            return True
        return _is_alike(mine.words, theirs.words) and any(
            _is_alike(self._of(one, name).words, self._of(other, name).words) for name in self._others
        )


def _field(entry: Entry, name: str) -> str:
    return str(entry.get(name, ""))
