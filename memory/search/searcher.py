"""Search over everything: an index in the private state folder, brought up to date by file stamps before it answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from memory.errors import MemdeckError
from memory.storage.database import Derived
from memory.storage.own_folders import StateFolder

from .hits import Hit, SearchAnswer
from .index import TABLES, VERSION, SearchIndex
from .query import Query, plain_query
from .records import Record, grouped_by_file

if TYPE_CHECKING:
    from memory.system import System

T = TypeVar("T")
_TRIES = 3
"""How often the index is updated until no one wrote meanwhile: an entry moved during it is in two files, or in none."""


class IndexDatabase(Derived):
    """The database of an index; safe to share between threads, of which some may read while another writes."""

    def __init__(self, folder: StateFolder | None, name: str, more: str = "") -> None:
        """Open nothing yet. `more` are tables that the index has in addition to its own; without a folder it is in
        memory.
        """
        super().__init__(folder, name, VERSION, f"{TABLES};{more}")

    def look(self, work: Callable[[SearchIndex], T]) -> T | None:
        """Return the result of `work` on the index as it is; None if there is none."""
        with suppress(sqlite3.Error):
            return self.read(lambda connection: work(SearchIndex(connection)))
        return None

    def change(self, work: Callable[[SearchIndex], T]) -> T | None:
        """Return the result of `work`, run again on a new index if the old one is damaged; None while it is busy."""
        with suppress(sqlite3.Error):
            return self.write(lambda connection: work(SearchIndex(connection)))
        return None


class Searcher:
    """Searches memory systems. Safe to share between threads: one may update while others search."""

    def __init__(
        self,
        folder: StateFolder | None,
        systems: Callable[[], Iterable[System]],
        at_rest: Callable[[Sequence[System]], object] = lambda _: (),
    ) -> None:
        """`systems` returns the current systems. Without a folder the index is in memory.

        `at_rest` returns the state of their files, None while a change is incomplete. If it is the same before and
        after a reading, nothing was moved meanwhile.
        """
        self._systems = systems
        self._at_rest = at_rest
        self._database = IndexDatabase(folder, "search.sqlite")
        self.refused: dict[str, MemdeckError] = {}
        """Why files could not be read, by name, as of the last update."""

    def search(self, query: Query, limit: int, *, patience: Callable[[], bool] = lambda: True) -> SearchAnswer:
        """Return the answer of an index that was updated first, as long as `patience` allows; the answer says whether
        it is `complete`.
        """
        for _ in range(2):  # the answer may be what shows that the index is damaged
            done = self.update(patience)
            answer = self.ask(query, limit)
            if answer is not None:
                return answer._replace(complete=done)
        return SearchAnswer(query, complete=False)

    def ask(self, query: Query, limit: int) -> SearchAnswer | None:
        """Return the answer of the index as it is, None if there is none."""
        return self._database.look(lambda index: index.ask(query, limit))

    def update(self, go_on: Callable[[], bool] = lambda: True) -> bool:
        """Index what changed in the files; False if `go_on` stopped it early, or another program writes the index."""
        refused: dict[str, MemdeckError] = {}

        systems = tuple(self._systems())

        def work(index: SearchIndex) -> bool:
            sources = (source for system in systems for source in system.records_by_file(refused))
            return index.update(sources, refused, go_on)

        done: bool | None = None
        for _ in range(_TRIES):
            refused.clear()
            before = self._at_rest(systems)
            done = self._database.change(work)
            if not done or (before is not None and self._at_rest(systems) == before):
                break
        self.refused = refused
        return bool(done)

    def close(self) -> None:
        """Close the index; the next call opens it again."""
        self._database.close()


def search_records(records: Iterable[Record], query: Query, limit: int) -> SearchAnswer:
    """Return the best of some records, from an index in memory; see `SearchIndex.ask`."""
    database = IndexDatabase(None, "")

    def work(index: SearchIndex) -> SearchAnswer:
        index.update(grouped_by_file(records), {})
        return index.ask(query, limit)

    answer = database.change(work)
    database.close()
    return SearchAnswer(query) if answer is None else answer


class Text(NamedTuple):
    """Something to rank that is no record; `date` is an ISO date or empty. `line` is its place among others."""

    title: str
    text: str
    date: str = ""
    line: int = 0


def rank(question: str, texts: Sequence[Text], limit: int) -> tuple[Hit, ...]:
    """Return hits for the texts that have words of a question, the best first; `entry.line` is the place of a text."""
    numbered = [one._replace(line=place) for place, one in enumerate(texts)]
    records = [Record("text", "", one.title, one.text, one, one.date) for one in numbered]
    return search_records(records, plain_query(question), limit).every
