"""Overview: the numbers of the sidebar, the alerts of the header, and what the brief adds to them.

The header shows what is overdue, what is wrong and what runs next; the brief also what happened while the user was
away.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from app.tui.commands.interface import ACTOR
from app.tui.shell import Part, Shell, ThreadReport
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
    from memory.base.problems import Problem
    from memory.files.snapshot import Snapshot
    from memory.files.status import Brief
    from memory.history.changes import News
    from memory.history.outside import OutsideRemoval
    from memory.monitoring.history.charts import Notice
    from memory.system import BriefLine, System
    from memory.workspace import Workspace
    from widgets.pane.base import Pane
    from widgets.pane.offers import Badge
    from widgets.panes import PaneName

    from .background import Schedule
    from .outside_changes import OutsideChanges
    from .proposals import InboxSource
    from .refresh import Refresher


class AwaySummary(Part):
    """Reads the change log and the decisions. What cannot be read is left out, so that the brief never fails."""

    def __init__(self, app: Shell, pane_state: PaneState) -> None:
        """Nothing was asked yet."""
        super().__init__(app)
        self._pane_state = pane_state
        self._since: datetime | None = None
        self._noticed = False

    def news(self, now: datetime) -> tuple[News, ...]:
        """Return what others changed since the last session here, newest first; nothing in the first session."""
        workspace = self.app.workspace
        if workspace is None or workspace.state is None:
            return ()
        if not self._noticed:
            # Read once: the saved value changes when this session ends.
            self._noticed = True
            self._since = self._pane_state.looked_last
            if self._since is not None:
                with suppress(MemdeckError, OSError):
                    workspace.notice(now)
        if self._since is None:
            return ()
        from memory.history.changes import MOST_NEWS, news_of

        with suppress(MemdeckError, OSError):
            return news_of(workspace.store.history.list(MOST_NEWS, since=self._since), mine=ACTOR)
        return ()


CHECKED = 5_000
"""Workspaces with at most so many tasks and journal entries are checked for problems on each change."""


def is_small(brief: Brief) -> bool:
    """Return whether checking for problems is fast enough to do it on each change."""
    tasks, entries = brief.counts.get("tasks", {}), brief.counts.get("journal", {})
    return sum(tasks.values()) + sum(entries.values()) <= CHECKED


def upkeep_of_files(workspace: Workspace, snapshot: Snapshot, now: datetime) -> tuple[tuple[str, str], ...]:
    """Return what the next maintenance would move: a file and a sentence each; nothing if a setting is wrong."""
    from memory.errors import MemdeckError
    from memory.maintenance.plan import plan_maintenance
    from memory.maintenance.run import restored_in

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
    """Return what the next maintenance would do in other systems: the place, a sentence, and the system.

    Systems that raise an error are skipped.
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
    """Return the alert that the screen does not show the current content of a file."""
    return tuple(Alert(line(Piece(f"not read: {visible(str(error))[:60]}", "alert"))) for error in errors)[:1]


def _ahead(workspace: Workspace, now: datetime) -> datetime | None:
    """Return the last recorded time if the clock is behind it, so that maintenance writes nothing."""
    from memory.maintenance.run import ahead_of

    with suppress(MemdeckError, OSError):
        return ahead_of(workspace, now)
    return None


def clock_behind(latest: datetime | None) -> tuple[Alert, ...]:
    """Return the alert that the clock holds maintenance back; it leads to the brief's row on what to do."""
    return () if latest is None else (Alert(line(Piece("clock behind: maintain --force", "alert")), "upkeep"),)


def alerts_of(
    brief: Brief, now: datetime, zone: tzinfo, glyphs: Glyphs, notice: Notice | None = None
) -> tuple[Alert, ...]:
    """Return the alerts of the header, the most important first, each with where it leads. For a worker, since it may
    read every file.
    """
    parts: list[Alert] = []

    def say(leads: str, words: str, tone: Tone) -> None:
        parts.append(Alert((Piece(words, tone),), leads))

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
    run = brief.first_run(resting)
    if run is not None:
        words = short_moment(Moment("", run.instant.astimezone(zone).date(), run.instant), now, zone)
        say("run", f"next: {run.label[:40]} {words}", "muted")
    return tuple(parts)


class _Others(NamedTuple):
    """What the other systems report: their lines in Brief, their problems, and their upkeep."""

    lines: tuple[BriefLine, ...]
    problems: tuple[Problem, ...]
    upkeep: tuple[tuple[str, ...], ...]


class OverviewPart(Part):
    """Counts in the reading thread, and shows the results."""

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
        """The badges, each with what it was counted from: documents or the count of other changes, and the minute."""
        self._others: tuple[tuple[object, ...], _Others] | None = None
        """What the other systems report, with what it depends on."""
        self.problems: tuple[Problem, ...] = ()
        """The problems in the files at the last refresh, if the files are few enough to be checked."""

    # In the reading thread

    def count(self, _pane: Pane, snapshot: Snapshot, now: datetime) -> None:
        """Count what the panes contain."""
        badges, minute = {}, _minute(now)
        for name in self.app.panes.names(self.app.workspace):
            try:
                badges[name.id] = self._badge(name, snapshot, now, minute)
            except Exception:  # A pane of another package must not break the numbers of the others.
                if name.own:
                    raise
        self.app.post_message(ThreadReport(partial(self._counted, badges)))

    def _badge(self, name: PaneName, snapshot: Snapshot, now: datetime, minute: datetime) -> Badge:
        """Return the badge of a pane; counted again if a file of it may have changed, and each minute."""
        if name.id == INBOX:
            return replace(name.load().badge(snapshot, now), count=self._proposals.count() or None)
        files = tuple(filter(MEMORY_FILES.__contains__, name.files))
        shown: tuple[object, ...] = tuple(map(snapshot.found, files))
        if None in shown and any(map(snapshot.refused, files)):
            return replace(name.load().badge(snapshot, now), alert=True)
        if name.system != "files":
            shown = (self._refresher.other_changes,)
        elif not files or len(files) < len(name.files):
            return name.load().badge(snapshot, now)
        basis = (*shown, minute)
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
        latest = _ahead(workspace, now)
        alerts = refused + clock_behind(latest) + alerts_of(found, now, snapshot.zone, self.app.glyphs, notice)
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
        if in_brief and latest is not None:
            from memory.maintenance.run import held_words

            upkeep = (("config.md", held_words(now, latest)),)
        stand = (*self._proposals.brief_lines(), *others.lines) if in_brief else ()
        self.app.post_message(
            ThreadReport(
                partial(self._briefed, alerts, notice, problems, upkeep, news, stand, self._outside_changes.waiting)
            ),
        )

    def _ask_others(self, workspace: Workspace, now: datetime, *, in_brief: bool, small: bool) -> _Others:
        """Return what the other systems report, asked again if their files may have changed.

        Only Brief shows their lines and what maintenance would do, and those take most of the time. Files become old by
        time alone, so they are asked again each minute.
        """
        from memory.systems import brief_lines_of
        from memory.systems.suspects import suspicious_problems

        basis = (self._refresher.other_changes, _minute(now), in_brief, small)
        if self._others is None or self._others[0] != basis:
            lines = brief_lines_of(workspace, now) if in_brief else ()
            systems = [system for system in workspace.systems() if system.name != "files"] if small else []
            found = [problem for system in systems for problem in system.check()]
            # Texts that look suspicious, those of the memory files too: this runs less often than their own check.
            problems = (*found, *(suspicious_problems(workspace) if small else ()))
            upkeep = upkeep_of(systems, now) if in_brief else ()
            self._others = (basis, _Others(lines, problems, upkeep))
        return self._others[1]

    # In the application's thread

    def _counted(self, badges: dict[str, Badge]) -> None:
        self._badges = badges
        self.show_badges()

    def show_badges(self) -> None:
        """Draw the sidebar's numbers again; the application may already be ending when a worker counted them."""
        main_screen = self.app.main_screen
        if not main_screen.is_mounted or not self.app.is_running:
            return
        from widgets.chrome.sidebar import SidebarEntry

        outside_changes = self._outside_changes
        lost = {one.name for one in outside_changes.lost}
        entries = []
        for name in self.app.panes.names(self.app.workspace):
            badge = self._badges.get(name.id)
            count = (outside_changes.count or None) if name.id == "changes" else (badge.count if badge else None)
            alert = bool(badge and badge.alert) or not lost.isdisjoint(name.files)
            entries.append(SidebarEntry(name.id, name.key, name.title, count, alert, name.letter))
        main_screen.sidebar.set_entries(entries)

    def say_not_read(self, error: Exception) -> None:
        """Say in the header that the screen is outdated, until the files can be read."""
        self.app.main_screen.header.alerts = not_read([error])

    def _briefed(
        self,
        alerts: tuple[Alert, ...],
        notice: Notice,
        problems: tuple[Problem, ...],
        upkeep: tuple[tuple[str, ...], ...],
        news: tuple[News, ...],
        others: tuple[BriefLine, ...],
        removals: tuple[OutsideRemoval, ...],
    ) -> None:
        """Show what needs attention in the header, and in the brief if it is open.

        `problems` and `upkeep` (a file, a sentence, and the system if it is another one) are empty if checking would
        take too long. `notice` says what waits for approval and what is muted, `news` what others changed since the
        last session, `others` the state of the other systems, `removals` what other programs removed.
        """
        main_screen = self.app.main_screen
        if not main_screen.is_mounted or not self.app.is_running:
            return
        main_screen.header.alerts = alerts
        self.problems = problems
        pane = self.app.panes.mounted.get("brief")
        if pane is not None and pane.contents is not None:
            pane.say_more(problems, upkeep, notice, news, others, removals)  # type: ignore[attr-defined]


def _minute(now: datetime) -> datetime:
    return now.replace(second=0, microsecond=0)
