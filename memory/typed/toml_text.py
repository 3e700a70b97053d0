"""Reading TOML with errors that name file and line; `tomllib` alone knows lines only of what does not parse."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from memory.errors import ConfigError

_PLACE = re.compile(r" \(at line (\d+), column \d+\)| \(at end of document\)")
_MOST_LINES = 2000
"""Files longer than this are not searched for the line of a value: each line is read with all before it."""


def read_toml(data: bytes, file: str) -> dict[str, Any]:
    """Return what a file says; ConfigError `typed.toml` with `file` and `line` for what is no TOML."""
    import tomllib

    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise config_error("typed.toml", "this is no UTF-8 text", file, line) from None
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.rstrip("\n").count("\n") + 1
        words = _PLACE.sub("", str(error))
        raise config_error("typed.toml", words[:1].lower() + words[1:], file, line) from None
    except RecursionError:
        raise config_error("typed.toml", "values are nested too deeply", file, 1) from None


def config_error(code: str, message: str, file: str, line: int, hint: str = "") -> ConfigError:
    """Return an error about a line (from 1) of a file."""
    return ConfigError(code, f"{file}:{line}: {message}", hint or "mend that line", file=file, line=line)


def line_of(data: bytes, *path: str | int) -> int:
    """Return the line (from 1) on which the statement of a value begins; 1 where it cannot be told.

    `path` are keys and indexes from the top. A value is set by the first line with which the file, cut off behind
    it, is valid TOML that has the value; its statement begins behind the last such cut.
    """
    import tomllib

    lines = data.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    begin = 0
    for count in range(1, min(len(lines), _MOST_LINES) + 1):
        try:
            found = tomllib.loads("\n".join(lines[:count]) + "\n")
        except (tomllib.TOMLDecodeError, RecursionError):
            continue
        if has(found, path):
            return begin + 1
        begin = count
    return 1


def has(values: Any, path: Sequence[str | int]) -> bool:
    """Tell whether there is a value under keys and indexes."""
    for step in path:
        if isinstance(step, int):
            if not isinstance(values, list) or step >= len(values):
                return False
        elif not isinstance(values, Mapping) or step not in values:
            return False
        values = values[step]
    return True
