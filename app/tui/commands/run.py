"""What the user runs by key: a monitor, a task's action, validation commands; and muting monitors for a while."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from app.tui.live.background import Jobs, Schedule
from app.tui.shell import ACTOR
from memory.files.monitors.model import Monitor
from memory.files.tasks.model import Task
from memory.monitoring.action import ActionRun, run_action
from memory.monitoring.ledger import key_of, ledger_of
from memory.monitoring.run import keep_watch
from memory.monitoring.watch import Watch
from widgets.dialogs.pick import Pick, PickOption

from . import consent
from .conditions import action_of_pane, monitors_of

if TYPE_CHECKING:
    from app.tui.live.background import Job
    from app.tui.spine import Spine

WAIT = 10.0
"""Seconds that a check waits while another process runs the monitors."""
MORNING = time(8)
"""When a mute until tomorrow ends."""


def run(app: Spine) -> None:
    """Run the monitor now, or the task's action; asks for consent first."""
    pane = app.shown_pane
    if app.setup.safe:
        return app.say("Nothing runs with --safe.", severity="warning")
    monitors = monitors_of(pane)
    task = action_of_pane(pane)
    if monitors:
        names = {(monitor.file, monitor.name) for monitor in monitors}
        return consent.first(app, names, ("check", "url"), lambda: _check(app, monitors))
    assert task is not None
    return consent.first(app, {(task.file, task.title)}, ("action",), lambda: _act(app, task))


# Monitors


def _check(app: Spine, monitors: Sequence[Monitor]) -> None:
    now, refs = app.clock(), [monitor.ref for monitor in monitors]

    def work(job: Job) -> Watch:
        schedule = Schedule.of(app)
        return keep_watch(app.shown_workspace, schedule.trust(), now, schedule.services(job), names=refs, wait=WAIT)

    def checked(watch: Watch) -> None:
        Schedule.of(app).told(watch, asked=True)
        app.changed()

    Jobs.of(app).start("checking", work, checked)


# Actions of tasks


def _act(app: Spine, task: Task) -> None:
    now, ref = app.clock(), task.ref

    def work(job: Job) -> ActionRun:
        job.plan((task.title,))
        return run_action(
            app.shown_workspace, Schedule.of(app).trust(), ref, now, actor=ACTOR, environ=app.environ, cancel=job.cancel
        )

    Jobs.of(app).start("running", work, lambda done: _acted(app, task, done))


def _acted(app: Spine, task: Task, done: ActionRun) -> None:
    first, *more = done.outcome.splitlines()
    words = f"{task.title[:60]}: {first}" + (f" {more[-1]}" if more else "")
    app.say(words, severity="information" if done.good else "warning")
    return app.changed()


# Mutes


def mute(app: Spine) -> None:
    """Send no messages about the monitor for a while."""
    monitors = monitors_of(app.shown_pane)
    now = app.clock()
    tomorrow = datetime.combine(now.astimezone(app.zone).date() + timedelta(days=1), MORNING, app.zone)
    ends = {
        "30 minutes": now + timedelta(minutes=30),
        "2 hours": now + timedelta(hours=2),
        "8 hours": now + timedelta(hours=8),
        "until tomorrow": tomorrow,
        "off": None,
    }
    options = [
        PickOption(
            words,
            words,
            "messages are sent again" if until is None else f"until {_clock(app, until, now)}",
            key=key,
        )
        for key, (words, until) in zip("328to", ends.items(), strict=True)
    ]
    who = monitors[0].name if len(monitors) == 1 else f"{len(monitors)} monitors"

    def chosen(answer: str) -> None:
        return _mute(app, [one.name for one in monitors], who, ends[answer])

    return app.ask(Pick(f"Mute {who}", options), chosen)


def _clock(app: Spine, until: datetime, now: datetime) -> str:
    local = until.astimezone(app.zone)
    same_day = local.date() == now.astimezone(app.zone).date()
    return f"{local:%H:%M}" if same_day else f"{local:%a} {local.day} {local:%b %H:%M}"


def _mute(app: Spine, names: list[str], who: str, until: datetime | None) -> None:
    now = app.clock()

    def work(_job: Job) -> tuple[str, ...]:
        with closing(ledger_of(app.shown_workspace)) as ledger:
            for name in names:
                ledger.mute(key_of(name), until)
            return ledger.warnings

    def done(warnings: Any) -> None:
        muted = f"{who}: not muted" if until is None else f"{who}: muted until {_clock(app, until, now)}"
        app.say(f"Not muted: {warnings[0]}" if warnings else muted, severity="error" if warnings else "information")
        app.changed()

    Jobs.of(app).start("muting", work, done)
