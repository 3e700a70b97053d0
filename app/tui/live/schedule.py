"""The schedule: while the application is open it runs monitors, the heartbeat and maintenance when they are due, in a
workspace whose heartbeat is switched on; in others it changes nothing by itself.

One application per workspace does so: whoever holds the lock of the schedule; the others look now and then whether it
is free. Runs of cron go on beside it, and each time is run by whoever claims it first.
"""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from app.tui.part import Part
from app.tui.threads import ThreadReport, internal
from memory.errors import MemdeckError
from widgets.text.styled_text import Piece, line

from .approvals import KnownApprovals
from .jobs import Job, Jobs
from .refresh import Refresher

if TYPE_CHECKING:
    from app.tui.commands.context import JobView
    from app.tui.shell import Shell
    from memory.files.snapshot import Snapshot
    from memory.monitoring.alerts.channels import Addresses
    from memory.monitoring.history.charts import Notice
    from memory.monitoring.run.ahead import Ahead
    from memory.monitoring.run.leader import Leader
    from memory.monitoring.run.report import Watch
    from memory.monitoring.run.run import WatchServices
    from memory.trust.consent import Trust

BEAT = 1.0
"""Seconds between two looks at the clock."""
SCHEDULING = frozenset({"monitors.md", "config.md"})
"""The files that say what runs by itself, and when."""
RETRY = timedelta(seconds=5)
"""How often another application is looked for that has ended."""


class Schedule(Part):
    """Keeps the schedule; nothing of it is imported before the first look, and no check before it is due."""

    def __init__(self, app: Shell, refresher: Refresher, jobs: Jobs) -> None:
        """Nothing is watched yet."""
        super().__init__(app)
        self._files, self._jobs = refresher, jobs
        self._begun = False
        self._looking = False
        self._left = False
        self._last: datetime | None = None
        self._again: datetime | None = None
        self._leader: Leader | None = None
        self._leads = False
        self._keeping: Job | None = None
        self._told: set[str] = set()
        self._noticed: tuple[tuple[object, object, object], Notice] | None = None
        self._approvals = KnownApprovals(self.trust, app.environ, safe=app.safe)
        self._decided = 0
        self._lock = threading.Lock()

    @property
    def leads(self) -> bool:
        """Whether this application keeps the schedule of the workspace."""
        return self._leads

    @property
    def idle(self) -> bool:
        """Whether nothing is looked at or run by the schedule."""
        return not self._looking and self._keeping is None

    def begin(self) -> None:
        """Begin to look at the clock; once, after the first picture."""
        if self._begun or not self.app.setup.keeps_watch or self.app.workspace is None:
            return
        self._begun = True
        self.app.set_interval(BEAT, self.beat)
        self.beat()

    def files_changed(self, names: frozenset[str]) -> None:
        """Look again where files changed that say what runs by itself, or nobody knows which did."""
        if not names or names & SCHEDULING:
            self.look_soon()

    def look_soon(self) -> None:
        """Files or approvals changed: look again with the next beat."""
        self._again = None
        self._forget_notice()

    def _forget_notice(self) -> None:
        """Somebody decided something: a look that is under way may not have seen it."""
        self._decided += 1

    def beat(self) -> None:
        """Look ahead if it is time to; a clock that jumped back is a reason as well."""
        now = self.app.clock()
        if self._left or self._looking or self._keeping is not None:
            return
        if self._again is not None and self._last is not None and self._last <= now < self._again:
            return
        self._looking = True
        self._last = now
        self._again = now + RETRY
        threading.Thread(target=self._look, args=(now,), name="look-ahead", daemon=True).start()

    # In threads

    def _look(self, now: datetime) -> None:
        """Find out who leads and what is due."""
        app = self.app
        ahead: Ahead | None = None
        error: MemdeckError | None = None
        others = False
        try:
            from memory.monitoring.run.ahead import look_ahead

            assert app.workspace is not None
            ahead = look_ahead(app.workspace, self.trust(), now)
            if ahead.heartbeat:
                others = not self._lead(keep=not app.safe)
        except Exception as found:
            error = found if isinstance(found, MemdeckError) else internal(found)
        try:
            app.post_message(ThreadReport(partial(self._looked_ahead, ahead, now, error, others=others)))
        except RuntimeError:
            return

    def _lead(self, *, keep: bool) -> bool:
        """Take the lead if nobody has it; with `keep=False` only look whether nobody has."""
        with self._lock:
            if self._leads:
                return True
            if self._left:
                return False
            from memory.monitoring.run.leader import WATCH, Leader

            workspace = self.app.workspace
            assert workspace is not None
            leader = Leader(None if workspace.state is None else workspace.state.folder, WATCH)
            if not leader.take():
                return False
            if keep:
                self._leader, self._leads = leader, True
            else:
                leader.release()
            return True

    def trust(self) -> Trust | None:
        """What the person decided; a new object, for one thread."""
        from memory.person import config_home
        from memory.trust.consent import trust_of

        assert self.app.workspace is not None
        return trust_of(self.app.workspace, config_home(self.app.environ))

    def addresses(self) -> Addresses:
        """The addresses of the person's channels; nothing is read yet."""
        from memory.monitoring.alerts.channels import Addresses
        from memory.person import config_home

        environ, workspace = self.app.environ, self.app.workspace
        return Addresses(config_home(environ), environ, workspace=None if workspace is None else workspace.root)

    def ways(self, job: JobView) -> WatchServices:
        """What a run of this application reaches; it says how far it is, and can be called off."""
        from memory.monitoring.run.run import WatchServices

        environ = self.app.environ
        return WatchServices(
            environ,
            self.addresses(),
            pause=job.pause,
            found=lambda result: job.done(result.monitor),
            cancel=job.cancel,
            planned=job.plan,
        )

    def _keep(self, job: Job, ahead: Ahead, now: datetime) -> tuple[str, Watch | None]:
        """Run what is due; returns what maintenance did, in words, and what the watch found."""
        workspace = self.app.workspace
        assert workspace is not None
        words = ""
        failed: MemdeckError | None = None
        if ahead.upkeep:
            try:
                words = self._maintain(now)
            except MemdeckError as error:
                # A wrong number in config.md must not leave the monitors unwatched.
                failed = error
        watch = None
        if ahead.watch and not job.cancel.cancelled:
            from memory.monitoring.run.run import keep_watch

            watch = keep_watch(workspace, self.trust(), now, self.ways(job))
        if failed is not None:
            raise failed
        return words, watch

    def _maintain(self, now: datetime) -> str:
        from memory.maintenance.report import summary
        from memory.monitoring.run.maintenance_schedule import ACTOR, maintain_if_due
        from memory.systems import entrust, maintain_all

        workspace = self.app.workspace
        assert workspace is not None
        entrust(workspace, self.trust(), self.app.environ)
        report = maintain_if_due(workspace, now, lambda: maintain_all(workspace, now, actor=ACTOR))
        return "" if report is None or report.change is None else summary(report.rules)

    # In the application's thread

    def _looked_ahead(self, ahead: Ahead | None, now: datetime, error: MemdeckError | None, *, others: bool) -> None:
        """Say who keeps the schedule, and run what is due if that is this application.

        `ahead` is None where it could not be found out; `others`: another application keeps the schedule.
        """
        self._looking = False
        if error is not None:
            self._tell((error.message,))
        if ahead is None:
            return
        self._again = min(ahead.again, now + RETRY) if others else ahead.again
        self._show(ahead, others)
        if self._leads and ahead.heartbeat and not self._left and (ahead.watch or ahead.upkeep):
            self._keeping = self._jobs.start(
                "checking" if ahead.watch else "maintaining",
                lambda job: self._keep(job, ahead, now),
                self._kept,
                self._failed,
            )

    def _show(self, ahead: Ahead, others: bool) -> None:
        """Who runs what is due, at the end of the header."""
        main_screen = self.app.main_screen
        if not main_screen.is_mounted or not self.app.is_running:
            # A look may end while the application does.
            return
        if not ahead.scheduled:
            words = ""
        elif not ahead.heartbeat:
            words = "heartbeat off, only cron keeps watch"
        elif self._leads:
            words = "heartbeat on, keeps watch"
        else:
            words = "another memdeck keeps watch" if others else "only cron keeps watch"
        main_screen.header.keeper = line(Piece(words, "muted")) if words else ()

    def _kept(self, result: tuple[str, Watch | None]) -> None:
        """What is due has run."""
        self._keeping = None
        self._forget_notice()
        words, watch = result
        if words:
            self.app.say(words[:1].upper() + words[1:] + ".")
        if watch is not None:
            self.told(watch, asked=False)
        self._files.request()

    def _failed(self, error: MemdeckError) -> None:
        self._keeping = None
        self._tell((error.message,))
        self._files.request()

    def _tell(self, warnings: tuple[str, ...]) -> None:
        """Say what went wrong, each once."""
        new = [words for words in warnings if words not in self._told]
        self._told.update(new)
        if new:
            self.app.say("\n".join(new[:3]), title="monitors", severity="warning")

    def told(self, watch: Watch, *, asked: bool) -> None:
        """Say what a watch found: what alerts or is well again, and all of it where somebody asked."""
        from .watch_report import found_words, news_words

        words = found_words(watch) if asked else news_words(watch)
        if words:
            bad = any(one.result.state != "healthy" for one in watch.monitors)
            self.app.say("\n".join(words), severity="warning" if bad else "information")
        elif watch.warnings:
            self._tell(watch.warnings)

    def leave(self) -> None:
        """Stop; another application may keep the schedule now."""
        with self._lock:
            self._left = True
            leader, self._leader = self._leader, None
            self._leads = False
        self._jobs.leave()
        if leader is not None:
            leader.release()

    # What panes and the header show beside the files

    def pictures(self, snapshot: Any, now: datetime) -> dict[str, Any]:
        """How monitors are and were, by ref; for a thread, and nothing before the first picture."""
        if self.app.workspace is None or not self._files.had_first_look:
            return {}
        from memory.monitoring.history.charts import pictures

        return dict(pictures(self.app.workspace, snapshot, now, self.trust()))

    def notice(self, snapshot: Snapshot, now: datetime) -> Notice:
        """Who waits for an approval and who is muted; for a thread.

        The same as before while the same is asked for and nobody decided anything here: decisions that are made
        elsewhere are seen with the next tick.
        """
        from memory.monitoring.history.charts import Notice, notice

        workspace = self.app.workspace
        if workspace is None:
            return Notice()
        decided = self._decided
        approvals = self._approvals.look(workspace, snapshot, now, decided, self._files.other_changes)
        # Who is muted is in no file: asked again whenever the approvals are, also where those are as they were.
        basis = (snapshot.document("monitors.md"), approvals, (decided, self._approvals.since))
        known = self._noticed
        if known is None or known[0][2] != basis[2] or known[0][0] is not basis[0] or known[0][1] is not basis[1]:
            known = self._noticed = (basis, notice(workspace, snapshot, now, approvals))
        return known[1]
