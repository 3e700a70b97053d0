"""Thresholds: when the outcome of a check is bad, as in `status != 200`, `value > 90` or `latency > 500ms`.

The language has comparisons, `and`, `or`, `not` and parentheses. It is parsed by hand into a small tree and evaluated
against the measured values; no part of it is ever run as code. docs/monitors.md describes it for people.
"""

from __future__ import annotations

import difflib
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from memory.errors import UsageError

from .units import NUMBER, Quantity, read_number, read_quantity, say, say_number, say_size, say_time, unit_of

NameKind = Literal["number", "time", "size", "text", "flag", "any"]
DEFAULTS: Mapping[str, str] = {
    "http": "status >= 400",
    "command": "exit code != 0",
    "tcp": "not open",
    "file": "missing",
    "heartbeat": "missing",
}
"""The types of monitors, and the threshold of one that has none; a heartbeat with `olderThan` also has `age > …`."""
JSON = "json."
"""The prefix of names that are a path into a JSON answer."""
NAMES: Mapping[str, tuple[NameKind, tuple[str, ...]]] = {
    "status": ("number", ("http",)),
    "latency": ("time", ("http", "tcp", "command")),
    "body": ("text", ("http",)),
    "certificate": ("time", ("http",)),
    "size": ("size", ("http", "file")),
    "exit code": ("number", ("command",)),
    "value": ("any", ("command",)),
    "stdout": ("text", ("command",)),
    "stderr": ("text", ("command",)),
    "open": ("flag", ("tcp",)),
    "exists": ("flag", ("file", "heartbeat")),
    "missing": ("flag", ("file", "heartbeat")),
    "age": ("time", ("file", "heartbeat")),
}
"""What can be measured: its unit, and the types of monitors that measure it."""
_ALIASES = {
    "exit_code": "exit code",
    "exit status": "exit code",
    "status code": "status",
    "response time": "latency",
    "duration": "latency",
    "output": "stdout",
}
Value = int | float | str | Quantity
"""A measured value: a number (seconds, bytes, plain), a text, or a number with the unit it was printed with."""
Reading = Mapping[str, Value]
"""All measured values, by plain name."""
LONGEST, DEEPEST = 1000, 30
"""Maximum characters of a threshold, and maximum nesting of parentheses and `not`."""
_ORDERS: Mapping[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SIGN_WORDS = {"==": "is", "!=": "is not", "<": "is below", "<=": "is at most", ">": "is above", ">=": "is at least"}
_SIGNS = {"=": "==", "is": "==", "<>": "!=", "≠": "!=", "is not": "!=", "≤": "<=", "≥": ">="}
_SIGNS |= {"contain": "contains", "not contain": "not contains"}
_SIGNS |= {"does not contains": "not contains", "does not contain": "not contains"}
_JOINS = {"&&": "and", "||": "or", "!": "not"}
_TOKEN = re.compile(
    rf"""\s*(?:
    (?P<number>[-+]?{NUMBER}(?:\s*(?:%|(?!(?:and|or|not)\b)[a-zµ]+))?)
  | (?P<sign>(?:is(?:\s+not)?|(?:(?:does\s+)?not\s+)?contains?)\b|[=!<>]=|<>|[=<>≠≤≥])
  | (?P<join>(?:and|or|not)\b|&&|\|\||[!()])
  | (?P<word>(?:exit\s+(?:code|status)|status\s+code|response\s+time)\b|[^\W\d][\w.\-]*(?:\[\d{{1,4}}\][\w.\-]*)*)
  | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    )""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_NUMBER = re.compile(rf"([-+]?{NUMBER})\s*(.*)")
_EXAMPLE = "write like value > 90"


class CutText(str):
    """The beginning of a text that was not read whole: what it does not contain may come later."""

    __slots__ = ()


class BadThreshold(UsageError, ValueError):
    """An invalid threshold; code `monitor.threshold`, `details["column"]` counts from 1."""

    def __init__(self, message: str, column: int, hint: str = _EXAMPLE) -> None:
        """Create the error with its message, its column, and what to write."""
        super().__init__("monitor.threshold", f"{message} (column {column})", hint, column=column)
        self.column = column


# -- what was parsed --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Condition:
    """`name sign literal`, or a name that is true or false by itself (an empty sign); `shown` is the literal as it was
    written.
    """

    name: str
    sign: str = ""
    literal: str | Quantity = ""
    shown: str = ""

    def judge(self, reading: Reading) -> bool | None:
        """Return whether it holds; None if there is no such value or the two cannot be compared."""
        value = reading.get(self.name)
        if value is None or not self.sign:
            return None if value is None else bool(value)
        if self.sign == "contains" and self.shown in _as_text(value):
            return True
        if isinstance(value, CutText):
            return None
        if self.sign == "contains":
            return False
        if isinstance(self.literal, str):
            return (_as_text(value).strip() == self.literal) is (self.sign == "==")
        pair = _as_numbers(value, self.literal)
        if pair is None:
            # A text is not equal to this number, but neither above nor below it.
            return {"==": False, "!=": True}.get(self.sign) if isinstance(value, str) else None
        return _ORDERS[self.sign](*pair)

    def say(self, reading: Reading) -> str:
        """Return what was found in words, such as `status 503`, `not open` or `body does not contain "ok"`."""
        holds = self.judge(reading)
        if not self.sign:
            return self.name if holds else f"not {self.name}"
        if self.sign == "contains":
            return f'{self.name} {"contains" if holds else "does not contain"} "{self.shown[:40]}"'
        return f"{self.name} {show_value(self.name, reading[self.name])}"


@dataclass(frozen=True, slots=True)
class Joined:
    """Rules joined by `and` or `or`; or one after `not`."""

    word: str
    parts: tuple[Rule, ...]

    def judge(self, reading: Reading) -> bool | None:
        """Join the known results: one false part decides `and`, one true part decides `or`."""
        found = [part.judge(reading) for part in self.parts]
        if self.word == "not":
            return None if found[0] is None else not found[0]
        if (self.word == "or") in found:
            return self.word == "or"
        return None if None in found else self.word == "and"


Rule = Condition | Joined


def _conditions(rule: Rule) -> Iterator[Condition]:
    if isinstance(rule, Condition):
        yield rule
    else:
        for part in rule.parts:
            yield from _conditions(part)


def _reasons(rule: Rule, reading: Reading, verdict: bool) -> Iterator[Condition]:
    """Yield the conditions because of which a rule is judged so."""
    if isinstance(rule, Condition):
        if rule.judge(reading) is verdict:
            yield rule
    else:
        for part in rule.parts:
            yield from _reasons(part, reading, verdict is not (rule.word == "not"))


@dataclass(frozen=True, slots=True)
class Threshold:
    """A parsed threshold; `text` is how it was written, empty for a default."""

    text: str
    rule: Rule

    @property
    def names(self) -> tuple[str, ...]:
        """The plain names that it uses, each once, in order."""
        return tuple(dict.fromkeys(one.name for one in _conditions(self.rule)))

    def judge(self, reading: Reading) -> bool | None:
        """Return whether it is breached; None if the measured values do not decide it."""
        return self.rule.judge(reading)

    def missing(self, reading: Reading) -> tuple[str, ...]:
        """Return the names that it needs but that have no usable value."""
        return tuple(dict.fromkeys(one.name for one in _conditions(self.rule) if one.judge(reading) is None))

    def explain(self, reading: Reading) -> str:
        """Return in a few words why it is breached, such as `status 503, latency 812 ms`; else what was found."""
        if self.judge(reading):
            found = list(_reasons(self.rule, reading, True))
        else:
            found = [one for one in _conditions(self.rule) if one.judge(reading) is not None]
        said = dict.fromkeys(one.say(reading) for one in found)
        return ", ".join(said) or "no value for " + ", ".join(self.missing(reading))


def meaning(threshold: Threshold, kind: str) -> str:
    """Return when a monitor of a type (`http`, `command` …) alerts: `alerts when status is not 200`."""
    words = f"alerts when {_say(threshold.rule)}"
    return words if threshold.text or kind not in DEFAULTS else f"without one it {words}"


def _say(rule: Rule, inner: bool = False) -> str:
    match rule:
        case Joined("not", (Condition("exists", ""),)):
            return "it does not exist"
        case Joined("not", (Condition(name, ""),)):
            return f"it is not {name}"
        case Joined("not", (Condition(name, "contains", _, shown),)):
            return f'{name} does not contain "{shown}"'
        case Joined("not", (part,)):
            return f"not {_say(part, True)}"
        case Joined(word, parts):
            joined = f" {word} ".join(_say(part, True) for part in parts)
            return f"({joined})" if inner else joined
        case Condition(name, ""):
            return "it exists" if name == "exists" else f"it is {name}"
        case Condition(name, "contains", _, shown):
            return f'{name} contains "{shown}"'
        case Condition(name, sign, literal, shown):
            text = shown if isinstance(literal, Quantity) else f'"{shown}"'
            return f"{name} {_SIGN_WORDS[sign]} {text}"


# -- values -----------------------------------------------------------------------------------------------------------


def show_value(name: str, value: Value) -> str:
    """Return a measured value as text in the unit of its name."""
    if isinstance(value, Quantity):
        return say(value)
    if isinstance(value, str):
        line = " ".join(value.split())
        return f'"{line[:40]}{"…" if len(line) > 40 else ""}"'
    known = find_name(name)
    return {"time": say_time, "size": say_size}.get(known[0] if known else "", say_number)(value)


def _as_text(value: Value) -> str:
    if isinstance(value, str):
        return value
    return say(value) if isinstance(value, Quantity) else say_number(value)


def _as_numbers(value: Value, literal: Quantity) -> tuple[float, float] | None:
    """Return both sides as numbers of one unit.

    A number printed without a unit gets the unit of the threshold. A threshold without a unit is compared with the
    number as it was printed.
    """
    if isinstance(value, str):
        read = read_quantity(value)
        if read is None:
            return None
        value = read
    if not isinstance(value, Quantity):
        return None if math.isnan(value) else (value, literal.amount)
    if not value.unit or not literal.unit:
        return value.number, literal.number
    return (value.amount, literal.amount) if value.dimension == literal.dimension else None


def find_name(name: str) -> tuple[NameKind, tuple[str, ...]] | None:
    """Return the properties of a plain name; `value[2]` and `json.a.b` are names too."""
    if name.startswith(JSON) and len(name) > len(JSON):
        return "any", ("http", "command")
    return NAMES["value"] if re.fullmatch(r"value\[\d+\]", name, re.ASCII) else NAMES.get(name)


# -- parsing ----------------------------------------------------------------------------------------------------------


class _Token(NamedTuple):
    """One number, sign, join, word or text; `text` without quotes, `column` from 1; the last one is the `end`."""

    kind: str
    text: str
    column: int


def parse_threshold(text: str, kind: str = "") -> Threshold:
    """Parse a threshold; with the type of a monitor (`http`, `command` …) an empty one is that type's default.

    Raises BadThreshold with a column and a hint for everything else, also for names that the type does not have and for
    units that do not fit a name. Takes time proportional to the length, which is bounded.
    """
    written = text.strip()
    if not written and kind not in DEFAULTS:
        raise BadThreshold("the threshold is empty", 1)
    reader = _Reader(text if written else DEFAULTS[kind], kind)
    rule = reader.joined("or", 0)
    if reader.token.kind != "end":
        raise _surprise(reader.token)
    return Threshold(written, rule)


class _Reader:
    """Parses the tokens of one threshold from left to right."""

    def __init__(self, text: str, kind: str) -> None:
        self.tokens = iter(_tokens_of(text))
        self.token = next(self.tokens)
        self.kind = kind

    def next(self) -> _Token:
        """Return the current token, and go on to the one after it."""
        token = self.token
        self.token = next(self.tokens, token)
        return token

    def joined(self, word: str, depth: int) -> Rule:
        """Parse what `or` joins, each part of which may be joined by `and`."""

        def part() -> Rule:
            return self.one(depth) if word == "and" else self.joined("and", depth)

        parts = [part()]
        while self.token[:2] == ("join", word):
            self.next()
            parts.append(part())
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def one(self, depth: int) -> Rule:
        token = self.next()
        if token[:2] not in (("join", "not"), ("join", "(")):
            return self.condition(token)
        if depth == DEEPEST:
            raise BadThreshold(f"nested deeper than {DEEPEST}", token.column, "write it flatter")
        if token.text == "not":
            return Joined("not", (self.one(depth + 1),))
        rule = self.joined("or", depth + 1)
        if self.next()[:2] != ("join", ")"):
            raise BadThreshold("a parenthesis that does not close", token.column, "close it with )")
        return rule

    def condition(self, token: _Token) -> Rule:
        name, known = self.name(token)
        if self.token.kind != "sign":
            if known == "flag":
                return Condition(name)
            hint = f"write {name} > …" if known != "text" else f'write {name} contains "…"'
            raise BadThreshold(f"a sign such as != or > is missing after {name[:40]}", self.token.column, hint)
        if known == "flag":
            raise BadThreshold(f"{name} is true or false", token.column, f"write {name} or not {name}")
        sign = self.next().text
        found = Condition(name, sign.removeprefix("not "), *_literal(self.next(), name, known, sign))
        return Joined("not", (found,)) if sign == "not contains" else found

    def name(self, token: _Token) -> tuple[str, NameKind]:
        """Return a name as `NAMES` has it (`Status Code` is `status`; a path keeps its case), and its kind."""
        if token.kind != "word":
            what = f"{token.text[:20]!r} where a name is expected"
            what = "it ends where a condition is expected" if token.kind == "end" else what
            hint = "begin with a measured name: value > 90" if token.kind in ("number", "text") else _EXAMPLE
            raise BadThreshold(what, token.column, hint)
        plain = " ".join(token.text.casefold().split())
        name = token.text if token.text.startswith(JSON) else _ALIASES.get(plain, plain)
        known = find_name(name)
        if known is None:
            raise BadThreshold(f"nothing is called {name[:40]!r}", token.column, _nearest(name, self.kind))
        if self.kind in DEFAULTS and self.kind not in known[1]:
            said = f"{name[:40]} is not measured by a monitor of type {self.kind}"
            raise BadThreshold(said, token.column, _nearest(name, self.kind))
        return name, known[0]


def _tokens_of(text: str) -> Iterator[_Token]:
    if len(text) > LONGEST:
        raise BadThreshold(f"longer than {LONGEST} characters", LONGEST + 1, "write a shorter threshold")
    text = text.rstrip()
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _strange(text[at:].lstrip()[0], len(text) - len(text[at:].lstrip()) + 1)
        kind = match.lastgroup or ""
        piece = match[kind]
        if kind == "text":
            plain = _ESCAPE.sub(r"\1", piece[1:-1])
        elif kind in ("sign", "join"):
            plain = " ".join(piece.lower().split())
            plain = _SIGNS.get(plain, _JOINS.get(plain, plain))
        else:
            plain = piece
        yield _Token(kind, plain, match.start(kind) + 1)
        at = match.end()
    yield _Token("end", "", len(text) + 1)


def _strange(char: str, column: int) -> BadThreshold:
    if char in "\"'":
        return BadThreshold("a text that does not end", column, f"close it with {char}")
    if char in "&|":
        return BadThreshold(f"one {char} alone", column, "write and, or")
    if char in "*/+-^~":
        return BadThreshold(f"{char!r}: a threshold does not calculate", column, "let the command print the result")
    return BadThreshold(f"{char!r} has no place in a threshold", column)


def _surprise(token: _Token) -> BadThreshold:
    if token.text == ")":
        return BadThreshold("a parenthesis that was not opened", token.column, "take it away")
    if token.kind == "sign":
        return BadThreshold("one comparison inside another", token.column, "join two with and: status >= 200 and …")
    return BadThreshold(f"{token.text[:20]!r} is too much here", token.column, "join conditions with and, or")


def _literal(token: _Token, name: str, known: NameKind, sign: str) -> tuple[str | Quantity, str]:
    """Return the value that a name is compared with, and how it was written."""
    ordered = sign not in ("==", "!=", "contains", "not contains")
    if token.kind == "number" and "contains" not in sign and known != "text":
        return _quantity(token, name, known)
    if token.kind not in ("text", "word", "number"):
        raise BadThreshold("a number or a text is missing", token.column)
    if ordered:
        wanted = "write a number" if known != "text" else f'write {name} contains "…"'
        raise BadThreshold("a text cannot be larger or smaller", token.column, wanted)
    if known not in ("text", "any"):
        raise BadThreshold(f"{name} is a number", token.column, f"write {name} {sign} 200")
    return token.text, token.text


def _quantity(token: _Token, name: str, known: NameKind) -> tuple[Quantity, str]:
    found = _NUMBER.fullmatch(token.text)
    assert found is not None
    if found[2] and unit_of(found[2]) is None:
        units = "units: ms s m h d, %, KB MB GB, KiB MiB GiB"
        raise BadThreshold(f"{found[2][:20]!r} is no unit", token.column, units)
    literal = Quantity(read_number(found[1]), found[2])
    if not math.isfinite(literal.amount):
        raise BadThreshold(f"{found[1][:20]} is too large a number", token.column, "write a smaller one")
    dimension = literal.dimension
    if known == "time" and dimension != "time":
        raise BadThreshold(f"{name} is a time", token.column, f"write its unit: {name} > 500ms, 2s, 5m, 2h or 14d")
    if known == "size" and dimension not in ("size", ""):
        raise BadThreshold(f"{name} is a size", token.column, f"write {name} > 10MB")
    if known == "number" and dimension:
        raise BadThreshold(f"{name} has no unit", token.column, f"write {name} > {found[1][:20]}")
    return literal, found[1] + found[2]


def _nearest(name: str, kind: str) -> str:
    """Return a hint: the name that was probably meant, or all names."""
    names = [one for one, (_, types) in NAMES.items() if kind not in DEFAULTS or kind in types]
    close = difflib.get_close_matches(name.casefold()[:40], names, 1)
    return f"did you mean {close[0]}?" if close else "write one of " + ", ".join(names)
