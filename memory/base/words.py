"""Words: how texts are compared everywhere: folded, split into words, reduced to stems, and matched despite typos.

Case and accents do not count (`Zürich` is found by `zurich`); full-width forms equal their usual ones. A word is a run
of letters and digits. Chinese, Japanese and Korean have few spaces or none, so each pair of their characters is a word:
`東京都` is `東京`, `京都`, `都`. A name in camel case such as `getUserToken` is one word, and each of its parts is too.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from importlib.util import find_spec
from threading import Lock
from types import ModuleType
from typing import NamedTuple

from .word_lists import FUNCTION_CHARACTERS, IRREGULAR, REQUEST_WORDS, STOP_WORDS

FORMAT = f"3/{unicodedata.unidata_version}"
"""Another value means that words are computed differently: an index with an old value has to be rebuilt."""

_NON_ASCII = re.compile("[^\x00-\x7f]+")
_WORD = re.compile("[^\x00-/:-`{-\x7f]+")
_UNSPACED = (
    "\u3005\u3007\u3040-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"
)
# As text: they take a millisecond each to compile, and only texts of other scripts need them.
_UNSPACED_RUN = f"[{_UNSPACED}]+"
_PIECE = f"[{_UNSPACED}]+|[^\x00-/:-`{{-\x7f{_UNSPACED}]+"
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c7\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff"
    "\u20d0-\u20ff\ufe20-\ufe2f]"
)
_BASES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i", "ħ": "h", "ŧ": "t"}
)
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "æ": "ae"})
_SPELLED_OUT = re.compile("ae|oe|ue|aa")
# The pattern begins with the capital: texts have few capitals, so it is not tried at each letter.
_CAPITAL_INSIDE = re.compile("[A-Z](?:(?<=[a-z0-9].)|(?<=[A-Z].)[a-z])")
_NAME = re.compile("(?<![A-Za-z0-9])[A-Za-z0-9]*?(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z])[A-Za-z0-9]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LONGEST_NAME = 64


def fold(text: str) -> str:
    """Return a text in lower case without accents; signs become spaces or ASCII signs.

    The result may be longer or shorter than the text.
    """
    if text.isascii():
        return text.lower()
    return _NON_ASCII.sub(lambda run: _folded(run[0]), unicodedata.normalize("NFKC", text).lower())


@lru_cache(maxsize=4096)
def _folded(run: str) -> str:
    # The marks of kana are part of the character and stay; other accents are removed.
    return "".join(
        char if re.match(_UNSPACED_RUN, char) else _folded_char(char) for char in unicodedata.normalize("NFC", run)
    )


@lru_cache(maxsize=4096)
def _folded_char(char: str) -> str:
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", char)).casefold().translate(_BASES)
    return "".join(one if one.isalnum() else " " for one in plain) if not plain.isascii() else plain


def tokens(text: str) -> list[str]:
    """Return the words of a text in order; unspaced writing as overlapping pairs, and the last character of a run."""
    folded = fold(text)
    return _WORD.findall(folded if folded.isascii() else re.sub(_UNSPACED_RUN, _in_pairs, folded))


def _in_pairs(found: re.Match[str]) -> str:
    run = found[0]
    return f" {' '.join(run[at : at + 2] for at in range(len(run)))} "


def terms(text: str) -> list[str]:
    """Return the words of a text and, after them, the parts of its names in camel case: what an index holds of it."""
    found = tokens(text)
    if _CAPITAL_INSIDE.search(text):
        for name in _NAME.findall(text):
            found += camel_parts(name)
    return found


def camel_parts(name: str) -> list[str]:
    """Return the parts of a name in camel case, folded; empty for any other word."""
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        return []
    parts = [part.lower() for part in _PART.findall(name)]
    return parts if len(parts) > 1 else []


class Span(NamedTuple):
    """A folded word and its place in the original text, in characters; `end` is exclusive."""

    word: str
    start: int
    end: int


def spans(text: str) -> list[Span]:
    """Return the words of a text, as `tokens` does, with their places."""
    if text.isascii():
        return [Span(found[0], *found.span()) for found in _WORD.finditer(text.lower())]
    folded, places = "", []
    for place, char in enumerate(text):
        part = fold(char)
        folded += part
        places += [place] * len(part)
    found = []
    for piece in re.finditer(_PIECE, folded):
        if re.match(_UNSPACED_RUN, piece[0]):
            pairs = [(at, min(at + 2, piece.end())) for at in range(piece.start(), piece.end())]
            found += [Span(folded[at:end], places[at], places[end - 1] + 1) for at, end in pairs]
        else:
            found.append(Span(piece[0], places[piece.start()], places[piece.end() - 1] + 1))
    return found


def is_unspaced(word: str) -> bool:
    """Return whether a word is of a script without spaces."""
    return not word.isascii() and re.match(_UNSPACED_RUN, word) is not None


def unspaced_runs(text: str) -> list[str]:
    """Return the runs of unspaced writing in a text."""
    return [] if text.isascii() else re.findall(_UNSPACED_RUN, fold(text))


def is_function(char: str) -> bool:
    """Return whether a character of unspaced writing is mostly grammar: particles, endings, question words."""
    return "\u3041" <= char <= "\u309f" or char in FUNCTION_CHARACTERS


def content_words(text: str) -> tuple[str, ...]:
    """Return the words of a text that show what it is about, each once: no stop words and no single Latin letters."""
    return tuple(dict.fromkeys(word for word in tokens(text) if _says_something(word)))


def _says_something(word: str) -> bool:
    if is_unspaced(word):
        return not all(map(is_function, word))
    return word not in STOP_WORDS and (len(word) > 1 or word.isdigit())


@cache
def _stem_word() -> Callable[[str], str]:
    # The package imports all its languages, which takes as long as starting Python: an empty one replaces it.
    name = "snowballstemmer"
    spec, stand_in = find_spec(name), ModuleType(name)
    stand_in.__path__ = list(spec.submodule_search_locations or ()) if spec else []
    package = sys.modules.setdefault(name, stand_in)
    try:
        from snowballstemmer.english_stemmer import EnglishStemmer
    finally:
        if package is stand_in:
            del sys.modules[name]
    found: Callable[[str], str] = EnglishStemmer().stemWord
    return found


_STEMMER = Lock()
"""The one stemmer keeps the word that it works on: one thread uses it at a time."""


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Return the common stem of the forms of a folded English word; any other word is its own stem."""
    if not word.isascii() or not word.isalpha():
        return word
    with _STEMMER:
        return _stem_word()(IRREGULAR.get(word, word))


@lru_cache(maxsize=4096)
def is_request(word: str) -> bool:
    """Return whether a folded word is one with which people say what to do, such as "explain"."""
    root = stem(word)
    # No rule changes the first letter, and stemming every word would take as long as starting Python.
    return any(one[:1] == root[:1] and stem(one) == root for one in REQUEST_WORDS)


def spellings(word: str, typed: str) -> list[str]:
    """Return the other spellings of a word with umlauts: `Müller`, `Mueller`, `Muller`. `typed` has the umlauts."""
    found = tokens(unicodedata.normalize("NFC", typed).lower().translate(_UMLAUTS))[:1]
    if _SPELLED_OUT.search(word):
        found.append(_SPELLED_OUT.sub(lambda pair: pair[0][0], word))
        found += [word[: pair.start() + 1] + word[pair.end() :] for pair in _SPELLED_OUT.finditer(word)]
    return [one for one in dict.fromkeys(found) if one != word]


def typos_allowed(word: str) -> int:
    """Return how many typos a word may have: the longer it is, the more; a number and a short word none."""
    if not word.isalpha() or is_unspaced(word) or len(word) < 4:
        return 0
    return 1 if len(word) < 6 else 2 if len(word) < 11 else 3


def near(word: str, known: Iterable[str]) -> list[tuple[str, int]]:
    """Return the words with the fewest typos of which `word` may be one, each with their number, the nearest first.

    A typo is a letter left out, added, exchanged or swapped with its neighbour.
    """
    most = typos_allowed(word)
    ends = [other for other in known if most and (word[0] == other[0] or word[-2:] == other[-2:])]
    if not ends:
        return []
    # As above: it is loaded only where a word may be misspelt.
    from rapidfuzz.distance import OSA

    counted = [(other, OSA.distance(word, other, score_cutoff=most)) for other in ends]
    found = [(other, count) for other, count in counted if 0 < count <= most]
    fewest = min((count for _, count in found), default=0)
    found = [one for one in found if one[1] == fewest]
    return sorted(found, key=lambda one: (one[0][0] != word[0], abs(len(one[0]) - len(word)), one[0]))


def overlap(one: str, other: str) -> float:
    """Return the share of words that two texts have in common, from 0 to 1."""
    mine, others = set(tokens(one)), set(tokens(other))
    return len(mine & others) / len(mine | others) if mine and others else 0.0
