"""What a watch found, in a few lines for the corner of the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.monitoring.run.report import Watch, WatchedMonitor

MOST = 4
"""The most lines; more are counted."""
_NEWS = {"alert": "alerts", "recovered": "is well again", "flapping": "is flapping"}


def news_words(watch: Watch) -> list[str]:
    """Only what turned: alerts, what is well again; and what the heartbeat found."""
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
    """How each monitor came out."""
    lines = []
    for one in watch.monitors:
        lines.append(f"{one.monitor.name}: {one.result.state}{_why(one)}")
        if one.repair is not None and one.repair.ran:
            lines.append(f"  ran {one.repair.command}" + (", which helped" if one.repair.helped else ""))
    return _few(lines)


def _why(one: WatchedMonitor) -> str:
    return f", {one.result.summary}" if one.result.summary else ""


def _few(lines: list[str]) -> list[str]:
    return lines if len(lines) <= MOST else [*lines[: MOST - 1], f"and {len(lines) - MOST + 1} more"]
