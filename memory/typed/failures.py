"""The failure log of an agent: write, read, count and group notes about failed runs, and propose a lesson."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from memory.base.clock import read_utc
from memory.document import Section, parse
from memory.document.lines import blank_end, ends_line, newline_of

from .merging import close_end

STATUSES = ("partial", "timeout")
"""The final statuses of a run that are noted as failures."""
FILE = "failures.md"
SNIPPET = 200
"""How many characters of the task a note keeps."""
_LINE_ENDS = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_WORD = re.compile(r"[^\W_]{2,}")
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

    @property
    def title(self) -> str:
        """The line shown in lists and search results."""
        return f"{self.reason}: {self.snippet}"

    def json(self) -> dict[str, Any]:
        """Return the note for programs; `line` counts from 1."""
        return {
            "agent": self.agent,
            "time": self.at,
            "week": self.week,
            "issue": self.issue,
            "task": self.snippet,
            "tokens": self.tokens,
            "reason": self.reason,
            "file": self.file,
            "line": self.line + 1,
        }


def note_of(status: str, task: str, tokens: int, issue: str, now: datetime) -> str:
    """Return the block that records a failed run; its heading is `now` in UTC, in whole seconds."""
    at = now.astimezone(UTC).replace(microsecond=0).isoformat()
    issue = _LINE_ENDS.sub(" ", issue).strip() or "local"
    snippet = _LINE_ENDS.sub(" ", task)[:SNIPPET]
    return (
        f"## {at}\n- **Issue**: {issue}\n- **Task snippet**: {snippet}\n"
        f"- **Tokens**: {tokens}\n- **Why it failed**: {status}\n"
    )


def with_note(existing: bytes, note: str) -> bytes:
    """Return a failure log with one more note at its end; the existing content stays as it is.

    A code fence or HTML block left open would swallow the note, so it is closed first.
    """
    newline = newline_of(existing)
    newline = "\r\n" if newline == "\r\n" else "\n"
    text = note.replace("\n", newline).encode("utf-8", "surrogateescape")
    data = close_end(existing, newline)
    if not data:
        return text
    if not ends_line(data):
        data += newline.encode()
    return data + (b"" if blank_end(data) else newline.encode()) + text


def read_failures(data: bytes, *, agent: str = "", file: str = FILE) -> tuple[Failure, ...]:
    """Return the notes of a failure log in file order; sections that are not notes are left out."""
    document = parse(data)
    sections = enumerate(document.sections)
    found = (_failure(section, agent, file, document.line_of(index)) for index, section in sections)
    return tuple(failure for failure in found if failure is not None)


def _failure(section: Section, agent: str, file: str, line: int) -> Failure | None:
    fields = {key.replace("*", "").strip().casefold(): value for key, value in _pairs(section.body)}
    if section.level != 2 or "why it failed" not in fields:
        return None
    tokens = fields.get("tokens", "").replace(",", "").replace("_", "").strip()
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


def _pairs(body: str) -> Iterable[tuple[str, str]]:
    for line in body.split("\n"):
        found = re.match(r"\s*[-*+]\s+\*\*(.+?)\*\*\s*:(.*)|\s*[-*+]\s+([^:*]+?)\s*:(.*)", line.rstrip("\r"))
        if found:
            yield found[1] or found[3], (found[2] if found[1] else found[4]).strip()


# -- looking at many --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Failures with similar tasks, newest first; `words` are those that most of the tasks share."""

    failures: tuple[Failure, ...]
    words: tuple[str, ...]

    @property
    def reasons(self) -> dict[str, int]:
        """The number of failures by reason, the most frequent first."""
        return dict(Counter(one.reason for one in self.failures).most_common())

    def json(self) -> dict[str, Any]:
        """Return the group for programs."""
        newest = self.failures[0]
        return {
            "count": len(self.failures),
            "task": newest.snippet,
            "words": list(self.words),
            "reasons": self.reasons,
            "issues": sorted({one.issue for one in self.failures}),
            "tokens": sum(one.tokens or 0 for one in self.failures),
            "first": self.failures[-1].at,
            "last": newest.at,
        }


@dataclass(frozen=True, slots=True)
class Summary:
    """Failures counted by reason, by issue and by week, and groups of similar ones, the largest first."""

    failures: tuple[Failure, ...]
    by_reason: dict[str, int]
    by_issue: dict[str, int]
    by_week: dict[str, int]
    groups: tuple[FailureGroup, ...]

    def json(self) -> dict[str, Any]:
        """Return the summary for programs."""
        return {
            "total": len(self.failures),
            "tokens": sum(one.tokens or 0 for one in self.failures),
            "by_reason": self.by_reason,
            "by_issue": self.by_issue,
            "by_week": self.by_week,
            "groups": [group.json() for group in self.groups],
        }


def summarise(failures: Iterable[Failure]) -> Summary:
    """Count failures and group similar ones; weeks are in order of time, all else is by frequency."""
    found = tuple(sorted(failures, key=_when, reverse=True))
    weeks = Counter(one.week for one in found)
    return Summary(
        found,
        dict(Counter(one.reason for one in found).most_common()),
        dict(Counter(one.issue for one in found).most_common()),
        {week: weeks[week] for week in sorted(weeks)},
        grouped(found),
    )


def _when(failure: Failure) -> tuple[bool, datetime]:
    return failure.time is not None, failure.time or datetime.min.replace(tzinfo=UTC)


def grouped(failures: Sequence[Failure]) -> tuple[FailureGroup, ...]:
    """Group failures whose tasks share at least half of their words with the first of a group.

    Each goes to the most similar group that shares a word with it. The largest groups come first; of equally large
    ones, the one with the newest failure.
    """
    groups: list[tuple[frozenset[str], list[Failure]]] = []
    for failure in failures:
        words = frozenset(_words(failure.snippet))
        scored = ((len(words & known) / len(words | known or "-"), -at) for at, (known, _) in enumerate(groups))
        best, at = max(scored, default=(0.0, 0))
        if best >= _SIMILAR:
            groups[-at][1].append(failure)
        else:
            groups.append((words, [failure]))
    made = [FailureGroup(tuple(members), _shared_words(members)) for _, members in groups]
    return tuple(sorted(made, key=lambda group: -len(group.failures)))


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _shared_words(members: Sequence[Failure]) -> tuple[str, ...]:
    """Return the words that more than half of the tasks have, in the order of the first task."""
    counts = Counter(word for one in members for word in set(_words(one.snippet)))
    usual = [word for word in dict.fromkeys(_words(members[0].snippet)) if counts[word] * 2 > len(members)]
    return tuple(usual[:12])


# -- a proposal -------------------------------------------------------------------------------------------------

LESSONS = "lessons.md"
"""The procedural file that a distillation proposes to write."""
LEAST = 2
"""How many similar failures make a lesson."""


def lesson_title(group: FailureGroup) -> str:
    """Return the heading of a lesson: words of the task, on one line."""
    text = " ".join(group.words) or group.failures[0].snippet or "failures without a task"
    return text[:80].strip().strip("#").strip()


def propose(summary: Summary, *, least: int = LEAST) -> str:
    """Return a procedural note about repeated failures, empty where there are none.

    One `##` block for each group: how often, why, when, at which cost, the newest tasks, and a line for a person to
    fill in. Merged with `section_replace`, a later proposal replaces the blocks about the same tasks.
    """
    parts = []
    titles: set[str] = set()
    for group in summary.groups:
        title = lesson_title(group)
        if len(group.failures) < least or title in titles:
            continue
        titles.add(title)
        reasons = ", ".join(f"{reason} {count}×" for reason, count in group.reasons.items())
        newest, oldest = group.failures[0], group.failures[-1]
        tasks = list(dict.fromkeys(one.snippet for one in group.failures))[:3]
        known = [one.tokens for one in group.failures if one.tokens is not None]
        cost = f"- **Tokens**: {sum(known)} in total, {max(known)} at most\n" if known else ""
        parts.append(
            f"## {title}\n- **Failed**: {len(group.failures)}× ({reasons})\n"
            + f"- **Between**: {oldest.at} and {newest.at}\n"
            + f"- **Issues**: {', '.join(sorted({one.issue for one in group.failures}))}\n"
            + cost
            + "".join(f"- **Task**: {task}\n" for task in tasks)
            + "- **Next time**: split the task, or give it more time; say here what helped\n"
        )
    return "\n".join(parts)
