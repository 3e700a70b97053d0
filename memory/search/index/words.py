"""The words of all entries in the index; results are cached as long as nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memory.search.query.vocabulary import LONGEST, SHORTEST, is_guessable
from memory.search.query.words import is_unspaced

from .tables import day_of

if TYPE_CHECKING:
    import sqlite3

_KEPT = 4096
_MOST_WORDS = 4000
_MOST_COUNTED = 20_000
"""The maximum count of entries with a word; all words above it are equally common."""
_FEW = 12


class IndexWords:
    """The vocabulary of one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Query nothing yet."""
        self._connection = connection
        self._version = -1
        self._known: dict[tuple[str | int, ...], list[Any]] = {}

    @property
    def total(self) -> int:
        """How many entries there are."""
        return int(self._column("SELECT coalesce(sum(size), 0) FROM chunk")[0])

    @property
    def newest(self) -> int:
        """The day number of the latest entry."""
        return day_of(self._column("SELECT coalesce(max(id), 0) FROM entry")[0])

    def count(self, word: str) -> int:
        """Return how many entries contain a word, some thousands at most."""
        some = f"SELECT 1 FROM find WHERE find MATCH ? LIMIT {_MOST_COUNTED}"
        return int(self._column(f"SELECT count(*) FROM ({some})", f'{{title text}} : "{word}"')[0])

    def holds(self, word: str) -> bool:
        """Return whether an entry contains a word."""
        return bool(self._column("SELECT 1 FROM find WHERE find MATCH ? LIMIT 1", f'{{title text}} : "{word}"'))

    def stands(self, head: str) -> bool:
        """Return whether an entry contains a word that begins with `head`."""
        few = self.few_beginning(head)
        ways = " OR ".join(f'"{word}"' for word in [head, *few]) if few is not None else f'"{head}" *'
        return bool(self._column("SELECT 1 FROM find WHERE find MATCH ? LIMIT 1", f"{{title text}} : ({ways})"))

    def beginning(self, head: str, least: int, most: int) -> Sequence[str]:
        """Return words of `least` to `most` letters that begin with `head`."""
        return self._between("word", head, least, most)

    def ending(self, tail: str, least: int, most: int) -> Sequence[str]:
        """Return words of `least` to `most` letters that end with `tail`."""
        return [word[::-1] for word in self._between("backward", tail[::-1], least, most)]

    def names(self, head: str) -> Sequence[str]:
        """Return names in camel case, as words, that have a part beginning with `head`."""
        return self._column(
            f"SELECT DISTINCT word FROM part WHERE part >= ? AND part < ? ORDER BY word LIMIT {_FEW}",
            head,
            f"{head}\U0010ffff",
        )

    def containing(self, part: str) -> Sequence[str]:
        """Return the words that contain a part, the shortest first."""
        return self._column(
            "SELECT word FROM word WHERE instr(word, ?) AND length(word) BETWEEN ? AND ? ORDER BY length(word), word",
            part,
            SHORTEST,
            LONGEST,
        )

    def few_beginning(self, head: str) -> Sequence[str] | None:
        """Return all words that begin with `head`; None if they are many, or not all known."""
        if not is_guessable(head) or is_unspaced(head):
            return None
        words = self._column(
            f"SELECT word FROM word WHERE word >= ? AND word < ? LIMIT {_FEW + 1}", head, f"{head}\U0010ffff"
        )
        return words if len(words) <= _FEW else None

    def _between(self, table: str, head: str, least: int, most: int) -> Sequence[str]:
        return self._column(
            f"SELECT word FROM {table} WHERE word >= ? AND word < ?"
            f" AND length(word) BETWEEN ? AND ? LIMIT {_MOST_WORDS}",
            head,
            f"{head}\U0010ffff",
            least,
            most,
        )

    def _column(self, statement: str, *values: str | int) -> list[Any]:
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        if self._version != version or len(self._known) > _KEPT:
            self._version = version
            self._known = {}
        key = (statement, *values)
        if key not in self._known:
            self._known[key] = [value for (value,) in self._connection.execute(statement, values)]
        return self._known[key]
