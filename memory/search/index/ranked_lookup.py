"""Querying the index: the entries that match a query, ranked, with their snippets."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from memory.search.hits import FoundEntry, Hit, SearchAnswer, hit_of
from memory.search.match import day_number
from memory.search.query.needs import Need, needs_of
from memory.search.query.query import Query, Term, fits_place, unknown_places
from memory.search.query.rank_partial import MOST, Weigher, best_of, kind_order
from memory.search.query.vocabulary import forgiven

from .tables import DamagedIndex, day_of, first_number, newest, place_mark, unpack
from .words import IndexWords

if TYPE_CHECKING:
    import sqlite3

RANKED = 800
"""Up to this many matching entries are all ranked. If more match, their words are so common that title and date are
better criteria, and ranking all of them would be slow.
"""

WEIGHED = 48
"""Entries that are read and weighed."""
_CONSIDERED = 600
"""A word in up to this many entries has all of them considered. A more common word is only searched among the entries
with rarer words; if these are too few, in combination with other common words, as many at once as possible.
"""
_PAIRED = 3
_TITLE_SHARE = 0.4
_KEPT_CHUNKS = 256
_WEIGHTS = "1.0, 5.0, 0.0"
_HALF = 8.0  # The bm25 value that gives a score of 0.5.

Row = tuple[int, float]


class Lookup:
    """Answers queries from one connection; for one thread at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Run no query yet."""
        self.connection = connection
        self._chunks: OrderedDict[tuple[int, int], list[tuple[int, FoundEntry]]] = OrderedDict()
        self._words = IndexWords(connection)

    def stamps(self) -> dict[str, str]:
        """Return the stamps of the files as they were indexed; an empty stamp means that indexing did not finish."""
        return dict(self.connection.execute("SELECT name, stamp FROM file"))

    def ask(self, query: Query, limit: int) -> SearchAnswer:
        """Return the best entries that match; `limit` 0 is all, an empty query matches nothing.

        If the limit leaves room, entries that match some of the words are in `partial`. sqlite3.Error, DamagedIndex.
        """
        if query.empty:
            return SearchAnswer(query)
        self.connection.execute("BEGIN")
        try:
            answer, found = self._ask(query, limit)
            if not answer.count and query.terms:
                other, also = forgiven(query, self._words)
                if also:
                    answer, found = self._ask(other, limit)
                    answer = answer._replace(query=query, also=also)
            room = limit - len(answer.hits) if limit else MOST
            if room > 0 and not answer.more and any(not term.strict for term in query.terms):
                answer = answer._replace(partial=self._partial(answer, found, room))
            places = self.connection.execute("SELECT kind, name FROM place") if query.placed else ()
            return answer._replace(unknown=unknown_places(query, places))
        finally:
            if self.connection.in_transaction:
                self.connection.execute("COMMIT")

    def _ask(self, query: Query, limit: int) -> tuple[SearchAnswer, list[int]]:
        """Return the answer for entries that match all words, and their numbers."""
        text = self._expression(query)
        if text is None:
            return SearchAnswer(query, explained=("no file and no kind has that name",)), []
        low, high = _days(query)
        explained = [f"index: {text}"]
        most = RANKED + 1 if query.terms else limit + 1
        found = newest(self.connection, text, low, high, most if limit else -1)
        more = bool(limit) and len(found) == most
        if more:
            found.pop()
        if not query.terms:
            explained.append("by date, the newest first: the query has no words")
            rows = [(number, 0.5) for number in found]
        elif more:
            explained.append(f"more than {RANKED} entries fit: those with all words in their title, then the newest")
            rows = self._by_title(query, found, low, high, limit)
        else:
            explained.append("all that fit are ranked by how rare the words are in them")
            rows = self._ranked(query, text, low, high) if found else []
        return self._answer(query, rows, limit, len(found), more, explained), found

    def _by_title(self, query: Query, found: Sequence[int], low: int, high: int, limit: int) -> list[Row]:
        """Return the best of very many: all words whole in the title, then all in the title, then the newest others."""
        whole = query._replace(terms=tuple(term._replace(open=False) for term in query.terms))
        rows: dict[int, float] = {}
        for asked, score in ((whole, 0.9), (query, 0.6)):
            text = self._expression(asked, "title")
            if text is not None and len(rows) < limit:
                for number in newest(self.connection, text, low, high, limit):
                    rows.setdefault(number, score)
        for number in found[:limit]:
            rows.setdefault(number, 0.3)
        return list(rows.items())

    def _ranked(self, query: Query, text: str, low: int, high: int) -> list[Row]:
        """Return numbers and scores of the matches from `low` to before `high`; `text` is the query for the index."""
        # Each phrase of the ranked query is counted in all entries. If no term is a prefix of another word, the query
        # would contain each word twice; it is sent once instead, and the points are doubled.
        twice = all(term.open and not term.instead and self._few(term) == [term.words[0]] for term in query.terms)
        found = self.connection.execute(
            f"SELECT rowid, {-2 if twice else -1} * bm25(find, {_WEIGHTS}) FROM find"
            " WHERE find MATCH ? AND rowid >= ? AND rowid < ?",
            (text if twice else self._expression(query, ranked=True) or text, low, high),
        )
        return [(number, points / (points + _HALF) if points > 0 else 0.0) for number, points in found]

    def _partial(self, answer: SearchAnswer, besides: Sequence[int], room: int) -> tuple[Hit, ...]:
        """Return the best entries that match some of the words, without those that match all of them."""
        query = answer.query
        only = query._replace(terms=tuple(term for term in query.terms if term.strict))
        strict = self._required(only)
        if strict is None:
            return ()
        needs = needs_of(query, self._words)
        candidates = CandidateSearch(self.connection, _days(query), " AND ".join(strict), self._never(query), besides)
        entries = self._entries(candidates.best(needs))
        return best_of(Weigher(needs, self._words.newest), entries.values(), query, answer.hits, room)

    def _answer(
        self, query: Query, rows: list[Row], limit: int, count: int, more: bool, explained: Sequence[str]
    ) -> SearchAnswer:
        # Equal scores: the later day first, then the kind, the file and the line, regardless of when each was indexed.
        rows.sort(key=lambda row: (-round(row[1], 3), -day_of(row[0])))
        if limit and len(rows) > limit:
            cutting = (-round(rows[limit - 1][1], 3), -day_of(rows[limit - 1][0]))
            end = limit
            while end < len(rows) and (-round(rows[end][1], 3), -day_of(rows[end][0])) == cutting and end < limit + 64:
                end += 1
            rows = rows[:end]
        entries = self._entries([number for number, _ in rows])
        shown = [(max(0.001, round(score, 3)), day_of(number), entries[number]) for number, score in rows]
        shown.sort(key=lambda one: (-one[0], -one[1], kind_order(one[2].kind), one[2].file, one[2].line))
        chosen = shown[:limit] if limit else shown
        hits = tuple(hit_of(entry, query, score) for score, _, entry in chosen)
        return SearchAnswer(query, hits, count, more, explained=tuple(explained))

    def _entries(self, numbers: Sequence[int]) -> dict[int, FoundEntry]:
        found: dict[int, FoundEntry] = {}
        wanted = set(numbers)
        for number in numbers:
            if number in found:
                continue
            row = self.connection.execute(
                "SELECT chunk.id, file.serial, file.name, chunk.line, body.data, file.room FROM entry"
                " JOIN chunk ON chunk.id = entry.chunk JOIN body ON body.id = chunk.id"
                " JOIN file ON file.id = chunk.file WHERE entry.id = ?",
                (number,),
            ).fetchone()
            if row is None:
                raise DamagedIndex(f"no entry {number}")
            chunk, serial, name, line, data, room = row
            held = self._chunks.get((chunk, serial))
            if held is None:
                held = [(one.number, one.entry) for one in unpack(data, name, line, room)]
                self._chunks[(chunk, serial)] = held
                while len(self._chunks) > _KEPT_CHUNKS:
                    self._chunks.popitem(last=False)
            found.update((place, entry) for place, entry in held if place in wanted)
            if number not in found:
                raise DamagedIndex(f"no entry {number} in its chunk")
        return found

    # The expression

    def _expression(self, query: Query, columns: str = "title text", *, ranked: bool = False) -> str | None:
        """Return the query in the language of the full-text index; None if nothing can match.

        With `ranked` a word exactly as it was typed counts more than a longer one.
        """
        every = self._required(query, columns, ranked=ranked)
        if every is None:
            return None
        if not every:
            everything = self._marks(("",))
            if not everything:
                return None
            every.append(f"(marks : ({' OR '.join(everything)}))")
        text = " AND ".join(every)
        never = self._never(query)
        return f"({text}) NOT ({never})" if never else text

    def _required(self, query: Query, columns: str = "title text", *, ranked: bool = False) -> list[str] | None:
        """Return the parts that have to match; None if nothing can."""
        every = [f"{{{columns}}} : {self._any(term, ranked)}" for term in query.terms]
        for places in query.places:
            marks = self._marks(places)
            if not marks:
                return None
            every.append(f"marks : ({' OR '.join(marks)})")
        for tags in query.tags:
            every.append(f"marks : ({' OR '.join(map(_tag, tags))})")
        return [f"({one})" for one in every]

    def _never(self, query: Query) -> str:
        """Return what must not match, in the language of the full-text index; empty for nothing."""
        never = [f"{{title text}} : {self._any(term)}" for term in query.without]
        never += [f"marks : {mark}" for mark in self._marks(query.not_places)]
        never += [f"marks : {_tag(tag)}" for tag in query.not_tags]
        return " OR ".join(f"({one})" for one in never)

    def _any(self, term: Term, ranked: bool = False) -> str:
        phrase = f'"{" ".join(term.words)}"'
        ways = [phrase] if ranked or not term.open else []
        if term.open:
            # The words with this prefix, one by one: then the index need not collect all entries with the prefix.
            few = None if ranked else self._few(term)
            ways += [f"{phrase} *"] if few is None else [phrase, *(f'"{word}"' for word in few)]
        ways += [f'"{word}"' for word in term.instead]
        if not ranked:
            ways = list(dict.fromkeys(ways))
        return f"({' OR '.join(ways)})" if len(ways) > 1 else ways[0]

    def _few(self, term: Term) -> Sequence[str] | None:
        """Return all words that an open term stands for; None if they are many, or not all known."""
        return None if len(term.words) > 1 else self._words.few_beginning(term.words[0])

    def _marks(self, places: Sequence[str]) -> list[str]:
        if not places:
            return []
        held = self.connection.execute("SELECT id, kind, name FROM place ORDER BY id")
        return [
            f'"{place_mark(number)}"'
            for number, kind, name in held
            if any(fits_place(place, kind, name) for place in places)
        ]


def _days(query: Query) -> tuple[int, int]:
    """Return the range of entry numbers for the days of a query: the first, and the one after the last."""
    low = max(first_number(day_number(query.after)), first_number(1) if query.dated else 0)
    return low, first_number(day_number(query.before)) if query.before else 1 << 62


def _tag(tag: str) -> str:
    return f'"t{tag[:-1]}" *' if tag.endswith("*") else f'"t{tag}"'


class CandidateSearch:
    """Finds candidates between two entry numbers; each has to match `strict`, if not empty, and must not match `never`,
    both in the query language of the index.
    """

    def __init__(
        self, connection: sqlite3.Connection, between: tuple[int, int], strict: str, never: str, besides: Sequence[int]
    ) -> None:
        """`besides` are the numbers of entries that were already found."""
        self._connection = connection
        self._between = between
        self._strict = strict
        self._never = never
        self._besides = frozenset(besides)

    def best(self, needs: Sequence[Need]) -> list[int]:
        """Return the numbers of the most promising entries, the best first."""
        points: dict[int, float] = {}
        common: list[Need] = []
        rare: list[str] = []
        for need in sorted((need for need in needs if not need.minor), key=lambda need: -need.worth):
            if need.count > _CONSIDERED:
                common.append(need)
                continue
            rare.append(expression(need))
            found = self._newest(expression(need), _CONSIDERED)
            self._add(points, found, need.worth)
            if len(found) > WEIGHED:
                self._add(points, self._newest(expression(need, "title"), _CONSIDERED), need.worth * _TITLE_SHARE)
        for need in common if rare else ():
            both = f"({' OR '.join(rare)}) AND {expression(need)}"
            self._add(points, self._newest(both, 2 * _CONSIDERED), need.worth)
        few = common[:_PAIRED]
        for size in range(len(few), 0, -1):
            if len(points) >= WEIGHED:
                break
            for some in combinations(few, size):
                for columns, share in (("title text", 1.0), ("title", _TITLE_SHARE))[: 2 if size == 1 else 1]:
                    together = " AND ".join(expression(need, columns) for need in some)
                    self._add(points, self._newest(together, WEIGHED), share * sum(need.worth for need in some))
        return sorted(points, key=lambda number: (-round(points[number], 6), -number))[:WEIGHED]

    @staticmethod
    def _add(points: dict[int, float], found: Sequence[int], worth: float) -> None:
        for number in found:
            points[number] = points.get(number, 0.0) + worth

    def _newest(self, text: str, most: int) -> list[int]:
        asked = f"({text}) AND ({self._strict})" if self._strict else f"({text})"
        if self._never:
            asked = f"({asked}) NOT ({self._never})"
        found = newest(self._connection, asked, *self._between, most + len(self._besides))
        return [number for number in found if number not in self._besides]


def expression(need: Need, columns: str = "title text") -> str:
    """Return a need in the query language of the index, for some of its columns."""
    words = dict.fromkeys((*(" ".join(form.words) for form in need.forms), *need.begun))
    ways = [f'"{word}"' for word in words]
    ways += [f'"{need.head}" *'] if need.head and not need.begun else []
    return f"{{{columns}}} : ({' OR '.join(ways)})"
