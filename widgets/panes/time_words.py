"""Times in words: when something was or will be, and when a cron expression runs next."""

from __future__ import annotations

from datetime import date, datetime, tzinfo

from memory.base.clock import Moment, format_local, humanize
from memory.files.tasks.values import moment_or_none


def since(text: str | None, now: datetime, zone: tzinfo) -> str:
    """When a value's moment is, in a few words (`4 min ago`); what is no moment stays as it stands."""
    moment = moment_or_none(text, zone)
    return humanize(moment, now, zone) if moment else text or ""


def dated(text: str | None, now: datetime, zone: tzinfo) -> str:
    """A value's moment as a local time and in words, for a detail: `2024-01-15 10:30, 4 min ago`."""
    moment = moment_or_none(text, zone)
    if moment is None:
        return text or ""
    shown = moment.text if moment.instant is None else format_local(moment.instant, zone)
    return f"{shown}, {beside(moment, now, zone)}"


def beside(moment: Moment, now: datetime, zone: tzinfo) -> str:
    """When a moment is, in a few words that stand beside the whole date: they do not say the time once more."""
    words = humanize(moment, now, zone)
    if moment.instant is None:
        return words
    return words.removesuffix(f" {format_local(moment.instant, zone)[11:]}")


def next_run(expression: str | None, now: datetime, zone: tzinfo) -> datetime | None:
    """The next run of a cron expression; None where it is none."""
    if not expression:
        return None
    from memory.base.cron import BadCron, next_runs

    try:
        return next_runs(expression, now, zone)[0]
    except BadCron:
        return None


def until(instant: datetime | None, now: datetime, zone: tzinfo) -> str:
    """When an instant is, in a few words (`in 5 min`, `tomorrow 02:00`); empty for None."""
    if instant is None:
        return ""
    return humanize(Moment("", instant.astimezone(zone).date(), instant), now, zone)


def from_when(instant: datetime, now: datetime, zone: tzinfo) -> str:
    """Since when something is so, in at most 12 cells: `since 12:31`, `since 20 Nov`."""
    local = instant.astimezone(zone)
    same_day = local.date() == now.astimezone(zone).date()
    return f"since {local:%H:%M}" if same_day else f"since {local.day} {local:%b}"


def short_date(day: str) -> str:
    """`2024-01-14` as `14 Jan`, two cells for the day; what is no date is empty."""
    try:
        found = date.fromisoformat(day)
    except ValueError:
        return ""
    return f"{found.day:>2} {found:%b}"
