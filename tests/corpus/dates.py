"""Dates, times, zones and recurrences that do not exist or that libraries stumble over."""

from __future__ import annotations

from .case import Case, refuses
from .place import Place


def _case(name: str, says: str, **more: object) -> Case:
    return Case(f"dates/{name}", says, **more)  # type: ignore[arg-type]


def _in_zone(place: Place, due: bytes) -> None:
    place.replace("config.md", b"## Heartbeat\n", b"## Workspace\n- timezone: Europe/Berlin\n## Heartbeat\n")
    place.replace("tasks.md", b"2024-01-15 14:00", due)


CASES = (
    _case("month-13", "a 13th month", finds=("tasks.md:10 task.due",)),
    _case("february-30", "30 February", finds=("tasks.md:9 task.created",)),
    _case("year-0", "the year 0", finds=("tasks.md:10 task.due",)),
    _case("year-99999", "a year of five digits", finds=("tasks.md:10 task.due",)),
    _case("hour-24", "24:00", finds=("tasks.md:10 task.due",)),
    _case("second-60", "a leap second", finds=("tasks.md:10 task.due",)),
    _case("offset-25", "an offset of 25 hours", finds=("tasks.md:10 task.due",)),
    _case("words", "words instead of a date", finds=("tasks.md:10 task.due",)),
    _case("other-order", "month, day and year with slashes", finds=("tasks.md:10 task.due",)),
    _case("fullwidth-digits", "fullwidth digits", finds=("tasks.md:10 task.due",)),
    _case("before-christ", "a year below 0", finds=("tasks.md:10 task.due",)),
    _case("end-of-time", "a time that leaves the calendar at its end once it is UTC"),
    _case("begin-of-time", "a time that leaves the calendar at its beginning once it is UTC", screen=True),
    _case("week-date", "a year, week and day of the week", finds=("tasks.md:10 task.due",)),
    _case("many-digits", "a fraction of a second with 400 digits", finds=("tasks.md:10 task.due",)),
    _case("no-break-space", "a no-break space between date and time", finds=("tasks.md:10 task.due",)),
    _case("cron-impossible", "a recurrence at minute 61 of hour 25", finds=("tasks.md:10 task.due",)),
    _case("cron-never", "a recurrence on 30 February, which never comes", screen=True, finds=("tasks.md:10 task.due",)),
    _case("cron-huge", "a recurrence that lists 4,000 minutes", finds=("tasks.md:10 task.due",)),
    _case("cron-seconds", "a recurrence with a field for seconds", finds=("tasks.md:10 task.due",)),
    _case("remark-unclosed", "a remark that is never closed", finds=("tasks.md:10 task.due",)),
    _case(
        "clock-forward",
        "a time that the clocks skip",
        file="tasks.md",
        build=lambda place: _in_zone(place, b"2024-03-31 02:30"),
    ),
    _case(
        "clock-back",
        "a time that comes twice, recurring in that hour",
        build=lambda place: _in_zone(place, b"2024-10-27 02:30 (recurring: 30 2 * * *)"),
    ),
    _case("completed-in-the-future", "a task completed in ten years"),
    _case("completed-unreadable", "tasks completed last week, and at no time", finds=("tasks.md:14 task.completed",)),
    _case("journal-day-impossible", "journal: 30 February", file="journal.md", finds=("journal.md:4 journal.date",)),
    _case(
        "journal-time-impossible",
        "journal: 25:61, 9:5 and noon",
        file="journal.md",
        finds=("journal.md:6 journal.time",),
    ),
    _case(
        "journal-day-words",
        "journal: yesterday, and a date with slashes",
        file="journal.md",
        finds=("journal.md:4 journal.section",),
    ),
    _case(
        "journal-order",
        "journal: oldest first, and a day that stands twice",
        file="journal.md",
        finds=("journal.md:16 document.twin_section",),
    ),
    _case(
        "config-numbers",
        "config: words, a negative number and infinity as limits",
        file="config.md",
        screen=True,
        finds=("config.md:5 config.value", "config.md:6 config.value", "config.md:7 config.value"),
        expect=refuses("config.value 2", "maintain"),
    ),
    _case(
        "config-zone",
        "config: a path as time zone, perhaps as a switch",
        file="config.md",
        finds=("config.md:5 config.value", "config.md:6 config.value"),
        expect=refuses("config.value 2", "maintain"),
    ),
    _case(
        "monitor-crons",
        "monitors: intervals, dates and priorities that are none",
        file="monitors.md",
        screen=True,
        finds=(
            "monitors.md:7 monitor.setting",
            "monitors.md:8 monitor.interval",
            "monitors.md:9 monitor.lastCheck",
            "monitors.md:10 monitor.alertPriority",
            "monitors.md:11 monitor.setting",
            "monitors.md:12 monitor.interval",
        ),
    ),
)
