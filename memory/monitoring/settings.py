"""The settings in a monitor's fields, parsed once and validated: how to measure, for how long, and when it is bad."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory.base.values import is_absent
from memory.files.monitors import Monitor
from memory.trust.addresses import BadSetting, read_target, unusable_url
from memory.trust.asks import ANYWHERE, folder_of, target_of
from memory.trust.pins import PRIVATE

from .thresholds.threshold import DEFAULTS, JSON, BadThreshold, Condition, Threshold, parse_threshold
from .thresholds.units import read_duration, read_quantity

SHORTEST, LONGEST, USUAL = 0.1, 600.0, 10.0
"""Seconds that a check may take: the minimum and maximum of `timeout`, and the default."""
_CENTURY = 100 * 365.25 * 86400.0
"""Maximum seconds of any field: a longer time is a mistake, and exceeds what clocks can represent."""
MOST_HOPS = 10
_METHODS = ("GET", "HEAD")
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
    expected: Threshold | None = None
    certificate: float = 0.0
    command: str = ""
    unit: str = ""
    environment: tuple[str, ...] = ()
    folder: str = PRIVATE
    path: str = ""
    entry: str = ""


def read_settings(monitor: Monitor) -> MonitorSettings:
    """Parse a monitor's fields; raises BadSetting, or BadThreshold for its threshold."""
    kind = kind_of(monitor)
    if kind not in DEFAULTS:
        said = f"the type {kind[:30]!r} is unknown" if kind else "the type is missing"
        raise BadSetting("type", said, "write http, command, tcp, file or heartbeat")
    fields = _Fields(monitor)
    threshold = parse_threshold(monitor.threshold or "", kind)
    timeout = fields.seconds("timeout", USUAL)
    if not SHORTEST <= timeout <= LONGEST:
        raise BadSetting("timeout", f"timeout is {fields.text('timeout')[:30]!r}", "write a time from 0.1s to 10m")
    folder = folder_of(monitor)
    if folder.startswith(("/", "~")) or ".." in folder.split("/") or "\0" in folder:
        raise BadSetting("folder", f"folder is {folder[:30]!r}", "write . for the workspace, or a path in it")
    match kind:
        case "http":
            return MonitorSettings(
                kind,
                threshold,
                timeout,
                url=fields.address("url"),
                method=fields.one_of("method", _METHODS),
                follow=fields.hops("follow"),
                anywhere=fields.text("follow").casefold() == ANYWHERE,
                expected=_expected(fields.text("expect")),
                certificate=fields.seconds("certificate", 0.0, "d"),
            )
        case "command":
            command = fields.needed("command")
            names = tuple(name.strip() for name in fields.text("environment").split(",") if name.strip())
            if not all(_NAME.fullmatch(name) for name in names):
                raise BadSetting("environment", "environment holds more than names", "write names: AWS_PROFILE, PGHOST")
            return MonitorSettings(
                kind,
                threshold,
                timeout,
                command=command,
                unit=fields.text("unit"),
                environment=names,
                folder=folder,
            )
        case "tcp":
            host = fields.text("url") or fields.needed("host")
            if ":" not in host:
                fields.needed("port")
            read_target(target_of(monitor) or "")
            return MonitorSettings(kind, threshold, timeout)
        case "file":
            return MonitorSettings(kind, threshold, timeout, path=fields.needed("path"))
        case _:
            older_than = fields.seconds("olderThan", 0.0)
            if older_than and not monitor.threshold:
                threshold = parse_threshold(f"missing or age > {older_than!r}s", kind)
            elif not older_than and "age" not in threshold.names:
                raise BadSetting("olderThan", "olderThan is missing", "write how old the last sign may be: 2h")
            return MonitorSettings(kind, threshold, timeout, entry=fields.text("entry") or monitor.name)


def kind_of(monitor: Monitor) -> str:
    """Return the type of a monitor, in small letters; without one, it is derived from its command or url."""
    if monitor.type is not None:
        kind = monitor.type.strip().casefold()
        return "http" if kind == "https" else kind
    if monitor.command is not None:
        return "command" if monitor.url is None else ""
    return "http" if monitor.url is not None else ""


def _expected(text: str) -> Threshold | None:
    """Return the condition that an answer must meet: one on JSON, or that it contains a text; None for no condition."""
    if not text.startswith(JSON):
        return Threshold(text, Condition("body", "contains", text, text)) if text else None
    try:
        return parse_threshold(text, "http")
    except BadThreshold as error:
        raise BadSetting("expect", f"expect: {error.message}", error.hint) from None


class _Fields:
    """The texts of a monitor's fields, absent ones empty."""

    def __init__(self, monitor: Monitor) -> None:
        self.monitor = monitor

    def text(self, key: str) -> str:
        value = (self.monitor.entry.fields.get(key) or "").strip()
        return "" if is_absent(value) else value

    def needed(self, key: str) -> str:
        value = self.text(key)
        if not value:
            raise BadSetting(key, f"{key} is missing", f"add a line: - {key}: …")
        return value

    def address(self, key: str) -> str:
        value = self.needed(key)
        if why := unusable_url(value):
            raise BadSetting(key, f"{key}: {why}", "write an address such as https://example.com/health")
        return value

    def seconds(self, key: str, usual: float, unit: str = "") -> float:
        value = self.text(key)
        if not value:
            return usual
        if unit and value.isascii() and value.isdigit() and len(value) < 9:
            value += unit
        found = read_duration(value)
        if found is None or found > _CENTURY:
            raise BadSetting(key, f"{key} is {value[:30]!r}", "write a time such as 30s, 5m, 2h or 14d")
        return found

    def one_of(self, key: str, words: tuple[str, ...]) -> str:
        value = self.text(key).upper() or words[0]
        if value not in words:
            raise BadSetting(key, f"{key} is {value[:30]!r}", "write " + " or ".join(words))
        return value

    def hops(self, key: str) -> int:
        value = self.text(key).casefold()
        if value in ("", "no", "false", "off", "0"):
            return 0
        if value in ("yes", "true", "on", ANYWHERE):
            return MOST_HOPS // 2
        found = read_quantity(value)
        if found is None or found.unit or found.number != int(found.number) or not 0 <= found.number <= MOST_HOPS:
            raise BadSetting(key, f"{key} is {value[:30]!r}", f"write yes, no, anywhere or a number up to {MOST_HOPS}")
        return int(found.number)
