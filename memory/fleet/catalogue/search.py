"""Search in the catalogue: the database selects candidates, `memory.search` ranks them as in one workspace.

Misspelled words are not corrected here; a deep search does that.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.fleet.local import best_hits
from memory.fleet.model import FleetHit
from memory.search.query import Query
from memory.search.rank import day_number
from memory.search.records import Record
from memory.search.searcher import search_records

from .words import all_of, any_of

if TYPE_CHECKING:
    import psycopg

RANKED = 800
"""Up to this many matching entries are all ranked; of more, those with the words in their title, and the newest."""
MOST = 1_000
"""Maximum number of hits if there is no limit."""
_FEWEST = 40
_LOOSE = 300
_MOST_LOOSE_TERMS = 6

_ROWS = """
SELECT e.id, e.kind, f.name, e.title, e.text, e.date, e.ref, e.tags, h.name, w.path,
       coalesce(f.lines[array_position(f.ids, e.id)], 0)
FROM entry e
JOIN file f ON f.id = e.file AND f.host = e.host
JOIN workspace w ON w.id = f.workspace AND w.host = e.host
JOIN host h ON h.id = e.host
WHERE e.id = ANY (%s)
"""


@dataclass(frozen=True, slots=True)
class _Item:
    """The data for ranking a record; `line` is the position of its row."""

    ref: str | None
    line: int


def search(connection: psycopg.Connection[tuple[Any, ...]], query: Query, limit: int) -> tuple[FleetHit, ...]:
    """Return the best hits, those that match all words first; `limit` 0 is the best `MOST`. psycopg.Error."""
    if query.empty:
        return ()
    most = limit or MOST
    chosen = _Candidates(connection, query)
    with connection.transaction():
        connection.execute("SET LOCAL jit = off")
        # Matches of a prefix are collected in memory; if that is too small, whole pages are read needlessly.
        connection.execute("SET LOCAL work_mem = '64MB'")
        numbers = chosen.best(most)
        if len(numbers) < most and any(not term.strict for term in query.terms):
            numbers = list(dict.fromkeys([*numbers, *chosen.loose(most)]))
        rows = connection.execute(_ROWS, (numbers,)).fetchall() if numbers else []
    records = [
        Record(kind, name, title, text, _Item(ref, at), date, tuple(tags))
        for at, (_, kind, name, title, text, date, ref, tags, *_rest) in enumerate(rows)
    ]
    hits = []
    for hit in search_records(records, query, most).every:
        *_, host, path, line = rows[hit.entry.line]
        entry = hit.entry._replace(line=line)
        hits.append(FleetHit(Path(os.fsdecode(path)), host, entry, hit.snippet, hit.score, hit.fits_all))
    return best_hits(hits, 0)


class _Candidates:
    """Selects the entries that may be among the best."""

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]], query: Query) -> None:
        self._connection = connection
        self._query = query
        self._filters, self._values = _filters(query)
        self._from = "entry e JOIN file f ON f.id = e.file" if query.placed else "entry e"

    def best(self, limit: int) -> list[int]:
        """Return numbers of entries that match all words: all of them if they are few, else the likely best."""
        words = all_of(self._query)
        if not words:
            return self._newest(limit)
        keep = max(3 * limit, _FEWEST)
        # Whole words are found many times faster than prefixes, and count for more.
        whole = all_of(self._query, whole=True)
        if whole != words and self._are_many(whole):
            words = whole
        else:
            rows = self._ranked(words, RANKED + 1, keep)
            if rows is not None:
                return rows
        titles = (all_of(self._query, "A", whole=True), all_of(self._query, "A"))
        (of_whole, begun), newest = self._newest_by_titles(words, titles)
        if len(of_whole) >= limit:
            begun = []
        return list(dict.fromkeys([*of_whole[:keep], *begun[:keep], *newest[:keep]]))

    def loose(self, limit: int) -> list[int]:
        """Return numbers of entries that match some of the words: first those that lack one, then those with any."""
        terms = [term for term in self._query.terms if not term.strict]
        found: list[int] = []
        if 2 < len(terms) <= _MOST_LOOSE_TERMS:
            for some in combinations(terms, len(terms) - 1):
                for whole in (True, False):
                    words = " & ".join(any_of([term], self._query, whole=whole) for term in some)
                    rows = self._ranked(words, RANKED, limit) or []
                    found += rows
                    if rows:
                        break
        for term in terms[: 2 * _MOST_LOOSE_TERMS]:
            if len(found) >= _LOOSE:
                break
            titles = (any_of([term], self._query, "A"),)
            (titled,), newest = self._newest_by_titles(any_of([term], self._query), titles)
            found += titled[:limit] + newest[:limit]
        return found[: _LOOSE + limit]

    def _ranked(self, words: str, most: int, keep: int) -> list[int] | None:
        """Return the best by their rank; None if `most` match."""
        rows = self._connection.execute(
            f"""
            SELECT id, count(*) OVER () FROM (
                SELECT e.id, e.day, e.words FROM {self._from}
                WHERE e.words @@ %s::tsquery {self._filters} LIMIT {most}
            ) AS fits
            ORDER BY ts_rank('{{0.1, 0.2, 0.4, 1.0}}', words, %s::tsquery) DESC, day DESC, id DESC LIMIT {keep}
            """.encode(),
            (words, *self._values, words),
        ).fetchall()
        if rows and rows[0][1] >= most and most > RANKED:
            return None
        return [number for number, _ in rows]

    def _are_many(self, words: str) -> bool:
        """Return whether more than `RANKED` match."""
        found = self._connection.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM {self._from}"
            f" WHERE e.words @@ %s::tsquery {self._filters} LIMIT {RANKED + 1}) AS fits".encode(),
            (words, *self._values),
        ).fetchone()
        return found is not None and found[0] > RANKED

    def _newest_by_titles(self, words: str, titles: Sequence[str]) -> tuple[list[list[int]], list[int]]:
        """Return the newest `RANKED` matches, after those that also match each of `titles`: the index has no titles."""
        asked = ", ".join(["words @@ %s::tsquery"] * len(titles))
        rows = self._connection.execute(
            f"SELECT id, {asked} FROM (SELECT e.id, e.day, e.words FROM {self._from} WHERE e.words @@ %s::tsquery"
            f" {self._filters} ORDER BY e.day DESC, e.id DESC LIMIT {RANKED}) AS fits"
            " ORDER BY day DESC, id DESC".encode(),
            (*titles, words, *self._values),
        ).fetchall()
        return [[row[0] for row in rows if row[1 + at]] for at in range(len(titles))], [row[0] for row in rows]

    def _newest(self, limit: int) -> list[int]:
        rows = self._connection.execute(
            f"SELECT e.id FROM {self._from} WHERE true {self._filters}"
            f" ORDER BY e.day DESC, e.id DESC LIMIT {limit}".encode(),
            self._values,
        )
        return [number for (number,) in rows.fetchall()]


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
