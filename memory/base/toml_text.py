"""Reading TOML behind a guard: bounded in size, keys and depth, with the line of every statement.

`tomllib` alone costs the square of a dotted key's length, ends with errors of Python itself for large numbers and deep
lists, and reports lines only for syntax errors. So one pass over the text finds the statements first, and a text beyond
the limits never reaches the parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from memory.errors import ConfigError

from .values import MAX_BYTES, MAX_DEPTH

MAX_KEYS = 512
"""Keys and elements of lists in one file."""

_LONGEST = 100
"""Characters of a value without quotes: a number, a date, a boolean."""
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_PLACE = re.compile(r" \(at line (\d+), column \d+\)| \(at end of document\)")
# An unclosed string extends as far as it can, so that nothing is read twice.
_TOKEN = re.compile(
    r'(?P<string>"""(?:[^"\\]|\\.|"{1,2}(?!"))*(?:"{3,5}|\\?\Z)'
    r"|'''(?:[^']|'{1,2}(?!'))*(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\[^\n])*"?'
    r"|'[^'\n]*'?)"
    r"|(?P<sign>[\[\]{},=.\n])"
    r"|(?P<none>#[^\n]*|[ \t\r]+)"
    r"|(?P<bare>[^\s\"'#\[\]{},=.]+|.)",
    re.DOTALL,
)

Path = tuple[str | int, ...]
"""The place of a value: keys and indexes from the top."""


class Toml(NamedTuple):
    """The values of a file and their lines."""

    values: Mapping[str, Any]
    lines: Mapping[Path, int]

    def line_of(self, *path: str | int) -> int:
        """Return the first line (from 1) of the statement that sets a value, or the table around it.

        1 where no part of the path is set.
        """
        return next((self.lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in self.lines), 1)


def read_toml(data: bytes, file: str, *, code: str = "typed.toml", times: int = 1) -> Toml:
    """Return the values of a file; ConfigError `code` with `file` and `line` where it is not TOML or beyond the limits.

    The limits are `MAX_BYTES`, `MAX_KEYS` and `MAX_DEPTH`, the first two `times` as much for files that list many
    things.
    """
    import tomllib

    if len(data) > times * MAX_BYTES:
        raise config_error(code, f"the file is larger than {times * MAX_BYTES // 1024} KB", file, 1, "make it smaller")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise config_error(code, "this is no UTF-8 text", file, line) from None
    text = text.removeprefix("\ufeff")
    try:
        lines = _Scan(text, times * MAX_KEYS).lines
        values = tomllib.loads(text)
        toml = Toml(values, lines)
        for path, number in _numbers(values):
            if not _LEAST <= number <= _MOST:
                raise _Beyond("a number is larger than 64 bits", toml.line_of(*path))
    except _Beyond as beyond:
        raise config_error(code, beyond.message, file, beyond.line) from None
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.rstrip("\n").count("\n") + 1
        words = _PLACE.sub("", str(error))[:200]
        raise config_error(code, words[:1].lower() + words[1:], file, line) from None
    except (ValueError, RecursionError, OverflowError, MemoryError):
        raise config_error(code, "the file is beyond what can be read", file, 1) from None
    return toml


def config_error(code: str, message: str, file: str, line: int, hint: str = "") -> ConfigError:
    """Return an error about a line (from 1) of a file."""
    return ConfigError(code, f"{file}:{line}: {message}", hint or "mend that line", file=file, line=line)


class _Beyond(Exception):
    """Raised where the text is beyond a limit, with the line."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


class _Scan:
    """Finds the line of each value of a text, in one pass; raises _Beyond. The text need not be valid TOML."""

    def __init__(self, text: str, most: int) -> None:
        self.lines: dict[Path, int] = {}
        self._most = most
        self._count = 0
        self._lists: dict[Path, int] = {}
        self._table: Path = ()
        self._tokens = _tokens(text)
        for token in self._tokens:
            if token.text == "[":
                self._header(token.line)
            elif token.text != "\n":
                self._statement(token)

    def _header(self, line: int) -> None:
        """Read the rest of a line such as `[a.b]` or `[[a.b]]`."""
        keys: list[str] = []
        many = False
        for token in self._tokens:
            if token.text == "\n":
                break
            if token.text == "[" and not keys:
                many = True
            elif token.kind in ("bare", "string"):
                keys.append(_plain(token))
                self._deep(len(keys), line)
        self._more(line)
        path: Path = ()
        for number, key in enumerate(keys, 1):
            path = (*path, key)
            self.lines.setdefault(path, line)
            if many and number == len(keys):
                self._lists[path] = self._lists.get(path, -1) + 1
            if path in self._lists:
                path = (*path, self._lists[path])
                self.lines.setdefault(path, line)
        self._table = path

    def _statement(self, first: _Token) -> None:
        """Read `key = value`, which may span many lines."""
        path, around = self._table, 0
        token: _Token | None = first
        while token is not None and token.text not in ("=", "\n"):
            if token.kind in ("bare", "string"):
                path = (*path, _plain(token))
                around = sum(isinstance(step, str) for step in path) - 1
                self._deep(around, first.line)
                self.lines.setdefault(path, first.line)
            token = next(self._tokens, None)
        self._more(first.line)
        if token is None or token.text == "\n":
            return
        opened = ""  # The brackets around, the innermost last.
        dotted, in_key = 0, False
        for token in self._tokens:
            match token.text:
                case "[" | "{":
                    opened += token.text
                    in_key = token.text == "{"
                case "]" | "}":
                    opened = opened[:-1]
                case "." if in_key:  # A dot elsewhere belongs to a number or a time.
                    dotted += 1
                case "," | "=":
                    self._more(token.line)
                    dotted, in_key = 0, token.text == "," and opened.endswith("{")
                case "\n" if not opened:
                    return
            self._deep(around + len(opened) + dotted, token.line)
            if token.kind == "bare" and len(token.text) > _LONGEST:
                raise _Beyond(f"a value of more than {_LONGEST} characters without quotes", token.line)

    def _deep(self, depth: int, line: int) -> None:
        if depth > MAX_DEPTH:
            raise _Beyond(f"values are nested deeper than {MAX_DEPTH} levels", line)

    def _more(self, line: int) -> None:
        self._count += 1
        if self._count > self._most:
            raise _Beyond(f"the file has more than {self._most} keys and values", line)


def _tokens(text: str) -> Iterator[_Token]:
    """Yield the words, strings, signs and line ends of a text."""
    line = 1
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup or ""
        if kind != "none":
            yield _Token(kind, found[0], line)
        if kind != "bare":
            line += found[0].count("\n")


def _plain(token: _Token) -> str:
    """Return a key without quotes and with its escapes decoded."""
    import tomllib

    if token.kind == "bare":
        return token.text
    if "\\" not in token.text or token.text.startswith("'"):
        return token.text[1:-1]
    try:
        return next(iter(tomllib.loads(f"{token.text} = 0")), "")
    except ValueError:
        return ""


def _numbers(values: object, path: Path = ()) -> Iterator[tuple[Path, int]]:
    """Yield every integer and its path; the guard has already limited the depth."""
    if isinstance(values, Mapping):
        for key, value in values.items():
            yield from _numbers(value, (*path, key))
    elif isinstance(values, list):
        for index, value in enumerate(values):
            yield from _numbers(value, (*path, index))
    elif isinstance(values, int):
        yield path, values
