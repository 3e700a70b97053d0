"""The results of a search: the entry, its place, the matching line with the words marked, and why it matched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from memory.registry import kinds

from .query.words import fold, fold_with_places, spaced

if TYPE_CHECKING:
    from .query.query import Query, Term

Span = tuple[int, int]
"""Start and end of a part of a text, in characters; the end is exclusive."""

_BEFORE, _LENGTH = 30, 160
_LONGEST_LINE = 4000


class FoundEntry(NamedTuple):
    """The searchable data of a record; `line` from 0, `date` an ISO date or empty, `ref` None for settings.

    `room` is the number of its workspace if one index holds several.
    """

    kind: str
    file: str
    title: str
    text: str
    date: str
    ref: str | None
    line: int
    tags: tuple[str, ...] = ()
    room: int = 0


class Hit(NamedTuple):
    """An entry that matches all words, or without `fits_all` some of them; `score` is over 0 and at most 1.

    `snippet` is one line of its text, or a part of it, with the matching words at `marks`; `title_marks` are those in
    the title. `why` has for each term where it was found: `title`, `text` or both.
    """

    entry: FoundEntry
    score: float
    snippet: str
    marks: tuple[Span, ...] = ()
    title_marks: tuple[Span, ...] = ()
    why: tuple[tuple[str, str], ...] = ()
    fits_all: bool = True


class SearchAnswer(NamedTuple):
    """The best hits of a query, and notes about them.

    `hits` match all words; `partial` are the best entries that match some of them, as far as the limit leaves room.
    `count` is how many entries match all words; with `more` there may be more than that. `also` maps words that occur
    nowhere to those searched instead. `unknown` are the names in `in:` that match no kind or file. `complete`: nothing
    is missing because it was not searched yet. `source` is `index` or `scan`, `explained` how the answer was computed.
    """

    query: Query
    hits: tuple[Hit, ...] = ()
    count: int = 0  # type: ignore[assignment]  # nobody counts in it as in a tuple
    more: bool = False
    also: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unknown: tuple[str, ...] = ()
    complete: bool = True
    source: str = "index"
    explained: tuple[str, ...] = ()
    partial: tuple[Hit, ...] = ()

    @property
    def every(self) -> tuple[Hit, ...]:
        """All hits in order: those that match all words, then those that match some of them."""
        return self.hits + self.partial

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user: which parts of the query were ignored, and which words were replaced."""
        also = (f"{word!r} stands nowhere; also fits: {', '.join(words)}" for word, words in self.also)
        known = f"write {', '.join(kinds())}, or a part of a file's name"
        places = (f"in: does not know {place[:40]!r}; {known}" for place in self.unknown)
        return (*self.query.notes, *places, *also)


def body_of(title: str, text: str) -> str:
    """Return the text of an entry without its title, which is searched separately."""
    at = text.find(title, 0, len(title) + 80) if title else -1
    return text if at < 0 else f"{text[:at]}\n{text[at + len(title) :]}"


def _heading_line(title: str, text: str) -> int:
    """Return the line of the text that contains the title; -1 if there is none."""
    at = text.find(title, 0, len(title) + 80) if title else -1
    return -1 if at < 0 else len(text[:at].splitlines()) - (0 if at and text[at - 1] not in "\r\n" else -1) - 1


def hit_of(entry: FoundEntry, query: Query, score: float) -> Hit:
    """Return the hit of an entry that matches the query."""
    body = body_of(entry.title, entry.text)
    folded = (fold(entry.title), fold(body))
    why = tuple((term.text, " and ".join(_places(term, folded)) or "text") for term in query.terms)
    snippet, marks = _snippet(entry, query.terms)
    return Hit(entry, score, snippet, marks, marks_in(entry.title, query.terms), why)


def _places(term: Term, folded: tuple[str, str]) -> list[str]:
    return [name for name, text in zip(("title", "text"), folded, strict=True) if any(_finds(term, text))]


def _finds(term: Term, folded: str) -> Iterator[re.Match[str]]:
    """Yield the matches of a term in folded text."""
    find, only_spaced = _finder(term)
    return find.finditer(spaced(folded) if only_spaced else folded)


@lru_cache(maxsize=256)
def _finder(term: Term) -> tuple[re.Pattern[str], bool]:
    return re.compile(term.pattern or "(?!)"), term.spaced


def marks_in(text: str, terms: Sequence[Term]) -> tuple[Span, ...]:
    """Return the spans of terms in a line, in order and without overlaps."""
    if not terms or not text:
        return ()
    text = text[:_LONGEST_LINE]
    folded, places = (text.lower(), None) if text.isascii() else fold_with_places(text)
    found: list[Span] = []
    for term in terms:
        for match in _finds(term, folded):
            start, end = match.span()
            if start < end:
                found.append((start, end) if places is None else (places[start], places[end - 1] + 1))
    found.sort()
    joined: list[Span] = []
    for start, end in found:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _snippet(entry: FoundEntry, terms: Sequence[Term]) -> tuple[str, tuple[Span, ...]]:
    """Return the line with the most terms and the marks in it; the title's line only if no other has any."""
    heading = _heading_line(entry.title, entry.text)
    lines = [line for number, line in enumerate(entry.text.splitlines()) if number != heading and line.strip(" -\t")]
    best, most = "", 0
    if terms:
        for line in lines:
            folded = fold(line[:_LONGEST_LINE])
            count = sum(any(_finds(term, folded)) for term in terms)
            if count > most:
                best, most = line, count
                if count == len(terms):
                    break
    if not most:
        first = lines[0] if lines else entry.title
        best = entry.title if marks_in(entry.title, terms) else first
    return cut(best, marks_in(best, terms))


def cut(line: str, marks: Sequence[Span]) -> tuple[str, tuple[Span, ...]]:
    """Return the part of a line around its first mark, with signs for omitted text, and the marks in it."""
    first = marks[0][0] if marks else 0
    start = max(0, first - _BEFORE) if first > _BEFORE * 2 else 0
    start += len(line[start:]) - len(line[start:].lstrip())
    end = min(len(line.rstrip()), start + _LENGTH)
    lead = "…" if line[:start].strip() else ""
    shift = len(lead) - start
    kept = tuple((begin + shift, min(stop, end) + shift) for begin, stop in marks if begin < end and begin >= start)
    return lead + line[start:end] + ("…" if line[end:].strip() else ""), kept
