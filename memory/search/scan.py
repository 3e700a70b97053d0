"""Search without an index: one pass over all entries. Used if there is no index yet, or an incomplete one."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nlargest, nsmallest
from typing import TYPE_CHECKING

from memory.search.query.rank_partial import MOST, Weigher, best_of, kind_order

from .hits import FoundEntry, Hit, SearchAnswer, hit_of
from .match import Matcher, day_number
from .query.needs import needs_of
from .query.query import Query, Term, unknown_places
from .query.vocabulary import HeldVocabulary, forgiven

if TYPE_CHECKING:
    from .records import Record

# Points of a term by where it is found, best first; the last is added if the title has all terms as they were typed.
_WHOLE_TITLE, _IN_TITLE, _WHOLE_TEXT, _IN_TEXT, _PHRASE = 6, 4, 2, 1, 3

_WEIGHED = 3000
"""How many entries with some of the words are weighed; beyond that, those with the most words, the newest first."""


def entry_of(record: Record, ref: str | None = None) -> FoundEntry:
    """Return the searchable data of a record, with its line computed, and its ref if it is not given."""
    return FoundEntry(*record[:4], record.date, ref or record.ref, record.line, record.tags)


def scan(records: Iterable[Record], query: Query, limit: int = 0) -> SearchAnswer:
    """Return the records that match the query, the best first; `limit` 0 is all, an empty query matches nothing.

    A term counts most as a whole word of the title, then as a part of the title, then in the text. Ties are ordered by
    the later date, then the kind, then the order of the records. A word that occurs nowhere is replaced by words that
    were probably meant. If the limit leaves room, entries that match some of the words are returned as `partial`.
    """
    if query.empty:
        return SearchAnswer(query, source="scan")
    everything = records if isinstance(records, list) else list(records)
    unknown = unknown_places(query, {(record.kind, record.file) for record in everything} if query.placed else ())
    answer = _scan(everything, query, limit)._replace(unknown=unknown)
    asked, held = query, None
    if not answer.count and query.terms:
        held = HeldVocabulary(everything)
        other, also = forgiven(query, held)
        if also:
            asked = other
            answer = _scan(everything, other, limit)._replace(query=query, also=also, unknown=unknown)
    room = limit - len(answer.hits) if limit else MOST
    if room <= 0 or all(term.strict for term in query.terms):
        return answer
    return answer._replace(partial=_partial(everything, held or HeldVocabulary(everything), asked, answer, room))


def _partial(
    records: list[Record], held: HeldVocabulary, asked: Query, answer: SearchAnswer, room: int
) -> tuple[Hit, ...]:
    """Return the best entries that match some of the words but not all; `asked` is the query for all words."""
    query = answer.query
    weigher = Weigher(needs_of(query, held), max((day_number(record.date) for record in records), default=0))
    strict = query._replace(terms=tuple(term for term in query.terms if term.strict))
    matcher, fits_all = Matcher(strict), Matcher(asked)
    passes = matcher.words if strict.terms or strict.without else matcher.filters
    found = []
    for number, record in enumerate(records):
        # `line` holds the record's number: computing ref and line costs more than the match, and few entries need them.
        entry = FoundEntry(*record[:4], record.date, None, number, record.tags)
        served = weigher.glance(entry)
        if served and passes(entry) not in (None, False) and (not answer.count or fits_all.words(entry) is None):
            found.append((served, day_number(record.date), -number, entry))
    if len(found) > _WEIGHED:
        found = nlargest(_WEIGHED, found)
    hits = best_of(weigher, (entry for *_, entry in found), query, answer.hits, room)
    return tuple(hit._replace(entry=entry_of(records[hit.entry.line])) for hit in hits)


def _scan(records: Iterable[Record], query: Query, limit: int) -> SearchAnswer:
    matcher = Matcher(query)
    best = _WHOLE_TITLE * len(query.terms) + _PHRASE
    found: list[tuple[int, int, int, int, Record]] = []
    for number, record in enumerate(records):
        # Computing ref and line costs more than the match, and few entries need them.
        words = matcher.words(FoundEntry(*record[:4], record.date, None, 0, record.tags))
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
    return SearchAnswer(query, hits, len(found), source="scan")


def _worth(term: Term, title: str, words: str) -> int:
    start = f" {' '.join(term.words)}"
    if f"{start} " in title:
        return _WHOLE_TITLE
    if term.open and start in title:
        return _IN_TITLE
    return _WHOLE_TEXT if f"{start} " in words else _IN_TEXT
