"""The sample workspace of `memdeck demo`: a small software shop whose agents and people share one memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

from memory.base.clock import machine_zone
from memory.storage.fsio import temporary_folder
from memory.storage.own_folders import home, state_home
from memory.workspace import Workspace

from .curated import add_curated
from .siblings import add_beside

_SAMPLE = Path(__file__).parent / "sample"
_FILES = ("tasks", "knowledge", "contacts", "journal", "orchestration", "monitors", "config")
_ARCHIVES = (
    "archive-tasks-1",
    "archive-tasks-2",
    "archive-journal-1",
    "archive-journal-2",
    "archive-orchestration-2",
)
_TOKEN = re.compile(r"\{([dmzw])([+-]?\d+)\}")
_STAMPED = re.compile(r"^### @(?:-(?P<ago>\d+)|(?P<days>\d+) (?P<time>\d\d:\d\d)) — ", re.M)


def demo_files(now: datetime, zone: tzinfo) -> dict[str, str]:
    """Return the files of the sample workspace: name relative to the memory folder → text.

    `now` is aware; every date is relative to it, local times are in `zone`. Archive files are named by month
    (`archive/journal-2023-11.md`). The same arguments give the same text; nothing is written.
    """
    now = now.astimezone(zone)
    files = {f"{name}.md": _fill(_template(name), now) for name in _FILES}
    files["journal.md"] = _dated(files["journal.md"], now)
    files["config.md"] = _with_zone(files["config.md"], zone)
    for name in _ARCHIVES:
        _, kind, number = name.split("-")
        month = _month_before(now, int(number) + 1)
        files[f"archive/{kind}-{month}.md"] = _template(name).replace("{month}", month)
    return files


def make_demo(
    folder: str | None, now: datetime, environ: Mapping[str, str], *, actor: str
) -> tuple[Workspace, tuple[str, ...]]:
    """Create the sample workspace in a folder, None for a temporary one; return it, open, and its memory files."""
    made = Workspace.init(
        temporary_folder("memdeck-demo-") if folder is None else folder,
        now,
        actor=actor,
        state_home=state_home(environ),
        home=home(environ),
        files=demo_files(now, machine_zone(environ)),
    )
    add_beside(made[0], now, actor=actor)
    add_curated(made[0], now)
    return made


def _template(name: str) -> str:
    return (_SAMPLE / f"{name}.md").read_text("utf-8")


def _fill(text: str, now: datetime) -> str:
    """Replace `{d-3}` by a date, `{m+120}` by a local minute, `{z-5}` by a UTC stamp, `{w0}` by Monday."""
    forms: dict[str, Callable[[int], str]] = {
        "d": lambda days: (now.date() + timedelta(days=days)).isoformat(),
        "m": lambda minutes: f"{_later(now, minutes):%Y-%m-%d %H:%M}",
        "z": lambda minutes: f"{_later(now, minutes).astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "w": lambda day: (now.date() + timedelta(days=(day - now.weekday() - 1) % 7 + 1)).isoformat(),
    }
    return _TOKEN.sub(lambda found: forms[found[1]](int(found[2])), text)


def _later(now: datetime, minutes: int) -> datetime:
    """Return the instant `minutes` from now; through UTC, since local arithmetic ignores changed clocks."""
    return (now.astimezone(UTC) + timedelta(minutes=minutes)).astimezone(now.tzinfo)


def _dated(text: str, now: datetime) -> str:
    """Return the journal with `### @12 …` (minutes or days ago) sorted into date sections, newest first."""
    starts = list(_STAMPED.finditer(text))
    ends = [found.start() for found in starts[1:]] + [len(text)]
    entries = []
    for found, end in zip(starts, ends, strict=True):
        if found["ago"]:
            day, time = f"{_later(now, -int(found['ago'])):%Y-%m-%d %H:%M}".split()
        else:
            day, time = (now.date() - timedelta(days=int(found["days"]))).isoformat(), found["time"]
        entries.append((day, time, text[found.end() : end].rstrip("\n")))
    entries.sort(key=lambda entry: entry[:2], reverse=True)
    parts = [text[: starts[0].start()]]
    last = ""
    for day, time, rest in entries:
        if day != last:
            parts.append(f"## {day}\n\n")
            last = day
        parts.append(f"### {time} — {rest}\n\n")
    return "".join(parts).rstrip("\n") + "\n"


def _with_zone(text: str, zone: tzinfo) -> str:
    """Name the zone in config.md, or remove the line if it has no IANA name."""
    name = "UTC" if zone is UTC else getattr(zone, "key", None)
    line = "- timezone: {zone}\n"
    return text.replace(line, line.replace("{zone}", name) if name else "")


def _month_before(now: datetime, months: int) -> str:
    """Return `YYYY-MM` of the month that is `months` before that of `now`."""
    year, month = divmod(now.year * 12 + now.month - 1 - months, 12)
    return f"{year:04}-{month + 1:02}"
