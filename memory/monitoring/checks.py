"""Checking monitors, one or many at once: four ways to measure, and the judgement. Each monitor gets a Result, even if
the files are broken.
"""

from __future__ import annotations

import json
import math
import os
import re
import socket
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from memory.base.values import say_size
from memory.errors import MemdeckError
from memory.files.monitors import Monitor
from memory.monitoring.command import run_placed
from memory.monitoring.result import Around, Down, NotApproved, Result, State, allowed_addresses, one_line, safe_detail
from memory.monitoring.settings import MonitorSettings, read_settings
from memory.monitoring.threshold import JSON, CutText, Quantity, Value, numbers_in, say_number, say_time
from memory.trust.addresses import BadSetting, read_target
from memory.trust.consent import ConsentDecision

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d{1,9})\]")


def read_json(text: str) -> object:
    """Return the value of a JSON text; ValueError for anything else, also for one nested too deep."""
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise ValueError("nested too deep") from None


def value_at(data: object, path: str) -> Value | None:
    """Return the value at a path, None if there is none.

    Numbers and texts are returned as they are, `true`, `false` and `null` as texts, lists and objects as their length.
    """
    at = 0
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            return None
        at = step.end()
        if step[2] is not None:
            if not isinstance(data, list) or int(step[2]) >= len(data):
                return None
            data = data[int(step[2])]
        elif isinstance(data, dict) and step[1] in data:
            data = data[step[1]]
        else:
            return None
    return _plain(data)


def _plain(data: object) -> Value | None:
    if isinstance(data, bool) or data is None:
        return {True: "true", False: "false", None: "null"}[data]
    if isinstance(data, int | float):
        return Quantity(data) if abs(data) < 1e300 and math.isfinite(data) else None
    if isinstance(data, str):
        return data
    return Quantity(len(data)) if isinstance(data, list | dict) else None


@dataclass(frozen=True, slots=True)
class Measured:
    """The measured values by plain name, in words, and more for people; `cut` is where a text was cut, in bytes, 0 if
    whole.
    """

    reading: dict[str, Value]
    words: str = ""
    detail: str = ""
    cut: int = 0


def measure_http(settings: MonitorSettings, url: str, single: bool, around: Around) -> Measured:
    """Fetch the approved address; raises Down if nothing answers, NotApproved if it leads to a private address that was
    not approved individually (`single`).
    """
    from memory.monitoring.http import LARGEST, ask

    answer = ask(url, settings.method, settings.timeout, settings.follow, single, around, anywhere=settings.anywhere)
    begun = time.monotonic() - answer.seconds
    body = _text(answer.body.decode("utf-8", "replace"), answer.cut)
    reading: dict[str, Value] = {"status": answer.status, "latency": answer.seconds, "body": body}
    if answer.size is not None:
        reading["size"] = answer.size
    if answer.certificate is not None:
        reading["certificate"] = (answer.certificate - around.now).total_seconds()
    reading |= _json_values(settings, body)
    if time.monotonic() - begun > settings.timeout:
        raise Down("timed out")
    words = f"status {answer.status}, {say_time(answer.seconds)}"
    return Measured(reading, words, answer.url, LARGEST if answer.cut else 0)


def _text(text: str, cut: bool) -> str:
    return CutText(text) if cut else text


def measure_command(settings: MonitorSettings, command: str, around: Around) -> Measured:
    """Run the approved command where its monitor says; raises Down when it takes too long or cannot be started."""
    done = run_placed(
        command,
        settings.folder,
        root=around.root,
        state=around.state,
        environ=around.environ,
        names=settings.environment,
        timeout=settings.timeout,
        cancel=around.cancel,
    )
    if done.timed_out:
        raise Down(f"timed out after {say_time(settings.timeout)}")
    if done.stopped or done.failure:
        raise Down(done.trouble)
    output = _text(done.output, bool(done.cut))
    reading: dict[str, Value] = {
        "exit code": done.exit_code or 0,
        "latency": done.seconds,
        "stdout": output,
        "stderr": done.errors,
    }
    # The last word of an output that was cut may go on.
    for number, quantity in enumerate(numbers_in(output.rpartition("\n")[0] if done.cut else output)):
        reading.setdefault("value", quantity)
        reading[f"value[{number}]"] = quantity
    reading |= _json_values(settings, output)
    printed = [part for part in (done.tail.strip() or done.output.strip(), done.errors.strip()) if part]
    return Measured(reading, "", "\n".join(printed), done.cut)


def measure_tcp(settings: MonitorSettings, target: str, single: bool, around: Around) -> Measured:
    """Open a connection to the approved host and port and close it again; raises as `measure_http`."""
    host, port = read_target(target)
    begun = time.monotonic()
    until = begun + settings.timeout
    try:
        allowed = allowed_addresses(host, port, settings.timeout, target, single, around)
    except Down as error:
        return Measured({"open": 0}, f"not open: {error}", str(error))
    trouble = "timed out"
    for address in allowed:
        left = until - time.monotonic()
        if left <= 0 or (around.cancel is not None and around.cancel.is_set()):
            break
        try:
            with socket.create_connection((address, port), left):
                took = time.monotonic() - begun
                return Measured({"open": 1, "latency": took}, f"open, {say_time(took)}", f"{address} port {port}")
        except TimeoutError:
            trouble = "timed out"
        except OSError as error:
            trouble = (error.strerror or str(error)).lower()
    return Measured({"open": 0}, f"not open: {trouble}", trouble)


def measure_file(settings: MonitorSettings, decision: ConsentDecision | None, around: Around) -> Measured:
    """Read the metadata of a file or folder, never its content; raises NotApproved for one outside the workspace."""
    top = os.path.realpath(around.root)
    approved = decision.text if decision is not None and decision.allowed else None
    wanted = settings.path if approved is None else approved
    if "\0" in wanted:
        raise Down("not a path")
    real = os.path.realpath(os.path.join(top, wanted))
    if approved is None and real != top and not real.startswith(top.rstrip("/") + "/"):
        if wanted.startswith(("/", "~")) or ".." in wanted.split("/"):
            raise NotApproved("the path leads out of the workspace")
        # A link: the text of the path asks for nothing that could be approved.
        raise BadSetting("path", "path is a link that leads out of the workspace: write where it leads")
    try:
        # All links are already resolved; one that replaced the file since is not followed.
        found = os.stat(real, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return Measured({"exists": 0, "missing": 1}, "missing")
    except OSError as error:
        raise Down((error.strerror or "it cannot be looked at").lower()) from None
    if stat.S_ISLNK(found.st_mode):
        raise Down("a link that leads in a circle")
    age = max(0.0, around.now.timestamp() - found.st_mtime)
    reading: dict[str, Value] = {"exists": 1, "missing": 0, "age": age}
    words = f"{say_time(age)} old"
    if stat.S_ISREG(found.st_mode):
        reading["size"] = found.st_size
        words = f"{say_size(found.st_size)}, {words}"
    return Measured(reading, words)


def _json_values(settings: MonitorSettings, text: str) -> dict[str, Value]:
    """Return the values of the paths that the thresholds use; empty if the text is no JSON, or was cut."""
    names = [name for name in settings.threshold.names if name.startswith(JSON)]
    if not names or isinstance(text, CutText):
        return {}
    try:
        data = read_json(text)
    except ValueError:
        return {}
    found = ((name, value_at(data, name.removeprefix(JSON))) for name in names)
    return {name: value for name, value in found if value is not None}


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
    """Return a command's number with the unit that it was printed with.

    The percentage that `df` prints is known to be used space, whether or not the command cuts the sign off.
    """
    if not isinstance(value, Quantity):
        return str(value)
    disk = _DISK.search(settings.command)
    unit = "% used" if disk is not None and "%" in settings.command[disk.end() :] else value.unit
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
