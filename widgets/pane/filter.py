"""What a filter's text means: words and phrases that all occur, `name:value` for one field, and what must not fit."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from .rows import RowKey

SHORTEST = 3
"""Letters from which the beginning of a field's name stands for it; `re:` in a title is a word."""

Held = TypeVar("Held")
"""What stands beside a row."""

_WORD = re.compile(r"\S+")
_PHRASE = re.compile(r'(-?)(?:([^\s":]+):)?"([^"]*)"?')
_BEGINNINGS = frozenset("_#@")
"""Signs with which a word may begin that a minus stands before."""


class Filtered(Protocol):
    """What the filter asks about an item; see `widgets.pane.overrides.PaneSays`."""

    def haystack(self, item: Any) -> str:
        """Return what words are looked for in."""

    def field_text(self, item: Any, name: str) -> str:
        """Return the value that `name:value` looks at."""

    def field_fits(self, item: Any, name: str, value: str) -> bool | None:
        """Tell whether `name:value` fits, None for fields that are compared by their words."""


def haystack_of(text: str) -> str:
    """Return what words are looked for in: casefolded UTF-8, each byte of it as a character.

    It holds a word, made in the same way, exactly where the text holds the word. One byte a character whatever the
    language makes it small, and Python looks into such a string in half the time that bytes take.
    """
    return text.casefold().encode("utf-8", "surrogatepass").decode("latin-1")


def haystack_in(row: RowKey, pane: Filtered) -> str:
    """What words are looked for in a row, made when it is asked for the first time."""
    if row.haystack is None:
        row.haystack = pane.haystack(row.item)
    return row.haystack


def field_named(name: str, names: Sequence[str]) -> str | None:
    """The field that a name stands for: itself, or the only one that begins with it (`prio`); None for no field."""
    if name in names:
        return name
    found = [one for one in names if one.startswith(name)] if len(name) >= SHORTEST else []
    return found[0] if len(found) == 1 else None


class FilterPart(NamedTuple):
    """One part of a filter as it was typed, casefolded."""

    text: str
    """A word or phrase, or what the value of a field holds."""
    field: str | None = None
    """The field that it asks, by its whole name; None: it is looked for anywhere."""
    without: bool = False
    """Whether it must not fit."""
    phrase: bool = False
    """Whether it stands in quotes."""


def parts_of(text: str, names: Sequence[str]) -> Iterator[FilterPart]:
    """Read a filter whose fields have these names; never fails.

    Double quotes make a phrase of what stands between them, at the beginning of a part or right behind `name:`; one
    that is still open runs to the end. A minus right before a word, a quote or a field says that it must not fit; any
    other one (`-`, `->`, `--force`) is a letter.
    """
    text = text.casefold()
    place = 0
    while found := _WORD.search(text, place):
        quoted = _PHRASE.match(text, found.start()) if '"' in found[0] else None
        if quoted is not None:
            minus, name, phrase = quoted.groups()
            field = field_named(name, names) if name else None
            if field is not None or not name:
                yield FilterPart(phrase, field, bool(minus), phrase=True)
                place = quoted.end()
                continue
        place = found.end()
        word = found[0]
        without = word[0] == "-" and (word[1:2].isalnum() or word[1:2] in _BEGINNINGS)
        word = word[without:]
        name, colon, value = word.partition(":")
        field = field_named(name, names) if colon else None
        yield FilterPart(word, None, without) if field is None else FilterPart(value, field, without)


def strange_words(text: str, names: Sequence[str], *, listed: bool = False) -> str:
    """Say what a filter writes like a field (`colour:red`) and is none of these, and (`listed`) which there are.

    Empty where there is nothing to say; phrases, times and addresses are words like any other.
    """
    words = (part.text.partition(":") for part in parts_of(text, names) if part.field is None and not part.phrase)
    strange = dict.fromkeys(
        f"{name}:" for name, colon, value in words if colon and name.isalpha() and value[:2] != "//"
    )
    if not strange:
        return ""
    said = f"{', '.join(strange)} {'is no field' if len(strange) == 1 else 'are no fields'}"
    known = ", ".join(f"{name}:" for name in names)
    return f"{said}; there are {known}." if listed and known else said


class Needles(NamedTuple):
    """A filter that was read: words as `haystack_of` makes them, pairs of a field's name and what its value holds."""

    words: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]
    no_words: tuple[str, ...] = ()
    """Words of which none may occur."""
    no_fields: tuple[tuple[str, str], ...] = ()
    """Fields of which none may fit."""

    @classmethod
    def read(cls, text: str, names: Sequence[str]) -> Needles:
        """Read a filter, see `parts_of`. Words are joined by spaces; `name:` of a known field with nothing after it
        asks that the field has a value at all; the unique beginning of a name is enough; a name that no field has is
        a word like any other.
        """
        words: tuple[list[str], list[str]] = [], []
        fields: tuple[list[tuple[str, str]], list[tuple[str, str]]] = [], []
        for part in parts_of(text, names):
            if part.field is not None:
                fields[part.without].append((part.field, part.text))
            elif part.text:
                words[part.without].append(haystack_of(part.text))
        return cls(tuple(words[False]), tuple(fields[False]), tuple(words[True]), tuple(fields[True]))

    def narrows(self, before: Needles, judged: Collection[str] = ()) -> bool:
        """Whether everything that fits this filter fits the one before as well, as far as that can be told.

        Each needle of the one before has to be in one of these, and each of what it leaves out has to have something
        in it that this one leaves out. `judged` are the fields whose values are compared otherwise than by their
        words: nobody knows what the rest of such a value means.
        """
        return (
            all(any(word in longer for longer in self.words) for word in before.words)
            and all(any(shorter in word for shorter in self.no_words) for word in before.no_words)
            and all(any(_goes_on(one, longer, judged) for longer in self.fields) for one in before.fields)
            and all(any(_goes_on(shorter, one, judged) for shorter in self.no_fields) for one in before.no_fields)
        )

    @property
    def word(self) -> str | None:
        """The word, where the filter is the usual one: a single word."""
        return self.words[0] if len(self.words) == 1 and not any(self[1:]) else None

    def fit(self, row: RowKey, pane: Filtered) -> bool:
        """Whether an item fits."""
        haystack = haystack_in(row, pane)
        for word in self.words:
            if word not in haystack:
                return False
        for word in self.no_words:
            if word in haystack:
                return False
        return all(_has(row, pane, *field) for field in self.fields) and not any(
            _has(row, pane, *field) for field in self.no_fields
        )


class Fits:
    """Which rows of a pane fit a filter; the usual one, a single word, is looked for without a call for each row."""

    __slots__ = ("_needles", "_pane", "_word")

    def __init__(self, needles: Needles, pane: Filtered) -> None:
        self._needles = needles
        self._pane = pane
        self._word = needles.word

    def __call__(self, row: RowKey) -> bool:
        """Whether one row fits."""
        return self._needles.fit(row, self._pane)

    def rows(self, rows: Iterable[RowKey]) -> list[RowKey]:
        """Those that fit."""
        word, pane = self._word, self._pane
        if word is None:
            return list(filter(self, rows))
        return [row for row in rows if word in (row.haystack or haystack_in(row, pane))]

    def pairs(self, pairs: Iterable[tuple[Held, RowKey]]) -> list[tuple[Held, RowKey]]:
        """Those whose row fits."""
        word, pane = self._word, self._pane
        if word is None:
            return [pair for pair in pairs if self(pair[1])]
        return [pair for pair in pairs if word in (pair[1].haystack or haystack_in(pair[1], pane))]


def _goes_on(shorter: tuple[str, str], longer: tuple[str, str], judged: Collection[str]) -> bool:
    """Whether what has the longer value in a field has the shorter one in it, too."""
    return shorter == longer or (shorter[0] == longer[0] and shorter[0] not in judged and shorter[1] in longer[1])


def _has(row: RowKey, pane: Filtered, name: str, value: str) -> bool:
    """Whether a field fits a value, or has one at all."""
    fits = pane.field_fits(row.item, name, value) if value else None
    if fits is not None:
        return fits
    found = pane.field_text(row.item, name).casefold()
    return value in found if value else bool(found)
