"""Fields that the forms of several panes share: dates as people type them, cron expressions with their next runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, tzinfo

from memory.base.clock import BadMoment, humanize, read_moment
from memory.base.dates import parse_when

from .fields import FieldSpec, usage_error

RUNS = 5
"""How many next runs a cron field shows."""

EXAMPLES = "fri 9:00, 2 Dec, +2d, eom"
"""What an empty date field shows: examples of what may be typed."""


def date_field(name: str, label: str, value: str, now: datetime, zone: tzinfo, *, past: bool = False) -> FieldSpec:
    """A field for a date: `tomorrow 14:00`, `2 Dec`, `+2d`, `eom`, ISO (docs/dates.md); its meaning is shown below it.

    The value stays as typed; `as_written` converts it to the form in files. With `past` a day without a year is the
    latest such day.
    """

    def validate(text: str) -> str | None:
        return usage_error(lambda: as_written(text, value, now, zone, past=past))

    def hint(text: str) -> str:
        try:
            written = as_written(text, value, now, zone, past=past)
            moment = read_moment(written, zone) if written else None
        except BadMoment:
            return ""
        if moment is None:
            return ""
        words = humanize(moment, now, zone)
        return words if written == text.strip() else f"{written}, {words}"

    return FieldSpec(name, label, "date", value, validate=validate, hint=hint, placeholder=EXAMPLES)


def as_written(text: str, original: str, now: datetime, zone: tzinfo, *, past: bool = False) -> str:
    """A typed date as it is written to files; an empty or unchanged value stays as it is. Raises BadMoment."""
    if not text.strip() or text == original:
        return text.strip()
    return parse_when(text, now, zone, past=past)


def cron_field(name: str, label: str, value: str, now: datetime, zone: tzinfo) -> FieldSpec:
    """A field for a cron expression; below it its next runs in the workspace's zone, noting where clocks change."""

    def validate(text: str) -> str | None:
        from memory.base.cron import BadCron, check_cron

        if not text.strip() or text == value:
            return None
        try:
            check_cron(text)
        except BadCron as error:
            return error.message
        return None

    return FieldSpec(name, label, "cron", value, validate=validate, hint=lambda text: next_run_words(text, now, zone))


RECURRENCES = "daily, weekdays 9:00, every fri 17:00, or cron"
"""What an empty recurrence field shows."""


class DueText:
    """The due date currently typed in a form, for a recurrence that starts from it."""

    def __init__(self, value: str, now: datetime, zone: tzinfo) -> None:
        """Begin with the initial date of the form."""
        self._value = self.text = value
        self._now, self._zone = now, zone

    def watched(self, field: FieldSpec) -> FieldSpec:
        """The date field, changed so that its text is recorded with every key."""

        def validate(text: str) -> str | None:
            self.text = text
            return field.validate(text) if field.validate is not None else None

        def hint(text: str) -> str:
            self.text = text
            return field.hint(text) if field.hint is not None else ""

        return replace(field, validate=validate, hint=hint)

    def written(self) -> str | None:
        """The date as it is written to files, None where it is empty or incomplete."""
        try:
            return as_written(self.text, self._value, self._now, self._zone) or None
        except BadMoment:
            return None


def recurrence_field(name: str, label: str, value: str, due: DueText, now: datetime, zone: tzinfo) -> FieldSpec:
    """A field for a recurrence in words or cron fields; below it its meaning and its next runs.

    The value stays as typed; `as_cron` converts it to the form in files.
    """

    def validate(text: str) -> str | None:
        return usage_error(lambda: as_cron(text, value, due.written(), zone))

    def hint(text: str) -> str:
        from memory.base.cron import BadCron
        from memory.files.tasks.quick import recurrence_from

        if not text.strip():
            return ""
        try:
            found = recurrence_from(text, due.written(), zone)
        except BadCron:
            return ""
        runs = next_run_words(found.cron, now, zone)
        words = [found.cron, found.meaning] if found.cron not in (text.strip(), found.meaning) else [found.meaning]
        return "\n".join([" · ".join(words), runs, *([found.note] if found.note else [])])

    return FieldSpec(name, label, "cron", value, validate=validate, hint=hint, placeholder=RECURRENCES)


def as_cron(text: str, original: str, due: str | None, zone: tzinfo) -> str:
    """A typed recurrence as it is written to files; an empty or unchanged value stays as it is. Raises BadCron."""
    from memory.files.tasks.quick import recurrence_from

    if not text.strip() or text == original:
        return text.strip()
    return recurrence_from(text, due, zone).cron


def next_run_words(expression: str, now: datetime, zone: tzinfo) -> str:
    """The next five runs in one line, for example `Mon 15 Jan 09:00 · Mon 22 Jan 09:00`; empty where there are none."""
    from memory.base.cron import BadCron, next_runs

    if not expression.strip():
        return ""
    try:
        runs = next_runs(expression, now, zone, RUNS)
    except BadCron:
        return ""
    words = " · ".join(f"{run:%a} {run.day} {run:%b %H:%M}" for run in runs)
    offsets = {run.utcoffset() for run in (now.astimezone(zone), *runs)}
    return f"{words} (clocks change in between)" if len(offsets) > 1 else words


def by_use(values: Iterable[str]) -> tuple[str, ...]:
    """The different values, the most used first: suggestions for a field."""
    return tuple(value for value, _ in Counter(value for value in values if value).most_common(200))
