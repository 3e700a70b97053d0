"""Fields that the forms of several panes share: dates as people type them, cron expressions with their next runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, tzinfo
from typing import Any

from memory.base.clock import BadMoment, humanize, read_moment
from memory.operations import DUE, When

from .fields import FieldSpec, usage_error

RUNS = 5
"""How many next runs a cron field shows."""


def date_field(
    name: str, label: str, value: str, now: datetime, zone: tzinfo, kind: When = DUE, **more: Any
) -> FieldSpec:
    """A field for a date: `tomorrow 14:00`, `2 Dec`, `+2d`, `eom`, ISO (docs/dates.md); its meaning is shown below it.

    The value stays as typed; `as_written` converts it to the form in files. `more` are other attributes of the field.
    """

    def hint(text: str) -> str:
        try:
            written = as_written(text, value, now, zone, kind)
            moment = read_moment(written, zone) if written else None
        except BadMoment:
            return ""
        if moment is None:
            return ""
        words = humanize(moment, now, zone)
        return words if written == text.strip() else f"{written}, {words}"

    def validate(text: str) -> str | None:
        return usage_error(lambda: as_written(text, value, now, zone, kind))

    return FieldSpec(name, label, "date", value, validate=validate, hint=hint, **more)


def as_written(text: str, original: str, now: datetime, zone: tzinfo, kind: When = DUE) -> str:
    """A typed date as it is written to files; an empty or unchanged value stays as it is. Raises BadMoment."""
    return text.strip() if text == original else kind.written(text.strip(), now, zone)


def cron_field(name: str, label: str, value: str, now: datetime, zone: tzinfo) -> FieldSpec:
    """A field for a cron expression; below it its next runs in the workspace's zone, noting where clocks change."""

    def validate(text: str) -> str | None:
        from memory.base.cron import check_cron

        return usage_error(lambda: check_cron(text)) if text.strip() and text != value else None

    return FieldSpec(name, label, "cron", value, validate=validate, hint=lambda text: next_run_words(text, now, zone))


def recurrence_field(
    name: str, label: str, value: str, due: Callable[[], str | None], now: datetime, zone: tzinfo, **more: Any
) -> FieldSpec:
    """A field for a recurrence in words or cron fields; below it its meaning and its next runs.

    `due` returns the date that it starts from, in the form of files.
    """

    def validate(text: str) -> str | None:
        from memory.files.tasks.quick import recurrence_from

        if not text.strip() or text == value:
            return None
        return usage_error(lambda: recurrence_from(text, due(), zone))

    def hint(text: str) -> str:
        from memory.base.cron import BadCron
        from memory.files.tasks.quick import recurrence_from

        if not text.strip():
            return ""
        try:
            found = recurrence_from(text, due(), zone)
        except BadCron:
            return ""
        runs = next_run_words(found.cron, now, zone)
        words = [found.cron, found.meaning] if found.cron not in (text.strip(), found.meaning) else [found.meaning]
        return "\n".join([" · ".join(words), runs, *([found.note] if found.note else [])])

    return FieldSpec(name, label, "cron", value, validate=validate, hint=hint, **more)


def next_run_words(expression: str, now: datetime, zone: tzinfo) -> str:
    """The next five runs in one line, each day once: `Mon 15 Jan 09:00 · 12:00 · Tue 16 Jan 09:00`; empty if none."""
    from memory.base.cron import BadCron, next_runs

    if not expression.strip():
        return ""
    try:
        runs = next_runs(expression, now, zone, RUNS)
    except BadCron:
        return ""
    words = " · ".join(
        f"{run:%H:%M}" if one and run.date() == runs[one - 1].date() else f"{run:%a} {run.day} {run:%b %H:%M}"
        for one, run in enumerate(runs)
    )
    offsets = {run.utcoffset() for run in (now.astimezone(zone), *runs)}
    return f"{words} (clocks change in between)" if len(offsets) > 1 else words


def by_use(values: Iterable[str]) -> tuple[str, ...]:
    """The different values, the most used first: suggestions for a field."""
    return tuple(value for value, _ in Counter(value for value in values if value).most_common(200))
