"""The syntax of a filter: words and phrases that must all occur, `name:value` for a field, and excluded parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .rows import RowKey

SHORTEST = 3
"""The fewest letters that abbreviate a field's name; `re:` in a title is a word."""

_WORD = re.compile(r"\S+")
_PHRASE = re.compile(r'(-?)(?:([^\s":]+):)?"([^"]*)"?')
_BEGINNINGS = frozenset("_#@")
"""Signs that may begin a word after a minus."""


def field_named(name: str, names: Sequence[str]) -> str | None:
    """The field that a name means: itself, or the only one that begins with it (`prio`); None for no field."""
    if name in names:
        return name
    found = [one for one in names if one.startswith(name)] if len(name) >= SHORTEST else []
    return found[0] if len(found) == 1 else None


class FilterPart(NamedTuple):
    """One part of a filter as it was typed, casefolded."""

    text: str
    """A word or phrase, or the text that the field's value must contain."""
    field: str | None = None
    """The full name of the field to search; None: search everywhere."""
    without: bool = False
    """Whether it must not match."""
    phrase: bool = False
    """Whether it was quoted."""


def parts_of(text: str, names: Sequence[str]) -> Iterator[FilterPart]:
    """Parse a filter whose fields have these names; never fails.

    Double quotes at the beginning of a part or right after `name:` enclose a phrase; a quote that is not closed runs
    to the end. A minus right before a word, a quote or a field means that it must not match; any other minus (`-`,
    `->`, `--force`) is a letter.
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
    """Return a sentence naming what looks like a field (`colour:red`) but is not in `names`; `listed` adds all names.

    Empty where there is no such field; phrases, times and addresses are ordinary words.
    """
    words = (part.text.partition(":") for part in parts_of(text, names) if part.field is None and not part.phrase)
    strange = dict.fromkeys(
        f"{name}:" for name, colon, value in words if colon and name.isalpha() and value[:2] != "//"
    )
    if not strange:
        return ""
    said = f"{', '.join(strange)} {'is not a field' if len(strange) == 1 else 'are not fields'}"
    known = ", ".join(f"{name}:" for name in names)
    return f"{said}; fields: {known}." if listed and known else said


class Needles(NamedTuple):
    """A parsed filter: words in lower case, and pairs of a field's name and text in its value."""

    words: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]
    no_words: tuple[str, ...] = ()
    """Words of which none may occur."""
    no_fields: tuple[tuple[str, str], ...] = ()
    """Fields of which none may match."""

    @classmethod
    def read(cls, text: str, names: Sequence[str]) -> Needles:
        """Parse a filter, see `parts_of`. Words are separated by spaces. `name:` of a known field with nothing after it
        requires that the field has a value. The unique beginning of a name is enough. An unknown name is an ordinary
        word.
        """
        words: tuple[list[str], list[str]] = [], []
        fields: tuple[list[tuple[str, str]], list[tuple[str, str]]] = [], []
        for part in parts_of(text, names):
            if part.field is not None:
                fields[part.without].append((part.field, part.text))
            elif part.text:
                words[part.without].append(part.text)
        return cls(tuple(words[False]), tuple(fields[False]), tuple(words[True]), tuple(fields[True]))

    def among(self, rows: Iterable[RowKey], has: Callable[[RowKey, str, str], bool]) -> frozenset[RowKey]:
        """Return the rows that match; `has` tells whether a field of a row has a value.

        Each part of the filter narrows the rows that the parts before it left.
        """
        for word in self.words:
            rows = [row for row in rows if word in row.haystack]
        for word in self.no_words:
            rows = [row for row in rows if word not in row.haystack]
        for name, value in self.fields:
            rows = [row for row in rows if has(row, name, value)]
        for name, value in self.no_fields:
            rows = [row for row in rows if not has(row, name, value)]
        return frozenset(rows)
