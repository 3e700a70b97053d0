"""What the user runs by key: a monitor, a task's action, validation commands; and muting monitors for a while."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.tui.live.background import Job
from app.tui.shell import ACTOR
from app.tui.spine import Spine
from memory.files.monitors import Monitor
from memory.files.tasks.model import Task
from memory.monitoring.run import ActionRun, keep_watch, run_action
from memory.monitoring.watch import Watch
from widgets.dialogs.pick import Pick, PickOption
from widgets.pane.offers import Call

from . import consent

WAIT = 10.0
"""Seconds that a check waits while another process runs the monitors."""
SPANS = {"30m": "30 minutes", "2h": "2 hours", "8h": "8 hours", "1d": "a day", "off": "unmute"}
"""For how long monitors are muted, and the words for it."""


def run(app: Spine) -> None:
    """Run the monitor or the task's action."""
    if app.setup.safe:
        return app.say("memdeck runs nothing with --safe.", severity="warning")
    monitors, task = app.situation.monitors, app.situation.action
    if monitors:
        return _approved(app, monitors, ("check", "url"), lambda: _check(app, monitors))
    assert task is not None
    return _approved(app, [task], ("action",), lambda: _act(app, task))


def _approved(app: Spine, entries: Sequence[Task | Monitor], roles: Sequence[str], then: Callable[[], object]) -> None:
    """Ask about what waits in these roles of the entries, then go on."""
    names = {(entry.file, entry.title) for entry in entries}
    return consent.first(app, lambda ask: ask.role in roles and (ask.file, ask.name) in names, then)


# Monitors


def _check(app: Spine, monitors: Sequence[Monitor]) -> None:
    now, refs = app.clock(), [monitor.ref for monitor in monitors]

    def work(job: Job) -> Watch:
        schedule = app.schedule
        return keep_watch(app.shown_workspace, schedule.trust(), now, schedule.services(job), names=refs, wait=WAIT)

    def checked(watch: Watch) -> None:
        app.schedule.told(watch, asked=True)
        app.changed()

    app.jobs.start("checking", work, checked)


# Actions of tasks


def _act(app: Spine, task: Task) -> None:
    now, ref = app.clock(), task.ref

    def work(job: Job) -> ActionRun:
        job.plan((task.title,))
        return run_action(
            app.shown_workspace, app.schedule.trust(), ref, now, actor=ACTOR, environ=app.environ, cancel=job.cancel
        )

    app.jobs.start("running", work, lambda done: _acted(app, task, done))


def _acted(app: Spine, task: Task, done: ActionRun) -> None:
    first, *more = done.outcome.splitlines()
    words = f"{task.title[:60]}: {first}" + (f" {more[-1]}" if more else "")
    app.say(words, severity="information" if done.good else "warning")
    return app.changed()


# Mutes


def mute(app: Spine) -> None:
    """Send no messages about it for a while."""
    monitors = app.situation.monitors
    who = monitors[0].name if len(monitors) == 1 else f"{len(monitors)} monitors"

    def chosen(span: str) -> None:
        times = {"off": True, "span": None} if span == "off" else {"off": False, "span": span}
        return app.change("monitors.mute", Call("monitors mute", [{"name": one.ref, **times} for one in monitors]))

    options = [PickOption(span, words) for span, words in SPANS.items()]
    return app.ask(Pick(f"Mute {who}", options), chosen)
