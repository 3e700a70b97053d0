"""What the user runs by key: a monitor, a task's action, validation commands; and muting monitors for a while."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from datetime import datetime, time, timedelta
from typing import Any

from memory.files.monitors import Monitor
from memory.files.tasks.model import Task
from memory.monitoring.checks.action import ActionRun, run_action
from memory.monitoring.run.ledger import key_of, ledger_of
from memory.monitoring.run.report import Watch
from memory.monitoring.run.run import keep_watch
from memory.trust.consent import checks_of, monitor_asks
from widgets.dialogs.pick import Pick, PickOption

from .conditions import action_of_pane, monitors_of
from .context import ACTOR, Context, JobView, Step, open_pane, steps

WAIT = 10.0
"""Seconds that a check waits while another process runs the monitors."""
MORNING = time(8)
"""When a mute until tomorrow ends."""


def run(context: Context) -> Step:
    """Run the monitor now, or the task's action; asks for consent first."""
    pane = open_pane(context)
    if context.safe:
        return context.say("Nothing runs with --safe.", severity="warning")
    monitors = monitors_of(pane)
    task = action_of_pane(pane)
    if monitors:
        names = {(monitor.file, monitor.name) for monitor in monitors}
        return context.consent(names, ("check", "url"), lambda: _check(context, monitors))
    assert task is not None
    return context.consent({(task.file, task.title)}, ("action",), lambda: _act(context, task))


# Monitors


def _check(context: Context, monitors: Sequence[Monitor]) -> Step:
    now = context.clock()
    wanted = {monitor.ref: monitor.name for monitor in monitors}

    def work(job: JobView) -> tuple[Watch | None, list[str]]:
        workspace, trust = context.workspace, context.trust()
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
        return keep_watch(workspace, trust, now, context.services(job), names=refs, wait=WAIT), refused

    return context.run("checking", work, lambda result: _checked(context, result))


def _checked(context: Context, result: tuple[Watch | None, list[str]]) -> Step:
    watch, refused = result
    return steps(
        (
            None if watch is None else context.say_watch(watch),
            context.say("\n".join(refused[:3]), severity="warning") if refused else None,
            context.read_again(),
            context.reschedule(),
        )
    )


# Actions of tasks


def _act(context: Context, task: Task) -> Step:
    now, ref = context.clock(), task.ref

    def work(job: JobView) -> ActionRun:
        job.plan((task.title,))
        return run_action(
            context.workspace, context.trust(), ref, now, actor=ACTOR, environ=context.environ, cancel=job.cancel
        )

    return context.run("running", work, lambda done: _acted(context, task, done))


def _acted(context: Context, task: Task, done: ActionRun) -> Step:
    first, *more = done.outcome.splitlines()
    words = f"{task.title[:60]}: {first}" + (f" {more[-1]}" if more else "")
    return steps((context.say(words, severity="information" if done.good else "warning"), context.read_again()))


# Mutes


def mute(context: Context) -> Step:
    """Send no messages about the monitor for a while."""
    monitors = monitors_of(open_pane(context))
    now = context.clock()
    tomorrow = datetime.combine(now.astimezone(context.zone).date() + timedelta(days=1), MORNING, context.zone)
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
            "messages are sent again" if until is None else f"until {_clock(context, until, now)}",
            key=key,
        )
        for key, (words, until) in zip("328to", ends.items(), strict=True)
    ]
    who = monitors[0].name if len(monitors) == 1 else f"{len(monitors)} monitors"

    def chosen(answer: tuple[str, str]) -> Step:
        return _mute(context, [one.name for one in monitors], who, ends[answer[1]])

    return context.ask(Pick(f"Mute {who}", options), chosen)


def _clock(context: Context, until: datetime, now: datetime) -> str:
    local = until.astimezone(context.zone)
    same_day = local.date() == now.astimezone(context.zone).date()
    return f"{local:%H:%M}" if same_day else f"{local:%a} {local.day} {local:%b %H:%M}"


def _mute(context: Context, names: list[str], who: str, until: datetime | None) -> Step:
    now = context.clock()

    def work(_job: JobView) -> tuple[str, ...]:
        with closing(ledger_of(context.workspace)) as ledger:
            for name in names:
                ledger.mute(key_of(name), until)
            return ledger.warnings

    def done(warnings: Any) -> Step:
        muted = f"{who}: not muted" if until is None else f"{who}: muted until {_clock(context, until, now)}"
        said = context.say(f"Not muted: {warnings[0]}", severity="error") if warnings else context.say(muted)
        return steps((said, context.read_again(), context.reschedule()))

    return context.run("muting", work, done)
