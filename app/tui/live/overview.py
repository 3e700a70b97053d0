"""Overview: the numbers of the sidebar, the alerts of the header, and what the brief adds to them.

The header says what is overdue, what is wrong and what runs next; the brief also what happened while nobody looked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from app.tui.commands.context import ACTOR
from app.tui.part import Part
from app.tui.threads import ThreadReport
from memory.base.clock import Moment
from memory.base.safe_text import visible
from memory.errors import MemdeckError
from memory.files import MEMORY_FILES
from widgets.chrome.header import Alert
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Piece, Tone, line
from widgets.text.words import short_moment

from .proposals import PANE as INBOX

if TYPE_CHECKING:
    from app.tui.pane_state import PaneState
    from app.tui.shell import Shell
    from memory.base.problems import Problem
    from memory.files.snapshot import Snapshot
    from memory.files.status import Brief
    from memory.history.news import News
    from memory.history.taken_back import Undone
    from memory.monitoring.history.charts import Notice
    from memory.systems.protocol import BriefLine, System
    from memory.workspace import Workspace
    from widgets.pane.base import Pane
    from widgets.pane.offers import Badge
    from widgets.panes import PaneName

    from .outside_changes import OutsideChanges
    from .proposals import InboxSource
    from .refresh import Refresher
    from .schedule import Schedule


class AwaySummary(Part):
    """Reads the change log and the decisions; what cannot be read is left out, for the brief is no place to fail."""

    def __init__(self, app: Shell, pane_state: PaneState) -> None:
        """Nothing was asked yet."""
        super().__init__(app)
        self._pane_state = pane_state
        self._since: datetime | None = None
        self._noticed = False

    def news(self, now: datetime) -> tuple[News, ...]:
        """What others changed since somebody left the application here, newest first; nothing at the first time."""
        workspace = self.app.workspace
        if workspace is None or workspace.state is None:
            return ()
        if not self._noticed:
            # Read once: what is remembered changes when this session ends.
            self._noticed = True
            self._since = self._pane_state.looked_last
            if self._since is not None:
                with suppress(MemdeckError, OSError):
                    workspace.notice(now)
        if self._since is None:
            return ()
        from memory.history.news import MOST, news_of

        with suppress(MemdeckError, OSError):
            return news_of(workspace.store.history.list(MOST, since=self._since), mine=ACTOR)
        return ()


CHECKED = 5_000
"""Workspaces of at most so many tasks and journal entries are checked for problems each time they change."""


def is_small(brief: Brief) -> bool:
    """Whether looking for problems takes so little that it is done after each change."""
    return sum(sum(brief.counts.get(name, {}).values()) for name in ("tasks", "journal")) <= CHECKED


def upkeep_of_files(workspace: Workspace, snapshot: Snapshot, now: datetime) -> tuple[tuple[str, str], ...]:
    """What the next maintenance would move: a file and a sentence each; nothing where a setting is wrong."""
    from memory.errors import MemdeckError
    from memory.maintenance.plan import plan_maintenance
    from memory.maintenance.returned import restored_in

    try:
        rules = plan_maintenance(snapshot, now, restored=restored_in(workspace)).rules
    except MemdeckError:
        return ()
    found = []
    for rule in rules:
        moved = rule.archived + rule.cleared
        if moved:
            one, many = _RULES.get(rule.rule, ("entry", "entries"))
            found.append(
                (rule.file, f"1 {one} moves to the archive" if moved == 1 else f"{moved} {many} move to the archive")
            )
    return tuple(found)


def upkeep_of(systems: Iterable[System], now: datetime) -> tuple[tuple[str, str, str], ...]:
    """What the next maintenance would do in systems beside the memory files: where, a sentence, and the system.

    Nothing of one that is in trouble.
    """
    from contextlib import suppress

    from memory.errors import MemdeckError

    found: list[tuple[str, str, str]] = []
    for system in systems:
        with suppress(MemdeckError):
            for rule in system.maintain(now, actor="human", dry_run=True).rules:
                if count := rule.archived + rule.cleared:
                    noun, verb = rule.what or ("entry", "cleared")
                    many = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
                    words = f"1 {noun} is {verb}" if count == 1 else f"{count:,} {many} are {verb}"
                    found.append((rule.file, words, system.name))
    return tuple(found)


_RULES = {
    "archive-completed-tasks": ("completed task", "completed tasks"),
    "prune-old-journal": ("old journal entry", "old journal entries"),
    "cap-journal": ("journal entry over the limit", "journal entries over the limit"),
    "clear-completed-orchestration": ("completed plan", "completed plans"),
}


def not_read(errors: Iterable[Exception]) -> tuple[Alert, ...]:
    """Say that what is shown is not what some file holds."""
    return tuple(Alert(line(Piece(f"not read: {visible(str(error))[:60]}", "alert"))) for error in errors)[:1]


def taken_back(undone: Sequence[Undone]) -> tuple[Alert, ...]:
    """Say that saves of other programs took back changes of memdeck's; it leads to the brief's rows on them."""
    return (Alert(line(Piece(f"{len(undone)} taken back", "alert")), "lost"),) if undone else ()


def alerts_of(
    brief: Brief, now: datetime, zone: tzinfo, glyphs: Glyphs, notice: Notice | None = None
) -> tuple[Alert, ...]:
    """The parts of the header, the most important first, each with where it leads; for a worker, since it may read
    every file.
    """
    parts: list[Alert] = []

    def say(leads: str, words: str, tone: Tone) -> None:
        parts.append(Alert(line(Piece(words, tone)), leads))

    if brief.overdue:
        say("overdue", f"{len(brief.overdue)} overdue", "alert")
    if brief.alerts:
        number = len(brief.alerts)
        say("alert", f"{glyphs.alert} {number} alert{'s' if number > 1 else ''}", "warn")
    if notice is not None and notice.waiting:
        number = len(notice.waiting)
        say("waiting", f"{number} wait{'' if number > 1 else 's'} for approval", "warn")
    if notice is not None and (notice.muted or notice.all_muted is not None):
        say("muted", "all muted" if notice.all_muted else f"{len(notice.muted)} muted", "muted")
    if is_small(brief):
        errors = [problem.level for problem in brief.problems].count("error")
        if errors:
            say("problem", f"{errors} problem{'s' if errors > 1 else ''}", "warn")
    resting = frozenset() if notice is None else notice.resting
    run = next((run for run in brief.next_runs if run.kind != "monitor" or run.ref not in resting), None)
    if run is not None:
        words = short_moment(Moment("", run.instant.astimezone(zone).date(), run.instant), now, zone)
        say("run", f"next: {run.label[:40]} {words}", "muted")
    return tuple(parts)


class _Others(NamedTuple):
    """What the systems beside the memory files say: their lines in Brief, their problems, and their upkeep."""

    lines: tuple[BriefLine, ...]
    problems: tuple[Problem, ...]
    upkeep: tuple[tuple[str, ...], ...]


class OverviewPart(Part):
    """Counts in the thread that reads, and shows what it counted."""

    def __init__(
        self,
        app: Shell,
        refresher: Refresher,
        outside_changes: OutsideChanges,
        schedule: Schedule,
        away_summary: AwaySummary,
        proposals: InboxSource,
    ) -> None:
        """Nothing is counted yet."""
        super().__init__(app)
        self._refresher, self._proposals = refresher, proposals
        self._outside_changes, self._schedule, self._away_summary = outside_changes, schedule, away_summary
        self._badges: dict[str, Badge] = {}
        self._counts: dict[str, tuple[tuple[object, ...], Badge]] = {}
        """The badges, each with what it was counted of: documents or how often other files changed, and the minute."""
        self._others: tuple[tuple[object, ...], _Others] | None = None
        """What the other systems say, with what it depends on."""
        self.problems: tuple[Problem, ...] = ()
        """What was wrong in the files at the last look, where they are few enough to be looked through."""

    # In the thread that reads

    def count(self, _pane: Pane, snapshot: Snapshot, now: datetime) -> None:
        """Count what the panes hold."""
        badges = {}
        for name in self.app.panes.names(self.app.workspace):
            try:
                badges[name.id] = self._badge(name, snapshot, now)
            except Exception:  # A pane of another package must not take the numbers of the others with it.
                if name.own:
                    raise
        self.app.post_message(ThreadReport(partial(self._counted, badges)))

    def _badge(self, name: PaneName, snapshot: Snapshot, now: datetime) -> Badge:
        """Return the badge of a pane; counted anew where a file of it may have changed, and each minute."""
        if name.id == INBOX:
            return replace(name.load().badge(snapshot, now), count=self._proposals.count() or None)
        refused = any(snapshot.refused(file) for file in name.files if file in MEMORY_FILES)
        if refused:
            return replace(name.load().badge(snapshot, now), alert=True)
        shown: tuple[object, ...]
        if name.system != "files":
            shown = (self._refresher.other_changes,)
        elif name.files and all(file in MEMORY_FILES for file in name.files):
            shown = tuple(map(snapshot.document, name.files))
        else:
            return name.load().badge(snapshot, now)
        basis = (*shown, _minute(now))
        known = self._counts.get(name.id)
        if known is None or known[0] != basis:
            known = self._counts[name.id] = (basis, name.load().badge(snapshot, now))
        return known[1]

    def brief(self, _pane: Pane, snapshot: Snapshot, now: datetime) -> None:
        """Work out what needs attention."""
        from memory.files.status import brief

        workspace = self.app.workspace
        assert workspace is not None
        found = brief(snapshot, now)
        notice = self._schedule.notice(snapshot, now)
        refused = not_read(snapshot.refusals.values())
        undone = self._outside_changes.waiting
        alerts = refused + taken_back(undone) + alerts_of(found, now, snapshot.zone, self.app.glyphs, notice)
        news = self._away_summary.news(now)
        in_brief, small = "brief" in self.app.panes.mounted, is_small(found)
        others = self._ask_others(workspace, now, in_brief=in_brief, small=small)
        problems: tuple[Problem, ...] = ()
        upkeep: tuple[tuple[str, ...], ...] = ()
        if small:
            lost = tuple(one.problem() for one in self._outside_changes.missing if one.change is not None)
            problems = found.problems + lost + others.problems
            if in_brief:
                upkeep = upkeep_of_files(workspace, snapshot, now) + others.upkeep
        stand = (*self._proposals.brief_lines(), *others.lines) if in_brief else ()
        self.app.post_message(
            ThreadReport(partial(self._briefed, alerts, notice, problems, upkeep, news, stand, undone)),
        )

    def _ask_others(self, workspace: Workspace, now: datetime, *, in_brief: bool, small: bool) -> _Others:
        """Return what the systems beside the memory files say, asked anew where their files may have changed.

        Only Brief shows their lines and what maintenance would do, and that takes most of the time. Time alone makes
        files old: each minute they are asked again.
        """
        from memory.systems import brief_lines_of, systems_of

        basis = (self._refresher.other_changes, _minute(now), in_brief, small)
        if self._others is None or self._others[0] != basis:
            lines = brief_lines_of(workspace, now) if in_brief else ()
            systems = [system for system in systems_of(workspace) if system.name != "files"] if small else []
            problems = tuple(problem for system in systems for problem in system.check())
            upkeep = upkeep_of(systems, now) if in_brief else ()
            self._others = (basis, _Others(lines, problems, upkeep))
        return self._others[1]

    # In the application's thread

    def _counted(self, badges: dict[str, Badge]) -> None:
        self._badges = badges
        self.show_badges()

    def shown(self, _pane: Pane, _first: bool) -> None:
        """A pane shows what was read."""
        self.show_badges()

    def show_badges(self) -> None:
        """Draw the sidebar's numbers again; a worker may have counted them while the application ends."""
        main_screen = self.app.main_screen
        if not main_screen.is_mounted or not self.app.is_running:
            return
        from widgets.chrome.sidebar import SidebarEntry

        outside_changes = self._outside_changes
        entries = []
        for name in self.app.panes.names(self.app.workspace):
            badge = self._badges.get(name.id)
            count = (outside_changes.count or None) if name.id == "changes" else (badge.count if badge else None)
            alert = bool(badge and badge.alert) or any(one.name in name.files for one in outside_changes.lost)
            entries.append(SidebarEntry(name.id, name.key, name.title, count, alert, name.letter))
        main_screen.sidebar.set_entries(entries)

    def say_not_read(self, error: Exception) -> None:
        """Say in the header that what is shown is not what the files hold, until they can be read."""
        self.app.main_screen.header.alerts = not_read([error])

    def _briefed(
        self,
        alerts: tuple[Alert, ...],
        notice: Notice,
        problems: tuple[Problem, ...],
        upkeep: tuple[tuple[str, ...], ...],
        news: tuple[News, ...],
        others: tuple[BriefLine, ...],
        undone: tuple[Undone, ...],
    ) -> None:
        """Show what needs attention in the header, and in the brief where that is open.

        `problems` and `upkeep` (a file, a sentence, and the system where it is another one) are empty where looking
        would take too long. `notice` says who waits for an approval and who is muted, `news` what others changed since
        somebody looked last, `others` how things stand beside the memory files, `undone` what other programs took back.
        """
        main_screen = self.app.main_screen
        if not main_screen.is_mounted or not self.app.is_running:
            return
        main_screen.header.alerts = alerts
        self.problems = problems
        pane = self.app.panes.mounted.get("brief")
        if pane is not None and pane.contents is not None:
            pane.say_more(problems, upkeep, notice, news, others, undone)  # type: ignore[attr-defined]


def _minute(now: datetime) -> datetime:
    return now.replace(second=0, microsecond=0)
