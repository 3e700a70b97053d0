"""Sifting: what a filter leaves of very many rows, from one key to the next.

Rows are held in groups, each with the headings and notes above it, and every text on the way to the filter's text
with what it left: a longer text looks only at what a shorter one left, and a key that takes a letter back has its
answer already.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .pane_filter import field_named
from .pane_rows import Row, fitted
from .rows import Continuation, Heading

MOST_STEPS = 32
"""So many texts are remembered with what they left."""

Left: TypeAlias = Sequence[Sequence[Row]]
"""The rows that a filter left of each group."""


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that follow each other, and the headings and notes right above them."""

    above: tuple[Hashable, ...]
    rows: Sequence[Row]


def groups_of(keys: Sequence[Hashable]) -> Sequence[Group] | None:
    """Return the groups of rows; None where items have further lines: those are sifted line by line."""
    groups: list[Group] = []
    above: list[Hashable] = []
    rows: list[Row] = []
    for key in keys:
        if isinstance(key, Row):
            rows.append(key)
        elif isinstance(key, Continuation):
            return None
        else:
            if rows:
                groups.append(Group(tuple(above), rows))
                above, rows = [], []
            above.append(key)
    if rows:
        groups.append(Group(tuple(above), rows))
    return groups


def narrows(before: str, after: str, names: Sequence[str], judged: Collection[str] = ()) -> bool:
    """Whether everything that fits the text `after` fits `before` as well.

    `names` are the fields, `judged` those whose values are compared otherwise than by their words: nobody knows what
    the rest of such a value means. A word that becomes a field by its colon looks for something else than it did.
    """
    if not after.startswith(before):
        return False
    start = max((place for place, sign in enumerate(before) if sign.isspace()), default=-1) + 1
    word = after[start:].split(maxsplit=1)[0] if after[start:].strip() else ""
    name, colon, _ = word.casefold().partition(":")
    field = field_named(name, names) if colon else None
    if field is None or word == before[start:]:
        return True
    return field not in judged and ":" in before[start:]


class Sieve:
    """The groups of one order of rows, and what the texts of a filter left of them."""

    def __init__(self, keys: Sequence[Hashable]) -> None:
        self.keys = keys
        self.groups = groups_of(keys)
        self._steps: list[tuple[str, Left]] = []

    def sift(self, text: str, test: Callable[[Row], bool] | str, haystack: Callable[[Row], str], fits: Narrows) -> Left:
        """Return what a text leaves of each group; `test` is a word to look for, or asked for each row.

        `fits` says whether what one text left holds all that another one leaves.
        """
        assert self.groups is not None
        steps = self._steps
        while steps and not (steps[-1][0] == text or fits(steps[-1][0], text)):
            steps.pop()
        if steps and steps[-1][0] == text:
            return steps[-1][1]
        start: Left = steps[-1][1] if steps else [group.rows for group in self.groups]
        if isinstance(test, str):
            word = test
            left = [[row for row in rows if word in (row.haystack or haystack(row))] for rows in start]
        else:
            left = [[row for row in rows if test(row)] for rows in start]
        del steps[: max(0, len(steps) - MOST_STEPS)]
        steps.append((text, left))
        return left

    def keys_of(self, left: Left) -> list[Hashable]:
        """The rows that are left, below the headings of their groups, which count them: `2 of 14`."""
        assert self.groups is not None
        kept: list[Hashable] = []
        for group, rows in zip(self.groups, left, strict=True):
            if rows:
                above = group.above
                if not kept:
                    first = next((place for place, key in enumerate(above) if isinstance(key, Heading)), len(above))
                    above = above[first:]
                kept.extend(counted(above, len(group.rows), len(rows)))
                kept.extend(rows)
        return kept


Narrows: TypeAlias = Callable[[str, str], bool]
"""Whether what the first text left holds all that the second one leaves."""


def counted(above: Sequence[Hashable], total: int, fitting: int) -> Sequence[Hashable]:
    """What stands above a group, its last heading with how many of its items fit, if it said how many there are."""
    if fitting == total:
        return above
    for place in range(len(above) - 1, -1, -1):
        heading = above[place]
        if isinstance(heading, Heading):
            if heading.note != str(total):
                return above
            return (*above[:place], fitted(heading, fitting), *above[place + 1 :])
    return above
