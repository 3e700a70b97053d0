"""Search without an index: one pass over all entries. It is asked where there is no index, or not all of one yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from heapq import nsmallest

from memory.registry import KINDS

from .hits import Answer, Entry, hit_of
from .match import Matcher, day_number, spelled
from .query import Query, Term, unknown_places
from .records import Record
from .typos import is_guessable, meant

# What a term is worth where it is found, best first; all terms as they were typed in the title add the last.
_WHOLE_TITLE, _IN_TITLE, _WHOLE_TEXT, _IN_TEXT, _PHRASE = 6, 4, 2, 1, 3


def entry_of(record: Record) -> Entry:
    """Return what search knows of a record, its ref and line worked out."""
    return Entry(record.kind, record.file, record.title, record.text, record.date, record.ref, record.line, record.tags)


def scan(records: Iterable[Record], query: Query, limit: int = 0) -> Answer:
    """Return the records that fit the query, the best first; `limit` 0 is all, an empty query finds nothing.

    A term counts most as a whole word of the title, then inside the title, then in the text. Equal finds: the later
    date, then the order of `KINDS`, then the order of the records. Where a word stands nowhere, words that were
    probably meant are taken instead.
    """
    if query.empty:
        return Answer(query, source="scan")
    everything = records if isinstance(records, list) else list(records)
    unknown = unknown_places(query, {(record.kind, record.file) for record in everything} if query.placed else ())
    answer = replace(_scan(everything, query, limit), unknown=unknown)
    if answer.count or not query.terms:
        return answer
    other, also = _forgiven(everything, query)
    return replace(_scan(everything, other, limit), query=query, also=also, unknown=unknown) if also else answer


def _scan(records: Iterable[Record], query: Query, limit: int) -> Answer:
    matcher = Matcher(query)
    best = _WHOLE_TITLE * len(query.terms) + _PHRASE
    found: list[tuple[int, int, int, int, Record]] = []
    for number, record in enumerate(records):
        # The ref and the line cost more than the look, and are needed for few.
        words = matcher.words(Entry(*record[:4], record.date, None, 0, record.tags))
        if words is not None:
            title = words[: words.index("\n")]
            points = sum(_worth(term, title, words) for term in query.terms)
            if len(query.terms) > 1 and " ".join(word for term in query.terms for word in term.words) in title:
                points += _PHRASE
            found.append((-points, -day_number(record.date), kind_order(record.kind), number, record))
    chosen = nsmallest(limit, found) if limit else sorted(found)
    hits = tuple(
        hit_of(entry_of(record), query, round(min(1.0, max(-points, 1) / best), 3)) for points, *_, record in chosen
    )
    return Answer(query, hits, len(found), source="scan")


def kind_order(kind: str) -> int:
    """Return the place of a kind among all; one that is not known comes last."""
    return KINDS.index(kind) if kind in KINDS else len(KINDS)


def _worth(term: Term, title: str, words: str) -> int:
    start = f" {' '.join(term.words)}"
    if f"{start} " in title:
        return _WHOLE_TITLE
    if term.open and start in title:
        return _IN_TITLE
    return _WHOLE_TEXT if f"{start} " in words else _IN_TEXT


def guessable(term: Term) -> bool:
    """Tell whether other words may be taken for a term: it is one word, and may go on."""
    return len(term.words) == 1 and term.open and is_guessable(term.words[0])


def _forgiven(records: list[Record], query: Query) -> tuple[Query, tuple[tuple[str, tuple[str, ...]], ...]]:
    """Return the query with words that were probably meant, and which were taken for which."""
    doubtful = [term for term in query.terms if guessable(term)]
    if not doubtful:
        return query, ()
    vocabulary: set[str] = set()
    for record in records:
        vocabulary.update(spelled(record.title, record.text).split())
    also: dict[str, tuple[str, ...]] = {}
    for term in doubtful:
        word = term.words[0]
        if not any(known.startswith(word) for known in vocabulary):
            words = meant(word, filter(is_guessable, vocabulary), lambda _: True)
            if words:
                also[term.text] = words
    terms = tuple(replace(term, instead=also.get(term.text, ())) for term in query.terms)
    return replace(query, terms=terms), tuple(also.items())
