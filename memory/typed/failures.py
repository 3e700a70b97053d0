"""The failure log of an agent: write, read, count and group notes about failed runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from memory.base.clock import read_utc
from memory.base.words import overlap
from memory.document import Section, parse
from memory.document.lines import blank_end, ended, newline_of

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
