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
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from app.tui.shell import Part, Progress, Shell, ThreadReport, internal
from memory.errors import MemdeckError
from widgets.text.styled_text import Line, Piece, line

from .refresh import Refresher

if TYPE_CHECKING:
    from textual.message import Message

    from app.tui.commands.interface import JobView
    from memory.files.snapshot import Snapshot
    from memory.monitoring.alerts.channels import Addresses
    from memory.monitoring.history.charts import Notice
    from memory.monitoring.run.cancel import Cancel
    from memory.monitoring.run.leader import Leader
    from memory.monitoring.run.report import Watch, WatchedMonitor
    from memory.monitoring.run.run import WatchServices
    from memory.monitoring.run.schedule import Ahead
    from memory.systems import Approval
    from memory.trust.consent import Ask, Trust
    from memory.workspace import Workspace

FAREWELL = 0.5
"""Seconds that leaving waits for cancelled jobs; what takes longer is left behind."""


class Job:
    """A piece of work in its own thread, which does not keep the application from ending."""

    def __init__(self, words: str, cancel: Cancel, moved: Callable[[], object]) -> None:
        """`words` name what is done, such as `checking`; `moved` is called after each progress."""
        self.words = words
        self.cancel = cancel
        self.began = time.monotonic()
        self.thread: threading.Thread | None = None
        self._moved = moved
        self._names: dict[str, None] = {}
        self._total = 0

    def plan(self, names: tuple[str, ...]) -> None:
        """Set the steps, by name."""
        self._names = dict.fromkeys(names)
        self._total = len(self._names)
        self._moved()

    def done(self, name: str) -> None:
        """Note that one step is done."""
        self._names = {other: None for other in self._names if other != name}
        self._moved()

    def pause(self, seconds: float) -> None:
        """Wait, but only until the job is cancelled."""
        woken = threading.Event()
        take_back = self.cancel.add(woken.set)
        woken.wait(seconds)
        take_back()

    def progress(self) -> str:
        """The progress in words: `checking Disk Space, 2 of 5`."""
        if self.cancel.cancelled:
            return f"stopping: {self.words}"
        current = next(iter(self._names), "")
        name = f" {current[:30]}" if current else ""
        if self._total > 1:
            return f"{self.words}{name}, {min(self._total, self._total - len(self._names) + 1)} of {self._total}"
        seconds = int(time.monotonic() - self.began)
        return f"{self.words}{name}" + (f", {seconds} s" if seconds > 1 else "")


class Jobs(Part):
    """Starts jobs, shows them in the header, and ends them when the application does."""

    def __init__(self, app: Shell) -> None:
        """Nothing runs yet."""
        super().__init__(app)
        self._running: list[Job] = []
        self._ticks = False
        self._left = False

    @property
    def running(self) -> tuple[Job, ...]:
        """The running jobs, the oldest first."""
        return tuple(self._running)

    def start(
        self,
        words: str,
        work: Callable[[Job], Any],
        then: Callable[[Any], None],
        failed: Callable[[MemdeckError], None],
    ) -> Job | None:
        """Run `work(job)` in a thread; `then` gets its result, `failed` its error, both in this thread."""
        from memory.monitoring.run.cancel import Cancel

        if self._left:
            return None
        job = Job(words, Cancel(), lambda: self.post(Progress(self.show)))

        def run() -> None:
            error: MemdeckError | None = None
            result: Any = None
            try:
                result = work(job)
            except Exception as found:
                error = found if isinstance(found, MemdeckError) else internal(found)
            self.post(ThreadReport(partial(self._ended, job, result, error, then, failed)))

        job.thread = threading.Thread(target=run, name=f"job-{words}", daemon=True)
        self._running.append(job)
        job.thread.start()
        if not self._ticks:
            self._ticks = True
            self.app.set_interval(1.0, self.show)
        self.show()
        self.app.refresh_keys()
        return job

    def post(self, message: Message) -> None:
        """Send a message to the application, which may have ended meanwhile."""
        try:
            self.app.post_message(message)
        except RuntimeError:
            return

    def _ended(
        self,
        job: Job,
        result: Any,
        error: MemdeckError | None,
        then: Callable[[Any], None],
        failed: Callable[[MemdeckError], None],
    ) -> None:
        """Pass on the result of a job, or its error."""
        if job in self._running:
            self._running.remove(job)
        self.show()
        self.app.refresh_keys()
        if error is None:
            then(result)
        else:
            failed(error)

    def show(self) -> None:
        """Show the running jobs in the header."""
        main_screen = self.app.main_screen
        if main_screen.is_mounted and self.app.is_running:
            main_screen.header.work = self._words()

    def _words(self) -> Line:
        if not self._running:
            return ()
        glyphs = self.app.glyphs
        more = f" (+{len(self._running) - 1})" if len(self._running) > 1 else ""
        words = f"{glyphs.half} {self._running[-1].progress()}{more}"
        return line(Piece(words, "accent"))

    def stop(self) -> None:
        """Stop the checks and actions that run now."""
        for job in self._running:
            job.cancel.cancel()
        self.show()
        self.app.say("Stopping what runs.")

    def leave(self) -> None:
        """Cancel all jobs, and start no other."""
        self._left = True
        for job in self._running:
            job.cancel.cancel()

    def finish(self) -> None:
        """Wait a moment for the jobs that were cancelled; what takes longer ends with the process."""
        until = time.monotonic() + FAREWELL
        for job in self._running:
            if job.thread is not None:
                job.thread.join(max(0.0, until - time.monotonic()))


LASTS = timedelta(seconds=20)
"""How long decisions are cached; to find out whether they changed, every command and its scripts are read."""


class _Basis(NamedTuple):
    """What the result depends on: when everything was last collected, and what is asked for."""

    since: datetime
    decisions: int
    monitors: tuple[Ask, ...]
    tasks: tuple[Ask, ...]
    others: tuple[tuple[str, Ask], ...]


class KnownApprovals:
    """Caches the asks and the decisions about them; for one thread at a time."""

    def __init__(self, trust: Callable[[], Trust | None], environ: Mapping[str, str], *, safe: bool = False) -> None:
        """Nothing is collected yet. `trust` reads the user's decisions. `safe`: systems are not given the decisions."""
        self._trust, self._environ, self._safe = trust, environ, safe
        self._asked: dict[str, tuple[object, tuple[Ask, ...]]] = {}
        self._others: tuple[int, tuple[tuple[str, Ask], ...]] = (0, ())
        self._basis: _Basis | None = None
        self._found: tuple[Approval, ...] = ()
        self._kept: Trust | None = None

    @property
    def since(self) -> datetime | None:
        """When everything was last collected from scratch."""
        return None if self._basis is None else self._basis.since

    def look(
        self, workspace: Workspace, snapshot: Snapshot, now: datetime, decisions: int, other_changes: int
    ) -> tuple[Approval, ...]:
        """Return all asks with their decisions: the same object as before if nothing changed. Asks have no line number.

        `decisions` counts the decisions made here, `other_changes` how often files other than those of entries may have
        changed. Decisions made elsewhere, and other files that commands name, are noticed after `LASTS`.
        """
        from memory.systems import Approval
        from memory.systems.files import monitors_want
        from memory.trust.asks import task_asks

        before = self._basis
        if before is None or before.decisions != decisions or not timedelta(0) <= now - before.since < LASTS:
            before, since = None, now
        else:
            since = before.since
        if before is None or self._others[0] != other_changes:
            others = self._of_others(workspace)
            # Equal asks keep the same object, so that they are not decided again.
            self._others = (other_changes, others if others != self._others[1] else self._others[1])
        monitors = self._own(
            "monitors.md", snapshot, lambda: tuple(replace(ask, line=0) for ask in monitors_want(snapshot))
        )
        tasks = self._own(
            "tasks.md", snapshot, lambda: tuple(replace(ask, line=0) for ask in task_asks(snapshot.tasks))
        )
        basis = _Basis(since, decisions, monitors, tasks, self._others[1])
        if basis != before:
            asks = (*(("files", ask) for ask in (*monitors, *tasks)), *self._others[1])
            trust = self._decisions()
            decided = [] if trust is None else trust.decide_all(ask for _, ask in asks)
            found = tuple(Approval(name, ask, one) for (name, ask), one in zip(asks, decided, strict=trust is not None))
            self._basis = basis
            if found != self._found:
                self._found = found
        return self._found

    def _own(self, file: str, snapshot: Snapshot, asks: Callable[[], tuple[Ask, ...]]) -> tuple[Ask, ...]:
        """Return what a memory file asks for, collected again if its document is another one."""
        document, known = snapshot.document(file), self._asked.get(file)
        if known is None or known[0] is not document:
            # An entry's line changes with each line above it, and no decision depends on it.
            known = self._asked[file] = (document, asks())
        return known[1]

    def _of_others(self, workspace: Workspace) -> tuple[tuple[str, Ask], ...]:
        """Return what the other systems ask for; nothing of a system that raises an error."""
        from memory.systems import systems_of

        found: list[tuple[str, Ask]] = []
        trust = None if self._safe else self._decisions()
        for system in systems_of(workspace):
            if system.name == "files":
                continue
            with suppress(MemdeckError):
                if trust is not None:
                    system.entrust(trust, self._environ)
                found += [(system.name, ask) for ask in system.wants()]
        return tuple(found)

    def _decisions(self) -> Trust | None:
        """Return the decisions: the same object while the user's settings are the same, because it caches scripts it
        read.
        """
        trust, kept = self._trust(), self._kept
        if trust is None or kept is None or (kept.workspace, kept.settings) != (trust.workspace, trust.settings):
            self._kept = trust
        return self._kept


BEAT = 1.0
"""Seconds between two checks of the clock."""
SCHEDULING = frozenset({"monitors.md", "config.md"})
"""The files that define what runs by itself, and when."""
RETRY = timedelta(seconds=5)
"""How often to check whether the application that keeps the schedule has ended."""
MOST = 4
"""The most lines in which a watch is reported; the rest is only counted."""
_NEWS = {"alert": "alerts", "recovered": "is well again", "flapping": "is flapping"}


class Schedule(Part):
    """Keeps the schedule. Nothing is imported before the first check of the clock, and no monitor before it is due."""

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
        self.leads = False
        """Whether this application keeps the schedule of the workspace."""
        self._keeping: Job | None = None
        self._told: set[str] = set()
        self._noticed: tuple[tuple[object, object, object], Notice] | None = None
        self._approvals = KnownApprovals(self.trust, app.environ, safe=app.safe)
        self._decided = 0
        self._lock = threading.Lock()

    @property
    def idle(self) -> bool:
        """Whether the schedule neither looks ahead nor runs anything."""
        return not self._looking and self._keeping is None

    def begin(self) -> None:
        """Start checking the clock; once, after the first frame."""
        if self._begun or not self.app.setup.keeps_watch or self.app.workspace is None:
            return
        self._begun = True
        self.app.set_interval(BEAT, self.beat)
        self.beat()

    def files_changed(self, names: frozenset[str]) -> None:
        """Look ahead again if files changed that define what runs by itself, or if it is not known which changed."""
        if not names or names & SCHEDULING:
            self.look_soon()

    def look_soon(self) -> None:
        """Look ahead again at the next beat, because files or approvals changed."""
        self._again = None
        self._forget_notice()

    def _forget_notice(self) -> None:
        """Drop the cached notice after a decision: one that is being computed may not include it."""
        self._decided += 1

    def beat(self) -> None:
        """Look ahead if it is time to, or if the clock jumped back."""
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
        """Find out which application leads and what is due."""
        ahead: Ahead | None = None
        error: MemdeckError | None = None
        others = False
        try:
            from memory.monitoring.run.schedule import look_ahead

            ahead = look_ahead(self.workspace, self.trust(), now)
            if ahead.heartbeat:
                others = not self._lead(keep=not self.app.safe)
        except Exception as found:
            error = found if isinstance(found, MemdeckError) else internal(found)
        self._jobs.post(ThreadReport(partial(self._looked_ahead, ahead, now, error, others=others)))

    def _lead(self, *, keep: bool) -> bool:
        """Take the lead if no one has it; with `keep=False` only check whether it is free."""
        with self._lock:
            if self.leads:
                return True
            if self._left:
                return False
            from memory.monitoring.run.leader import WATCH, Leader

            state = self.workspace.state
            leader = Leader(None if state is None else state.folder, WATCH)
            if not leader.take():
                return False
            if keep:
                self._leader, self.leads = leader, True
            else:
                leader.close()
            return True

    def trust(self) -> Trust | None:
        """Return the user's decisions; a new object, for one thread."""
        from memory.storage.own_folders import config_home
        from memory.trust.consent import trust_of

        return trust_of(self.workspace, config_home(self.app.environ))

    def addresses(self) -> Addresses:
        """Return the addresses of the user's channels; nothing is read yet."""
        from memory.monitoring.alerts.channels import Addresses
        from memory.storage.own_folders import config_home

        environ, workspace = self.app.environ, self.app.workspace
        return Addresses(config_home(environ), environ, workspace=None if workspace is None else workspace.root)

    def services(self, job: JobView) -> WatchServices:
        """Return the services that a run of monitors uses; `job` shows its progress and can cancel it."""
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
        """Run what is due; return what maintenance did, in words, and what the watch found."""
        words = ""
        failed: MemdeckError | None = None
        if ahead.upkeep:
            try:
                words = self._maintain(now)
            except MemdeckError as error:
                # A wrong number in config.md must not stop the monitors.
                failed = error
        watch = None
        if ahead.watch and not job.cancel.cancelled:
            from memory.monitoring.run.run import keep_watch

            watch = keep_watch(self.workspace, self.trust(), now, self.services(job))
        if failed is not None:
            raise failed
        return words, watch

    def _maintain(self, now: datetime) -> str:
        from memory.maintenance.report import summary
        from memory.monitoring.run.schedule import ACTOR, maintain_if_due
        from memory.systems import entrust, maintain_all

        workspace = self.workspace
        entrust(workspace, self.trust(), self.app.environ)
        report = maintain_if_due(workspace, now, lambda: maintain_all(workspace, now, actor=ACTOR))
        return "" if report is None or report.change is None else summary(report.rules)

    # In the application's thread

    def _looked_ahead(self, ahead: Ahead | None, now: datetime, error: MemdeckError | None, *, others: bool) -> None:
        """Show which application keeps the schedule, and run what is due if it is this one.

        `ahead` is None if it could not be found out; `others`: another application keeps the schedule.
        """
        self._looking = False
        if error is not None:
            self._tell((error.message,))
        if ahead is None:
            return
        self._again = min(ahead.again, now + RETRY) if others else ahead.again
        self._show(ahead, others)
        if self.leads and ahead.heartbeat and not self._left and (ahead.watch or ahead.upkeep):
            self._keeping = self._jobs.start(
                "checking" if ahead.watch else "maintaining",
                lambda job: self._keep(job, ahead, now),
                self._kept,
                self._failed,
            )

    def _show(self, ahead: Ahead, others: bool) -> None:
        """Show what keeps the schedule at the end of the header."""
        main_screen = self.app.main_screen
        if not main_screen.is_mounted or not self.app.is_running:
            # The look-ahead may end while the application does.
            return
        if not ahead.scheduled:
            words = ""
        elif not ahead.heartbeat:
            words = "heartbeat off, only cron keeps watch"
        elif self.leads:
            words = "heartbeat on, keeps watch"
        else:
            words = "another memdeck keeps watch" if others else "only cron keeps watch"
        main_screen.header.keeper = line(Piece(words, "muted")) if words else ()

    def _kept(self, result: tuple[str, Watch | None]) -> None:
        """Report what ran."""
        self._keeping = None
        self._forget_notice()
        words, watch = result
        if words:
            self.app.say(words[:1].upper() + words[1:] + ".", beside=True)
        if watch is not None:
            self.told(watch, asked=False)
        self._files.request()

    def _failed(self, error: MemdeckError) -> None:
        self._keeping = None
        self._tell((error.message,))
        self._files.request()

    def _tell(self, warnings: tuple[str, ...]) -> None:
        """Show warnings, each once."""
        new = [words for words in warnings if words not in self._told]
        self._told.update(new)
        if new:
            self.app.say("\n".join(new[:3]), title="monitors", severity="warning", beside=True)

    def told(self, watch: Watch, *, asked: bool) -> None:
        """Show what a watch found: new alerts and recoveries, and everything if the user asked for the run."""
        words = found_words(watch) if asked else news_words(watch)
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
        self._jobs.leave()
        if leader is not None:
            leader.close()

    # What panes and the header show besides the files

    def pictures(self, snapshot: Any, now: datetime) -> dict[str, Any]:
        """Return present and past states of the monitors by ref; for a thread, empty before the first frame."""
        if self.app.workspace is None or not self._files.had_first_look:
            return {}
        from memory.monitoring.history.charts import pictures

        return dict(pictures(self.app.workspace, snapshot, now, self.trust()))

    def notice(self, snapshot: Snapshot, now: datetime) -> Notice:
        """Return what waits for approval and what is muted; for a thread.

        The same object as before as long as asks and decisions made here are the same. Decisions made elsewhere are
        noticed with the next tick.
        """
        from memory.monitoring.history.charts import Notice, notice

        workspace = self.app.workspace
        if workspace is None:
            return Notice()
        decided = self._decided
        approvals = self._approvals.look(workspace, snapshot, now, decided, self._files.other_changes)
        # No file says what is muted: read it again whenever the approvals are collected, even if they are the same.
        basis = (snapshot.document("monitors.md"), approvals, (decided, self._approvals.since))
        known = self._noticed
        if known is None or known[0][2] != basis[2] or known[0][0] is not basis[0] or known[0][1] is not basis[1]:
            known = self._noticed = (basis, notice(workspace, snapshot, now, approvals))
        return known[1]


def news_words(watch: Watch) -> list[str]:
    """Return only what changed: new alerts, recoveries, and what the heartbeat found."""
    lines = [
        f"{one.monitor.name} {_NEWS[kind]}{_why(one)}"
        for one in watch.monitors
        for kind in one.happenings
        if kind in _NEWS and not one.silenced
    ]
    if watch.beat:
        rest = len(watch.beat) - 1
        more = f"; {rest} more {'line' if rest == 1 else 'lines'} about them in the journal" if rest else ""
        lines.append(f"Heartbeat: {watch.beat[0]}{more}")
    return _few(lines)


def found_words(watch: Watch) -> list[str]:
    """Return the result of each monitor."""
    lines = []
    for one in watch.monitors:
        lines.append(f"{one.monitor.name}: {one.result.state}{_why(one)}")
        if one.repair is not None and one.repair.ran:
            end = ", which helped" if one.repair.helped else f", {one.repair.failure}" if one.repair.failure else ""
            lines.append(f"  ran {one.repair.command}{end}")
    return _few(lines)


def _why(one: WatchedMonitor) -> str:
    return f", {one.result.summary}" if one.result.summary else ""


def _few(lines: list[str]) -> list[str]:
    return lines if len(lines) <= MOST else [*lines[: MOST - 1], f"and {len(lines) - MOST + 1} more"]
