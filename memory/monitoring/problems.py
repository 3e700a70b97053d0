"""What is wrong in the monitors of a workspace before any of them runs, with file and line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memory.files.monitors import FILE
from memory.problems import Problem

from .settings import BadSetting, read_settings
from .thresholds import BadThreshold

if TYPE_CHECKING:
    from memory.files.monitors import Monitor
    from memory.files.snapshot import Snapshot


def monitor_problems(snapshot: Snapshot) -> tuple[Problem, ...]:
    """Return the thresholds and settings that cannot be understood, in file order; none where the file is refused."""
    looked = snapshot.readable()
    if looked.refused(FILE) is not None:
        return ()
    return tuple(problem for monitor in looked.monitors.monitors for problem in _problems_of(monitor))


def _problems_of(monitor: Monitor) -> Iterator[Problem]:
    try:
        read_settings(monitor)
    except (BadSetting, BadThreshold) as error:
        key = error.details.get("key", "threshold")
        line = next((node.line + 1 for node in monitor.entry.fields.nodes if node.key == key), 0)
        message = f"{monitor.name[:60]}: {error.message}" + (f"; {error.hint}" if error.hint else "")
        yield Problem("error", monitor.file, monitor.line + line + 1, error.code, message)
