"""Which of two statements are about the same matter, so that the later one replaces the earlier.

A statement has names (in backticks, and the numbers of its subject, as in `Phase 1 is done`), values (other numbers,
"not", "on" and "off", "passed" and "failed") and the remaining words. Two statements with the same names are about the
same matter when their words overlap by `ALIKE`, or when one begins with the words of the other; the values do not
count. The overlap is the number of common words, divided by the number of words of the statement that has more.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from math import ceil
from typing import NamedTuple

from memory.base.words import stem

ALIKE = 0.8
"""The overlap from which two statements are about the same matter."""

_WORD = re.compile(r"[^\W_]+(?:[.,:'’_-][^\W_]+)*%?")
_NAME = re.compile(r"`+([^`]+)`+")
_DIGIT = re.compile(r"\d")
_AMOUNT = re.compile(r"v?\d[\d.,:_-]*(?:[a-z]{1,3}|%)?")
_NEGATED = re.compile(r"\b(?:no longer|cannot)\b|(?<=[a-z])n['’]t\b")
_INSTEAD = re.compile(r"(\S+) (?:instead of|rather than) (\S+)", re.IGNORECASE)
_COLON = re.compile(r":(?=\s|\Z)|：")

_COMMON = frozenset(
    """
    a an and are as at be been by can did do does for from had has have i if in into is it its may must now of or
    our please shall should so that the then there this to up us via was we were which will with would you
    """.split()  # noqa: SIM905
)
_NEGATIONS = frozenset(("not", "no", "never", "without"))
_VALUES = frozenset(
    """
    on off enabled disabled allowed forbidden true false yes optional required passed pass passes failed fail fails
    failure failures failing ok green red broken error errors
    """.split()  # noqa: SIM905
)
_BEFORE_AN_AMOUNT = frozenset(
    """
    is are was were be been has have had use uses used run runs need needs take takes must should will can may allow
    allows set sets to at by after under over than up within keep keeps stay stays wait waits equals only most least
    about
    """.split()  # noqa: SIM905
)
"""Words of a predicate: an amount behind one of them is a value, and not part of the subject."""
_LABELS = frozenset(
    "phase step part milestone issue ticket chapter section stage sprint round task pr level".split()  # noqa: SIM905
)
"""Words that make the number behind them a name."""
_PASSED_OVER = (_COMMON | _NEGATIONS) - _VALUES


class Statement(NamedTuple):
    """A text with its names, its set of words, and all of it in plain words, by which texts are equal.

    `line` has the words in their order, with those of `_VALUES` among them.
    """

    text: str
    names: frozenset[str]
    words: frozenset[str]
    line: tuple[str, ...]
    plain: str


@lru_cache(maxsize=4096)
def statement_of(text: str) -> Statement:
    """Return the statement of a text."""
    names = {name.strip().lower() for name in _NAME.findall(text)}
    lower = _NEGATED.sub(" not ", text.lower())
    told = _WORD.findall(lower)
    bare = _WORD.findall(_NAME.sub(" ", lower)) if names else told
    line: list[str] = []
    predicate = False
    for number, word in enumerate(bare):
        if _DIGIT.search(word):
            labelled = number > 0 and bare[number - 1] in _LABELS
            if labelled or not predicate or not _AMOUNT.fullmatch(word):
                names.add(word)
        elif word not in _PASSED_OVER:
            line.append(word)
        predicate = predicate or word in _BEFORE_AN_AMOUNT
    words = frozenset(line) - _VALUES or frozenset(told)
    return Statement(text, frozenset(names), words, tuple(line), " ".join(told))


def is_same_matter(one: Statement, other: Statement) -> bool:
    """Return whether two statements are about the same matter."""
    if one.plain == other.plain:
        return True
    if one.names != other.names:
        return False
    if len(one.words & other.words) >= ALIKE * max(len(one.words), len(other.words)) > 0:
        return True
    short, long = sorted((one.line, other.line), key=len)
    return len(short) >= max(2, len(long) / 2) and long[: len(short)] == short


class Statements:
    """Texts that count at present, each with a number; a later one about the same matter takes the place of others."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        """Begin with texts, which are not compared with each other."""
        self._present: dict[int, Statement] = {}
        self._numbers: defaultdict[object, dict[object, list[int]]] = defaultdict(dict)
        self._next = 0
        for text in texts:
            self.add(text)

    def add(self, text: str, number: int | None = None) -> int:
        """Let a text count, at the place of a number or behind all others; return its number."""
        one = statement_of(text)
        place = self._next if number is None else number
        self._next = max(self._next, place) + 1
        self._present[place] = one
        numbers = self._numbers[one.names]
        for key in (one.plain, one.line[:2], *one.words):
            numbers.setdefault(key, []).append(place)
        return place

    def take(self, text: str) -> list[tuple[int, str]]:
        """Remove the texts that a later one replaces; return their numbers and texts, the first one first."""
        found = self._about(statement_of(text))
        if (instead := _INSTEAD.sub(r"\2", text)) != text:
            found |= self._about(statement_of(instead))
        return [(number, self._present.pop(number).text) for number in sorted(found)]

    def put(self, text: str) -> list[str]:
        """Add a text in the place of those that it replaces; return these, except any that say the same."""
        earlier = self.take(text)
        self.add(text, earlier[0][0] if earlier else None)
        return [one for _, one in earlier if not is_repeated(text, one)]

    def texts(self) -> list[str]:
        """Return the texts in order."""
        return [self._present[number].text for number in sorted(self._present)]

    def _about(self, one: Statement) -> set[int]:
        # Of two that overlap by `ALIKE`, each has one of the rarest words of the other.
        numbers = self._numbers[one.names]
        words = sorted((numbers.get(word, []) for word in one.words), key=len)
        rare = words[: len(words) - ceil(ALIKE * len(words)) + 1]
        near = set().union(numbers.get(one.plain, ()), numbers.get(one.line[:2], ()), *rare)
        return {number for number in near & self._present.keys() if is_same_matter(one, self._present[number])}


def is_repeated(one: str, other: str) -> bool:
    """Return whether two texts differ in nothing but case, blanks and marks."""
    return statement_of(one).plain == statement_of(other).plain


def halves(text: str) -> tuple[str, str]:
    """Return the title of a text and the text after it; a text without a title is its own.

    A title ends at a colon that a blank follows, outside of backticks: so no address, path, time or `a::b` ends it.
    """
    for colon in _COLON.finditer(text):
        title, rest = text[: colon.start()].strip(), text[colon.end() :].strip()
        if title and title.count("`") % 2 == 0:
            return title, rest
    return text.strip(" :：") or text.strip(), ""


def plain_words(text: str) -> str:
    """Return the words of a text in lower case, with a blank between them; the text itself where it has none."""
    return " ".join(_WORD.findall(text.lower())) or text.strip()


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that are not common ones, and its names and numbers."""
    words = _WORD.findall(text.lower())
    return frozenset(stem(word) for word in words if word not in _COMMON) or frozenset(words)
