"""The four ways to measure; each returns what it measured, or raises why it could not."""

from __future__ import annotations

import json
import math
import os
import re
import socket
import stat
import time
from dataclasses import dataclass

from memory.monitoring.checks.http import allowed_addresses
from memory.monitoring.process.command import run_placed
from memory.monitoring.settings import MonitorSettings
from memory.monitoring.thresholds.threshold import JSON, CutText, Value
from memory.monitoring.thresholds.units import Quantity, numbers_in, say_size, say_time
from memory.trust.addresses import BadSetting, read_target
from memory.trust.records import ConsentDecision

from .http import LARGEST, ask
from .result import Around, Down, NotApproved

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
