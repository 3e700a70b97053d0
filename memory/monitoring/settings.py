"""The settings in a monitor's fields, parsed once and validated: how to measure, for how long, and when it is bad."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from memory.base.clock import read_duration
from memory.base.problems import Problem
from memory.base.values import is_absent
from memory.document.nodes import field_line
from memory.errors import UsageError
from memory.files.edit import Edit
from memory.files.monitors import FILE, Monitor, Monitors
from memory.files.snapshot import Snapshot
from memory.monitoring.alerts import read_options
from memory.monitoring.threshold import (
    DEFAULTS,
    BadThreshold,
    Threshold,
    parse_threshold,
)
from memory.trust.addresses import BadSetting, read_target, unusable_url
from memory.trust.asks import ANYWHERE, folder_of, target_of, written_kind
from memory.trust.pins import PRIVATE, Pins, lost_words

SHORTEST, LONGEST, USUAL = 0.1, 600.0, 10.0
"""Seconds that a check may take: the minimum and maximum of `timeout`, and the default."""
MOST_HOPS = 10
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class MonitorSettings:
    """The parsed fields of one monitor. Times are in seconds; fields that the type does not use are empty."""

    kind: str
    threshold: Threshold
    timeout: float = USUAL
    url: str = ""
    method: str = "GET"
    follow: int = 0
    anywhere: bool = False
    command: str = ""
    environment: tuple[str, ...] = ()
    folder: str = PRIVATE
    path: str = ""


def read_settings(monitor: Monitor) -> MonitorSettings:
    """Parse a monitor's fields; raises BadSetting, or BadThreshold for its threshold."""
    kind = kind_of(monitor)
    if kind not in DEFAULTS:
        said = f"the type {kind[:30]!r} is unknown" if kind else "the type is missing"
        raise BadSetting("type", said, "write http, command, tcp or file")

    def text(key: str) -> str:
        value = (monitor.entry.fields.get(key) or "").strip()
        return "" if is_absent(value) else value

    def needed(key: str) -> str:
        if value := text(key):
            return value
        raise BadSetting(key, f"{key} is missing", f"add a line: - {key}: …")

    threshold = parse_threshold(monitor.threshold or "", kind)
    timeout = read_duration(text("timeout")) if text("timeout") else USUAL
    if timeout is None or not SHORTEST <= timeout <= LONGEST:
        raise BadSetting("timeout", f"timeout is {text('timeout')[:30]!r}", "write a time from 0.1s to 10m")
    folder = folder_of(monitor)
    if folder.startswith(("/", "~")) or ".." in folder.split("/") or "\0" in folder:
        raise BadSetting("folder", f"folder is {folder[:30]!r}", "write . for the workspace, or a path in it")
    made = MonitorSettings(kind, threshold, timeout)
    match kind:
        case "http":
            url, method = needed("url"), text("method").upper() or "GET"
            if why := unusable_url(url):
                raise BadSetting("url", f"url: {why}", "write an address such as https://example.com/health")
            if method not in ("GET", "HEAD"):
                raise BadSetting("method", f"method is {method[:30]!r}", "write GET or HEAD")
            anywhere = text("follow").casefold() == ANYWHERE
            return replace(made, url=url, method=method, follow=_hops(text("follow")), anywhere=anywhere)
        case "command":
            command = needed("command")
            names = tuple(name.strip() for name in text("environment").split(",") if name.strip())
            if not all(_NAME.fullmatch(name) for name in names):
                raise BadSetting("environment", "environment holds more than names", "write names: AWS_PROFILE, PGHOST")
            return replace(made, command=command, environment=names, folder=folder)
        case "tcp":
            if ":" not in (text("url") or needed("host")):
                needed("port")
            read_target(target_of(monitor) or "")
            return made
        case _:
            return replace(made, path=needed("path"))


def kind_of(monitor: Monitor) -> str:
    """Return the type of a monitor, in small letters; "" for one without that has both a command and a url."""
    if monitor.type is None and monitor.command is not None and monitor.url is not None:
        return ""
    kind = written_kind(monitor).strip().casefold()
    return "http" if kind == "https" else kind


def _hops(text: str) -> int:
    """Return how many redirects to follow; BadSetting for another value."""
    value = text.casefold()
    if value in ("", "no", "false", "off"):
        return 0
    if value in ("yes", "true", "on", ANYWHERE):
        return 5
    if value.isascii() and value.isdigit() and int(value[:3]) <= MOST_HOPS:
        return int(value)
    raise BadSetting("follow", f"follow is {value[:30]!r}", f"write yes, no, anywhere or a number up to {MOST_HOPS}")


def monitor_problems(snapshot: Snapshot) -> tuple[Problem, ...]:
    """Return the invalid thresholds and settings, in file order; none if the file is refused."""
    looked = snapshot.readable()
    if looked.refused(FILE) is not None:
        return ()
    monitors = looked.monitors.items
    names = {monitor.name for monitor in monitors}
    return tuple(problem for monitor in monitors for problem in _problems_of(monitor, names, snapshot.root))


def broken(monitor: Monitor, root: Path | None) -> str:
    """Return why a monitor cannot run with its current fields in a workspace, even if approved; "" if it can."""
    error = _setting_error(monitor, root)
    return "" if error is None else error.message


def runnable(edit: Edit, snapshot: Snapshot) -> Edit:
    """Return an edit of a snapshot that leaves its monitor able to run; raise the error of one that could not: without
    a target, or with an address that cannot be requested.

    A monitor that had the same error before may be edited in other fields. Raises BadSetting `monitor.setting`,
    BadThreshold, UsageError `monitor.folder`.
    """
    document = edit.documents.get(FILE)
    monitors = () if document is None else Monitors(FILE, document).items
    for monitor in monitors:
        error = _setting_error(monitor, snapshot.root) if edit.at == (FILE, monitor.at) else None
        before = [_setting_error(one, snapshot.root) for one in snapshot.monitors.items if one.at == monitor.at]
        if error is not None and str(error) not in map(str, before):
            raise error
    return edit


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


def _problems_of(monitor: Monitor, names: Collection[str], root: Path | None) -> Iterator[Problem]:
    error = _setting_error(monitor, root)
    if error is not None and error.code != "monitor.field":
        line = field_line(monitor.entry, str(error.details.get("key", "threshold")), monitor.line + 1)
        message = f"{monitor.name[:60]}: {error.message}" + (f"; {error.hint}" if error.hint else "")
        yield Problem("error", monitor.file, line, error.code, message)
    options = read_options(monitor)
    yield from options.problems
    line = field_line(monitor.entry, "dependsOn", monitor.line + 1)
    for parent in options.depends_on:
        if parent not in names:
            message = f"{monitor.name[:60]}: dependsOn: there is no monitor {parent[:60]!r}"
            yield Problem("warning", monitor.file, line, "monitor.setting", message)
