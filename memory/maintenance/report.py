"""What a maintenance run did or would do: per rule the counts, what moved where, and what stayed and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from memory.base.clock import format_utc
from memory.base.safe_text import visible
from memory.named_tuple import NamedTuple

from .rules import ARCHIVE_TASKS, CAP_JOURNAL, CLEAR_PLANS, PRUNE_JOURNAL

if TYPE_CHECKING:
    from memory.document.nodes import Entry

    from .others import Gone, Stays

BACK = "was archived already"
"""What is said of an entry that came back."""
SHOWN = 20
"""How many moves and skipped entries of a rule the text for people lists."""


class NamedEntry(Protocol):
    """What a typed view tells about an entry."""

    @property
    def at(self) -> tuple[int, int]:
        """The section's and the entry's index in the document."""

    @property
    def ref(self) -> str:
        """The ref."""

    @property
    def title(self) -> str:
        """The title without priority or time."""


class _Item:
    """An entry in a report; its ref and title are worked out when somebody asks for them."""

    __slots__ = ("_view_of", "entry", "place")

    def __init__(
        self, entry: Entry, place: tuple[int, int], view_of: Callable[[tuple[int, int]], NamedEntry | None]
    ) -> None:
        """Keep the entry, its section and number, and what returns the view of a place."""
        self.entry = entry
        self.place = place
        self._view_of = view_of

    @property
    def ref(self) -> str | None:
        """The entry's ref, which stays the same in the archive; None for one that stands where no view looks."""
        view = self._view_of(self.place)
        return None if view is None else view.ref

    @property
    def title(self) -> str:
        """The entry's title without priority or time, as it stands in the file."""
        view = self._view_of(self.place)
        return self.entry.title if view is None else view.title


class Move(_Item):
    """An entry that leaves its file; `to` is its archive, relative to the memory folder.

    `date` is the ISO date that the rule went by: when it was completed, or the day of a journal entry.
    """

    __slots__ = ("date", "to")

    def __init__(
        self,
        entry: Entry,
        place: tuple[int, int],
        view_of: Callable[[tuple[int, int]], NamedEntry | None],
        to: str,
        date: str,
    ) -> None:
        """Keep the entry, where it goes, and the date."""
        super().__init__(entry, place, view_of)
        self.to = to
        self.date = date

    def json(self) -> dict[str, str | None]:
        """Return the keys `ref`, `title`, `to`."""
        return {"ref": self.ref, "title": self.title, "to": self.to}


Moved: TypeAlias = "Move | Gone"
"""What a rule takes out of a file."""


class Skip(_Item):
    """An entry that a rule looked at and left where it is, with the reason in words."""

    __slots__ = ("reason",)

    def __init__(
        self,
        entry: Entry,
        place: tuple[int, int],
        view_of: Callable[[tuple[int, int]], NamedEntry | None],
        reason: str,
    ) -> None:
        """Keep the entry and the reason."""
        super().__init__(entry, place, view_of)
        self.reason = reason

    def json(self) -> dict[str, str | None]:
        """Return the keys `ref`, `title`, `reason`."""
        return {"ref": self.ref, "title": self.title, "reason": self.reason}


class RuleReport(NamedTuple):
    """One rule over one file: `before` = `kept` + `archived` + `cleared` + `returned`; `skipped` is a part of kept.

    `before` counts all entries of the file as the rule before it left them, also those that the rule is not about.
    """

    rule: str
    file: str
    before: int
    kept: int
    archived: int
    cleared: int
    moves: Sequence[Moved] = ()
    skipped: Sequence[Skip | Stays] = ()
    what: tuple[str, str] | None = None
    """Noun and verb of a rule of another system than the memory files, such as `("fact", "cleared")`."""
    why: str = ""
    """What the rule moves, in words: `completed more than 7 days ago`."""
    returned: int = 0
    """How many of the file's entries came back by another program's old copy; their archives hold them already."""
    returns: Sequence[Move] = ()
    """Those entries; `to` is the archive that holds them."""
    said: str = ""
    """What a rule did that moves nothing: `claude: imported=2 skipped=40 failed=0`."""
    acts: bool = False
    """Whether what is said is something that was done, or would be: a run has a point though nothing moves."""

    def json(self) -> dict[str, object]:
        """Return the rule's part of the report.

        `message` is in it only where the rule says something beside its counts, `returned` and `returns` where
        something came back.
        """
        back = {"returned": self.returned, "returns": [one.json() for one in self.returns]}
        return {
            **({"message": self.said} if self.said else {}),
            "rule": self.rule,
            "file": self.file,
            "before": self.before,
            "kept": self.kept,
            "archived": self.archived,
            "cleared": self.cleared,
            "skipped": [one.json() for one in self.skipped],
            "moves": [one.json() for one in self.moves],
            **(back if self.returned else {}),
        }


class Report(NamedTuple):
    """A whole run, done or (`dry_run`) only looked at; it balanced, for one that does not raises an error.

    `now` is aware, `duration_ms` what the run took. `blocked` waits for an approval, as `trust list` has it. `monitors`
    is filled by the face that checks monitors behind it.
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

    @classmethod
    def joined(cls, reports: Sequence[Report]) -> Report:
        """Return the reports of several systems, at least one, as that of one run; `change` is the last one's."""
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
        )

    @property
    def moved(self) -> int:
        """How many entries leave their files."""
        return sum(rule.archived + rule.cleared for rule in self.rules)

    @property
    def acted(self) -> tuple[RuleReport, ...]:
        """The rules that did, or would do, something beside moving entries."""
        return tuple(rule for rule in self.rules if rule.acts)

    def json(self) -> dict[str, object]:
        """Return the report as programs get it; `moves` and `skipped` are complete."""
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
    """Return the report as lines for people, safe for a screen; at most `limit` moves and skips of each rule."""
    lines = [f"warning: {visible(warning)}" for warning in report.warnings]
    for rule in report.rules:
        if rule.said:
            lines.append(visible(f"{rule.rule}: {rule.said}"))
            continue
        lines.append(_counts(rule, report.dry_run))
        if rule.moves and rule.why:
            lines.append(f"    {rule.why}:")
        moves = [f"    {move.date:<10}  {visible(move.title)} -> {move.to}" for move in rule.moves[:limit]]
        lines += _some(moves, len(rule.moves))
        returns = [f"    {BACK}: {visible(one.title)} ({one.to})" for one in rule.returns[:limit]]
        lines += _some(returns, len(rule.returns))
        skips = [f"    stays: {visible(skip.title)} ({visible(skip.reason)})" for skip in rule.skipped[:limit]]
        lines += _some(skips, len(rule.skipped))
    total = _total(report)
    return [*lines, total] if total else lines


def _some(lines: list[str], total: int) -> list[str]:
    return lines if len(lines) == total else [*lines, f"    and {total - len(lines):,} more"]


def _counts(rule: RuleReport, dry_run: bool) -> str:
    verb = "would move" if dry_run else "moved"
    moved = rule.archived + rule.cleared
    text = f"{rule.rule}: {verb} {moved:,} of {rule.before:,} in {rule.file}"
    count = f"{rule.before:,} = {rule.kept:,} kept + {rule.archived:,} archived + {rule.cleared:,} cleared"
    returned = f" + {rule.returned:,} archived already" if rule.returned else ""
    skipped = f", {len(rule.skipped):,} skipped" if rule.skipped else ""
    return f"{text} ({count}{returned}{skipped})"


def _total(report: Report) -> str:
    """Say what moves; where nothing does, "" if the rules did something else, as they said themselves."""
    moves = summary(report.rules) if report.moved or not report.acted else ""
    if not report.dry_run:
        return moves
    return f"dry run, nothing is written: {moves}" if moves else "dry run, nothing is written"


_NOUNS = {
    ARCHIVE_TASKS: ("task", "archived"),
    PRUNE_JOURNAL: ("journal entry", "archived"),
    CAP_JOURNAL: ("journal entry", "archived"),
    CLEAR_PLANS: ("plan", "cleared"),
}


def summary(rules: Sequence[RuleReport]) -> str:
    """Say in one line what a run moves: `archived 3 tasks and 12 journal entries, cleared 1 plan`."""
    counts: dict[tuple[str, str], int] = {}
    for rule in rules:
        if rule.said:
            continue
        what = rule.what or _NOUNS[rule.rule]
        counts[what] = counts.get(what, 0) + rule.archived + rule.cleared
    by_verb: dict[str, list[str]] = {}
    for (noun, verb), count in counts.items():
        if count:
            many = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
            by_verb.setdefault(verb, []).append(f"{count:,} {noun if count == 1 else many}")
    said = [f"{verb} {' and '.join(what)}" for verb, what in by_verb.items()]
    if returned := sum(rule.returned for rule in rules):
        said.append(
            f"took out {returned:,} {'entry that was' if returned == 1 else 'entries that were'} archived already"
        )
    return ", ".join(said) or "nothing to do"
