"""The JSON of the project state's files: read strictly, each fault with its file and line."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from memory.errors import ConfigError

from .model import Json


def load(data: bytes, file: str, code: str, *, twice: bool = True) -> Any:
    """Return the JSON of some bytes; ConfigError `code` with file and line. `twice`: a key must not be there twice."""
    try:
        return json.loads(
            data.decode("utf-8"),
            parse_constant=no_constant,
            object_pairs_hook=_once if twice else None,
        )
    except RecursionError:
        why, line = "it is nested too deeply", 1
    except json.JSONDecodeError as error:
        why, line = error.msg, error.lineno
    except UnicodeDecodeError as error:
        why, line = "it is not UTF-8", data.count(b"\n", 0, error.start) + 1
    except ValueError as error:
        why, line = str(error), 1
    raise ConfigError(
        code, f"{file}:{line}: {why}", "`memdeck state validate` says what it means", file=file, line=line
    )


def no_constant(text: str) -> Any:
    """Refuse `NaN` and `Infinity`."""
    raise ValueError(f"{text} is no JSON")


def _once(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {twice[:60]!r} is there twice")
    return found


def line_of(data: bytes, key: str) -> int:
    """Return the line (from 1) of the first place where a key is written, 1 where it is nowhere."""
    place = data.find(f'"{key}"'.encode())
    return data.count(b"\n", 0, place) + 1 if place >= 0 else 1
