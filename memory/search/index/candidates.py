"""Entries of the index that may fit some of the words best: few enough to be read and weighed one by one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

    from memory.search.query.needs import Need

WEIGHED = 48
"""Entries that are read and weighed."""
_MOST = 600
"""Entries with a word up to which all of them are looked at. A word that more hold is looked for among the finds of
rarer ones; where these are few, for as many such words together as there are."""
_PAIRED = 3
_TITLE_SHARE = 0.4
_ALL = "title text"


class CandidateSearch:
    """Looks for them between two numbers; each has to fit `strict`, where it is not empty, and must not fit `never`,
    both in the language of the index.
    """

    def __init__(
        self, connection: sqlite3.Connection, between: tuple[int, int], strict: str, never: str, besides: Sequence[int]
    ) -> None:
        """`besides` are the numbers of entries that are found already."""
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
            if need.count > _MOST:
                common.append(need)
                continue
            rare.append(expression(need))
            found = self._newest(expression(need), _MOST)
            self._add(points, found, need.worth)
            if len(found) > WEIGHED:
                self._add(points, self._newest(expression(need, "title"), _MOST), need.worth * _TITLE_SHARE)
        for need in common if rare else ():
            both = f"({' OR '.join(rare)}) AND {expression(need)}"
            self._add(points, self._newest(both, 2 * _MOST), need.worth)
        few = common[:_PAIRED]
        for size in range(len(few), 0, -1):
            if len(points) >= WEIGHED:
                break
            for some in combinations(few, size):
                for columns, share in ((_ALL, 1.0), ("title", _TITLE_SHARE))[: 2 if size == 1 else 1]:
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
        found = self._connection.execute(
            "SELECT rowid FROM find WHERE find MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC LIMIT ?",
            (asked, *self._between, most + len(self._besides)),
        )
        return [number for (number,) in found if number not in self._besides]


def expression(need: Need, columns: str = _ALL) -> str:
    """Return a need in the language of the index, for some of its columns."""
    words = dict.fromkeys((*(" ".join(form.words) for form in need.forms), *need.begun))
    ways = [f'"{word}"' for word in words]
    ways += [f'"{need.head}" *'] if need.head and not need.begun else []
    return f"{{{columns}}} : ({' OR '.join(ways)})"
