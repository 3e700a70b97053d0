"""What is wrong in the monitors of a workspace before any of them runs, with file and line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from memory.base.problems import Problem
from memory.errors import UsageError
from memory.files.monitors import FILE, Monitors, read_monitors

from .alerts.options import read_options
from .settings import BadSetting, read_settings
from .thresholds.threshold import BadThreshold

if TYPE_CHECKING:
    from memory.files.edit import Edit
    from memory.files.monitors import Monitor
    from memory.files.snapshot import Snapshot


def monitor_problems(snapshot: Snapshot) -> tuple[Problem, ...]:
    """Return the thresholds and settings that cannot be understood, in file order; none where the file is refused."""
    looked = snapshot.readable()
    if looked.refused(FILE) is not None:
        return ()
    monitors = looked.monitors.monitors
    names = {monitor.name for monitor in monitors}
    return tuple(problem for monitor in monitors for problem in (*_problems_of(monitor), *_of_alerts(monitor, names)))


def broken(monitor: Monitor) -> str:
    """Say why a monitor cannot run as its file stands, whoever approves it; "" where it can."""
    error = _setting_error(monitor)
    return "" if error is None else error.message


def runnable(build: Callable[[Snapshot], Edit]) -> Callable[[Snapshot], Edit]:
    """Return a build of an edit that refuses a monitor which could not run: one without what it looks at, or with an
    address that no check can ask.

    A monitor that was like this before may be edited in other fields. Raises
    BadSetting `monitor.setting`, BadThreshold.
    """

    def checked(snapshot: Snapshot) -> Edit:
        edit = build(snapshot)
        document = edit.documents.get(FILE)
        monitor = None if document is None else _of_ref(read_monitors(FILE, document), edit.ref)
        if monitor is not None and (error := _setting_error(monitor)) is not None:
            before = next((one for one in snapshot.monitors.monitors if one.at == monitor.at), None)
            same = None if before is None else _setting_error(before)
            if same is None or str(same) != str(error):
                raise error
        return edit

    return checked


def _of_ref(monitors: Monitors, ref: str | None) -> Monitor | None:
    return next((one for one in monitors.monitors if one.ref == ref), None)


def _setting_error(monitor: Monitor) -> UsageError | None:
    try:
        read_settings(monitor)
    except (BadSetting, BadThreshold) as error:
        return error
    return None


def _of_alerts(monitor: Monitor, names: Collection[str]) -> Iterator[Problem]:
    """Yield what is wrong in the fields by which a monitor alerts."""
    options = read_options(monitor)
    yield from options.problems
    for parent in options.depends_on:
        if parent not in names:
            line = monitor.line + 1 + next((1 + n.line for n in monitor.entry.fields.nodes if n.key == "dependsOn"), 0)
            message = f"{monitor.name[:60]}: dependsOn: there is no monitor {parent[:60]!r}"
            yield Problem("warning", monitor.file, line, "monitor.setting", message)


def _problems_of(monitor: Monitor) -> Iterator[Problem]:
    try:
        read_settings(monitor)
    except (BadSetting, BadThreshold) as error:
        key = error.details.get("key", "threshold")
        line = next((node.line + 1 for node in monitor.entry.fields.nodes if node.key == key), 0)
        message = f"{monitor.name[:60]}: {error.message}" + (f"; {error.hint}" if error.hint else "")
        yield Problem("error", monitor.file, monitor.line + line + 1, error.code, message)
