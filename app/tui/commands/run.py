"""Runner: what runs because a person pressed a key: a monitor now, a task's action; and muting for a while."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from app.tui.live.jobs import Job
from app.tui.part import Part

from .conditions import action_of_pane, monitors_of
from .write import ACTOR

if TYPE_CHECKING:
    from memory.files.monitors import Monitor
    from memory.files.tasks.model import Task
    from memory.monitoring.checks.action import ActionRun
    from memory.monitoring.run.report import Watch

WAIT = 10.0
"""Seconds that a check waits while another process runs the monitors."""
MORNING = time(8)
"""When a mute until tomorrow ends."""
ALL = "*"


class Runner(Part):
    """Asks for consent where it is missing, then runs in a job, and says how it came out."""

    def run(self) -> None:
        """The chosen monitors, the action of the task under the cursor, or the validation commands of the state."""
        pane = self.app.navigation.pane
        if pane is None:
            return
        if self.app.safe:
            self.app.say("Nothing runs with --safe.", severity="warning")
            return
        if pane.pane_id == "state":
            self.app.consent.first(set(), ("validation",), self.app.state_checks.run_commands)
            return
        monitors = monitors_of(pane)
        task = action_of_pane(pane)
        if monitors:
            names = {(monitor.file, monitor.name) for monitor in monitors}
            self.app.consent.first(names, ("check", "url"), lambda: self._check(monitors))
        elif task is not None:
            self.app.consent.first({(task.file, task.title)}, ("action",), lambda: self._act(task))

    # Monitors

    def _check(self, monitors: Sequence[Monitor]) -> None:
        now = self.app.clock()
        wanted = {monitor.ref: monitor.name for monitor in monitors}

        def work(job: Job) -> tuple[Watch | None, list[str]]:
            from memory.monitoring.run.run import keep_watch
            from memory.trust.consent import checks_of, monitor_asks

            workspace = self.app.workspace
            assert workspace is not None
            trust = self.app.watching.trust()
            checks = checks_of(monitor_asks(workspace.snapshot().monitors.monitors))
            refs, refused = [], []
            for ref, name in wanted.items():
                ask = checks.get(name)
                decision = None if ask is None or trust is None else trust.decide(ask)
                if ask is None or (decision is not None and decision.allowed):
                    refs.append(ref)
                else:
                    why = "there is no state folder to keep approvals in" if decision is None else decision.why
                    refused.append(f"{name} did not run: {why}")
            if not refs:
                return None, refused
            return keep_watch(workspace, trust, now, self.app.watching.ways(job), names=refs, wait=WAIT), refused

        self.app.jobs.start("checking", work, self._checked)

    def _checked(self, result: tuple[Watch | None, list[str]]) -> None:
        watch, refused = result
        if watch is not None:
            self.app.watching.told(watch, asked=True)
        if refused:
            self.app.say("\n".join(refused[:3]), severity="warning")
        self.app.looking.request()
        self.app.watching.look_soon()

    # Actions of tasks

    def _act(self, task: Task) -> None:
        now, ref = self.app.clock(), task.ref

        def work(job: Job) -> ActionRun:
            from memory.monitoring.checks.action import run_action

            workspace = self.app.workspace
            assert workspace is not None
            job.plan((task.title,))
            return run_action(
                workspace,
                self.app.watching.trust(),
                ref,
                now,
                actor=ACTOR,
                environ=self.app.environ,
                cancel=job.cancel,
            )

        self.app.jobs.start("running", work, lambda done: self._acted(task, done))

    def _acted(self, task: Task, done: ActionRun) -> None:
        first, *more = done.outcome.splitlines()
        words = f"{task.title[:60]}: {first}" + (f" {more[-1]}" if more else "")
        self.app.say(words, severity="information" if done.good else "warning")
        self.app.looking.request()
        self.app.looking.show_badges()

    # Mutes

    def mute(self) -> None:
        """Send no messages about the chosen monitors for a while; they are checked all the same."""
        from widgets.dialogs.choose import Choose

        pane = self.app.navigation.pane
        monitors = [] if pane is None else monitors_of(pane)
        if not monitors:
            return
        now = self.app.clock()
        tomorrow = datetime.combine(now.astimezone(self.app.zone).date() + timedelta(days=1), MORNING, self.app.zone)
        ends = {
            "30 minutes": now + timedelta(minutes=30),
            "2 hours": now + timedelta(hours=2),
            "8 hours": now + timedelta(hours=8),
            "until tomorrow": tomorrow,
            "off": None,
        }
        options = [
            (key, words, "messages are sent again" if until is None else f"until {self._clock(until, now)}")
            for key, (words, until) in zip("328to", ends.items(), strict=True)
        ]
        who = monitors[0].name if len(monitors) == 1 else f"{len(monitors)} monitors"

        def chosen(words: str | None) -> None:
            if words is not None:
                self._mute([monitor.name for monitor in monitors], who, ends[words])

        self.app.push_screen(Choose(f"Mute {who}", options), chosen)

    def _clock(self, until: datetime, now: datetime) -> str:
        local = until.astimezone(self.app.zone)
        same_day = local.date() == now.astimezone(self.app.zone).date()
        return f"{local:%H:%M}" if same_day else f"{local:%a} {local.day} {local:%b %H:%M}"

    def _mute(self, names: list[str], who: str, until: datetime | None) -> None:
        now = self.app.clock()

        def work(_job: Job) -> tuple[str, ...]:
            from memory.monitoring.run.ledger import Ledger, key_of

            workspace = self.app.workspace
            assert workspace is not None
            ledger = Ledger(None if workspace.state is None else workspace.state.folder)
            try:
                for name in names:
                    ledger.mute(key_of(name), until)
                return ledger.warnings
            finally:
                ledger.close()

        def done(warnings: Any) -> None:
            if warnings:
                self.app.say(f"Not muted: {warnings[0]}", severity="error")
            else:
                self.app.say(f"{who}: not muted" if until is None else f"{who}: muted until {self._clock(until, now)}")
            self.app.looking.request()
            self.app.watching.look_soon()

        self.app.jobs.start("muting", work, done)
