"""Words that were probably meant, where the word that was typed stands nowhere: longer ones, and misspelled ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable

MOST = 8
"""How many words are offered at most."""
SHORTEST, LONGEST = 3, 32
"""Letters of a word that is looked at."""
_TWO_FROM = 8  # Letters from which two typos are forgiven.


def is_guessable(word: str) -> bool:
    """Tell whether a word takes part: letters, not a number and not unspaced writing."""
    return SHORTEST <= len(word) <= LONGEST and any(char.isalpha() for char in word)


def meant(word: str, vocabulary: Iterable[str], exists: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the words that `word` stands for, the nearest first: those that contain it, else those with one typo,
    in a word of eight letters or more two. `exists` is asked whether a word is still somewhere.
    """
    if not is_guessable(word):
        return ()
    known = [term for term in vocabulary if term != word]
    if len(word) > SHORTEST:
        inside = sorted((term for term in known if word in term), key=lambda term: (len(term), term))
        found = _existing(inside, exists)
        if found:
            return found
    limit = 0 if len(word) <= SHORTEST else 1 if len(word) < _TWO_FROM else 2
    near: list[tuple[int, str]] = []
    letters = _bag(word)
    for term in known:
        if abs(len(term) - len(word)) <= limit and (_bag(term) ^ letters).bit_count() <= 2 * limit:
            steps = distance(word, term, limit)
            if steps <= limit:
                near.append((steps, term))
    near.sort()
    return _existing([term for _, term in near], exists)


def _existing(terms: list[str], exists: Callable[[str], bool]) -> tuple[str, ...]:
    found: list[str] = []
    for term in terms:
        if len(found) == MOST:
            break
        if exists(term):
            found.append(term)
    return tuple(found)


def _bag(word: str) -> int:
    bag = 0
    for char in word:
        bag |= 1 << (ord(char) & 63)
    return bag


def distance(one: str, other: str, limit: int) -> int:
    """Return how many letters have to be added, dropped, changed or swapped with the next to get from one word to
    the other; something over `limit` as soon as it must be more.
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for place, char in enumerate(one, 1):
        older, before, row = before, row, [place]
        for at, letter in enumerate(other, 1):
            cost = min(before[at] + 1, row[at - 1] + 1, before[at - 1] + (char != letter))
            if place > 1 and at > 1 and char == other[at - 2] and one[place - 2] == letter:
                cost = min(cost, older[at - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]
