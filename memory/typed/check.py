"""Problems of agents and their files, with file and line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from memory.base.problems import Problem
from memory.base.secrets import secret_lines
from memory.base.sync_copies import copy_problem
from memory.errors import ConfigError, MemdeckError

from .aidefile import NAME
from .failures import FILE
from .files import LOCK
from .reading import SEARCHED, no_failures, read_text
from .registry import REGISTRY, read_registry
from .status import AgentLook


def registry_problems(home: Path | None, *, parsing: bool = False) -> tuple[Problem, ...]:
    """Return the problems of the registry: errors of its text, and, unless only `parsing`, missing folders."""
    shown = f"~/{REGISTRY}"
    try:
        agents = read_registry(home)
    except MemdeckError as error:
        return (_problem(error, shown),)
    return tuple(
        Problem("warning", shown, 0, "typed.no_folder", f"the folder of {agent.name} is not there: {agent.folder}")
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
    for path in look.found.missing:
        yield Problem("warning", shown + NAME, 0, "typed.no_core_file", f"the core file {path} is not there")
    for left in look.found.failed:
        yield Problem("warning", shown + left.path, 0, "typed.unreadable", left.reason)
    for holder in look.locks:
        if holder.dead:
            words = f"the lock is stale: {holder.text()}; `memdeck typed unlock` takes it away"
            yield Problem("warning", shown + holder.path + LOCK, 0, "typed.stale_lock", words)
    yield from (copy_problem(shown + path, original) for path, original in look.found.copies)
    for file in look.found.files:
        text = read_text(look.agent.folder, file.path) if file.size <= SEARCHED else None
        for line, kind in () if text is None or "\0" in text else secret_lines(text):
            words = f"this looks like a secret: {kind}"
            yield Problem("warning", shown + file.path, line + 1, "typed.secret", words)
    for line, title in no_failures(look):
        words = (
            f"{title[:60]!r} is read by nothing: a note of a failed run is a block with a line `- **Why it failed**: …`"
        )
        yield Problem("warning", f"{shown}{look.aidefile.procedural_real}/{FILE}", line + 1, "line.unread", words)


def _problem(error: MemdeckError, file: str) -> Problem:
    line = error.details.get("line", 0) if isinstance(error, ConfigError) else 0
    # The message names file and line; the problem does so itself.
    message = error.message.partition(": ")[2] if isinstance(error, ConfigError) else error.message
    return Problem("error", file, line, error.code, message or error.message)


def shown_folder(folder: Path, root: Path) -> str:
    """Return the prefix of an agent's paths as seen from a workspace, empty for the workspace itself."""
    path = os.path.relpath(folder, os.path.realpath(root))
    return "" if path == "." else f"{path}/"
