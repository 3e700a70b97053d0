"""How far one word is from another, in typos."""

from __future__ import annotations


def edit_distance(one: str, other: str, most: int) -> int:
    """Return how many letters to put in, take out, change or swap with the next make one word the other; `most` + 1
    for anything above `most`, found early.
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, char in enumerate(one, 1):
        older, before, row = before, row, [at]
        for to, wanted in enumerate(other, 1):
            cost = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (char != wanted))
            if at > 1 and to > 1 and char == other[to - 2] and one[at - 2] == wanted:
                cost = min(cost, older[to - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)
