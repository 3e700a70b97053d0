"""Names and words as people see and write them: which two would be taken for one, how far a typo is from a word."""

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


def alike(name: str) -> str:
    """Return what two names share that a person would take for one."""
    if name.isascii():
        return " ".join(name.lower().split())
    import unicodedata

    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
