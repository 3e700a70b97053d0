"""Words: how text is compared in search, the same for the index, the scan and the marks on the screen.

Case and diacritics do not count (`Zürich` is found by `zurich`); full-width forms equal their usual ones. A word is a
run of letters and digits. Chinese, Japanese and Korean have few spaces or none, so each pair of their characters is a
word: `東京都` is `東京`, `京都`, `都`. A name in camel case such as `getUserToken` is one word, but is also found by
its parts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

# The pattern begins with the capital: texts have few capitals, so it is not tried at each letter.
_INSIDE = re.compile("[A-Z](?:(?<=[a-z0-9].)|(?<=[A-Z].)[a-z])")
_NAME = re.compile("(?<![A-Za-z0-9])[A-Za-z0-9]*?(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z])[A-Za-z0-9]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LONGEST = 64


def camel_parts(name: str) -> list[str]:
    """Return the parts of a name in camel case, folded; empty for any other word."""
    found = _NAME.fullmatch(name)
    parts = [part.lower() for part in _PART.findall(name)] if found else []
    return parts if len(parts) > 1 else []


def name_parts(text: str) -> Iterator[tuple[str, str]]:
    """Yield each part, of two letters or more, of each camel-case name in a text, with the name as a word."""
    if _INSIDE.search(text):
        for name in _NAME.findall(text):
            if len(name) <= _LONGEST:
                yield from ((part, name.lower()) for part in camel_parts(name) if len(part) > 1)


_NON_ASCII = re.compile("[^\x00-\x7f]+")
LETTER, NO_LETTER = "[^\x00-/:-`{-\x7f]", "[\x00-/:-`{-\x7f]"
"""A letter or digit of folded text, and anything else. As ASCII ranges they compile at once; a range up to the last
character takes milliseconds in each pattern.
"""
_BETWEEN = NO_LETTER.replace("\0", "\1")
"""What may be between two words of `spaced` text."""
_TOKEN = re.compile(f"{LETTER}+")
_UNSPACED = (
    "\u3005\u3007\u3040-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c7\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
_BASES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i", "ħ": "h", "ŧ": "t"}
)
FORMAT = f"1/{unicodedata.unidata_version}"
"""Another value means that words are computed differently: indexes with an old value have to be rebuilt."""


def fold(text: str) -> str:
    """Return the text in the form for comparison: small letters without diacritics; anything that is no word becomes a
    space or an ASCII sign in its place. It may be longer or shorter.
    """
    if text.isascii():
        return text.lower()
    return _NON_ASCII.sub(lambda run: _folded(run[0]), unicodedata.normalize("NFKC", text).lower())


@lru_cache(maxsize=4096)
def _folded(run: str) -> str:
    # The marks of kana are part of the character and stay; other diacritics are removed.
    return "".join(
        char if _UNSPACED_RUN.match(char) else _fold_char(char) for char in unicodedata.normalize("NFC", run)
    )


@lru_cache(maxsize=4096)
def _fold_char(char: str) -> str:
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", char)).casefold().translate(_BASES)
    return "".join(one if one.isalnum() else " " for one in plain) if not plain.isascii() else plain


def indexable(text: str) -> str:
    """Return the text to index: as `fold`, unspaced writing split into overlapping pairs and the last character."""
    folded = fold(text)
    return folded if folded.isascii() else _UNSPACED_RUN.sub(_pairs, folded)


def _pairs(found: re.Match[str]) -> str:
    run = found[0]
    return f" {' '.join(run[at : at + 2] for at in range(len(run)))} "


def tokens(text: str) -> list[str]:
    """Return the words of a text, in order."""
    return _TOKEN.findall(indexable(text))


def wanted(text: str, *, whole: bool) -> tuple[tuple[str, ...], bool]:
    """Return the consecutive words to find for a text, and whether the last may be longer.

    With `whole` the last word has to match exactly. If the text ends in unspaced writing, its pairs suffice.
    """
    found = tokens(text)
    folded = fold(text).rstrip()
    run = list(_UNSPACED_RUN.finditer(folded))
    if not run or _TOKEN.search(folded, run[-1].end()) is not None:
        return tuple(found), not whole and bool(found)
    if len(run[-1][0]) == 1:
        return tuple(found), True
    return tuple(found[:-1]), False


def is_unspaced(word: str) -> bool:
    """Return whether a word is one or more characters of unspaced writing."""
    return _UNSPACED_RUN.match(word) is not None


def unspaced_runs(folded: str) -> list[str]:
    """Return the runs of unspaced writing in folded text."""
    return [] if folded.isascii() else _UNSPACED_RUN.findall(folded)


def spaced(folded: str) -> str:
    """Return folded text with NULs in place of unspaced writing; all other positions stay.

    A blank would make the words before and after it consecutive.
    """
    return folded if folded.isascii() else _UNSPACED_RUN.sub(lambda run: "\0" * len(run[0]), folded)


@lru_cache(maxsize=4096)
def pattern(text: str, *, whole: bool, within_spaced: bool) -> str:
    """Return a regular expression that finds in `fold`ed text what `wanted` asks for; empty for nothing.

    A pattern for `spaced` text compiles at once, any other takes a millisecond for each word.
    """
    folded = fold(text)
    parts = []
    for word in _TOKEN.findall(folded):
        at = 0
        for run in _UNSPACED_RUN.finditer(word):
            parts += [(word[at : run.start()], False), (run[0], True)]
            at = run.end()
        parts.append((word[at:], False))
    written = [(part, unspaced) for part, unspaced in parts if part]
    if not written:
        return ""
    letter = LETTER if within_spaced else f"[a-z0-9]|[^\x00-\x7f{_UNSPACED}]"
    pieces = []
    for number, (part, unspaced) in enumerate(written):
        before = "" if unspaced else f"(?<!{letter})"
        last = number == len(written) - 1
        after = "" if unspaced or (last and not whole) else f"(?!{letter})"
        pieces.append(before + re.escape(part) + after)
    return f"{_BETWEEN if within_spaced else NO_LETTER}*".join(pieces)


def fold_with_places(text: str) -> tuple[str, list[int]]:
    """Return the folded text and, for each of its characters, its position in the original text."""
    folded, places = [], []
    for place, char in enumerate(text):
        part = fold(char)
        folded.append(part)
        places += [place] * len(part)
    return "".join(folded), places
