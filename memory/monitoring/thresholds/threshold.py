"""Thresholds: when the outcome of a check is bad, as in `status != 200`, `value > 90` or `latency > 500ms`.

The language has comparisons, `and`, `or`, `not` and parentheses. It is parsed by hand into a small tree and evaluated
against the measured values; no part of it is ever run as code. docs/monitors.md describes it for people.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

from memory.errors import UsageError

from .rules import (
    DEFAULTS,
    KINDS,
    Condition,
    Joined,
    KnownName,
    Reading,
    Rule,
    conditions,
    find_name,
    nearest,
    plain_name,
)
from .units import NUMBER, Quantity, read_number, unit_of

LONGEST = 1000
"""Maximum characters of a threshold; a longer one is refused."""
TokenKind = Literal["number", "word", "text", "sign", "end"]
_TOKEN = re.compile(
    rf"""
    (?P<space>\s+)
  | (?P<number>[-+]?{NUMBER})
  | (?P<word>[^\W\d][\w.\-]*(?:\[\d{{1,4}}\][\w.\-]*)*)
  | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<sign>&&|\|\||[=!<>]=|<>|[<>=!()%≠≤≥])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class BadThreshold(UsageError, ValueError):
    """An invalid threshold; code `monitor.threshold`, `details["column"]` counts from 1."""

    def __init__(self, message: str, column: int, hint: str = "") -> None:
        """Create the error with its message, its column, and what to write."""
        super().__init__("monitor.threshold", f"{message} (column {column})", hint, column=column)
        self.column = column


class Token(NamedTuple):
    """One word, number, text or sign; `text` without quotes, `column` from 1."""

    kind: TokenKind
    text: str
    column: int


def tokens_of(text: str) -> list[Token]:
    """Split a threshold into tokens, the last one `end`; BadThreshold for an invalid character."""
    if len(text) > LONGEST:
        raise BadThreshold(f"longer than {LONGEST} characters", LONGEST + 1, "write a shorter threshold")
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _strange(text, at)
        kind = match.lastgroup
        piece = match[0]
        if kind != "space":
            plain = _ESCAPE.sub(r"\1", piece[1:-1]) if kind == "text" else piece
            found.append(Token(kind, plain, at + 1))  # type: ignore[arg-type]
        at = match.end()
    found.append(Token("end", "", len(text.rstrip()) + 1))
    return found


def _strange(text: str, at: int) -> BadThreshold:
    char = text[at]
    if char in "\"'":
        return BadThreshold("a text that does not end", at + 1, f"close it with {char}")
    if char in "&|":
        return BadThreshold(f"one {char} alone", at + 1, "write and, or")
    if char in "*/+-^~":
        return BadThreshold(f"{char!r}: a threshold does not calculate", at + 1, "let the command print the result")
    return BadThreshold(f"{char!r} has no place in a threshold", at + 1, "write like value > 90")


DEEPEST = 30
"""Maximum nesting of parentheses and `not`; deeper ones are refused."""
_SIGNS = {"=": "==", "==": "==", "!=": "!=", "<>": "!=", "≠": "!=", "<": "<", ">": ">", "<=": "<=", ">=": ">="}
_SIGNS |= {"≤": "<=", "≥": ">=", "is": "==", "contains": "contains", "contain": "contains"}
_JOINS = {"and": "and", "&&": "and", "or": "or", "||": "or"}
_NOTS = frozenset({"not", "!"})
_AFTER_NAME = {*_SIGNS, *_JOINS, "not", "does"}
_EXAMPLE = "write like value > 90"
_SIGN_WORDS = {
    "==": "is",
    "!=": "is not",
    "<": "is below",
    "<=": "is at most",
    ">": "is above",
    ">=": "is at least",
}
_OPPOSITES = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


@dataclass(frozen=True, slots=True)
class Threshold:
    """A parsed threshold; `text` is how it was written, empty for a default."""

    text: str
    rule: Rule

    @property
    def names(self) -> tuple[str, ...]:
        """The plain names that it uses, each once, in order."""
        return tuple(dict.fromkeys(one.name for one in conditions(self.rule)))

    def judge(self, reading: Reading) -> bool | None:
        """Return whether it is breached; None if the measured values do not decide it."""
        return self.rule.judge(reading)

    def missing(self, reading: Reading) -> tuple[str, ...]:
        """Return the names that it needs but that have no usable value."""
        return tuple(dict.fromkeys(one.name for one in conditions(self.rule) if one.judge(reading) is None))

    def explain(self, reading: Reading) -> str:
        """Return in a few words why it is breached, such as `status 503, latency 812 ms`; else what was found."""
        told = (True,) if self.judge(reading) else (True, False)
        said = [one.say(reading) for one in conditions(self.rule) if one.judge(reading) in told]
        return ", ".join(dict.fromkeys(said)) or "no value for " + ", ".join(self.missing(reading))


def parse_threshold(text: str, kind: str = "") -> Threshold:
    """Parse a threshold; with the type of a monitor (`http`, `command` …) an empty one is that type's default.

    Raises BadThreshold with a column and a hint for everything else, also for names that the type does not have and for
    units that do not fit a name. Takes time proportional to the length, which is bounded.
    """
    written = text.strip()
    return Threshold(written, _Reader(text if written else DEFAULTS.get(kind, text), kind).read())


class _Reader:
    """Parses the words of one threshold from left to right."""

    def __init__(self, text: str, kind: str) -> None:
        self.words = tokens_of(text)
        self.kind = kind
        self.at = 0
        self.depth = 0

    def read(self) -> Rule:
        if len(self.words) == 1:
            raise BadThreshold("an empty threshold", 1, _EXAMPLE)
        rule = self.joined("or", True)
        if self.word.kind != "end":
            raise self.surprise(self.word)
        return rule

    @property
    def word(self) -> Token:
        return self.words[self.at]

    def next(self) -> Token:
        word = self.words[self.at]
        self.at += word.kind != "end"
        return word

    def join(self) -> str:
        return _JOINS.get(self.word.text.lower(), "") if self.word.kind in ("word", "sign") else ""

    def joined(self, word: str, positive: bool) -> Rule:
        """Parse what `or` joins, each part of which may be joined by `and`; not `positive`: the contrary of it."""
        part = self.one if word == "and" else partial(self.joined, "and")
        parts = [part(positive)]
        while self.join() == word:
            self.next()
            parts.append(part(positive))
        return parts[0] if len(parts) == 1 else Joined((word == "and") is positive, tuple(parts))

    def one(self, positive: bool) -> Rule:
        word = self.word
        negates = word.kind in ("word", "sign") and word.text.lower() in _NOTS
        if not negates and (word.kind, word.text) != ("sign", "("):
            return self.condition(positive)
        self.next()
        self.depth += 1
        if self.depth > DEEPEST:
            raise BadThreshold(f"nested deeper than {DEEPEST}", word.column, "write it flatter")
        if negates:
            rule = self.one(not positive)
        else:
            rule = self.joined("or", positive)
            if (self.word.kind, self.word.text) != ("sign", ")"):
                raise BadThreshold("a parenthesis that does not close", word.column, "close it with )")
            self.next()
        self.depth -= 1
        return rule

    def condition(self, positive: bool) -> Condition:
        start = self.word
        name, known = self.name()
        contrary, sign = self.sign(known, name)
        if not sign:
            return Condition(name, positive=positive)
        if known.kind == "flag":
            raise BadThreshold(f"{name} is true or false", start.column, f"write {name} or not {name}")
        return Condition(name, sign, *self.literal(name, known, sign), positive is not contrary)

    def name(self) -> tuple[str, KnownName]:
        start = self.word
        if start.kind != "word" or self.join():
            raise self.no_name(start)
        words = [self.next().text]
        while self.word.kind == "word" and self.word.text.lower() not in _AFTER_NAME:
            words.append(self.next().text)
        name = plain_name(" ".join(words))
        known = find_name(name)
        if known is None:
            raise BadThreshold(f"nothing is called {name[:40]!r}", start.column, nearest(name, self.kind))
        if self.kind in KINDS and self.kind not in known.types:
            said = f"{name[:40]} is not measured by a monitor of type {self.kind}"
            raise BadThreshold(said, start.column, nearest(name, self.kind))
        return name, known

    def no_name(self, word: Token) -> BadThreshold:
        if word.kind == "end":
            return BadThreshold("it ends where a condition is expected", word.column, _EXAMPLE)
        hint = "begin with a measured name: value > 90" if word.kind in ("number", "text") else _EXAMPLE
        return BadThreshold(f"{word.text[:20]!r} where a name is expected", word.column, hint)

    def sign(self, known: KnownName, name: str) -> tuple[bool, str]:
        """Parse a sign, `contains`, `is not` and `does not contain`; an empty sign for a name without one."""
        contrary = False
        word = self.word
        text = word.text.lower()
        if word.kind == "word" and text in ("does", "not"):
            self.next()
            if text == "does" and self.word.text.lower() == "not":
                self.next()
                contrary = True
            contrary = contrary or text == "not"
            word = self.word
            text = word.text.lower()
            if text not in ("contains", "contain"):
                raise BadThreshold("contains is expected here", word.column, f'write {name} not contains "…"')
        sign = _SIGNS.get(text, "") if word.kind in ("word", "sign") else ""
        if sign:
            self.next()
            if text == "is" and self.word.kind == "word" and self.word.text.lower() == "not":
                self.next()
                sign = "!="
        elif known.kind != "flag" or not (word.kind == "end" or self.join() or word.text == ")"):
            hint = f"write {name} > …" if known.kind != "text" else f'write {name} contains "…"'
            raise BadThreshold(f"a sign such as != or > is missing after {name[:40]}", word.column, hint)
        return contrary, sign

    def literal(self, name: str, known: KnownName, sign: str) -> tuple[str | Quantity, str]:
        word = self.next()
        if word.kind == "number" and sign != "contains" and known.kind != "text":
            return self.quantity(word, name, known)
        if word.kind not in ("text", "word", "number") or word.text.lower() in _JOINS:
            raise BadThreshold("a number or a text is missing", word.column, _EXAMPLE)
        if sign not in ("==", "!=", "contains"):
            wanted = "write a number" if known.kind != "text" else f'write {name} contains "…"'
            raise BadThreshold("a text cannot be larger or smaller", word.column, wanted)
        if known.kind not in ("text", "any"):
            raise BadThreshold(f"{name} is a number", word.column, f"write {name} {_SIGNS.get(sign, sign)} 200")
        return word.text, word.text

    def quantity(self, word: Token, name: str, known: KnownName) -> tuple[Quantity, str]:
        unit = ""
        follower = self.word
        if follower.text == "%" or (follower.kind == "word" and not self.join()):
            if unit_of(follower.text) is None:
                raise BadThreshold(
                    f"{follower.text[:20]!r} is no unit", follower.column, "units: ms s m h d, %, KB MB GB, KiB MiB GiB"
                )
            unit = self.next().text
        literal = Quantity(read_number(word.text), unit)
        if not math.isfinite(literal.amount):
            raise BadThreshold(f"{word.text[:20]} is too large a number", word.column, "write a smaller one")
        dimension = literal.dimension
        if known.kind == "time" and dimension != "time":
            raise BadThreshold(f"{name} is a time", word.column, f"write its unit: {name} > 500ms, 2s, 5m, 2h or 14d")
        if known.kind == "size" and dimension not in ("size", ""):
            raise BadThreshold(f"{name} is a size", word.column, f"write {name} > 10MB")
        if known.kind == "number" and dimension:
            raise BadThreshold(f"{name} has no unit", word.column, f"write {name} > {word.text[:20]}")
        return literal, word.text + unit

    def surprise(self, word: Token) -> BadThreshold:
        if word.text == ")":
            return BadThreshold("a parenthesis that was not opened", word.column, "take it away")
        if word.text in _SIGNS:
            return BadThreshold("one comparison inside another", word.column, "join two with and: status >= 200 and …")
        return BadThreshold(f"{word.text[:20]!r} is too much here", word.column, "join conditions with and, or")


def meaning(threshold: Threshold, kind: str) -> str:
    """Return when a monitor of a type (`http`, `command` …) alerts: `alerts when status is not 200`."""
    words = f"alerts when {_say(threshold.rule)}"
    return words if threshold.text or kind not in DEFAULTS else f"without one it {words}"


def _say(rule: Rule, inner: bool = False) -> str:
    match rule:
        case Joined(every, parts):
            joined = (" and " if every else " or ").join(_say(part, True) for part in parts)
            return f"({joined})" if inner else joined
        case Condition("exists", "", positive=positive):
            return "it exists" if positive else "it does not exist"
        case Condition(name, "", positive=positive):
            return f"it is {name}" if positive else f"it is not {name}"
        case Condition(name, "contains", _, shown, positive):
            return f'{name} {"contains" if positive else "does not contain"} "{shown}"'
        case Condition(name, sign, literal, shown, positive):
            text = f'"{shown}"' if isinstance(literal, str) else shown
            return f"{name} {_SIGN_WORDS[sign if positive else _OPPOSITES[sign]]} {text}"
