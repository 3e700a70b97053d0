"""Reading TOML behind a guard: bounded in size, keys and depth, with the line of every statement.

`tomllib` alone costs the square of a dotted key's length, ends with errors of Python itself for large numbers and deep
lists, and reports lines only for syntax errors. So long keys never reach the parser; what it accepts is measured; and
the lines are found when one is asked for, by reading statement after statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from memory.errors import ConfigError

from .values import MAX_BYTES, MAX_DEPTH

MAX_KEYS = 512
"""Keys and elements of lists in one file."""

_MOST_TRIES = 50
"""Lines of a value after which its end is looked for at fewer of them: each time with a fiftieth more."""
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_PLACE = re.compile(r" \(at line (\d+), column \d+\)| \(at end of document\)")
_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){64}""")
_BEYOND = re.compile(r"(?:[\[{][^\[{\n]{0,20}){64}|[0-9]{4300}")
"""Where the parser gives up, as far as a look at the text can tell."""

Path = tuple[str | int, ...]
"""The place of a value: keys and indexes from the top."""


class Toml:
    """The values of a file and their lines."""

    def __init__(self, values: Mapping[str, Any], text: str) -> None:
        """Keep both; `text` is what the values were read from."""
        self.values = values
        self._text = text

    def line_of(self, *path: str | int) -> int:
        """Return the first line (from 1) of the statement that sets a value, or the table around it.

        1 where no part of the path is set.
        """
        return next((self._lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in self._lines), 1)

    @cached_property
    def _lines(self) -> dict[Path, int]:
        """The line of each path: a line, or some lines together, is a statement as soon as the parser accepts it."""
        import tomllib

        lines: dict[Path, int] = {}
        table: Path = ()
        lists: dict[Path, int] = {}
        statement, begin, again = "", 1, 0
        for number, line in enumerate(self._text.split("\n"), 1):
            begin = begin if statement else number
            statement += f"{line}\n"
            if number < again:
                continue
            try:
                found = tomllib.loads(statement)
            except tomllib.TOMLDecodeError:
                again = number + 1 + (number - begin) // _MOST_TRIES
                continue
            if statement.lstrip().startswith("["):
                table = _table_of(found, lists)
                found = {}
            tables = (table[:end] for end in range(1, len(table) + 1))
            for path in (*tables, *(table + one for one, _ in _values(found))):
                lines.setdefault(path, begin)
            statement = ""
        return lines


def _table_of(header: dict[str, Any], lists: dict[Path, int]) -> Path:
    """Return the path of the table that a header such as `[a.b]` or `[[a.b]]` begins; `lists` counts those of each
    list of tables.
    """
    path: Path = ()
    inner: Any = header
    while inner:
        ((key, inner),) = inner.items()
        path = (*path, key)
        if isinstance(inner, list):
            lists[path] = lists.get(path, -1) + 1
            inner = inner[0]
        if path in lists:
            path = (*path, lists[path])
    return path


def _values(value: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """Yield each value inside another one, with its path."""
    inner: Any = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*path, key), one
        yield from _values(one, (*path, key))


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
        raise config_error(code, "this is not UTF-8 text", file, line) from None
    text = text.removeprefix("\ufeff")
    long_key = _LONG_KEY.search(text)
    if long_key is not None:
        line = text.count("\n", 0, long_key.start()) + 1
        raise config_error(code, f"values are nested deeper than {MAX_DEPTH} levels", file, line)
    try:
        toml = Toml(tomllib.loads(text), text)
        values = list(_values(toml.values))
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.rstrip("\n").count("\n") + 1
        words = _PLACE.sub("", str(error))[:200]
        raise config_error(code, words[:1].lower() + words[1:], file, line) from None
    except (ValueError, RecursionError, OverflowError, MemoryError):
        beyond = _BEYOND.search(text)
        line = text.count("\n", 0, beyond.start()) + 1 if beyond else 1
        raise config_error(code, "a number or value in it cannot be read", file, line) from None
    if len(values) > times * MAX_KEYS:
        raise config_error(code, f"the file has more than {times * MAX_KEYS} keys and values", file, 1)
    for path, _ in values:
        if len(path) > MAX_DEPTH + 1:
            raise config_error(code, f"values are nested deeper than {MAX_DEPTH} levels", file, toml.line_of(*path))
    for path, one in values:
        if isinstance(one, int) and not _LEAST <= one <= _MOST:
            raise config_error(code, "a number is larger than 64 bits", file, toml.line_of(*path))
    return toml


def config_error(code: str, message: str, file: str, line: int, hint: str = "") -> ConfigError:
    """Return an error about a line (from 1) of a file."""
    return ConfigError(code, f"{file}:{line}: {message}", hint or "fix that line", file=file, line=line)
