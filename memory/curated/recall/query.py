"""The query of a recall: which words are looked for in the index of words, and which in the index of letters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memory.curated.index.words import is_unspaced, meaningful, pairs, words

if TYPE_CHECKING:
    import sqlite3

_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s", "ly")
_STEM, _PIECE = 4, 3
_MOST_WORDS = 32
_COMMON_SHARE, _COMMON_LEAST, _RARE = 0.1, 200, 2
_INFLECTED = 3
"""How many words, the rarest first, find their inflections too."""


class Query(NamedTuple):
    """What is looked for; empty texts match nothing. `pieces` are what the substring fallback looks for."""

    terms: tuple[str, ...]
    unicode: str
    trigram: str
    pieces: tuple[str, ...]


def query_of(db: sqlite3.Connection, text: str) -> Query:
    """Return the query of a text, any word of which may be absent.

    Each word is quoted and they are joined by OR. A word that no memory has is cut into its letters by threes, so that
    a typo or a part of a word finds what is near; other words find their inflections. Unspaced runs go by pairs.
    """
    terms = (meaningful(text) or words(text))[:_MOST_WORDS]
    counts = {term: _count(db, term) for term in terms if not is_unspaced(term)}
    common = _common(db, counts)
    inflected = set(sorted((term for term in counts if counts[term]), key=counts.__getitem__)[:_INFLECTED])
    plain: list[str] = []
    letters: list[str] = []
    pieces: list[str] = []
    for term in terms:
        if is_unspaced(term):
            plain += [f'"{pair}"' for pair in pairs(term)] if len(term) > 1 else [f'"{term}"*']
            letters += [f'"{piece}"' for piece in _threes(term)]
            pieces.append(term)
            continue
        if term in common:
            continue
        plain.append(f'"{term}"')
        if len(term) < _PIECE:
            continue
        if term in inflected:
            letters.append(f'"{_stem(term)}"')
        elif not counts[term]:
            letters += [f'"{piece}"' for piece in _threes(term)]
    return Query(terms, _any(plain), _any(letters), tuple(pieces))


def _count(db: sqlite3.Connection, term: str) -> int:
    row = db.execute("SELECT doc FROM memory_words WHERE term = ?", (term,)).fetchone()
    return 0 if row is None else int(row[0])


def _common(db: sqlite3.Connection, counts: dict[str, int]) -> set[str]:
    """Return the words that so many memories have that they tell nothing apart; some rarer ones always stay."""
    (most,) = db.execute("SELECT max(id) FROM memory_catalog_entries").fetchone()
    limit = max((most or 0) * _COMMON_SHARE, _COMMON_LEAST)
    rare = sum(0 < count <= limit for count in counts.values())
    return {term for term, count in counts.items() if count > limit} if rare >= _RARE else set()


def _any(parts: list[str]) -> str:
    return " OR ".join(dict.fromkeys(parts))


def _threes(word: str) -> list[str]:
    return [word[at : at + _PIECE] for at in range(len(word) - _PIECE + 1)]


def _stem(word: str) -> str:
    """Return what the inflections of an English word begin with."""
    if not word.isascii():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word[: -len(ending)]
    return word
