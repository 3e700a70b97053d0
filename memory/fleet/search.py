"""Search in the catalogue: the database selects candidates, `memory.search` ranks them as in one workspace.

Words are as in `memory.search`, in the syntax of PostgreSQL's full-text search. Misspelled words are not corrected.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory.base.words import tokens
from memory.fleet.catalogue import Database
from memory.fleet.local import best_hits
from memory.fleet.model import FleetHit
from memory.search.hits import body_of
from memory.search.query import Query, Term
from memory.search.rank import day_number
from memory.search.records import Record
from memory.search.searcher import search_records

RANKED = 300
"""Of so many matching entries, the newest, the database ranks the words."""
_BEGINNINGS = 4
"""With more words than this, only whole ones are found: the matches of many beginnings take too long to join."""
MOST = 1_000
"""Maximum number of hits if there is no limit."""
_FEWEST = 40
"""So many candidates are ranked here, even if fewer hits are wanted."""
_SETTINGS = """
SET LOCAL jit = off;
SET LOCAL max_parallel_workers_per_gather = 0;
SET LOCAL work_mem = '64MB'
"""
"""A search is too short for compiling and for helpers; matches of a prefix have to fit into memory."""
_BEST = """
WITH fits AS MATERIALIZED (
    SELECT e.file, e.digest, e.day, e.words FROM entry e {join} WHERE {where} ORDER BY e.day DESC LIMIT {most}
), best AS (
    SELECT file, digest FROM fits {rank} LIMIT {keep}
)
SELECT e.file, e.digest, e.kind, f.name, e.title, e.text, e.date, e.ref, e.tags, h.name, w.path,
       coalesce(f.lines[array_position(f.digests, e.digest)], 0)
FROM best JOIN entry e USING (file, digest) JOIN file f ON f.id = e.file
JOIN workspace w ON w.id = f.workspace JOIN host h ON h.id = e.host
"""


@dataclass(frozen=True, slots=True)
class _Item:
    """The data for ranking a record; `line` is the position of its row."""

    ref: str | None
    line: int


def search(connection: Database, query: Query, limit: int) -> tuple[FleetHit, ...]:
    """Return the best hits, those that match all words first; `limit` 0 is the best `MOST`. psycopg.Error."""
    if query.empty:
        return ()
    most = limit or MOST
    rows = _candidates(connection, query, most)
    records = [
        Record(kind, name, title, text, _Item(ref, at), date, tuple(tags))
        for at, (_, _, kind, name, title, text, date, ref, tags, *_rest) in enumerate(rows)
    ]
    hits = []
    for hit in search_records(records, query, most).every:
        *_, host, path, line = rows[hit.entry.line]
        hits.append(FleetHit(Path(os.fsdecode(path)), host, hit._replace(entry=hit.entry._replace(line=line))))
    return best_hits(hits, 0)


def _candidates(connection: Database, query: Query, most: int) -> list[tuple[Any, ...]]:
    """Return the entries that may be among the best: with all words as they are typed, as beginnings, with any word."""
    terms = [term for term in query.terms if not term.strict]
    ways = [all_of(query, whole=True), *([all_of(query)] if len(terms) <= _BEGINNINGS else [])]
    if len(terms) > 1:
        ways += [any_of(terms, query, whole=True), *([any_of(terms, query)] if len(terms) <= _BEGINNINGS else [])]
    keep = max(2 * most, _FEWEST)
    found: dict[tuple[int, int], tuple[Any, ...]] = {}
    with connection.transaction():
        connection.execute(_SETTINGS)
        for words in dict.fromkeys(ways):
            if len(found) < most:
                found |= {row[:2]: row for row in _best(connection, query, words, keep) if row[:2] not in found}
    return list(found.values())


def _best(connection: Database, query: Query, words: str, keep: int) -> list[tuple[Any, ...]]:
    """Return the entries that match, ranked by the database if there are words; without words the newest."""
    filters, values = _filters(query)
    rank = "ORDER BY ts_rank('{0.1, 0.2, 0.4, 1.0}', words, %s::tsquery) DESC, day DESC" if words else ""
    text = _BEST.format(
        join="JOIN file f ON f.id = e.file" if query.placed else "",
        where=("e.words @@ %s::tsquery" if words else "true") + filters,
        most=RANKED if words else keep,
        rank=rank,
        keep=keep,
    )
    matched = [words] if words else []
    return connection.execute(text.encode(), (*matched, *values, *matched)).fetchall()


def _filters(query: Query) -> tuple[str, list[Any]]:
    """Return the filters of a query as SQL, and their values."""
    parts: list[str] = []
    values: list[Any] = []

    def place(names: Sequence[str]) -> str:
        either = []
        for name in names:
            kind = "plans" if name == "orchestration" else name
            either.append("e.kind = %s OR position(%s in lower(f.name)) > 0")
            values.extend((kind, name))
            if len(kind) > 2:
                either.append("starts_with(e.kind, %s)")
                values.append(kind)
        return f"({' OR '.join(either)})"

    def tag(name: str) -> str:
        if name.endswith("*"):
            values.append(name[:-1])
            return "EXISTS (SELECT 1 FROM unnest(e.tags) t WHERE starts_with(t, %s))"
        values.append(name)
        return "%s = ANY (e.tags)"

    parts += [place(names) for names in query.places]
    if query.not_places:
        parts.append(f"NOT {place(query.not_places)}")
    parts += [f"({' OR '.join(map(tag, names))})" for names in query.tags]
    parts += [f"NOT {tag(name)}" for name in query.not_tags]
    if query.dated:
        parts.append("e.day > 0")
    if query.after:
        parts.append("e.day >= %s")
        values.append(day_number(query.after))
    if query.before:
        parts.append("e.day < %s")
        values.append(day_number(query.before))
    return "".join(f" AND {part}" for part in parts), values


_LONGEST_WORD = 400
_MOST_WORDS = 20_000
_MOST_PLACES = 16_383
_MOST_OF_ONE = 250
_APART = 2  # Keeps a phrase from matching across title and text.


def vector_of(title: str, text: str) -> str:
    """Return the words of an entry with their positions, those of the title weighted; of a very long entry the first
    words, within the limits of PostgreSQL.

    Words contain neither quotes nor backslashes, see `memory.base.words`.
    """
    head, body = tokens(title)[:_MOST_WORDS], tokens(body_of(title, text))[:_MOST_WORDS]
    places: dict[str, list[str]] = {}
    for number, word in enumerate(head, 1):
        places.setdefault(word[:_LONGEST_WORD], []).append(f"{min(number, _MOST_PLACES)}A")
    for number, word in enumerate(body, len(head) + _APART):
        held = places.setdefault(word[:_LONGEST_WORD], [])
        if len(held) < _MOST_OF_ONE and number <= _MOST_PLACES:
            held.append(str(number))
    return " ".join(f"'{word}':{','.join(found)}" if found else f"'{word}'" for word, found in places.items())


def term_words(term: Term, *, whole: bool = False) -> str:
    """Return one term in the syntax of the full-text search; `whole`: its last word is not longer."""
    phrase = " <-> ".join(f"'{word[:_LONGEST_WORD]}'" for word in term.words)
    return f"({phrase}{':*' if term.open and not whole else ''})"


def all_of(query: Query, *, whole: bool = False) -> str:
    """Return the expression for all terms of a query and none of its excluded ones; empty: there are no words."""
    parts = [term_words(term, whole=whole) for term in query.terms]
    parts += [f"!{term_words(term)}" for term in query.without]
    return " & ".join(parts)


def any_of(terms: Sequence[Term], query: Query, *, whole: bool = False) -> str:
    """Return the expression for one of some terms, and every quoted one of the query."""
    loose = " | ".join(term_words(term, whole=whole) for term in terms if not term.strict)
    strict = [term_words(term) for term in query.terms if term.strict]
    never = [f"!{term_words(term)}" for term in query.without]
    return " & ".join([*([f"({loose})"] if loose else []), *strict, *never])
