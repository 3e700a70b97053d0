"""Words of entries and of queries, those of `memory.search`, as PostgreSQL's full-text search takes them."""

from __future__ import annotations

from collections.abc import Sequence

from memory.search.hits import body_of
from memory.search.query.query import Query, Term
from memory.search.query.words import tokens

_LONGEST_WORD = 400
_MOST_WORDS = 20_000
_MOST_PLACES = 16_383
_MOST_OF_ONE = 250
_SHORT = 400
"""Characters of an entry up to which it holds no word that is too long, and none too often."""
_APART = 2  # A phrase does not reach from the title into the text.


def vector_of(title: str, text: str) -> str:
    """Return the words of an entry with their places, those of the title weighted; of a very long one the first.

    Words hold neither quotes nor backslashes, see `memory.search.query.words`.
    """
    # Other letters may become many more of them as they are compared.
    if len(title) + len(text) <= _SHORT and title.isascii() and text.isascii():
        return _vector_of_short(tokens(title), tokens(body_of(title, text)))
    places: dict[str, list[str]] = {}
    head = tokens(title)[:_MOST_WORDS]
    for number, word in enumerate(head, 1):
        places.setdefault(word[:_LONGEST_WORD], []).append(f"{min(number, _MOST_PLACES)}A")
    for number, word in enumerate(tokens(body_of(title, text))[:_MOST_WORDS], len(head) + _APART):
        held = places.setdefault(word[:_LONGEST_WORD], [])
        if len(held) < _MOST_OF_ONE and number <= _MOST_PLACES:
            held.append(str(number))
    return " ".join(f"'{word}':{','.join(found)}" if found else f"'{word}'" for word, found in places.items())


def _vector_of_short(head: Sequence[str], body: Sequence[str]) -> str:
    """Return the same, for words that are within all limits; most entries are short, and this takes less time."""
    found: dict[str, str] = {}
    for number, word in enumerate(head, 1):
        found[word] = f"{found[word]},{number}A" if word in found else f"'{word}':{number}A"
    for number, word in enumerate(body, len(head) + _APART):
        found[word] = f"{found[word]},{number}" if word in found else f"'{word}':{number}"
    return " ".join(found.values())


def term_words(term: Term, weight: str = "", *, whole: bool = False) -> str:
    """Return one term in the language of the full-text search; with `weight` A only titles count."""
    end = "" if whole or not term.open else "*"
    words = [f"'{word[:_LONGEST_WORD]}'" for word in term.words]
    marks = [f":{end if number == len(words) - 1 else ''}{weight}".rstrip(":") for number in range(len(words))]
    phrase = " <-> ".join(f"{word}{mark}" for word, mark in zip(words, marks, strict=True))
    return f"({phrase})"


def all_of(query: Query, weight: str = "", *, whole: bool = False) -> str:
    """Return all terms of a query and none of those without which it has to fit; empty: there are no words."""
    parts = [term_words(term, weight, whole=whole) for term in query.terms]
    parts += [f"!{term_words(term)}" for term in query.without]
    return " & ".join(parts)


def any_of(terms: Sequence[Term], query: Query, weight: str = "") -> str:
    """Return what holds one of some terms, and every quoted one of the query."""
    loose = " | ".join(term_words(term, weight) for term in terms if not term.strict)
    strict = [term_words(term) for term in query.terms if term.strict]
    never = [f"!{term_words(term)}" for term in query.without]
    return " & ".join([*([f"({loose})"] if loose else []), *strict, *never])
