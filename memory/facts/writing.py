"""The bytes of facts: new lines, and a file without some of its lines."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from memory.document.compare import lines_of


class NewFact(NamedTuple):
    """A fact without an id yet; without `ts` it gets the time at which it is written."""

    text: str
    tags: tuple[str, ...]
    scope: str
    ts: str = ""


def encode_line(fact_id: str, line: NewFact, now: datetime) -> bytes:
    """Return one line of the file: compact JSON in the order id, scope, text, tags, ts, and a newline."""
    import json

    values = {
        "id": fact_id,
        "scope": line.scope,
        "text": line.text,
        "tags": list(line.tags),
        "ts": line.ts or now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def encode_lines(lines: Sequence[NewFact], highest: int, now: datetime) -> tuple[tuple[str, ...], bytes, int]:
    """Return the ids, the bytes, and the highest number of lines that follow a number."""
    ids = tuple(f"m-{highest + place}" for place in range(1, len(lines) + 1))
    data = b"".join(encode_line(fact_id, line, now) for fact_id, line in zip(ids, lines, strict=True))
    return ids, data, highest + len(lines)


def without(data: bytes, lines: Collection[int], added: bytes = b"") -> bytes:
    """Return a file without some lines (from 0) and with others added; a torn last line becomes one of its own."""
    kept = b"".join(line for number, line in enumerate(lines_of(data)) if number not in lines)
    mend = b"\n" if kept and added and not kept.endswith(b"\n") else b""
    return kept + mend + added
