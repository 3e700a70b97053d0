"""Read agents' files for people and for search: previews, records, and noted failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from memory.document import parse
from memory.document.lines import decode, encode
from memory.errors import MemdeckError, RefusedError
from memory.search.records import Record
from memory.storage import safe_open as beneath

from .failures import FILE, Failure, read_failures, unread_blocks
from .files import MemoryFile
from .status import AgentLook

KIND = "typed"
"""The kind of the records."""
SEARCHED = 4_000_000
"""The largest file, in bytes, that is searched and checked."""
_PREVIEW = 16_000


class TypedBlock(NamedTuple):
    """The item behind a record: whose file it is in, and its line, from 0."""

    agent: str
    line: int


def read_text(folder: Path, path: str, limit: int = SEARCHED) -> str | None:
    """Return at most `limit` bytes of an agent's file as text; None for a link, a pipe and what cannot be read."""
    try:
        return decode(beneath.read_start(folder / path, limit, follow=False))
    except (OSError, RefusedError):
        return None


def preview(folder: Path, file: MemoryFile) -> str:
    """Return the beginning of a file for display; for a file that is no text, a sentence that says so."""
    text = read_text(folder, file.path, _PREVIEW)
    if text is None:
        return "(this file cannot be read)"
    if "\0" in text:
        return "(this file is no text)"
    return text if file.size <= _PREVIEW else f"{text}\n…"


def records_of(look: AgentLook, shown: str, passed: Callable[[str, str], object]) -> Iterator[Record]:
    """Yield what search can find in an agent's files: each `##` block, and what is none; `shown` begins their paths.

    `passed` is called with the path of each file that is left out, and the reason: too large, or unreadable.
    """
    for file in look.found.files:
        path = shown + file.path
        text = read_text(look.agent.folder, file.path) if file.size <= SEARCHED else None
        if text is None:
            large = f"it is larger than {SEARCHED // 1_000_000} MB"
            passed(path, large if file.size > SEARCHED else "it cannot be read")
            continue
        date = datetime.fromtimestamp(file.mtime_ns // 1_000_000_000, UTC).date().isoformat()
        for title, block, line in () if "\0" in text else _blocks(file.name, text):
            yield Record(KIND, path, title, block, TypedBlock(look.agent.name, line), date)


def _blocks(name: str, text: str) -> Iterator[tuple[str, str, int]]:
    """Yield title, text and line of what is above the blocks of a file called `name`, then of each block."""
    if not name.endswith(".md"):
        yield name, text, 0
        return
    document = parse(encode(text))
    head = decode(document.head.raw)
    if head.strip() or not document.sections:
        yield name, document.front + head, 0
    for index, section in enumerate(document.sections):
        yield section.title or name, decode(section.raw), document.line_of(index)


def failures_of(look: AgentLook) -> tuple[Failure, ...]:
    """Return the failures in an agent's log, in its order, which is oldest first."""
    path, data = _log(look)
    return read_failures(data, agent=look.agent.name, file=path)


def no_failures(look: AgentLook) -> tuple[tuple[int, str], ...]:
    """Return the blocks of an agent's failure log that are no notes: the line (from 0) of each, and its title."""
    return unread_blocks(_log(look)[1])


def _log(look: AgentLook) -> tuple[str, bytes]:
    """Return the path and the bytes of an agent's failure log; no bytes where it cannot be read."""
    path = "" if look.aidefile is None else f"{look.aidefile.procedural_real}/{FILE}"
    try:
        return path, beneath.read(path, look.agent.folder).data if path else b""
    except MemdeckError:
        return path, b""
