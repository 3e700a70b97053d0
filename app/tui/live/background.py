"""Work in the background: jobs, and the schedule that starts some by itself.

A job is a check or an action that runs longer beside the screen. It reports its progress and can be cancelled.

The schedule: while the application is open it runs monitors, the heartbeat and maintenance when they are due, if the
workspace's heartbeat is on. Otherwise it changes nothing by itself. Only one application per workspace does so: the one
that holds the lock of the schedule. The others check now and then whether the lock is free. Runs of cron go on beside
it; each due time is run by the program that claims it first.

What may run is known from the approvals, as the command line lists them; asks are collected again when files changed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from app.tui.shell import ThreadReport
from app.tui.spine import Part
from memory.errors import MemdeckError
from memory.files import MEMORY_FILES
from memory.files.snapshot import Snapshot
from memory.maintenance.report import summary
from memory.monitoring.ledger import WATCH, Leader
from memory.monitoring.messages import Addresses
from memory.monitoring.overview import Notice, notice, standings
from memory.monitoring.run import keep_watch
from memory.monitoring.schedule import ACTOR, Ahead, look_ahead, maintain_if_due
from memory.monitoring.watch import Watch, WatchedMonitor, WatchServices
from memory.storage.own_folders import config_home
from memory.systems import approvals_of, entrust, maintain_all, trust_of
from memory.trust.consent import Trust
from widgets.text.styled_text import Line, Piece, line

FAREWELL = 0.5
"""Seconds that leaving waits for a cancelled job."""


class Job:
    """A piece of work in a worker; it can be cancelled."""

    def __init__(self, words: str, moved: Callable[[], object]) -> None:
        """`words` name the work, such as `checking`; `moved` is called after each progress."""
        self.words = words
        self.cancel, self.ended = threading.Event(), threading.Event()
        self.began = time.monotonic()
        self._moved = moved
        self._left: list[str] = []
        self._total = 0

    def plan(self, names: tuple[str, ...]) -> None:
        """Set the steps, by name."""
        self._left, self._total = [*names], len(names)
        self._moved()

    def done(self, name: str) -> None:
        """Note that one step is done."""
        self._left = [other for other in self._left if other != name]
        self._moved()

    def pause(self, seconds: float) -> None:
        """Wait, but only until the job is cancelled."""
        self.cancel.wait(seconds)

    def progress(self) -> str:
        """The progress in words: `checking Disk Space, 2 of 5`."""
        if self.cancel.is_set():
            return f"stopping: {self.words}"
        words = f"{self.words} {self._left[0][:30]}" if self._left else self.words
        if self._total > 1:
            return f"{words}, {min(self._total, self._total - len(self._left) + 1)} of {self._total}"
        seconds = int(time.monotonic() - self.began)
        return f"{words}, {seconds} s" if seconds > 1 else words


class Jobs(Part):
    """Starts jobs, shows them in the header, and cancels them when the application ends."""

    def set_up(self) -> None:
        """Nothing runs yet."""
        self._ticks = self._left = False

    @property
    def running(self) -> list[Job]:
        """The running jobs, the oldest first."""
        return self.app.state.jobs

    def start(
        self,
        words: str,
        work: Callable[[Job], Any],
        then: Callable[[Any], object],
        failed: Callable[[MemdeckError], object] | None = None,
    ) -> Job | None:
        """Run `work` in a worker; `then` gets its result, `failed` its error (default: a message)."""
        if self._left:
            return None
        job = Job(words, lambda: self.app.post_message(ThreadReport(self.show)))

        def run() -> Any:
            try:
                return work(job)
            finally:
                job.ended.set()

        def ended(report: Callable[[Any], object], what: Any) -> None:
            self.running.remove(job)
            self.show()
            self.app.refresh_keys()
            report(what)

        self.running.append(job)
        self.app.work(run, partial(ended, then), partial(ended, failed or self._failed), group="job")
        if not self._ticks:
            self._ticks = True
            self.app.set_interval(1.0, self.show)
        self.show()
        self.app.refresh_keys()
        return job

    def _failed(self, error: MemdeckError) -> None:
        self.app.say_error(error)
        self.app.changed()

    def finish(self) -> None:
        """Wait a moment for the jobs that were cancelled, which end their commands; the application ends."""
        for job in self.running:
            job.ended.wait(FAREWELL)

    def show(self) -> None:
        """Show the running jobs in the header."""
        main_screen = self.app.main_screen
        if not main_screen.is_mounted or not self.app.is_running:
            return
        words: Line = ()
        if self.running:
            more = f" (+{len(self.running) - 1})" if len(self.running) > 1 else ""
            words = line(Piece(f"{self.app.glyphs.half} {self.running[-1].progress()}{more}", "accent"))
        main_screen.header.work = words

    def stop(self) -> None:
        """Stop the running checks and actions."""
        self.cancel()
        self.show()
        self.app.say("Stopping the running jobs…")

    def cancel(self) -> None:
        """Cancel all jobs."""
        for job in self.running:
            job.cancel.set()

    def leave(self) -> None:
        """Cancel all jobs, and start no other."""
        self._left = True
        self.cancel()


BEAT = 1.0
"""Seconds between two checks of the clock."""
NOT_SCHEDULING = frozenset(MEMORY_FILES) - {"monitors.md", "config.md"}
"""The files that neither contain what runs by itself nor when; those of other systems may."""
RETRY = timedelta(seconds=5)
"""How often to check whether the application that keeps the schedule has ended."""
MOST = 4
"""The most lines in which a watch is reported; the rest is only counted."""
_NEWS = {"alert": "is failing", "recovered": "is healthy again"}


class Schedule(Part):
    """Keeps the schedule of monitors, heartbeat and maintenance."""

    def set_up(self) -> None:
        """Nothing is watched yet."""
        self._begun = self._busy = self._left = False
        self._last: datetime | None = None
        self._again: datetime | None = None
        self._leader: Leader | None = None
        self.leads = False
        """Whether this application keeps the schedule of the workspace."""
        self._told: set[str] = set()
        self._lock = threading.Lock()

    @property
    def idle(self) -> bool:
        """Whether the schedule neither looks ahead nor runs anything."""
        return not self._busy

    def begin(self) -> None:
        """Start checking the clock; once, after the first frame."""
        setup = self.app.setup
        keeps = setup.watches if setup.keeps_watch is None else setup.keeps_watch
        if self._begun or not keeps or self.app.workspace is None:
            return
        self._begun = True
        self.app.set_interval(BEAT, self.beat)
        self.beat()

    def files_changed(self, names: frozenset[str]) -> None:
        """Look ahead again at the next beat if files changed that may contain what runs by itself."""
        if not names or not names <= NOT_SCHEDULING:
            self._again = None

    def beat(self) -> None:
        """Look ahead if it is time to, or if the clock jumped back."""
        now = self.app.clock()
        if self._left or self._busy:
            return
        if self._again is not None and self._last is not None and self._last <= now < self._again:
            return
        self._busy = True
        self._last = now
        self._again = now + RETRY
        self.app.work(
            lambda: self._look(now), lambda found: self._looked_ahead(*found, now), self._failed, group="ahead"
        )

    # In threads

    def _look(self, now: datetime) -> tuple[Ahead, bool]:
        """Return what has to run, and whether another application leads."""
        ahead = look_ahead(self.workspace, self.trust(), now)
        return ahead, ahead.heartbeat and not self._lead(keep=not self.app.setup.safe)

    def _lead(self, *, keep: bool) -> bool:
        """Take the lead if no one has it; with `keep=False` only check whether it is free."""
        with self._lock:
            if self.leads:
                return True
            if self._left:
                return False

            leader = Leader(self.workspace.state.folder, WATCH)
            if not leader.take():
                return False
            if keep:
                self._leader, self.leads = leader, True
            else:
                leader.close()
            return True

    def trust(self) -> Trust:
        """Return the user's decisions; a new object, for one thread."""
        return trust_of(self.workspace, config_home(self.app.environ))

    def addresses(self) -> Addresses:
        """Return the addresses of the user's channels; nothing is read yet."""
        environ, workspace = self.app.environ, self.app.workspace
        return Addresses(config_home(environ), environ, workspace=None if workspace is None else workspace.root)

    def services(self, job: Job) -> WatchServices:
        """Return the services that a run of monitors uses; `job` shows its progress and can cancel it."""
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
        """Run the due work; return what maintenance did, in words, and what the watch found."""
        words = ""
        failed: MemdeckError | None = None
        if ahead.upkeep:
            try:
                workspace = self.workspace
                entrust(workspace, self.trust(), self.app.environ)
                report = maintain_if_due(workspace, now, lambda: maintain_all(workspace, now, actor=ACTOR))
                words = "" if report is None or report.change is None else summary(report.rules)
            except MemdeckError as error:
                # A wrong number in config.md must not stop the monitors.
                failed = error
        watch = None
        if ahead.watch and not job.cancel.is_set():
            watch = keep_watch(self.workspace, self.trust(), now, self.services(job))
        if failed is not None:
            raise failed
        return words, watch

    # In the application's thread

    def _looked_ahead(self, ahead: Ahead, others: bool, now: datetime) -> None:
        """Show which application keeps the schedule (`others`: another one), and run the due work if it is this one."""
        self._busy = False
        self._again = min(ahead.again, now + RETRY) if others else ahead.again
        self._show(ahead, others)
        if self.leads and ahead.heartbeat and not self._left and (ahead.watch or ahead.upkeep):
            words = "checking" if ahead.watch else "maintaining"
            job = self.app.jobs.start(words, lambda job: self._keep(job, ahead, now), self._kept, self._failed)
            self._busy = job is not None

    def _show(self, ahead: Ahead, others: bool) -> None:
        """Say in the header which process runs the schedule."""
        main_screen = self.app.main_screen
        if not main_screen.is_mounted or not self.app.is_running:
            # The look-ahead may end while the application does.
            return
        words = "schedule runs in cron only"
        if not ahead.scheduled:
            words = ""
        elif ahead.heartbeat and self.leads:
            words = "schedule runs here"
        elif ahead.heartbeat and others:
            words = "schedule runs in another memdeck"
        main_screen.header.keeper = line(Piece(words, "muted")) if words else ()

    def _kept(self, result: tuple[str, Watch | None]) -> None:
        """Report what ran."""
        self._busy = False
        words, watch = result
        if words:
            self.app.say(words[:1].upper() + words[1:] + ".", beside=True)
        if watch is not None:
            self.told(watch, asked=False)
        # This run claimed the monitors that are due, and may have failed.
        self.app.changed(*NOT_SCHEDULING)

    def _failed(self, error: MemdeckError) -> None:
        self._busy = False
        self._tell((error.message,))
        self.app.changed(*NOT_SCHEDULING)

    def _tell(self, warnings: tuple[str, ...]) -> None:
        """Show warnings, each once."""
        new = [words for words in warnings if words not in self._told]
        self._told.update(new)
        if new:
            self.app.say("\n".join(new[:3]), title="monitors", severity="warning", beside=True)

    def told(self, watch: Watch, *, asked: bool) -> None:
        """Show what a watch found: new alerts and recoveries, and everything if the user asked for the run."""
        words = told_words(watch, asked=asked)
        if words:
            bad = any(one.result.state != "healthy" for one in watch.monitors)
            self.app.say("\n".join(words), severity="warning" if bad else "information", beside=not asked)
        elif watch.warnings:
            self._tell(watch.warnings)

    def leave(self) -> None:
        """Stop; another application may keep the schedule from now on."""
        with self._lock:
            self._left = True
            leader, self._leader = self._leader, None
            self.leads = False
        self.app.jobs.leave()
        if leader is not None:
            leader.close()

    # What panes and the header show besides the files

    def pictures(self, snapshot: Any, now: datetime) -> dict[str, Any]:
        """Return present and past states of the monitors by ref; for a thread, empty before the first frame."""
        if self.app.workspace is None or not self.app.state.had_first_look:
            return {}
        return {one.monitor.ref: one for one in standings(self.app.workspace, snapshot, now, self.trust())}

    def notice(self, snapshot: Snapshot, now: datetime) -> Notice:
        """Return what waits for approval and which monitors are muted; for a worker."""
        approvals = approvals_of(self.workspace, self.trust(), self.app.environ)
        return notice(self.workspace, snapshot, now, approvals)


def told_words(watch: Watch, *, asked: bool) -> list[str]:
    """Return what changed: new alerts, recoveries, and what the heartbeat found; of a run that was asked for all."""
    lines = []
    for one in watch.monitors:
        if asked:
            lines.append(f"{one.monitor.name}: {one.result.state}{_why(one)}")
            if one.repair is not None and one.repair.ran:
                end = ", which helped" if one.repair.helped else f", {one.repair.failure}" if one.repair.failure else ""
                lines.append(f"  ran {one.repair.command}{end}")
        elif not one.silenced:
            lines += [f"{one.monitor.name} {_NEWS[kind]}{_why(one, ': ')}" for kind in one.happenings if kind in _NEWS]
    if watch.beat and not asked:
        rest = len(watch.beat) - 1
        more = f", and {rest} more {'line' if rest == 1 else 'lines'}" if rest else ""
        lines.append(f"The heartbeat wrote to the journal: {watch.beat[0]}{more}")
    return lines if len(lines) <= MOST else [*lines[: MOST - 1], f"and {len(lines) - MOST + 1} more"]


def _why(one: WatchedMonitor, mark: str = ", ") -> str:
    return f"{mark}{one.result.summary}" if one.result.summary else ""
