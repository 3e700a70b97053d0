"""Which of two statements are about the same matter, so that the later one replaces the earlier.

A statement has names (in backticks, and the numbers of its subject, as in `Phase 1 is done`), values (other numbers,
"not", "on" and "off", "passed" and "failed") and the remaining words. Two statements with the same names are about the
same matter when their words overlap by `ALIKE`, or when one begins with the words of the other; the values do not
count. The overlap is the number of common words, divided by the number of words of the statement that has more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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
_NEGATIONS = frozenset(
    """
    not no never without
    """.split()  # noqa: SIM905
)
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
    """
    phase step part milestone issue ticket chapter section stage sprint round task pr level
    """.split()  # noqa: SIM905
)
"""Words that make the number behind them a name."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A text with its names, its words in their order, and all of it in plain words, by which texts are equal.

    `line` has the words with those of `_VALUES` among them.
    """

    text: str
    names: frozenset[str]
    words: tuple[str, ...]
    line: tuple[str, ...]
    plain: str


class Replaced(NamedTuple):
    """A text of a section, and the earlier one that it replaces."""

    section: str
    text: str
    earlier: str


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
        elif word in _VALUES or word not in _COMMON | _NEGATIONS:
            line.append(word)
        predicate = predicate or word in _BEFORE_AN_AMOUNT
    words = tuple(word for word in line if word not in _VALUES) or tuple(told)
    return Statement(text, frozenset(names), words, tuple(line), " ".join(told))


def is_same_matter(one: Statement, other: Statement) -> bool:
    """Return whether two statements are about the same matter."""
    if one.plain == other.plain:
        return True
    if one.names != other.names:
        return False
    mine, theirs = set(one.words), set(other.words)
    if len(mine & theirs) >= ALIKE * max(len(mine), len(theirs)) > 0:
        return True
    short, long = sorted((one.line, other.line), key=len)
    return short in _starts(long)


def _starts(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the beginnings of a statement that are at least two words and half of it."""
    return (words[:size] for size in range(max(2, ceil(len(words) / 2)), len(words) + 1))


class Statements:
    """Statements that count at present, each with a number; found by their matter."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Begin empty; `texts` are all that will be added or looked for."""
        self._known = {text: statement_of(text) for text in texts}
        self._counts = Counter(word for one in self._known.values() for word in set(one.words))
        self._present: dict[int, Statement] = {}
        self._numbers: dict[object, list[int]] = {}

    def _rare(self, one: Statement) -> list[object]:
        """Return the rarest words: a statement that overlaps by `ALIKE` has one of them."""
        words = sorted(set(one.words), key=lambda word: (self._counts[word], word))
        return [(one.names, word) for word in words[: len(words) - ceil(ALIKE * len(words)) + 1]]

    def add(self, number: int, text: str) -> None:
        """Let a statement count; it replaces the one with its number."""
        one = self._known[text]
        self._present[number] = one
        starts = [("starts", one.names, start) for start in _starts(one.line)]
        for key in ("plain", one.plain), ("whole", one.names, one.line), *starts, *self._rare(one):
            self._numbers.setdefault(key, []).append(number)

    def take(self, text: str) -> list[tuple[int, str]]:
        """Remove the statements that a later one replaces; return their numbers and texts, the first one first."""
        found = self._about(self._known[text])
        if (instead := _INSTEAD.sub(r"\2", text)) != text:
            found |= self._about(statement_of(instead))
        return [(number, self._present.pop(number).text) for number in sorted(found)]

    def _about(self, one: Statement) -> set[int]:
        wholes = [("whole", one.names, start) for start in _starts(one.line)]
        keys = (("plain", one.plain), ("starts", one.names, one.line), *wholes, *self._rare(one))
        near = {number for key in keys for number in self._numbers.get(key, ()) if number in self._present}
        return {number for number in near if is_same_matter(one, self._present[number])}


def settle(section: str, lines: Iterable[str], new: Iterable[str]) -> tuple[list[str], list[Replaced]]:
    """Return lines with new ones, each in the place of the earlier one that it replaces; and what was replaced.

    The lines themselves are not compared with each other.
    """
    before, later = list(lines), list(dict.fromkeys(new))
    statements = Statements([*before, *later])
    kept = dict(enumerate(before))
    for number, line in kept.items():
        statements.add(number, line)
    replaced: list[Replaced] = []
    for number, line in enumerate(later, len(before)):
        earlier = statements.take(line)
        for old, _ in earlier:
            del kept[old]
        replaced += [Replaced(section, line, text) for _, text in earlier if not is_repeated(line, text)]
        place = earlier[0][0] if earlier else number
        kept[place] = line
        statements.add(place, line)
    return [kept[number] for number in sorted(kept)], replaced


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
