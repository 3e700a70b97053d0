"""The JSON of the project state's files: read strictly, each fault with its file and line; written in one form.

The canonical form, in which objects are written and hashed, has its keys sorted, two spaces, UTF-8 unescaped.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from memory.document.model import BOM
from memory.errors import ConfigError


def load(data: bytes, file: str, code: str) -> Any:
    """Return the JSON of some bytes; ConfigError `code` with file and line.

    A byte order mark in front, which some editors write, says nothing.
    """
    try:
        return json.loads(data.removeprefix(BOM).decode("utf-8"), parse_constant=no_constant)
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


def line_of(data: bytes, key: str) -> int:
    """Return the line (from 1) where a key is first written, 1 where it is not found."""
    place = data.find(f'"{key}"'.encode())
    return data.count(b"\n", 0, place) + 1 if place >= 0 else 1


# -- writing ----------------------------------------------------------------------------------------------------


def canonical(value: Any) -> str:
    """Return the canonical form of JSON-able data, without a newline at the end."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)


def canonical_bytes(value: Any) -> bytes:
    """Return the content of a file: the canonical form and one newline."""
    return (canonical(value) + "\n").encode("utf-8", "surrogatepass")


def ordered_bytes(value: Any) -> bytes:
    """Return the same with the keys in their present order, as in config.json."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def line_bytes(value: Any) -> bytes:
    """Return one line of events.jsonl, its newline included."""
    return (json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "surrogatepass")


def digest(value: Any) -> str:
    """Return the SHA-256 (hex) of the canonical form without the final newline."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()
