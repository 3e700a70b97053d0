"""How well texts answer a query, by words and by letters, and the places that follow from it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TypeVar

from .candidates import CandidateRow
from .query import RecallQuery, RecallTerm

Key = TypeVar("Key")
NAME, DESCRIPTION, BODY = 1.25, 1.1, 1.0
"""What a word is worth by where it is."""
_TIE = 0.1
"""Scores that are less than this share below another one share its place: the newer one is first then."""
_OLD = 0.5
"""What is left of the score of a memory that says that another one replaces it."""
_LONG, _USUAL, _LETTERS = 0.04, 60, 6
"""How much a long memory loses; the usual number of words, and of letters in a word."""


def by_words(query: RecallQuery, row: CandidateRow) -> float:
    """Return how many words of a query a memory has, rare ones and those of its name counting more."""
    fields = ((NAME, row.name), (DESCRIPTION, row.description), (BODY, row.body))
    total = sum([_best(term, fields) for term in query.terms])
    size = (len(row.name) + len(row.description) + len(row.body)) / _LETTERS
    return total / (1 + _LONG * min(size / _USUAL, 5)) * (_OLD if row.outdated else 1)


def _best(term: RecallTerm, fields: Sequence[tuple[float, str]]) -> float:
    if term.sums:
        return max(weight * sum(form.worth for form in term.forms if form.needle in text) for weight, text in fields)
    best = 0.0
    for weight, text in fields:
        for form in term.forms:
            if form.needle in text:
                best = max(best, weight * form.worth)
                break
    return best


def by_letters(query: RecallQuery, row: CandidateRow) -> float:
    """Return how many pieces of the words of a query a memory has, those of rare words counting more."""
    text = f"{row.name}{row.description}{row.body}"
    total = 0.0
    for term in query.terms:
        if term.pieces:
            whole = term.forms[0].needle in text if not term.sums else term.text in text
            share = 1.0 if whole else sum([piece in text for piece in term.pieces]) / len(term.pieces)
            total += term.worth * share * share
    return total * (_OLD if row.outdated else 1)


def places(scores: Mapping[Key, float], most: int) -> dict[Key, int]:
    """Return the place of each of the best ones, from 0; those that are nearly equal share one."""
    ordered = sorted(((score, key) for key, score in scores.items() if score > 0), key=lambda one: -one[0])[:most]
    lowered = [-score for score, _ in ordered]
    return {key: bisect_left(lowered, -score * (1 + _TIE)) for score, key in ordered}
