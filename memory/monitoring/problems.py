"""Problems of the monitors of a workspace that can be found before any of them runs, with file and line."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from memory.base.problems import Problem
from memory.document.nodes import field_line
from memory.errors import UsageError
from memory.files.edit import Edit
from memory.files.monitors import FILE, Monitor, read_monitors
from memory.files.snapshot import Snapshot
from memory.trust.addresses import BadSetting
from memory.trust.asks import folder_of
from memory.trust.pins import PRIVATE, Pins, lost_words

from .alerts.options import read_options
from .settings import read_settings
from .thresholds.threshold import BadThreshold


def monitor_problems(snapshot: Snapshot) -> tuple[Problem, ...]:
    """Return the invalid thresholds and settings, in file order; none if the file is refused."""
    looked = snapshot.readable()
    if looked.refused(FILE) is not None:
        return ()
    monitors = looked.monitors.monitors
    names = {monitor.name for monitor in monitors}
    root = snapshot.root
    return tuple(
        problem for monitor in monitors for problem in (*_problems_of(monitor, root), *_of_alerts(monitor, names))
    )


def broken(monitor: Monitor, root: Path | None) -> str:
    """Return why a monitor cannot run with its current fields in a workspace, even if approved; "" if it can."""
    error = _setting_error(monitor, root)
    return "" if error is None else error.message


def runnable(build: Callable[[Snapshot], Edit]) -> Callable[[Snapshot], Edit]:
    """Wrap the build of an edit so that it refuses a monitor that could not run: one without a target, or with an
    address that cannot be requested.

    A monitor that had the same error before may be edited in other fields. Raises BadSetting `monitor.setting`,
    BadThreshold, UsageError `monitor.folder`.
    """

    def checked(snapshot: Snapshot) -> Edit:
        edit = build(snapshot)
        document = edit.documents.get(FILE)
        monitors = () if document is None else read_monitors(FILE, document).monitors
        monitor = next((one for one in monitors if one.ref == edit.ref), None)
        if monitor is not None and (error := _setting_error(monitor, snapshot.root)) is not None:
            before = next((one for one in snapshot.monitors.monitors if one.at == monitor.at), None)
            same = None if before is None else _setting_error(before, snapshot.root)
            if same is None or str(same) != str(error):
                raise error
        return edit

    return checked


def _setting_error(monitor: Monitor, root: Path | None) -> UsageError | None:
    if (unread := monitor.unread) is not None:
        return UsageError("monitor.field", f"line {monitor.line + unread.line + 2}: {unread.message}")
    try:
        settings = read_settings(monitor)
    except (BadSetting, BadThreshold) as error:
        return error
    if root is None:
        return None
    folder = folder_of(monitor)
    commands = {"command": settings.command, "autoRemediate": monitor.auto_remediate or ""}
    for key, command in commands.items():
        if command and folder == PRIVATE and (word := Pins(root).lost(command)):
            return UsageError("monitor.folder", lost_words(word), key=key, field=key)
    if any(commands.values()) and folder != PRIVATE and not os.path.isdir(root / folder):
        return UsageError(
            "monitor.folder", f"the workspace has no folder {folder[:40]!r}", key="folder", field="folder"
        )
    return None


def _of_alerts(monitor: Monitor, names: Collection[str]) -> Iterator[Problem]:
    """Yield the problems in the alert fields of a monitor."""
    options = read_options(monitor)
    yield from options.problems
    for parent in options.depends_on:
        if parent not in names:
            line = field_line(monitor.entry, "dependsOn", monitor.line + 1)
            message = f"{monitor.name[:60]}: dependsOn: there is no monitor {parent[:60]!r}"
            yield Problem("warning", monitor.file, line, "monitor.setting", message)


def _problems_of(monitor: Monitor, root: Path | None) -> Iterator[Problem]:
    error = _setting_error(monitor, root)
    if error is not None and error.code != "monitor.field":
        line = field_line(monitor.entry, str(error.details.get("key", "threshold")), monitor.line + 1)
        message = f"{monitor.name[:60]}: {error.message}" + (f"; {error.hint}" if error.hint else "")
        yield Problem("error", monitor.file, line, error.code, message)
