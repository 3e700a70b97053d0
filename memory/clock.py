"""Dates, times and zones of memory files, read and written as text; the time itself is always an argument.

A local time that a clock change skips counts with the offset before the change (02:30 becomes 03:30 in
spring), one that happens twice is the first of the two.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

from .document.remarks import is_absent
from .errors import UsageError

_FORM = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[ Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d{2}:?\d{2})?)?",
    re.ASCII,
)
_FORMS = "YYYY-MM-DD, YYYY-MM-DD HH:MM or YYYY-MM-DDTHH:MM:SSZ"
# The day before the last: every zone can still show it.
_LATEST = datetime(9999, 12, 31, tzinfo=UTC)
_EARLIEST = datetime(1, 1, 2, tzinfo=UTC)


class BadMoment(UsageError, ValueError):
    """A date or time that does not exist or has a form nobody knows; code `time.invalid`."""

    def __init__(self, message: str, hint: str = "") -> None:
        """Say what is wrong with the text."""
        super().__init__("time.invalid", message, hint)


class UnknownZone(UsageError, ValueError):
    """A time zone that this machine does not know; code `time.zone`."""

    def __init__(self, name: str) -> None:
        """Name the zone."""
        super().__init__("time.zone", f"no time zone is called {name[:80]!r}", "write it like Europe/Berlin or UTC")


@dataclass(frozen=True, slots=True)
class Moment:
    """A date, or a date and time, as it stands in a file.

    `text` is what was written, `date` the day in the reader's zone, `instant` the time in UTC (None: a date
    alone).
    """

    text: str
    date: date
    instant: datetime | None = None

    def due_at(self, zone: tzinfo) -> datetime:
        """Return the instant (UTC) from which this is overdue: a date alone lasts to the end of its day."""
        if self.instant is not None:
            return self.instant
        try:
            return _instant(datetime.combine(self.date + timedelta(days=1), time()), zone)
        except OverflowError:
            return _LATEST


def read_moment(text: str, zone: tzinfo) -> Moment | None:
    """Read a date or time of a field whose remark is already split off; None if the field has none.

    A time without an offset is in `zone`. Instants beyond the calendar's ends are taken to its ends.
    Raises BadMoment for impossible dates (`2024-02-30`) and other forms.
    """
    text = text.strip()
    found = _FORM.fullmatch(text)
    if found is None:
        if is_absent(text):
            return None
        raise BadMoment(f"{text[:40]!r} is not a date or time", f"write {_FORMS}")
    day_text, hour, minute, second, fraction, offset = found.groups()
    try:
        day = date.fromisoformat(day_text)
        if hour is None:
            return Moment(text, day)
        micro = int(fraction[:6].ljust(6, "0")) if fraction else 0
        clock = time(int(hour), int(minute), int(second or 0), micro)
    except ValueError:
        raise BadMoment(f"{text[:40]!r} does not exist", "check month, day and hour") from None
    instant = _instant(datetime.combine(day, clock), zone if offset is None else _read_offset(offset, text))
    return Moment(text, day if offset is None else instant.astimezone(zone).date(), instant)


def _instant(local: datetime, zone: tzinfo) -> datetime:
    try:
        return min(max(local.replace(tzinfo=zone).astimezone(UTC), _EARLIEST), _LATEST)
    except OverflowError:
        return _EARLIEST if local.year == 1 else _LATEST


def _read_offset(offset: str, text: str) -> tzinfo:
    if offset in "Zz":
        return UTC
    hours, minutes = int(offset[1:3]), int(offset[-2:])
    if hours > 23 or minutes > 59:
        raise BadMoment(f"{text[:40]!r} has an offset that does not exist", "offsets look like +02:00")
    shift = timedelta(hours=hours, minutes=minutes)
    return timezone(-shift if offset[0] == "-" else shift)


def format_local(now: datetime, zone: tzinfo) -> str:
    """Return `YYYY-MM-DD HH:MM` in the zone, the form of tasks."""
    return _aware(now).astimezone(zone).isoformat(" ", "minutes")[:16]


def format_utc(now: datetime) -> str:
    """Return `YYYY-MM-DDTHH:MM:SSZ`, the form of front matter and monitors."""
    return _aware(now).astimezone(UTC).isoformat("T", "seconds")[:19] + "Z"


def _aware(now: datetime) -> datetime:
    if now.tzinfo is None:
        raise ValueError("a time without a zone was given where an instant is needed")
    return now


def humanize(moment: Moment, now: datetime, zone: tzinfo) -> str:
    """Say in a few words when a moment is, seen from now: `in 2 h`, `today 14:00`, `tomorrow`, `3 d ago`.

    Under six hours it counts hours or minutes, around today it names the day, beyond that it counts days,
    weeks, months and years.
    """
    today = _aware(now).astimezone(zone).date()
    days = (moment.date - today).days
    clock = ""
    if moment.instant is not None:
        seconds = (moment.instant - now).total_seconds()
        minutes = round(abs(seconds) / 60)
        if minutes == 0:
            return "now"
        if minutes < 60:
            return _count(minutes, "min", seconds < 0)
        if minutes < 6 * 60:
            return _count(round(minutes / 60), "h", seconds < 0)
        clock = " " + format_local(moment.instant, zone)[11:]
    if abs(days) <= 1:
        return ("yesterday", "today", "tomorrow")[days + 1] + clock
    size = abs(days)
    for unit, length, limit in (("d", 1, 14), ("w", 7, 60), ("mo", 30, 365)):
        if size < limit:
            return _count(size // length, unit, days < 0)
    return _count(size // 365, "y", days < 0)


def _count(number: int, unit: str, past: bool) -> str:
    return f"{number} {unit} ago" if past else f"in {number} {unit}"


_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# Compiled on first use: reading a list of tasks needs neither.
_SHIFT = r"(?:([+-])|in )\s*([0-9]{1,5})\s*([a-z]+)"
_CLOCK = r"([0-9]{1,2})(?::([0-9]{2}))?\s*(am|pm)?"
_UNITS = {
    **dict.fromkeys(("min", "mins", "minute", "minutes", "m"), timedelta(minutes=1)),
    **dict.fromkeys(("h", "hour", "hours"), timedelta(hours=1)),
    **dict.fromkeys(("d", "day", "days"), timedelta(days=1)),
    **dict.fromkeys(("w", "week", "weeks"), timedelta(weeks=1)),
}


def parse_when(text: str, now: datetime, zone: tzinfo) -> str:
    """Turn what a person types into a date or time as files hold it: `2024-01-16 14:00` or `2024-01-16`.

    `today`, `tomorrow`, `yesterday`, `+2d`, `+1w`, `-1d`, `friday`, `next friday`, `next week`, `next
    month`, each with an optional time (`tomorrow 14:00`, `mon 9`, `fri at 2pm`); `now`, `+3h`, `in 90 min`;
    a time alone is the next one; `2024-01-16`, `2024-01-16 14:00` and times with an offset, which turn into
    local ones. A weekday is the next such day after today, with `next` the one of next week (weeks begin on
    Monday). Seconds are dropped. Raises BadMoment for anything else.
    """
    words = " ".join(text.lower().split())
    local = _aware(now).astimezone(zone)
    if _FORM.fullmatch(text.strip()):
        moment = read_moment(text, zone)
        assert moment is not None
        return moment.text if moment.instant is None else format_local(moment.instant, zone)
    if words == "now":
        return format_local(now, zone)
    try:
        found = _read_when(words, local, now, zone)
    except OverflowError:
        found = None
    if found is None:
        raise BadMoment(
            f"{text[:40]!r} is not a date",
            f"write today, tomorrow 14:00, +2d, +3h, fri 9:00, next week, {_FORMS}",
        )
    return found


def time_bound(text: str, now: datetime, zone: tzinfo, *, end: bool) -> datetime:
    """Return the aware time that a text means as the beginning, or the end, of a span; both count to the span.

    A day alone begins, or ends; what is written to the minute, or second, means all of it. Takes what `parse_when`
    takes; raises BadMoment for anything else.
    """
    moment = read_moment(parse_when(text, now, zone), zone)
    if moment is None:
        raise BadMoment(f"{text!r} is no time", "write it like 2024-01-15 14:00")
    if moment.instant is not None:
        return moment.instant + timedelta(seconds=59 if text.count(":") < 2 else 0, microseconds=999_999) * end
    day = moment.date + timedelta(days=1) if end else moment.date
    start = datetime(day.year, day.month, day.day, tzinfo=zone)
    return start - timedelta(microseconds=1) if end else start


def _read_when(words: str, local: datetime, now: datetime, zone: tzinfo) -> str | None:
    """Read a day with an optional time, a shift of hours, or a time alone; None if it is none of them."""
    shift = re.match(_SHIFT, words)
    if shift:
        unit = _UNITS.get(shift[3])
        if unit is None:
            return None
        by = unit * int(shift[2]) * (-1 if shift[1] == "-" else 1)
        rest = words[shift.end() :].strip()
        if unit < timedelta(days=1):
            return None if rest else format_local(now.astimezone(UTC) + by, zone)
        return _with_clock(local.date() + by, rest)
    head, _, rest = words.partition(" ")
    if head == "next":
        head, _, rest = rest.partition(" ")
        day = _next_period(head, local.date())
    else:
        day = _near_day(head, local.date())
    if day is not None:
        return _with_clock(day, rest)
    # A number alone could be a day or an hour, so a time alone needs its minutes or am and pm.
    clock = None if words.isdigit() else _read_clock(words.removeprefix("at "))
    if clock is None:
        return None
    later = clock > local.time().replace(second=0, microsecond=0)
    return f"{local.date() + timedelta(days=0 if later else 1)} {clock:%H:%M}"


def _near_day(word: str, today: date) -> date | None:
    named = {"today": 0, "tomorrow": 1, "tom": 1, "yesterday": -1}.get(word)
    if named is not None:
        return today + timedelta(days=named)
    weekday = _read_weekday(word)
    return None if weekday is None else today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)


def _next_period(word: str, today: date) -> date | None:
    monday = today + timedelta(days=7 - today.weekday())
    if word == "week":
        return monday
    if word == "month":
        return date(today.year + today.month // 12, today.month % 12 + 1, 1) if today.year < 9999 else None
    weekday = _read_weekday(word)
    return None if weekday is None else monday + timedelta(days=weekday)


def _read_weekday(word: str) -> int | None:
    """Return 0 (Monday) to 6 for a weekday's name or at least its first three letters."""
    if len(word) < 3:
        return None
    return next((number for number, name in enumerate(_WEEKDAYS) if name.startswith(word)), None)


def _with_clock(day: date, words: str) -> str | None:
    if not words:
        return day.isoformat()
    clock = _read_clock(words.removeprefix("at "))
    return None if clock is None else f"{day} {clock:%H:%M}"


def _read_clock(words: str) -> time | None:
    found = re.fullmatch(_CLOCK, words)
    if found is None:
        return None
    hour, minute = int(found[1]), int(found[2] or 0)
    if found[3]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found[3] == "pm" else 0)
    return time(hour, minute) if hour < 24 and minute < 60 else None


_UTC_NAMES = frozenset({"UTC", "Etc/UTC", "UTC0", "Z"})
_ZONE_FOLDER = "zoneinfo/"


def find_zone(name: str) -> tzinfo:
    """Return the zone of an IANA name (`Europe/Berlin`, `UTC`); raises UnknownZone.

    `UTC` costs nothing; other names load Python's zone tables on first use.
    """
    if name in _UTC_NAMES:
        return UTC
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # folders and other files, hostile names, names that nobody has
        raise UnknownZone(name) from None


def machine_zone(environ: Mapping[str, str], localtime_path: str = "/etc/localtime") -> tzinfo:
    """Return the zone of this machine: the variable TZ, else the link or file at `localtime_path`, else UTC.

    TZ may be a name, a file or a rule such as `CET-1CEST,M3.5.0,M10.5.0/3`; an unusable one counts as not
    set.
    """
    setting = environ.get("TZ", "").removeprefix(":")
    zone = (_zone_of_setting(setting) if setting else None) or _zone_of_file(localtime_path)
    return zone or UTC


def _zone_of_setting(setting: str) -> tzinfo | None:
    if setting.startswith("/"):
        return _zone_of_file(setting)
    try:
        return find_zone(setting)
    except UnknownZone:
        return _zone_of_rule(setting)


def _zone_of_file(path: str) -> tzinfo | None:
    import os

    # The name is worth more than the file: it is known everywhere, and UTC needs no tables.
    name = os.path.realpath(path).rpartition(_ZONE_FOLDER)[2]
    try:
        return find_zone(name)
    except UnknownZone:
        pass
    from zoneinfo import ZoneInfo

    try:
        with open(path, "rb") as file:
            return ZoneInfo.from_file(file)
    except (OSError, ValueError):
        return None


def _zone_of_rule(rule: str) -> tzinfo | None:
    """Read a POSIX rule with the reader of zone files, by putting an empty file of version 2 around it."""
    from io import BytesIO
    from zoneinfo import ZoneInfo

    header = b"TZif2" + bytes(15) + b"".join(count.to_bytes(4, "big") for count in (0, 0, 0, 0, 1, 1))
    body = bytes(6) + b"\0"
    try:
        file = BytesIO(2 * (header + body) + b"\n" + rule.encode("ascii") + b"\n")
        return ZoneInfo.from_file(file)
    except ValueError:
        return None
