"""Checking monitors, one or many at once: measure and judge. Each gets a Result, even if the files are broken."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed

from memory.errors import MemdeckError
from memory.files.monitors.model import Monitor
from memory.monitoring.settings import MonitorSettings, read_settings
from memory.monitoring.thresholds.threshold import Value
from memory.monitoring.thresholds.units import Quantity, say_number, say_size
from memory.trust.records import ConsentDecision

from .measures import Measured, measure_command, measure_file, measure_http, measure_tcp
from .result import Around, Down, NotApproved, Result, State, one_line, safe_detail

Planned = tuple[Monitor, Callable[[], ConsentDecision | None]]


_DISK = re.compile(r"(?:^|[\s;&|(])df\b")
_MOST_VALUES = 20
_HIDDEN = frozenset({"body", "stdout", "stderr"})
LIMIT = 100
"""Maximum checks in parallel; most of their time is waiting."""


def check(monitor: Monitor, decision: ConsentDecision | None, around: Around) -> Result:
    """Measure one monitor and judge it; takes at most its timeout and a few seconds.

    `decision` is what a person decided about its command, url or target; None for types without one: a file inside the
    workspace. Never raises because of a file's content, a command or an answer.
    """
    begun = time.monotonic()
    try:
        settings = read_settings(monitor)
        found = _measure(settings, decision, around)
        state, summary = _judge(settings, found)
    except NotApproved as error:
        return Result(monitor.name, "blocked", one_line(str(error)), seconds=time.monotonic() - begun)
    except Down as error:
        cancelled = around.cancel is not None and around.cancel.is_set()
        outcome: State = "skipped" if cancelled else "failing"
        said = "cancelled" if cancelled else one_line(str(error))
        return Result(monitor.name, outcome, said, seconds=time.monotonic() - begun)
    except MemdeckError as error:
        return Result(monitor.name, "error", one_line(error.message), detail=safe_detail(str(error)))
    return Result(
        monitor.name,
        state,
        one_line(summary),
        _kept(found.reading),
        time.monotonic() - begun,
        safe_detail(found.detail),
    )


def _measure(settings: MonitorSettings, decision: ConsentDecision | None, around: Around) -> Measured:
    if settings.kind == "file":
        return measure_file(settings, decision, around)
    if decision is None or not decision.allowed or decision.text is None:
        raise NotApproved((decision.why if decision is not None else "") or "not approved yet")
    if settings.kind == "command":
        return measure_command(settings, decision.text, around)
    measure = measure_http if settings.kind == "http" else measure_tcp
    return measure(settings, decision.text, decision.single, around)


def _judge(settings: MonitorSettings, found: Measured) -> tuple[State, str]:
    """Return the state and summary for a measurement."""
    reading, threshold = found.reading, settings.threshold
    breached = threshold.judge(reading)
    words = found.words or threshold.explain(reading)
    if "value" in reading and any(name.startswith("value") for name in threshold.names):
        words = _value_words(settings, reading["value"])
    # If the target is missing altogether, nothing else can be measured, and that is just as bad.
    if breached is None and (reading.get("missing") == 1 or reading.get("open") == 0):
        return "failing", words
    if breached:
        plain = settings.kind == "tcp" or threshold.names in (("value",), ("missing",))
        return "failing", words if plain else threshold.explain(reading)
    if breached is None and found.cut:
        return "error", f"cut at {say_size(found.cut)}"
    if breached is None:
        code = reading.get("exit code")
        because = f" (exit code {code})" if isinstance(code, int) and code else ""
        return "error", f"no value for {', '.join(threshold.missing(reading))}{because}"
    return "healthy", words


def _value_words(settings: MonitorSettings, value: Value) -> str:
    """Return a command's number with its unit: that of `unit`, else the one that it was printed with.

    The percentage that `df` prints is known to be used space, whether or not the command cuts the sign off.
    """
    if not isinstance(value, Quantity):
        return str(value)
    disk = _DISK.search(settings.command)
    unit = "% used" if disk is not None and "%" in settings.command[disk.end() :] else value.unit
    unit = settings.unit or unit
    return f"{say_number(value.number)}{'' if unit[:1] in ('', '%') else ' '}{unit}"


def _kept(reading: dict[str, Value]) -> dict[str, int | float | str]:
    """Return the values that are stored with a result: numbers, and short texts that a threshold uses."""
    kept: dict[str, int | float | str] = {}
    for name, value in reading.items():
        if name in _HIDDEN or name == "value[0]" or (name.startswith("value[") and len(kept) >= _MOST_VALUES):
            continue
        plain = value.number if isinstance(value, Quantity) else value
        kept[name] = plain[:200] if isinstance(plain, str) else plain
    return kept


def run_checks(planned: Iterable[Planned], around: Around, *, limit: int = LIMIT) -> Iterator[tuple[Monitor, Result]]:
    """Check monitors, at most `limit` in parallel, and yield each with its result as it arrives.

    Each comes with a function that returns the person's decision about it when its turn comes. When `around.cancel` is
    triggered, checks that have not started are skipped and running ones are ended.
    """
    with ThreadPoolExecutor(max_workers=limit, thread_name_prefix="check") as pool:
        running = {pool.submit(_once, monitor, decide, around): monitor for monitor, decide in planned}
        for done in as_completed(running):
            yield running[done], done.result()


def _once(monitor: Monitor, decide: Callable[[], ConsentDecision | None], around: Around) -> Result:
    if around.cancel is not None and around.cancel.is_set():
        return Result(monitor.name, "skipped", "cancelled")
    try:
        return check(monitor, decide(), around)
    except Exception as error:
        # Any exception is caught: one monitor must not stop the others.
        return Result(monitor.name, "error", f"internal error: {type(error).__name__}", detail=str(error)[:500])
