"""The forms of a journal entry: title, time, and the lines of the entry, one per line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, tzinfo
from typing import Any

from memory.base.clock import BadMoment, format_local
from memory.base.dates import parse_when
from memory.files.journal.edits import add_entry, edit_entry
from memory.files.journal.model import JournalEntry
from memory.files.snapshot import Snapshot
from widgets.input.fields import FieldSpec, usage_error
from widgets.pane.offers import Build, FormPlan, Values

_CLOCK = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?")


def join_lines(lines: Iterable[str]) -> str:
    """The lines of an entry as an editor shows them: one per line, continuation lines indented."""
    return "\n".join(line.replace("\n", "\n  ") for line in lines)


def split_lines(text: str) -> tuple[str, ...]:
    """The lines of an entry from an editor's text; an indented line continues the one before."""
    lines: list[str] = []
    for line in text.split("\n"):
        if not line.strip():
            continue
        if line[0] in " \t" and lines:
            lines[-1] += "\n" + line.strip()
        else:
            lines.append(line.strip())
    return tuple(lines)


def adding(snapshot: Snapshot, now: datetime) -> FormPlan:
    """The form of a new entry, at the present time."""
    zone = snapshot.zone
    written = format_local(now, zone)

    def wrong(text: str) -> str | None:
        return usage_error(lambda: _written_time(text, now, zone))

    def meant(text: str) -> str:
        if wrong(text):
            return ""
        understood = _written_time(text, now, zone)
        return "" if understood == text.strip() else understood

    fields = (
        FieldSpec("title", "title", placeholder="what happened", required=True),
        FieldSpec(
            "time", "time", value=written, validate=wrong, hint=meant, placeholder="14:00, yesterday 9:30, 5 Nov 14:00"
        ),
        FieldSpec("lines", "lines", "multiline"),
    )

    def build(changed: Values, values: Values, now: datetime) -> Build:
        at = _written_time(values["time"], now, zone) if "time" in changed else None
        return lambda snapshot: add_entry(
            snapshot, values["title"].strip(), split_lines(values["lines"]), at=at or None, now=now
        )

    return FormPlan("New entry", fields, build, "journal.add", focus="title")


def editing(item: JournalEntry) -> FormPlan:
    """The form of an entry."""
    fields = (
        FieldSpec("title", "title", value=item.title, placeholder="what happened", required=True),
        FieldSpec("time", "time", value=item.time or "", validate=_clock_error, placeholder="14:00"),
        FieldSpec("lines", "lines", "multiline", join_lines(item.lines)),
    )
    ref, base = item.ref, item.entry

    def build(changed: Values, values: Values, now: datetime) -> Build:  # noqa: ARG001

        given: dict[str, Any] = {name: changed[name].strip() for name in ("title", "time") if name in changed}
        if "lines" in changed:
            given["lines"] = split_lines(changed["lines"])
        return lambda snapshot: edit_entry(snapshot, ref, **given, base=base, now=now)

    return FormPlan("Edit entry", fields, build, "journal.edit", focus="title")


def _clock_error(text: str) -> str | None:
    text = text.strip()
    if not text or _CLOCK.fullmatch(text):
        return None
    return "a time looks like 14:00"


def _written_time(text: str, now: datetime, zone: tzinfo) -> str:
    """The time of an entry as it is stored: a time alone means today, a day needs a time. Raises BadMoment."""
    text = text.strip()
    if not text or _CLOCK.fullmatch(text):
        return text
    written = parse_when(text, now, zone, past=True)
    if len(written) == len("2024-01-31"):
        raise BadMoment(f"{text[:40]!r} has no time of day", "write it like 14:00 or yesterday 14:00")
    return written
