"""Overview: the idle pass for the change log, the numbers of the sidebar, the alerts of the header, and the brief.

The header shows overdue tasks, problems and the next run; the brief also what happened while the user was
away.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, tzinfo
from functools import partial
from typing import NamedTuple

from textual.worker import get_current_worker

from app.tui.main_screen import entry_of
from app.tui.shell import ACTOR, ThreadReport
from app.tui.spine import Part
from memory.base.clock import Moment
from memory.base.problems import Problem
from memory.errors import MemdeckError
from memory.files import MEMORY_FILES
from memory.files.snapshot import Snapshot
from memory.files.status import Brief, brief
from memory.history.changes import MOST_NEWS, News, news_of
from memory.maintenance.run import ahead_of, held_words
from memory.monitoring.overview import Notice
from memory.monitoring.schedule import overdue_problems
from memory.proof.findings import Finding, findings_of
from memory.systems import brief_lines_of
from memory.systems.suspects import suspicious_problems
from widgets.chrome.header import Alert
from widgets.pane.offers import Badge
from widgets.panes.brief import BriefMore, without_resting
from widgets.panes.memory.clients import deletions
from widgets.text.styled_text import Piece, Tone, line
from widgets.text.words import short_moment

from .outside_changes import Outside
from .refresh import AT_ONCE, not_read, size_of

QUIET_SECONDS = 0.2
"""Seconds without a key after which large workspaces are looked at."""

CHECKED = 5_000
"""Workspaces with at most so many tasks and journal entries are checked for problems on each change."""


class Overview(NamedTuple):
    """What the idle pass found: the alerts of the header, how many things wait for the user, and what is in doubt.
    `more` is what the brief shows besides the files; None where another pane is open.
    """

    alerts: tuple[Alert, ...]
    waiting: int
    doubts: tuple[Finding, ...]
    more: BriefMore | None


class OverviewPart(Part):
    """The one pass over the workspace while nothing else is read: change log, header, badges of the sidebar, Brief."""

    def set_up(self) -> None:
        """Nothing was counted yet."""
        self._badges: dict[str, Badge] = {}
        self._looked = False
        self._since: datetime | None = None
        self._waiting = 0

    def request(self) -> None:
        """Look at the workspace; a pass that is under way stops."""
        self.app.run_worker(self._look, group="overview", thread=True, exclusive=True, exit_on_error=False)

    def _look(self) -> None:
        app, worker, workspace, now = self.app, get_current_worker(), self.workspace, self.app.clock()
        try:
            if size_of(workspace.memory, MEMORY_FILES) > AT_ONCE:
                while not worker.is_cancelled and (left := app.state.pressed + QUIET_SECONDS - time.monotonic()) > 0:
                    time.sleep(left)
            snapshot = workspace.snapshot().readable()
            if not self._looked:
                self._looked, self._since = True, app.pane_state.looked_last
                app.form_drafts.look()
            outside = app.outside_changes.look(now)
            app.post_message(ThreadReport(partial(app.outside_changes.take, outside)))
            if not worker.is_cancelled:
                app.post_message(ThreadReport(partial(self._counted, self._count(snapshot, now))))
            if not worker.is_cancelled:
                app.post_message(ThreadReport(partial(self._show, self._overview(snapshot, now, outside))))
        except Exception as error:
            app.post_message(ThreadReport(partial(app.refresher.failed, error)))

    def _count(self, snapshot: Snapshot, now: datetime) -> dict[str, Badge]:
        """Count for the sidebar."""
        badges = {}
        for name in self.app.state.names:
            try:
                badges[name.id] = name.load().badge(snapshot, now)
            except Exception:  # A pane of another package must not break the numbers of the others.
                if name.own:
                    raise
        return badges

    def _overview(self, snapshot: Snapshot, now: datetime, outside: Outside) -> Overview:
        """Summarise the workspace; what takes too long in a large one is left out."""
        workspace = self.workspace
        notice = self.app.schedule.notice(snapshot, now)
        found = without_resting(brief(snapshot, now), notice.resting)
        latest = None
        with suppress(MemdeckError, OSError):
            latest = ahead_of(workspace, now)
        waiting = len(notice.waiting) + len(outside.removals) + len(deletions(snapshot, now))
        waiting += self.app.proposals.count()
        counts = (*found.counts.get("tasks", {}).values(), *found.counts.get("journal", {}).values())
        small = sum(counts) <= CHECKED
        problems: tuple[Problem, ...] = ()
        doubts: tuple[Finding, ...] = ()
        if small:
            doubts = findings_of(workspace)
            problems = (
                *found.problems,
                *(one.problem() for one in outside.missing if one.change is not None),
                *(problem for system in workspace.systems() if system.name != "files" for problem in system.check()),
                *(one.problem() for one in doubts),
            )
        alerts = [not_read(error) for error in snapshot.refusals.values()][:1]
        if latest is not None:
            # It leads to the brief's row on what to do.
            alerts.append(Alert(line(Piece("clock behind: maintain --force", "alert")), "upkeep"))
        errors = [problem.level for problem in found.problems].count("error") if small else 0
        alerts += self._alerts(found, notice, now, snapshot.zone, waiting, errors)
        deleted = [one.message.partition(",")[0] for one in problems if one.code == "clients.deleted"]
        alerts += [Alert(line(Piece(words, "warn")), "waiting") for words in deleted]
        more = None
        if self.app.pane is not None and self.app.pane.pane_id == "brief":
            if small:
                problems += (*suspicious_problems(workspace), *overdue_problems(workspace, now))
            upkeep = () if latest is None else (held_words(now, latest),)
            lines = brief_lines_of(workspace, now)
            more = BriefMore(problems, upkeep, notice, self._news(), lines, outside.removals)
        return Overview(tuple(alerts), waiting, doubts, more)

    def _alerts(
        self, found: Brief, notice: Notice, now: datetime, zone: tzinfo, waiting: int, errors: int
    ) -> Iterator[Alert]:
        """Yield the usual alerts of the header, the most important first, each with where it leads."""
        counts = found.attention(len(notice.waiting))
        words, others = counts.words, waiting - counts.approval
        muted = "all muted" if notice.all_muted else f"{len(notice.muted)} muted"
        shown: tuple[tuple[bool, str, str, Tone], ...] = (
            (bool(found.overdue), "overdue", f"{len(found.overdue)} overdue", "alert"),
            ("failing" in words, "alert", f"{self.app.glyphs.alert} {words.get('failing')}", "alert"),
            ("stale" in words, "unmeasured", words.get("stale", ""), "warn"),
            ("approval" in words, "waiting", words.get("approval", ""), "warn"),
            (others > 0, "waiting", f"{others} waiting", "warn"),
            (bool(notice.muted) or notice.all_muted is not None, "muted", muted, "muted"),
            (errors > 0, "problem", f"{errors} problem{'s' if errors > 1 else ''}", "warn"),
        )
        for holds, leads, said, tone in shown:
            if holds:
                yield Alert((Piece(said, tone),), leads)
        if (run := next(iter(found.next_runs), None)) is not None:
            when = short_moment(Moment("", run.instant.astimezone(zone).date(), run.instant), now, zone)
            yield Alert((Piece(f"next: {run.label[:40]} {when}", "muted"),), "run")

    def _news(self) -> tuple[News, ...]:
        """Return what others changed since the last time the application was left; empty at the first start."""
        if self._since is None:
            return ()
        with suppress(MemdeckError, OSError):
            return news_of(self.workspace.store.history.list(MOST_NEWS, since=self._since), mine=ACTOR)
        return ()

    # In the application's thread

    def _counted(self, badges: dict[str, Badge]) -> None:
        self._badges = badges
        self.show_badges()

    def show_badges(self) -> None:
        """Draw the sidebar's numbers again; the application may already be ending when a worker counted them."""
        state, main_screen = self.app.state, self.app.main_screen
        if not main_screen.is_mounted or not self.app.is_running:
            return
        lost = {one.name for one in state.lost}
        entries = []
        for name in state.names:
            badge = self._badges.get(name.id)
            count = {"changes": state.count or None, "waiting": self._waiting or None}.get(
                name.id, badge.count if badge else None
            )
            alert = bool(badge and badge.alert) or not lost.isdisjoint(name.files)
            entries.append(entry_of(name, count, alert=alert))
        main_screen.sidebar.set_entries(entries)

    def _show(self, found: Overview) -> None:
        """Show what needs attention in the header, and in the brief if it is open."""
        main_screen, mounted = self.app.main_screen, self.app.state.mounted
        if not main_screen.is_mounted or not self.app.is_running:
            return
        main_screen.header.alerts = found.alerts
        self._waiting = found.waiting
        self.show_badges()
        root = self.workspace.root
        doubts = {at: f"{doubt.band}: {doubt.words}" for doubt in found.doubts for at in doubt.places(root)}
        for one in mounted.values():
            one.take_doubts(doubts)
        pane = mounted.get("brief")
        if found.more is not None and pane is not None and pane.contents is not None:
            pane.say_more(found.more)  # type: ignore[attr-defined]
