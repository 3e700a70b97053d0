"""What an agent's files say: notes on failed runs, blocks that a search finds, and problems with file and line."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from memory.base.clock import read_utc
from memory.base.problems import Problem, copy_problem
from memory.base.secrets import secret_lines
from memory.base.words import overlap
from memory.document import Section, parse
from memory.document.lines import blank_end, decode, encode, ended, newline_of
from memory.errors import ConfigError, MemdeckError, RefusedError
from memory.search.records import Record
from memory.storage import safe_open as beneath
from memory.typed.aidefile import LOCK, NAME
from memory.typed.pruning import MARKDOWN, AgentLook, MemoryFile
from memory.typed.registry import REGISTRY, read_registry

STATUSES = ("partial", "timeout")
"""The final statuses of a run that are noted as failures."""
FILE = "failures.md"
SNIPPET = 200
"""How many characters of the task a note keeps."""
_SIMILAR = 0.5


@dataclass(frozen=True, slots=True)
class Failure:
    """One note; `at` is the time as written, `time` the same as aware UTC, None where it cannot be read.

    `tokens` is None where the note has no number. `line` counts from 0.
    """

    agent: str
    file: str
    line: int
    at: str
    time: datetime | None
    issue: str
    snippet: str
    tokens: int | None
    reason: str

    @property
    def week(self) -> str:
        """The ISO week, such as `2026-W16`, or `unknown`."""
        if self.time is None:
            return "unknown"
        year, week, _ = self.time.isocalendar()
        return f"{year:04}-W{week:02}"

    def json(self) -> dict[str, Any]:
        """Return the note for programs; `line` counts from 1."""
        about = {"issue": self.issue, "task": self.snippet, "tokens": self.tokens, "reason": self.reason}
        place = {"file": self.file, "line": self.line + 1}
        return {"agent": self.agent, "time": self.at, "week": self.week, **about, **place}


def note_of(status: str, task: str, tokens: int, issue: str, now: datetime) -> str:
    """Return the block that records a failed run; its heading is `now` in UTC, in whole seconds."""
    at = now.astimezone(UTC).replace(microsecond=0).isoformat()
    issue = " ".join(issue.splitlines()).strip() or "local"
    snippet = " ".join(task.splitlines())[:SNIPPET]
    return (
        f"## {at}\n- **Issue**: {issue}\n- **Task snippet**: {snippet}\n"
        f"- **Tokens**: {tokens}\n- **Why it failed**: {status}\n"
    )


def with_note(existing: bytes, note: str) -> bytes:
    """Return a failure log with one more note at its end; the existing content stays as it is.

    Behind a code fence or HTML block that was left open, the note is read once that is closed; `check` says so.
    """
    newline = "\r\n" if newline_of(existing) == "\r\n" else "\n"
    text = note.replace("\n", newline).encode("utf-8", "surrogateescape")
    if not existing:
        return text
    data = ended(existing, newline)
    return data + (b"" if blank_end(data) else newline.encode()) + text


class FailureLog(NamedTuple):
    """What a failure log holds: the notes in file order, and the line (from 0) and title of each block that is none."""

    notes: tuple[Failure, ...]
    unread: tuple[tuple[int, str], ...]


def read_failures(data: bytes, *, agent: str = "", file: str = FILE) -> FailureLog:
    """Return what a failure log holds; a note is a `##` block that says why a run failed."""
    document = parse(data)
    notes: list[Failure] = []
    unread: list[tuple[int, str]] = []
    for index, section in enumerate(document.sections):
        line = document.line_of(index)
        found = _failure(section, agent, file, line) if section.level == 2 else None
        if found is not None:
            notes.append(found)
        elif section.level == 2:
            unread.append((line, section.title))
    return FailureLog(tuple(notes), tuple(unread))


def _failure(section: Section, agent: str, file: str, line: int) -> Failure | None:
    fields = {}
    for bullet in section.bullets:
        key, _, value = bullet.text.partition(":")
        fields[key.strip("* ").casefold()] = value.removeprefix("**").strip()
    if "why it failed" not in fields:
        return None
    tokens = fields.get("tokens", "").replace(",", "").replace("_", "")
    return Failure(
        agent=agent,
        file=file,
        line=line,
        at=section.title,
        time=read_utc(section.title),
        issue=fields.get("issue", "local"),
        snippet=fields.get("task snippet", ""),
        tokens=int(tokens) if tokens.isascii() and tokens.isdigit() and len(tokens) < 19 else None,
        reason=fields["why it failed"] or "unknown",
    )


# -- looking at many --------------------------------------------------------------------------------------------


def summarise(failures: Iterable[Failure]) -> dict[str, Any]:
    """Return failures, the newest first, with counts by reason, issue and week, and groups of similar ones.

    Weeks are in order of time, all else is by frequency.
    """
    nothing = datetime.min.replace(tzinfo=UTC)
    found = sorted(failures, key=lambda one: one.time or nothing, reverse=True)
    return {
        "total": len(found),
        "tokens": sum(one.tokens or 0 for one in found),
        "by_reason": _counted(one.reason for one in found),
        "by_issue": _counted(one.issue for one in found),
        "by_week": dict(sorted(Counter(one.week for one in found).items())),
        "groups": [_group_json(group) for group in grouped(found)],
        "failures": [one.json() for one in found],
    }


def grouped(failures: Sequence[Failure]) -> list[list[Failure]]:
    """Group failures whose tasks share at least half of their words with the first of a group.

    Each goes to the most similar group that shares a word with it. The largest groups come first; of equally large
    ones, the one with the newest failure.
    """
    groups: list[list[Failure]] = []
    for failure in failures:
        scored = ((overlap(failure.snippet, group[0].snippet), -at) for at, group in enumerate(groups))
        best, at = max(scored, default=(0.0, 0))
        if best >= _SIMILAR:
            groups[-at].append(failure)
        else:
            groups.append([failure])
    return sorted(groups, key=len, reverse=True)


def _group_json(group: Sequence[Failure]) -> dict[str, Any]:
    return {
        "count": len(group),
        "task": group[0].snippet,
        "reasons": _counted(one.reason for one in group),
        "issues": sorted({one.issue for one in group}),
        "tokens": sum(one.tokens or 0 for one in group),
        "first": group[-1].at,
        "last": group[0].at,
    }


def _counted(names: Iterable[str]) -> dict[str, int]:
    """Return how often each name occurs, the most frequent first."""
    return dict(Counter(names).most_common())


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
