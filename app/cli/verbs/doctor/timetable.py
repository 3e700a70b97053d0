"""What runs `memdeck --maintain` regularly: a line for cron, or a service and a timer for systemd."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime, tzinfo
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from app.connect.command import this_command
from memory.base.clock import DAYS
from memory.base.cron import BadCron, check_cron, describe, next_runs
from memory.base.programs import absolute_folders
from memory.errors import UsageError

DEFAULT = "0 2 * * *"
"""When maintenance runs if config.md has no maintenanceSchedule: every night at two."""
WATCH = "*/5 * * * *"
"""When monitors are checked if none has an interval."""
_VARIABLES = ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "TZ", "MEMDECK_HOST")
"""The variables besides PATH that decide where memdeck keeps its state and what it calls itself."""
_STEPS = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60)
_RUNS = 30  # this many runs of an interval show its shortest gap, such as that of `0,5 * * * *`
_NUMBERS = {str(number): DAYS[number - 1].title() for number in range(8)}
_DAYS = _NUMBERS | {name: name.title() for name in DAYS}
"""The days of the week as cron writes them, and as systemd does."""
_PLAIN = re.compile(r"\*(/\d+)?|\d+(-\d+)?(,\d+(-\d+)?)*", re.ASCII)
"""A field of a cron expression that systemd has, too."""


class Timetable(NamedTuple):
    """The entries for one workspace; `unit` is the name of service and timer without their extensions.

    `watch` is a second line for cron, `watch_timer` a second timer for the same service, as frequent as the shortest
    interval of a monitor. `remarks` say what cron or systemd cannot do.
    """

    workspace: str
    expression: str
    cron: str
    watch: str
    unit: str
    service: str
    timer: str
    watch_timer: str
    install: tuple[str, ...]
    remarks: tuple[str, ...]


def timetable(
    root: Path,
    expression: str | None,
    log: Path,
    watch: str = WATCH,
    *,
    environ: Mapping[str, str] = MappingProxyType({}),
    zone: str = "",
) -> Timetable:
    """Return the entries for a workspace, on a cron expression (None: every night); cron's runs append to `log`.

    `watch` is when monitors are checked (see `watch_expression`). The entries set the variables of `environ` on which
    memdeck depends, because cron and systemd start with few. `zone` is the workspace's where it is not the machine's.

    Raises BadCron, and UsageError `schedule.path` for a path that such a file cannot contain.
    """
    expression = " ".join((expression or DEFAULT).split())
    check_cron(expression)
    words = [*this_command(), "--maintain", str(root), "--quiet"]
    variables, environment = _environment(environ, [*words, str(log)], root)
    settings = [f"{name}={shlex.quote(value)}" for name, value in variables.items()]
    # Cron reads an unescaped percent sign as a line end.
    line = " ".join([*settings, shlex.join(words), ">>", shlex.quote(str(log)), "2>&1"]).replace("%", r"\%")
    unit = f"memdeck-{_slug(root)}"
    service = (
        "[Unit]\n"
        f"Description=memdeck maintenance of {_systemd(root.name)}\n\n"
        "[Service]\n"
        "Type=oneshot\n"
        f"{environment}"
        f"ExecStart={' '.join(_quoted(word) for word in words)}\n"
        "# 3: something needs approval, `memdeck trust list` shows it.\n"
        "# 75: another process has the workspace; the next run does it.\n"
        "SuccessExitStatus=3 75\n"
    )
    remarks = []
    if zone:
        remarks.append(f"cron runs in the zone of this machine, the schedule is in {zone}: cronie takes CRON_TZ={zone}")
    install = (
        f"mkdir -p {shlex.quote(str(log.parent))}",
        "crontab -e   # and add the lines",
        "mkdir -p ~/.config/systemd/user   # and save the service and both timers there",
        f"systemctl --user daemon-reload && systemctl --user enable --now {unit}.timer {unit}-watch.timer",
        "loginctl enable-linger   # lets it run while you are not logged in",
    )
    return Timetable(
        str(root),
        expression,
        f"{expression} {line}",
        f"{watch} {line}",
        unit,
        service,
        _timer(f"memdeck maintenance of {root.name}", expression, "*-*-* 02:00:00", zone),
        _timer(f"memdeck monitors of {root.name}", watch, "*:0/5", "", unit),
        install,
        tuple(remarks),
    )


def agent_unit(environ: Mapping[str, str]) -> str:
    """Return the systemd unit that keeps the agent of a fleet running; UsageError `schedule.path`.

    The database is in a file of its own, because it may contain a password.
    """
    words = [*this_command(), "fleet", "agent"]
    _, environment = _environment(environ, words)
    return (
        "[Unit]\n"
        "Description=memdeck agent of the fleet\n"
        "After=network-online.target\n\n"
        "[Service]\n"
        f"{environment}"
        "# MEMDECK_DATABASE=postgresql://agent_laptop@db.example/memdeck, a file that only you can read\n"
        "EnvironmentFile=%h/.config/memdeck/fleet.env\n"
        f"ExecStart={' '.join(_quoted(word) for word in words)}\n"
        "Restart=always\n"
        "RestartSec=10\n"
        "# 2: a refused login or another wrong setting; to start again does not help.\n"
        "RestartPreventExitStatus=2\n\n"
        "[Install]\n"
        "WantedBy=default.target\n"
    )


def _environment(
    environ: Mapping[str, str], words: Iterable[str], outside: Path | None = None
) -> tuple[dict[str, str], str]:
    """Return the variables that a scheduled command needs, and their lines in a unit; `words` are those of the command.

    UsageError `schedule.path` for a word or value that cron and systemd do not take.
    """
    variables = {name: environ[name] for name in _VARIABLES if environ.get(name)}
    variables["PATH"] = absolute_folders(environ.get("PATH", ""), outside=outside) or "/usr/local/bin:/usr/bin:/bin"
    for text in (*words, *variables.values()):
        if not text.isprintable():
            words = f"{text!r} holds characters that cron and systemd do not take"
            raise UsageError("schedule.path", words, "rename it")
    return variables, "".join(f"Environment={_quoted(f'{name}={value}', '')}\n" for name, value in variables.items())


def _timer(what: str, expression: str, otherwise: str, zone: str, service: str = "") -> str:
    """Return the text of a timer; `service` is the unit that it starts if that has another name."""
    calendar = on_calendar(expression)
    comment = "" if calendar else f"# {expression} has no counterpart here; this is {otherwise}.\n"
    return (
        "[Unit]\n"
        f"Description={_systemd(what)}: {describe(expression)}\n\n"
        "[Timer]\n"
        f"{comment}OnCalendar={' '.join([calendar or otherwise, *([zone] if zone else [])])}\n"
        f"{f'Unit={service}.service' if service else 'Persistent=true'}\n\n"
        "[Install]\n"
        "WantedBy=timers.target\n"
    )


def watch_expression(intervals: Iterable[str], now: datetime, zone: tzinfo) -> str:
    """Return how often cron has to run so that the monitor with the shortest interval is checked in time.

    Every five minutes if no interval can be read, every hour if all are longer.
    """
    gaps = []
    for interval in intervals:
        with suppress(BadCron):
            runs = next_runs(interval, now, zone, _RUNS)
            gaps += [(after - before).total_seconds() // 60 for before, after in pairwise(runs)]
    if not gaps:
        return WATCH
    minutes = max((number for number in _STEPS if number <= max(1, min(gaps))), default=1)
    return "0 * * * *" if minutes == 60 else "* * * * *" if minutes == 1 else f"*/{minutes} * * * *"


def _slug(root: Path) -> str:
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", root.name).strip("-.") or "workspace"
    return f"{name[:40]}-{blake2b(os.fsencode(root), digest_size=3).hexdigest()}"


def _systemd(text: str) -> str:
    return text.replace("%", "%%")


def _quoted(word: str, dollar: str = "$") -> str:
    """Return a word for a line of a unit; in `Environment` a dollar sign is not doubled."""
    text = _systemd(word).replace("\\", "\\\\").replace('"', '\\"').replace("$", f"${dollar}")
    return text if re.fullmatch(r"[\w@%+=:,./$-]+", text, re.ASCII) else f'"{text}"'


def on_calendar(expression: str) -> str | None:
    """Return the time of a systemd timer for a cron expression, None if systemd has no such form; raises BadCron."""
    fields = check_cron(expression).split()
    if "*" not in (fields[2], fields[4]) or not all(map(_PLAIN.fullmatch, fields[:4])):
        return None
    minute, hour, day, month = (
        re.sub(r"(?<!/)\b\d+", lambda found: found[0].zfill(2), one.replace("*/", f"{first}/").replace("-", ".."))
        for one, first in zip(fields, "0011", strict=False)
    )
    weekdays = [part.split("-") for part in fields[4].split(",")]
    if fields[4] != "*" and not all(day in _DAYS for part in weekdays for day in part):
        return None
    days = "" if fields[4] == "*" else ",".join("..".join(map(_DAYS.__getitem__, part)) for part in weekdays) + " "
    return f"{days}*-{month}-{day} {hour}:{minute}:00"
