"""Read agents' files for people and for search: previews, records, noted failures, and problems with file and line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from memory.base.problems import Problem, copy_problem
from memory.base.secrets import secret_lines
from memory.document import parse
from memory.document.lines import decode, encode
from memory.errors import ConfigError, MemdeckError, RefusedError
from memory.search.records import Record
from memory.storage import safe_open as beneath

from .aidefile import LOCK, NAME
from .failures import FILE, FailureLog, read_failures
from .files import MARKDOWN, AgentLook, MemoryFile
from .registry import REGISTRY, read_registry

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
        return "(this file is not text)"
    return text if file.size <= _PREVIEW else f"{text}\n…"


def records_of(look: AgentLook, shown: str, passed: Callable[[str, str], object]) -> Iterator[Record]:
    """Yield what search can find in an agent's files: each `##` block, and what is none; `shown` begins their paths.

    `passed` is called with the path of each file that is left out, and the reason: too large, or unreadable.
    """
    for file in look.files:
        path = shown + file.path
        text = read_text(look.agent.folder, file.path) if file.size <= SEARCHED else None
        if text is None:
            large = f"it is larger than {SEARCHED // 1_000_000} MB"
            passed(path, large if file.size > SEARCHED else "it cannot be read")
            continue
        date = file.changed.date().isoformat()
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


def failures_of(look: AgentLook) -> FailureLog:
    """Return what an agent's failure log holds, oldest first; nothing where it cannot be read."""
    path = "" if look.aidefile is None else f"{look.aidefile.procedural.real}/{FILE}"
    data = b""
    with suppress(MemdeckError):
        data = beneath.read(path, look.agent.folder).data if path else b""
    return read_failures(data, agent=look.agent.name, file=path)


# -- problems --------------------------------------------------------------------------------------------------------


def registry_problems(home: Path | None, *, parsing: bool = False) -> tuple[Problem, ...]:
    """Return the problems of the registry: errors of its text, and, unless only `parsing`, missing folders."""
    shown = f"~/{REGISTRY}"
    try:
        agents = read_registry(home)
    except MemdeckError as error:
        return (_problem(error, shown),)
    return tuple(
        Problem("warning", shown, 0, "typed.no_folder", f"the folder of {agent.name} does not exist: {agent.folder}")
        for agent in agents
        if not parsing and not agent.folder.is_dir()
    )


def agent_problems(look: AgentLook, shown: str) -> Iterator[Problem]:
    """Yield the problems of one agent; `shown` is the prefix of the paths of its files."""
    if look.error is not None:
        yield _problem(look.error, shown + NAME)
        return
    assert look.aidefile is not None
    for problem in look.aidefile.problems:
        yield Problem(problem.level, shown + NAME, problem.line, problem.code, problem.message)
    for path in look.missing:
        yield Problem("warning", shown + NAME, 0, "typed.no_core_file", f"the core file {path} does not exist")
    for left in look.failed:
        yield Problem("warning", shown + left.path, 0, "typed.unreadable", left.reason)
    for holder in look.locks:
        if holder.dead:
            words = f"the lock is stale: {holder.text()}; `memdeck typed unlock` removes it"
            yield Problem("warning", shown + holder.path + LOCK, 0, "typed.stale_lock", words)
    yield from (copy_problem(shown + path, original) for path, original in look.copies)
    for file in look.files:
        text = read_text(look.agent.folder, file.path) if file.size <= SEARCHED else None
        if text is None or "\0" in text:
            continue
        for line, kind in secret_lines(text):
            words = f"this looks like a secret: {kind}"
            yield Problem("warning", shown + file.path, line + 1, "typed.secret", words)
        if file.path.casefold().endswith(MARKDOWN) and parse(encode(text)).open_end:
            words = "a code fence or HTML block is never closed: it swallows what is added at the end"
            yield Problem("warning", shown + file.path, 0, "document.unclosed", words)
    log = f"{shown}{look.aidefile.procedural.real}/{FILE}"
    for line, title in failures_of(look).unread:
        words = "is not read: a note of a failed run is a block with a line `- **Why it failed**: …`"
        yield Problem("warning", log, line + 1, "line.unread", f"{title[:60]!r} {words}")


def _problem(error: MemdeckError, file: str) -> Problem:
    line = error.details.get("line", 0) if isinstance(error, ConfigError) else 0
    # The message names file and line; the problem does so itself.
    message = error.message.partition(": ")[2] if isinstance(error, ConfigError) else error.message
    return Problem("error", file, line, error.code, message or error.message)


def shown_folder(folder: Path, root: Path) -> str:
    """Return the prefix of an agent's paths as seen from a workspace, empty for the workspace itself."""
    path = os.path.relpath(folder, os.path.realpath(root))
    return "" if path == "." else f"{path}/"
