"""The query of a recall: which words are looked for in the index of words, and which in the index of letters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memory.curated.index.words import is_unspaced, meaningful, pairs, words

if TYPE_CHECKING:
    import sqlite3

_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s", "ly")
_STEM, _PIECE = 4, 3
_MOST_WORDS = 32


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
    plain: list[str] = []
    letters: list[str] = []
    pieces: list[str] = []
    for term in terms:
        if is_unspaced(term):
            plain += [f'"{pair}"' for pair in pairs(term)] if len(term) > 1 else [f'"{term}"*']
            letters += [f'"{piece}"' for piece in _threes(term)]
            pieces.append(term)
            continue
        plain.append(f'"{term}"')
        if len(term) < _PIECE:
            continue
        known = db.execute("SELECT 1 FROM memory_words WHERE term = ?", (term,)).fetchone()
        if known is not None:
            letters.append(f'"{_stem(term)}"')
        else:
            letters += [f'"{piece}"' for piece in _threes(term)]
    return Query(terms, _any(plain), _any(letters), tuple(pieces))


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
