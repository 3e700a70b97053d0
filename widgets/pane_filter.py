"""What a filter's text means: words that all occur, and `name:value` for one field."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .pane import Pane
    from .pane_rows import Row

SHORTEST = 3
"""Letters from which the beginning of a field's name stands for it; `re:` in a title is a word."""


def haystack_of(text: str) -> str:
    """Return what words are looked for in: casefolded UTF-8, each byte of it as a character.

    It holds a word, made in the same way, exactly where the text holds the word. One byte a character whatever the
    language makes it small, and Python looks into such a string in half the time that bytes take.
    """
    return text.casefold().encode("utf-8", "surrogatepass").decode("latin-1")


def field_named(name: str, names: Sequence[str]) -> str | None:
    """The field that a name stands for: itself, or the only one that begins with it (`prio`); None for no field."""
    if name in names:
        return name
    found = [one for one in names if one.startswith(name)] if len(name) >= SHORTEST else []
    return found[0] if len(found) == 1 else None


def strange_words(text: str, names: Sequence[str], *, listed: bool = False) -> str:
    """Say what a filter writes like a field (`colour:red`) and is none of these, and (`listed`) which there are.

    Empty where there is nothing to say; times and addresses are words like any other.
    """
    found = (part.partition(":") for part in text.casefold().split())
    fields = (name for name, colon, value in found if colon and name.isalpha() and value[:2] != "//")
    strange = dict.fromkeys(f"{name}:" for name in fields if field_named(name, names) is None)
    if not strange:
        return ""
    said = f"{', '.join(strange)} {'is no field' if len(strange) == 1 else 'are no fields'}"
    known = ", ".join(f"{name}:" for name in names)
    return f"{said}; there are {known}." if listed and known else said


class Needles(NamedTuple):
    """A filter that was read: words as `haystack_of` makes them, pairs of a field's name and what its value holds."""

    words: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, text: str, names: Sequence[str]) -> Needles:
        """Read a filter. Words are joined by spaces; `name:` of a known field with nothing after it asks that the
        field has a value at all; the unique beginning of a name is enough; a name that no field has is a word like
        any other.
        """
        words, fields = [], []
        for part in text.casefold().split():
            name, colon, value = part.partition(":")
            field = field_named(name, names) if colon else None
            if field is not None:
                fields.append((field, value))
            else:
                words.append(part)
        return cls(tuple(map(haystack_of, words)), tuple(fields))

    @property
    def word(self) -> str | None:
        """The word, where the filter is the usual one: a single word."""
        return self.words[0] if len(self.words) == 1 and not self.fields else None

    def test(self, pane: Pane) -> Callable[[Row], bool]:
        """Return `fit` for the rows of a pane; the usual filter, one word, without a detour for each row."""
        word = self.word
        if word is None:
            return lambda row: self.fit(row, pane)

        def has_word(row: Row) -> bool:
            haystack = row.haystack
            if haystack is None:
                haystack = row.haystack = pane.haystack(row.item)
            return word in haystack

        return has_word

    def fit(self, row: Row, pane: Pane) -> bool:
        """Whether an item fits."""
        haystack = row.haystack
        if haystack is None:
            haystack = row.haystack = pane.haystack(row.item)
        for word in self.words:
            if word not in haystack:
                return False
        for name, value in self.fields:
            fits = pane.field_fits(row.item, name, value) if value else None
            if fits is not None:
                if not fits:
                    return False
                continue
            found = pane.field_text(row.item, name).casefold()
            if value not in found if value else not found:
                return False
        return True
