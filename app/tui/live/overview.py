"""Overview: the numbers of the sidebar, the alerts of the header, and what the brief adds to them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from app.tui.part import Part
from app.tui.threads import ThreadReport
from memory.files import MEMORY_FILES

from . import header_status as header
from .proposals import PANE as INBOX

if TYPE_CHECKING:
    from app.tui.shell import Shell
    from memory.base.problems import Problem
    from memory.files.snapshot import Snapshot
    from memory.history.news import News
    from memory.history.taken_back import Undone
    from memory.monitoring.history.charts import Notice
    from memory.systems.protocol import BriefLine
    from memory.workspace import Workspace
    from widgets.chrome.header import Alert
    from widgets.pane.base import Pane
    from widgets.pane.offers import Badge
    from widgets.panes import PaneName

    from .away_summary import AwaySummary
    from .outside_changes import OutsideChanges
    from .proposals import InboxSource
    from .refresh import Refresher
    from .schedule import Schedule


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
        morning: AwaySummary,
        proposals: InboxSource,
    ) -> None:
        """Nothing is counted yet."""
        super().__init__(app)
        self._refresher, self._proposals = refresher, proposals
        self._outside_changes, self._schedule, self._morning = outside_changes, schedule, morning
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
        refused = header.not_read(snapshot.refusals.values())
        undone = self._outside_changes.waiting
        alerts = refused + header.taken_back(undone) + header.alerts(found, now, snapshot.zone, self.app.glyphs, notice)
        news = self._morning.news(now)
        in_brief, small = "brief" in self.app.panes.mounted, header.is_small(found)
        others = self._ask_others(workspace, now, in_brief=in_brief, small=small)
        problems: tuple[Problem, ...] = ()
        upkeep: tuple[tuple[str, ...], ...] = ()
        if small:
            lost = tuple(one.problem() for one in self._outside_changes.missing if one.change is not None)
            problems = found.problems + lost + others.problems
            if in_brief:
                upkeep = header.upkeep(workspace, snapshot, now) + others.upkeep
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
            upkeep = header.upkeep_of(systems, now) if in_brief else ()
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
        self.app.main_screen.header.alerts = header.not_read([error])

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
