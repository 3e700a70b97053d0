"""The words of texts and queries: folded, without accents, and runs of Chinese and Japanese split into pairs."""

from __future__ import annotations

import re
import unicodedata

STOP = frozenset(
    word
    for line in (
        "a an and are as at be by for from how in is it of on or the to what when where with",
        "about all am any been being but can could did do does doing done had has have he her hers him his i if into",
        "its just me my no nor not now our ours out over own please she should so some such than that their theirs",
        "them then there these they this those through too under until up us was we were which while who whom whose",
        "why will would you your yours tell know remember again",
    )
    for word in line.split()
)
"""Words that do not show what a memory is about."""
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(
    "[\u3040-\u30ff\uac00-\ud7a3\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f]+"
)
_PLAIN = str.maketrans(
    dict(zip("łŁøØđĐħĦıŧŦðÐ", "lLoOdDhHitTdD", strict=True)) | {"æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE"}
)
"""Stroked and joined letters, which have no accent that could be removed."""
_MARKS = re.compile("[\u0300-\u036f]")


def fold(text: str) -> str:
    """Return a text in lower case without accents, as stored in both indexes."""
    if text.isascii():
        return text.lower()

    return unicodedata.normalize(
        "NFC", _MARKS.sub("", unicodedata.normalize("NFKD", text)).translate(_PLAIN)
    ).casefold()


def spaced(text: str) -> str:
    """Return the words of a folded text with one space before, between and after them."""
    return f" {' '.join(_WORD.findall(text))} "


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text, folded, each once; an unspaced run of Chinese or Japanese is one word."""
    if text.isascii():
        return tuple(dict.fromkeys(_WORD.findall(text.lower())))
    found: dict[str, None] = {}
    for match in _WORD.finditer(fold(text)):
        word, at = match[0], 0
        for run in _UNSPACED.finditer(word):
            if run.start() > at:
                found[word[at : run.start()]] = None
            found[run[0]] = None
            at = run.end()
        if at < len(word):
            found[word[at:]] = None
    return tuple(found)


def meaningful(text: str) -> tuple[str, ...]:
    """Return the words that a query looks for: without stop words and single letters; digits count."""
    return tuple(
        word for word in words(text) if word not in STOP and (len(word) > 1 or not word.isascii() or word.isdigit())
    )


def is_unspaced(word: str) -> bool:
    """Return whether a word is a run of a script without spaces."""
    return not word.isascii() and _UNSPACED.fullmatch(word) is not None


def pairs(word: str) -> tuple[str, ...]:
    """Return the overlapping pairs of letters of an unspaced run; a single letter is returned as it is."""
    return tuple(word[at : at + 2] for at in range(len(word) - 1)) or (word,)


def grams(text: str) -> str:
    """Return the pairs of all unspaced runs of a folded text, separated by spaces, for the index of words."""
    if text.isascii():
        return ""
    return " ".join(pair for run in _UNSPACED.finditer(text) for pair in pairs(run[0]))


def is_trivial(text: str) -> bool:
    """Return whether a query has fewer than two meaningful words and no unspaced run of three letters or more."""
    found = meaningful(text)
    return len(found) < 2 and not any(is_unspaced(word) and len(word) >= 3 for word in found)


def content_words(text: str) -> frozenset[str]:
    """Return the words of three letters or more, without stop words, by which two memories are compared."""
    found: set[str] = set()
    for word in words(text):
        if is_unspaced(word):
            found.update(pairs(word))
        elif len(word) >= 3 and word not in STOP:
            found.add(word)
    return frozenset(found)
