"""The results of a search: the entry, its place, the matching line with the words marked, and why it matched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memory.base.words import spans
from memory.registry import kinds

from .needs import Need
from .query import Query
from .rank import Evidence
from .records import FoundEntry

Span = tuple[int, int]
"""Start and end of a part of a text, in characters; the end is exclusive."""

_BEFORE, _LENGTH = 30, 160
_LONGEST_LINE = 4000


class Hit(NamedTuple):
    """An entry that matches all words, or without `fits_all` some of them.

    `score` is the share of what was asked for that it has, over 0 and at most 1. `snippet` is one line of its text, or
    a part of it, with the matching words at `marks`; `title_marks` are those in the title. `why` has for each word
    where it was found: `title`, `text` or both. Without `is_about` the entry only shares common words with the query.
    """

    entry: FoundEntry
    score: float
    snippet: str
    marks: tuple[Span, ...] = ()
    title_marks: tuple[Span, ...] = ()
    why: tuple[tuple[str, str], ...] = ()
    fits_all: bool = True
    is_about: bool = True


class SearchAnswer(NamedTuple):
    """The best hits of a query, and notes about them.

    `hits` match all words; `partial` are the best entries that match some of them, as far as the limit leaves room.
    `count` is how many entries match all words; with `more` there may be more than that. `also` maps words that occur
    nowhere to those searched instead. `unknown` are the names in `in:` that match no kind or file. `complete`: nothing
    is missing because it was not searched yet. `explained` says how the answer was computed.
    """

    query: Query
    hits: tuple[Hit, ...] = ()
    count: int = 0  # type: ignore[assignment]  # its values are never counted as in a tuple
    more: bool = False
    also: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unknown: tuple[str, ...] = ()
    complete: bool = True
    explained: tuple[str, ...] = ()
    partial: tuple[Hit, ...] = ()

    @property
    def every(self) -> tuple[Hit, ...]:
        """All hits in order: those that match all words, then those that match some of them."""
        return self.hits + self.partial

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user: which parts of the query were ignored, and which words were replaced."""
        also = (f"no entry has {word!r}; similar: {', '.join(words)}" for word, words in self.also)
        known = f"write {', '.join(kinds())}, or a part of a file's name"
        places = (f"in: no kind or file is called {place[:40]!r}; {known}" for place in self.unknown)
        missing = () if self.complete else ("the index is not complete yet: search again for the rest",)
        return (*self.query.notes, *places, *also, *missing)


def body_of(title: str, text: str) -> str:
    """Return the text of an entry without its title, which is searched separately."""
    at = text.find(title, 0, len(title) + 80) if title else -1
    return text if at < 0 else f"{text[:at]}\n{text[at + len(title) :]}"


def hit_of(entry: FoundEntry, evidence: Evidence, needs: Sequence[Need]) -> Hit:
    """Return the hit of an entry that was found, with its snippet and the words marked."""
    served = [needs[at] for at in sorted(evidence.found)]
    snippet, marks = _snippet(entry, evidence.line, served)
    why = tuple((needs[at].text, where) for at, where in sorted(evidence.found.items()))
    score = round(min(1.0, max(0.001, evidence.score)), 3)
    return Hit(entry, score, snippet, marks, marks_in(entry.title, served), why, evidence.fits_all, evidence.is_about)


def marks_in(text: str, needs: Sequence[Need]) -> tuple[Span, ...]:
    """Return the spans of what serves some needs in a line, in order and without overlaps."""
    words = spans(text[:_LONGEST_LINE]) if needs else []
    plain = [word.word for word in words]
    found: list[Span] = []
    for at, (word, start, end) in enumerate(words):
        for need in needs:
            if need.serves(word):
                begun = need.head and word not in need.words and text[start:end].isascii()
                found.append((start, start + len(need.head) if begun else end))
            found += [
                (start, words[at + len(phrase) - 1].end)
                for phrase in need.phrases
                if need.serves_all(phrase, plain[at : at + len(phrase)])
            ]
    return _joined(sorted(found))


def _joined(found: Sequence[Span]) -> tuple[Span, ...]:
    joined: list[Span] = []
    for start, end in found:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _snippet(entry: FoundEntry, line: int, needs: Sequence[Need]) -> tuple[str, tuple[Span, ...]]:
    """Return a line of the text and the marks in it; the title's line if only that has any."""
    lines = body_of(entry.title, entry.text).splitlines()
    said = [one for one in lines if one.strip(" -#\t")]
    best = lines[line] if line >= 0 else said[0] if said and not marks_in(entry.title, needs) else entry.title
    return cut(best, marks_in(best, needs))


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
