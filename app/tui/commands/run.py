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
from widgets.dialogs.choose import Choose

from .conditions import action_of_pane, monitors_of
from .interface import (
    ACTOR,
    AskConsent,
    Context,
    JobView,
    OpenDialog,
    ReadAgain,
    Reschedule,
    RunJob,
    Say,
    SayWatch,
    Step,
    Steps,
    open_pane,
    open_workspace,
)
from .state_checks import run_commands

WAIT = 10.0
"""Seconds that a check waits while another process runs the monitors."""
MORNING = time(8)
"""When a mute until tomorrow ends."""
ALL = "*"


def run(context: Context) -> Step:
    """Run the monitor now, or the task's action; asks for consent first."""
    pane = open_pane(context)
    if context.safe:
        return Say("Nothing runs with --safe.", severity="warning")
    if pane.pane_id == "state":
        return AskConsent(set(), ("validation",), lambda: run_commands(context))
    monitors = monitors_of(pane)
    task = action_of_pane(pane)
    if monitors:
        names = {(monitor.file, monitor.name) for monitor in monitors}
        return AskConsent(names, ("check", "url"), lambda: _check(context, monitors))
    assert task is not None
    return AskConsent({(task.file, task.title)}, ("action",), lambda: _act(context, task))


# Monitors


def _check(context: Context, monitors: Sequence[Monitor]) -> Step:
    now = context.clock()
    wanted = {monitor.ref: monitor.name for monitor in monitors}

    def work(job: JobView) -> tuple[Watch | None, list[str]]:
        workspace, trust = open_workspace(context), context.trust()
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

    return RunJob("checking", work, _checked)


def _checked(result: tuple[Watch | None, list[str]]) -> Step:
    watch, refused = result
    return Steps(
        (
            None if watch is None else SayWatch(watch),
            Say("\n".join(refused[:3]), severity="warning") if refused else None,
            ReadAgain(),
            Reschedule(),
        )
    )


# Actions of tasks


def _act(context: Context, task: Task) -> Step:
    now, ref = context.clock(), task.ref

    def work(job: JobView) -> ActionRun:
        job.plan((task.title,))
        return run_action(
            open_workspace(context),
            context.trust(),
            ref,
            now,
            actor=ACTOR,
            environ=context.environ,
            cancel=job.cancel,
        )

    return RunJob("running", work, lambda done: _acted(task, done))


def _acted(task: Task, done: ActionRun) -> Step:
    first, *more = done.outcome.splitlines()
    words = f"{task.title[:60]}: {first}" + (f" {more[-1]}" if more else "")
    return Steps((Say(words, severity="information" if done.good else "warning"), ReadAgain()))


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
        (key, words, "messages are sent again" if until is None else f"until {_clock(context, until, now)}")
        for key, (words, until) in zip("328to", ends.items(), strict=True)
    ]
    who = monitors[0].name if len(monitors) == 1 else f"{len(monitors)} monitors"

    def chosen(words: str) -> Step:
        return _mute(context, [one.name for one in monitors], who, ends[words])

    return OpenDialog(Choose(f"Mute {who}", options), chosen)


def _clock(context: Context, until: datetime, now: datetime) -> str:
    local = until.astimezone(context.zone)
    same_day = local.date() == now.astimezone(context.zone).date()
    return f"{local:%H:%M}" if same_day else f"{local:%a} {local.day} {local:%b %H:%M}"


def _mute(context: Context, names: list[str], who: str, until: datetime | None) -> Step:
    now = context.clock()

    def work(_job: JobView) -> tuple[str, ...]:
        with closing(ledger_of(open_workspace(context))) as ledger:
            for name in names:
                ledger.mute(key_of(name), until)
            return ledger.warnings

    def done(warnings: Any) -> Step:
        muted = f"{who}: not muted" if until is None else f"{who}: muted until {_clock(context, until, now)}"
        said = Say(f"Not muted: {warnings[0]}", severity="error") if warnings else Say(muted)
        return Steps((said, ReadAgain(), Reschedule()))

    return RunJob("muting", work, done)
