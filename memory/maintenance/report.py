"""The report of a real or planned maintenance run: for each rule the counts, the moves, and why entries stayed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from memory.base.clock import format_utc
from memory.base.safe_text import as_request, plural, visible

from .rules import ARCHIVE_TASKS, CAP_JOURNAL, CLEAR_PLANS, PRUNE_JOURNAL

SHOWN = 20
"""How many moves and skipped entries of a rule the rendered text lists."""


class Gone(NamedTuple):
    """An entry that a rule moves or removes; its ref stays the same in the archive.

    `to` says where it is afterwards: the path of an archive in the memory folder, or words such as `the change log`.
    `date` is the ISO date that the rule used: when it was completed, or the day of a journal entry.
    """

    ref: str | None
    title: str
    to: str
    date: str = ""


class Stays(NamedTuple):
    """An entry that a rule considered and kept, with the reason in words."""

    ref: str | None
    title: str
    reason: str


class RuleReport(NamedTuple):
    """One rule over one file: `before` = `kept` + `archived` + `cleared`; `skipped` is part of `kept`.

    `before` counts all entries of the file as the previous rule left them, also those that the rule does not consider.
    """

    rule: str
    file: str
    before: int
    kept: int
    archived: int
    cleared: int
    moves: Sequence[Gone] = ()
    skipped: Sequence[Stays] = ()
    what: tuple[str, str] | None = None
    """Noun and verb of a rule of another system than the memory files, such as `("fact", "cleared")`."""
    why: str = ""
    """The entries that the rule moves, in words: `completed more than 7 days ago`."""
    said: str = ""
    """The result of a rule that moves nothing: `claude: imported=2 skipped=40 failed=0`."""
    acts: bool = False
    """Whether the rule did, or would do, something besides moving entries, which `said` describes."""

    def json(self) -> dict[str, object]:
        """Return the rule's part of the report.

        It has `message` only where the rule reports something besides its counts.
        """
        return {
            **({"message": self.said} if self.said else {}),
            **{key: getattr(self, key) for key in ("rule", "file", "before", "kept", "archived", "cleared")},
            "skipped": _rows(self.skipped, "reason"),
            "moves": _rows(self.moves, "to"),
        }


def _rows(items: Iterable[Gone | Stays], last: str) -> list[dict[str, str | None]]:
    """Return the ref, the title and one more attribute of each item."""
    return [{"ref": one.ref, "title": one.title, last: getattr(one, last)} for one in items]


class Report(NamedTuple):
    """A whole run, done or (`dry_run`) only planned; it is balanced, because an unbalanced run raises an error.

    `now` is aware, `duration_ms` what the run took. `blocked` lists what waits for an approval, as in `trust list`.
    `monitors` is filled by the interface that checks monitors afterwards.
    """

    dry_run: bool
    now: datetime
    rules: tuple[RuleReport, ...]
    warnings: tuple[str, ...] = ()
    duration_ms: float = 0.0
    monitors: tuple[object, ...] = ()
    balanced: bool = True
    change: str | None = None
    blocked: tuple[Mapping[str, Any], ...] = ()
    held: bool = False
    """Whether it is only planned because the clock is behind the last run or change."""

    @classmethod
    def joined(cls, reports: Sequence[Report]) -> Report:
        """Return the reports of several systems, at least one, as one report; `change` is the last one's."""
        if len(reports) == 1:
            return reports[0]
        return cls(
            dry_run=any(report.dry_run for report in reports),
            now=reports[0].now,
            rules=tuple(rule for report in reports for rule in report.rules),
            warnings=tuple(warning for report in reports for warning in report.warnings),
            duration_ms=sum(report.duration_ms for report in reports),
            monitors=tuple(monitor for report in reports for monitor in report.monitors),
            balanced=all(report.balanced for report in reports),
            change=next((report.change for report in reversed(reports) if report.change), None),
            blocked=tuple(one for report in reports for one in report.blocked),
            held=any(report.held for report in reports),
        )

    @property
    def moved(self) -> int:
        """How many entries leave their files."""
        return sum(rule.archived + rule.cleared for rule in self.rules)

    @property
    def acted(self) -> tuple[RuleReport, ...]:
        """The rules that did, or would do, something besides moving entries."""
        return tuple(rule for rule in self.rules if rule.acts)

    def json(self) -> dict[str, object]:
        """Return the report for programs; `moves` and `skipped` are complete."""
        return {
            "dry_run": self.dry_run,
            "now": format_utc(self.now),
            "rules": [rule.json() for rule in self.rules],
            "monitors": list(self.monitors),
            "balanced": self.balanced,
            "warnings": list(self.warnings),
            "duration_ms": self.duration_ms,
        }


def render(report: Report, limit: int | None = SHOWN) -> list[str]:
    """Return the report as lines for the user, safe for a screen; at most `limit` moves and skips of each rule."""
    lines = [f"warning: {visible(warning)}" for warning in report.warnings]
    for rule in report.rules:
        if rule.said:
            lines.append(visible(f"{_called(rule)}: {rule.said}"))
            continue
        lines.append(_head(rule, report.dry_run))
        moves = [f"    {move.date:<10}  {visible(move.title)} -> {move.to}" for move in islice(rule.moves, limit)]
        lines += _some(moves, len(rule.moves))
        skips = [f"    stays: {visible(skip.title)} ({visible(skip.reason)})" for skip in rule.skipped[:limit]]
        lines += _some(skips, len(rule.skipped))
        lines.append(f"    {_counts(rule)}")
    total = _total(report)
    return [*lines, total] if total else lines


def _some(lines: list[str], total: int) -> list[str]:
    return lines if len(lines) == total else [*lines, f"    and {total - len(lines):,} more"]


def _called(rule: RuleReport) -> str:
    """Return the name of a rule as people read it."""
    return rule.rule.replace("-", " ")


def _head(rule: RuleReport, dry_run: bool) -> str:
    """Return what a rule moves: `tasks.md: would archive 4 of 24 tasks, completed more than 7 days ago:`."""
    noun, verb = rule.what or _NOUNS[rule.rule]
    moved = rule.archived + rule.cleared
    if not moved:
        return f"{rule.file}: nothing to {as_request(verb)}"
    done = f"{verb} {moved:,} of {plural(rule.before, noun)}"
    text = f"{rule.file}: {f'would {as_request(done)}' if dry_run else done}"
    return f"{text}, {rule.why}:" if rule.moves and rule.why else text


def _counts(rule: RuleReport) -> str:
    """Return the sum that proves that nothing was lost."""
    count = f"{rule.before:,} = {rule.kept:,} kept + {rule.archived:,} archived + {rule.cleared:,} cleared"
    skipped = f", {len(rule.skipped):,} skipped" if rule.skipped else ""
    return f"{_called(rule)}: {count}{skipped}"


def _total(report: Report) -> str:
    """Return the line with the total; empty if nothing moves and rules reported other work."""
    moves = summary(report.rules, dry_run=report.dry_run) if report.moved or not report.acted else ""
    if not report.dry_run:
        return moves
    return f"dry run, nothing was written: {moves}" if moves else "dry run, nothing was written"


_NOUNS = {
    ARCHIVE_TASKS: ("task", "archived"),
    PRUNE_JOURNAL: ("journal entry", "archived"),
    CAP_JOURNAL: ("journal entry", "archived"),
    CLEAR_PLANS: ("plan", "cleared"),
}


def summary(rules: Sequence[RuleReport], *, dry_run: bool = False) -> str:
    """Return in one line what a run moves: `archived 3 tasks and 12 journal entries, cleared 1 plan`.

    With `dry_run` it is not done yet: `would archive 3 tasks and 12 journal entries, clear 1 plan`.
    """
    counts: dict[tuple[str, str], int] = {}
    for rule in rules:
        if rule.said:
            continue
        what = rule.what or _NOUNS[rule.rule]
        counts[what] = counts.get(what, 0) + rule.archived + rule.cleared
    by_verb: dict[str, list[str]] = {}
    for (noun, verb), count in counts.items():
        if count:
            by_verb.setdefault(verb, []).append(plural(count, noun))
    said = [f"{verb} {' and '.join(what)}" for verb, what in by_verb.items()]
    if said and dry_run:
        return f"would {', '.join(map(as_request, said))}"
    return ", ".join(said) or "nothing to do"
