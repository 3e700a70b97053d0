"""Read agents' files for people and for search: previews, records, and noted failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memory.document import parse
from memory.document.lines import decode
from memory.errors import MemdeckError, RefusedError
from memory.storage import safe_open as beneath

from .failures import FILE, Failure, read_failures, unread_blocks
from .files import MemoryFile
from .status import AgentLook

SEARCHED = 4_000_000
"""The largest file, in bytes, that is searched and checked."""
_PREVIEW = 16_000


@dataclass(frozen=True, slots=True)
class TypedEntry:
    """One part of an agent's file that search can find: a `##` block, or a whole file. `line` counts from 0."""

    agent: str
    path: str
    title: str
    text: str
    line: int
    date: str
    ref: str | None = None


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


def entries_of(look: AgentLook, shown: str, passed: Callable[[str, str], object]) -> Iterator[TypedEntry]:
    """Yield what search can find in an agent's files; `shown` is the prefix of their paths.

    `passed` is called with the path of each file that is left out, and the reason: too large, or unreadable.
    """
    for file in look.found.files:
        path = shown + file.path
        if file.size > SEARCHED:
            passed(path, f"it is larger than {SEARCHED // 1_000_000} MB")
            continue
        text = read_text(look.agent.folder, file.path)
        if text is None:
            passed(path, "it cannot be read")
            continue
        if "\0" in text:
            continue
        date = datetime.fromtimestamp(file.mtime_ns // 1_000_000_000, UTC).date().isoformat()
        yield from _pieces(look.agent.name, path, file.name, text, date)


def _pieces(agent: str, path: str, name: str, text: str, date: str) -> Iterator[TypedEntry]:
    if not name.endswith(".md"):
        yield TypedEntry(agent, path, name, text, 0, date)
        return
    document = parse(text.encode("utf-8", "surrogateescape"))
    head = decode(document.head.raw)
    if head.strip() or not document.sections:
        yield TypedEntry(agent, path, name, document.front + head, 0, date)
    for index, section in enumerate(document.sections):
        yield TypedEntry(agent, path, section.title or name, decode(section.raw), document.line_of(index), date)


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
