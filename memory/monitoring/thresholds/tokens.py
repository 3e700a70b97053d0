"""The words of a threshold, each with its column; and the error that names a column."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from memory.errors import UsageError

from .units import NUMBER

LONGEST = 1000
"""A longer threshold is refused, in characters."""
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
    """A threshold that nobody understands; code `monitor.threshold`, `details["column"]` counts from 1."""

    def __init__(self, message: str, column: int, hint: str = "") -> None:
        """Say what is wrong, where, and what to write."""
        super().__init__("monitor.threshold", f"{message} (column {column})", hint, column=column)
        self.column = column


class Token(NamedTuple):
    """One word, number, text or sign; `text` without quotes, `column` from 1, `end` the column behind it."""

    kind: TokenKind
    text: str
    column: int
    end: int


def tokens_of(text: str) -> list[Token]:
    """Cut a threshold into its words, the last one `end`; BadThreshold for a character that has no place in one."""
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
        if kind == "text":
            found.append(Token("text", _ESCAPE.sub(r"\1", piece[1:-1]), at + 1, match.end() + 1))
        elif kind in ("number", "word", "sign"):
            found.append(Token(kind, piece, at + 1, match.end() + 1))  # type: ignore[arg-type]
        at = match.end()
    found.append(Token("end", "", len(text.rstrip()) + 1, len(text) + 1))
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
