"""The words of entries and queries, as in `memory.search`, in the syntax of PostgreSQL's full-text search."""

from __future__ import annotations

from collections.abc import Sequence

from memory.base.words import tokens
from memory.search.hits import body_of
from memory.search.query import Query, Term

_LONGEST_WORD = 400
_MOST_WORDS = 20_000
_MOST_PLACES = 16_383
_MOST_OF_ONE = 250
_APART = 2  # Keeps a phrase from matching across title and text.


def vector_of(title: str, text: str) -> str:
    """Return the words of an entry with their positions, those of the title weighted; of a very long entry the first
    words, within the limits of PostgreSQL.

    Words contain neither quotes nor backslashes, see `memory.base.words`.
    """
    head, body = tokens(title)[:_MOST_WORDS], tokens(body_of(title, text))[:_MOST_WORDS]
    places: dict[str, list[str]] = {}
    for number, word in enumerate(head, 1):
        places.setdefault(word[:_LONGEST_WORD], []).append(f"{min(number, _MOST_PLACES)}A")
    for number, word in enumerate(body, len(head) + _APART):
        held = places.setdefault(word[:_LONGEST_WORD], [])
        if len(held) < _MOST_OF_ONE and number <= _MOST_PLACES:
            held.append(str(number))
    return " ".join(f"'{word}':{','.join(found)}" if found else f"'{word}'" for word, found in places.items())


def term_words(term: Term, *, whole: bool = False) -> str:
    """Return one term in the syntax of the full-text search; `whole`: its last word is not longer."""
    phrase = " <-> ".join(f"'{word[:_LONGEST_WORD]}'" for word in term.words)
    return f"({phrase}{':*' if term.open and not whole else ''})"


def all_of(query: Query, *, whole: bool = False) -> str:
    """Return the expression for all terms of a query and none of its excluded ones; empty: there are no words."""
    parts = [term_words(term, whole=whole) for term in query.terms]
    parts += [f"!{term_words(term)}" for term in query.without]
    return " & ".join(parts)


def any_of(terms: Sequence[Term], query: Query, *, whole: bool = False) -> str:
    """Return the expression for one of some terms, and every quoted one of the query."""
    loose = " | ".join(term_words(term, whole=whole) for term in terms if not term.strict)
    strict = [term_words(term) for term in query.terms if term.strict]
    never = [f"!{term_words(term)}" for term in query.without]
    return " & ".join([*([f"({loose})"] if loose else []), *strict, *never])
