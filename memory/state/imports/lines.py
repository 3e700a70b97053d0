"""Reads the records of a JSONL file one at a time and with bounds, whatever its lines hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

MOST_LINE = 32 << 20
"""How many bytes one line may have; a longer one counts as bad and is skipped."""

_CHUNK = 1 << 20


class SessionLine(NamedTuple):
    """One line: its number from 1, its record (None for a bad line), and whether its line end is missing."""

    number: int
    record: dict[str, Any] | None
    unfinished: bool = False


def read_lines(file: BinaryIO, most: int) -> Iterator[SessionLine]:
    """Yield the lines of a file up to `most` bytes, without blank ones; only `\\n` ends a line."""
    number = 0
    while most > 0:
        raw = file.readline(min(MOST_LINE, most) + 1)
        if not raw:
            return
        number += 1
        most -= len(raw)
        if len(raw) > MOST_LINE and not raw.endswith(b"\n"):
            most -= _pass_over(file, most)
            yield SessionLine(number, None)
        elif raw.strip(b"\xef\xbb\xbf \t\r\n"):
            yield SessionLine(number, _record(raw), not raw.endswith(b"\n"))


def _pass_over(file: BinaryIO, most: int) -> int:
    """Skip to the end of a line; return the number of bytes skipped."""
    passed = 0
    while passed < most:
        raw = file.readline(_CHUNK)
        passed += len(raw)
        if not raw or raw.endswith(b"\n"):
            break
    return passed


def _record(raw: bytes) -> dict[str, Any] | None:
    """Read one object; None for anything else, or for one that is nested too deeply or too large."""
    try:
        record = json.loads(raw.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
