"""The query of a recall: the words for both indexes, and the value of each match."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from memory.base.values import edit_distance
from memory.curated.index.words import is_unspaced, meaningful, pairs, words

_ENDINGS = (
    "izations", "ization", "ations", "ation", "ments", "ingly", "ition", "sions", "tions", "ment", "sion",
    "tion", "ings", "ers", "ing", "ies", "ied", "ive", "ity", "ed", "es", "er", "ly", "e", "s", "y",
)  # fmt: skip
_LEAST = 4
_SHORT, _LONG = 4, 7
"""How many letters a word needs to be allowed one typo, or two."""
_MOST = 3
_WORTH = 0.9


def stem(word: str) -> str:
    """Return the common beginning of the inflections of an English word."""
    if not word.isascii() or not word.isalpha():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > _LEAST and word[-1] == word[-2] else word


def near(db: sqlite3.Connection, word: str) -> list[tuple[str, float, int]]:
    """Return the words of memories of which a word may be a typo: each with its value (to 1) and how many have it.

    Typos are letters left out, doubled, exchanged or inserted; the first or the second letter must be right.
    """
    most = _allowed(word)
    if not most:
        return []
    text = "SELECT term FROM memory_terms WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?"
    found: list[tuple[int, str]] = []
    for start in dict.fromkeys((word[0], word[1])):
        rows = db.execute(text, (start, f"{start}\U0010ffff", len(word) - most, len(word) + most))
        found = _nearest(word, most, [term for (term,) in rows])
        if found:
            break
    least = min((distance for distance, _ in found), default=0)
    counted = []
    for distance, term in found:
        row = (
            db.execute("SELECT doc FROM memory_words WHERE term = ?", (term,)).fetchone() if distance == least else None
        )
        if row is not None:
            counted.append((-int(row[0]), term))
    return [(term, _WORTH * (1 - least / len(word)), -count) for count, term in sorted(counted)[:_MOST]]


def _allowed(word: str) -> int:
    if any(char.isdigit() for char in word) or len(word) < _SHORT:
        return 0
    return 1 if len(word) < _LONG else 2


def _nearest(word: str, most: int, known: Iterable[str]) -> list[tuple[int, str]]:
    """Return distance and word of those that differ by at most `most` typos."""
    letters = frozenset(word)
    found = []
    for term in known:
        if len(letters.symmetric_difference(term)) <= 2 * most:
            distance = edit_distance(word, term, most)
            if distance <= most:
                found.append((distance, term))
    return found


_PARTS = re.compile(r"[^\W\d_]+|\d+")
_PIECE = 3
_MOST_WORDS = 32
_COMMON_SHARE, _COMMON_LEAST, _RARE = 0.1, 200, 2
_STEM, _BEGIN, _INSIDE, _PAIR = 0.9, 0.75, 0.5, 0.5
_CORRECTED = 8
"""How many words that no memory has, nor any like them, are looked up as typos."""
_ENOUGH, _CUT = 1, 2
"""With fewer known words than the first, the longest others, as many as the second, are cut into threes."""


class WordForm(NamedTuple):
    """One form of a word in a text of words with spaces around; `worth` is larger for a rarer one."""

    needle: str
    worth: float


class RecallTerm(NamedTuple):
    """A word of the query: its forms, the best first, its pieces of three letters, and its value."""

    text: str
    forms: tuple[WordForm, ...]
    pieces: tuple[str, ...]
    worth: float
    sums: bool
    """All forms count together (the pairs of an unspaced run), not only the best one."""


class RecallQuery(NamedTuple):
    """The query; empty texts match nothing. `pieces` are for the substring fallback."""

    terms: tuple[RecallTerm, ...]
    unicode: str
    trigram: str
    pieces: tuple[str, ...]


def query_of(db: sqlite3.Connection, text: str) -> RecallQuery:
    """Return the query of a text; no single word of it is required.

    The words are quoted and joined by OR, together with the common beginnings of their inflections. A word that no
    memory has stands for the words that begin with it or contain it, else for those of which it may be a typo. Where
    then no word of the query is known, the longest ones are cut into pieces of three letters. Unspaced runs are looked
    up by pairs.
    """
    lookup = _Lookup(db)
    plain: list[str] = []
    letters: list[str] = []
    found: list[RecallTerm] = []
    terms = (meaningful(text) or words(text))[:_MOST_WORDS]
    counts = {term: lookup.count(term) for term in terms if not is_unspaced(term)}
    common = lookup.common(counts)
    unknown: list[str] = []
    runs = [term for term in terms if is_unspaced(term)]
    for term in terms:
        if is_unspaced(term):
            plain += [f'"{pair}"' for pair in pairs(term)] if len(term) > 1 else [f'"{term}"*']
            letters += [f'"{piece}"' for piece in _threes(term)]
            found.append(lookup.run(term))
            continue
        forms = lookup.forms(term, counts[term])
        if not counts[term] and len(term) >= _PIECE:
            letters.append(f'"{term}"')
            joined = lookup.joined(term)
            if joined is not None:
                forms.append(joined)
                plain.append(f'"{joined.needle.strip()}"')
            near_ones = near(db, term) if len(forms) == 1 and len(unknown) < _CORRECTED else []
            forms += [WordForm(f" {word} ", worth * lookup.rarity(count)) for word, worth, count in near_ones]
            plain += [f'"{word}"' for word, _, _ in near_ones]
            if len(forms) == 1:
                unknown.append(term)
                forms.append(WordForm(term, _INSIDE * forms[0].worth))
        forms.sort(key=lambda form: -form.worth)
        found.append(RecallTerm(term, tuple(forms), _threes(term), forms[0].worth, False))
        if term not in common:
            plain += [f'"{term}"', f'"{stem(term)}"*'] if len(term) >= _PIECE else [f'"{term}"']
    if len(terms) - len(unknown) < _ENOUGH:
        letters += [f'"{piece}"' for term in sorted(unknown, key=len)[-_CUT:] for piece in _threes(term)]
    return RecallQuery(tuple(found), _any(plain), _any(letters), tuple(runs))


class _Lookup:
    """Statistics of the catalogue about single words, each looked up once."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        (most,) = db.execute("SELECT max(id) FROM memory_catalog_entries").fetchone()
        self._all = max(most or 0, 1)

    def count(self, term: str) -> int:
        """Return how many memories have a word."""
        row = self._db.execute("SELECT doc FROM memory_words WHERE term = ?", (term,)).fetchone()
        return 0 if row is None else int(row[0])

    def begun(self, start: str) -> int:
        """Return how many memories have words that begin with these letters; one with two such words counts twice."""
        text = "SELECT coalesce(sum(doc), 0) FROM memory_words WHERE term >= ? AND term < ?"
        return int(self._db.execute(text, (start, f"{start}\U0010ffff")).fetchone()[0])

    def rarity(self, count: int) -> float:
        """Return the value of a word that `count` memories have: the rarer, the higher."""
        count = min(count, self._all)
        return math.log(1 + (self._all - count + 0.5) / (count + 0.5))

    def forms(self, term: str, count: int) -> list[WordForm]:
        """Return the forms of a spaced word that memories have: itself, words with its stem, words that contain it.

        The first form is the word itself, whether or not a memory has it.
        """
        forms = [WordForm(f" {term} ", self.rarity(count))]
        if len(term) >= _PIECE:
            start = stem(term)
            begun = self.begun(start)
            if begun:
                worth = self.rarity(max(begun, count))
                forms.append(WordForm(f" {start}", (_STEM if count or start != term else _BEGIN) * worth))
                forms.append(WordForm(term, _INSIDE * worth))
        return forms

    def joined(self, term: str) -> WordForm | None:
        """Return the parts of a code name that was written without the separator between them (`bug7731`).

        None for another word, and where memories do not have each part as a word.
        """
        parts = _PARTS.findall(term)
        counts = [self.count(part) for part in parts]
        if len(parts) < 2 or not all(counts):
            return None
        return WordForm(f" {' '.join(parts)} ", _STEM * self.rarity(min(counts)))

    def run(self, term: str) -> RecallTerm:
        """Return an unspaced run; its pairs count together."""
        forms = tuple(WordForm(pair, _PAIR * self.rarity(self.count(pair))) for pair in pairs(term))
        return RecallTerm(term, forms, _threes(term) or pairs(term), sum(form.worth for form in forms), True)

    def common(self, counts: dict[str, int]) -> set[str]:
        """Return the words that occur in too many memories to distinguish them; none where too few others remain."""
        limit = max(self._all * _COMMON_SHARE, _COMMON_LEAST)
        rare = sum(0 < count <= limit for count in counts.values())
        return {term for term, count in counts.items() if count > limit} if rare >= _RARE else set()


def _any(parts: list[str]) -> str:
    return " OR ".join(dict.fromkeys(parts))


def _threes(word: str) -> tuple[str, ...]:
    return tuple(word[at : at + _PIECE] for at in range(len(word) - _PIECE + 1))
