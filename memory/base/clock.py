"""Dates, times and zones of memory files, read and written as text; the time itself is always an argument.

A local time that a clock change skips is read with the offset before the change (02:30 becomes 03:30 in spring); one
that occurs twice is the first of the two. The words for days, months, numbers and times of day are in one table here;
dates typed by the user are read with it by `memory.base.dates`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import NamedTuple

from memory.errors import UsageError

from .values import is_absent

FORM = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[ Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d{2}:?\d{2})?)?",
    re.ASCII,
)
FORMS = "YYYY-MM-DD, YYYY-MM-DD HH:MM or YYYY-MM-DDTHH:MM:SSZ"
# One day before the calendar's end: every zone can still show it.
_LATEST = datetime(9999, 12, 31, tzinfo=UTC)
_EARLIEST = datetime(1, 1, 2, tzinfo=UTC)
_MOST_SECONDS = 1000 * 366 * 86400.0
_COUNTED_HOURS = 6
"""Distances below this many hours are counted; above, the day and time are more useful."""

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = "january february march april may june july august september october november december"
MONTHS = tuple(_MONTHS.split())
"""The names of the months, in lower case."""
DAYS, SHORT_MONTHS = (tuple(name[:3] for name in names) for names in (WEEKDAYS, MONTHS))
"""The first three letters of each weekday and of each month."""
_TEN = "one two three four five six seven eight nine ten"
COUNTS = {word: count for count, word in enumerate(_TEN.split(), 1)}
"""The numbers from one to ten by their words."""
PLACES = ("last", "first", "second", "third", "fourth", "fifth")
"""The weeks of a month by their numbers, the last as 0."""
_TIME_OF_DAY = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))? ?(am|pm)?", re.ASCII)


class BadMoment(UsageError, ValueError):
    """A date or time that does not exist or has an unknown form; code `time.invalid`."""

    def __init__(self, message: str, hint: str = "") -> None:
        """Store the message and the hint."""
        super().__init__("time.invalid", message, hint)


class UnknownZone(UsageError, ValueError):
    """A time zone that this machine does not know; code `time.zone`."""

    def __init__(self, name: str) -> None:
        """Build the message from the zone's name."""
        super().__init__("time.zone", f"unknown time zone {name[:80]!r}", "write it like Europe/Berlin or UTC")


class Moment(NamedTuple):
    """A date, or a date and time, as written in a file.

    `text` is the written text, `date` the day in the reader's zone, `instant` the time in UTC (None: a date alone).
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

    def is_overdue(self, now: datetime, zone: tzinfo) -> bool:
        """Return whether something due at this moment is overdue at an aware time."""
        return self.due_at(zone) <= now


def read_moment(text: str, zone: tzinfo) -> Moment | None:
    """Read a date or time of a field whose remark is already split off; None if the field has none.

    A time without an offset is in `zone`. Instants beyond the calendar's ends are clamped to them. Raises BadMoment for
    impossible dates (`2024-02-30`) and other forms.
    """
    text = text.strip()
    found = FORM.fullmatch(text)
    if found is None:
        if is_absent(text):
            return None
        raise BadMoment(f"{text[:40]!r} is not a date or time", f"write {FORMS}")
    day_text, hour, minute, second, fraction, offset = found.groups()
    try:
        if hour is None:
            return Moment(text, date.fromisoformat(day_text))
        micro = int(fraction[:6].ljust(6, "0")) if fraction else 0
        year, month, day = int(day_text[:4]), int(day_text[5:7]), int(day_text[8:])
        local = datetime(year, month, day, int(hour), int(minute), int(second or 0), micro)  # noqa: DTZ001 - see below
    except ValueError:
        raise BadMoment(f"{text[:40]!r} does not exist", "check month, day and hour") from None
    instant = _instant(local, zone if offset is None else _read_offset(offset, text))
    return Moment(text, local.date() if offset is None else instant.astimezone(zone).date(), instant)


def _instant(local: datetime, zone: tzinfo) -> datetime:
    try:
        aware = local.replace(tzinfo=zone)
        if zone is not UTC:
            aware = aware.astimezone(UTC)
        return aware if 1 < local.year < 9999 else min(max(aware, _EARLIEST), _LATEST)
    except OverflowError:
        return _EARLIEST if local.year == 1 else _LATEST


def _read_offset(offset: str, text: str) -> tzinfo:
    if offset in "Zz":
        return UTC
    hours, minutes = int(offset[1:3]), int(offset[-2:])
    if hours > 23 or minutes > 59:
        raise BadMoment(f"{text[:40]!r} has an invalid UTC offset", "offsets look like +02:00")
    shift = timedelta(hours=hours, minutes=minutes)
    return timezone(-shift if offset[0] == "-" else shift)


def format_local(now: datetime, zone: tzinfo) -> str:
    """Return `YYYY-MM-DD HH:MM` in the zone, the form of tasks."""
    return aware(now).astimezone(zone).isoformat(" ", "minutes")[:16]


def format_exact(instant: datetime, zone: tzinfo) -> str:
    """Return `YYYY-MM-DD HH:MM` in the zone, with the offset after it for the second such time when clocks go back.

    `2024-10-27 02:30` is the first of the two in Berlin, `2024-10-27 02:30+01:00` the second.
    """
    local = aware(instant).astimezone(zone)
    text = local.isoformat(" ", "minutes")
    return text if local.fold and _instant(local.replace(tzinfo=None, fold=0), zone) != instant else text[:16]


def format_utc(now: datetime) -> str:
    """Return `YYYY-MM-DDTHH:MM:SSZ`, the form of front matter and monitors."""
    return aware(now).astimezone(UTC).isoformat("T", "seconds")[:19] + "Z"


def exact_utc(moment: datetime) -> str:
    """Return an aware time as programs get it: like `format_utc`, with the microseconds where there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def read_utc(text: str) -> datetime | None:
    """Return a time in ISO 8601 as aware UTC, without a zone it is UTC; None for what cannot be read."""
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def aware(now: datetime) -> datetime:
    """Return the instant; raises ValueError for a time without a zone."""
    if now.tzinfo is None:
        raise ValueError("a time without a time zone was given; give one with an offset")
    return now


_NAMES_OF_UNITS = {
    1e-6: "us µs",
    1e-3: "ms msec millisecond milliseconds",
    1.0: "s sec secs second seconds",
    60.0: "m min mins minute minutes",
    3600.0: "h hr hrs hour hours",
    86400.0: "d day days",
    604800.0: "w wk week weeks",
}
UNITS = {name: seconds for seconds, names in _NAMES_OF_UNITS.items() for name in names.split()}
"""The units of time, each with its seconds."""
_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?) *([a-zµ]*)")


def read_duration(text: str) -> float | None:
    """Return the seconds of a duration such as `300ms`, `45 s`, `2h`, `7d` or `90`; None for any other text.

    Seconds are the unit of a number alone. The longest is a thousand years.
    """
    found = _DURATION.fullmatch(text.strip().lower())
    unit = UNITS.get(found[2] or "s") if found else None
    seconds = float(found[1]) * unit if found and unit else None
    return seconds if seconds is None or seconds <= _MOST_SECONDS else None


def say_span(seconds: float) -> str:
    """Return a span in words, rounded: `45 min`, `2 h`, `3 d`; "" for less than half a minute.

    All displayed distances use this rounding.
    """
    minutes = round(abs(seconds) / 60)
    if minutes < 60:
        return f"{minutes} min" if minutes else ""
    hours = round(minutes / 60)
    return f"{hours} h" if hours < 24 else f"{round(hours / 24)} d"


def say_ago(seconds: float) -> str:
    """Return how long ago something was: `45 min ago`, `now` for less than half a minute."""
    span = say_span(seconds)
    return f"{span} ago" if span else "now"


def humanize(moment: Moment, now: datetime, zone: tzinfo) -> str:
    """Return in a few words when a moment is, relative to now: `in 2 h`, `today 14:00`, `tomorrow`, `3 d ago`.

    Under six hours it counts hours or minutes, around today it names the day, beyond that it counts days,
    weeks, months and years.
    """
    today = aware(now).astimezone(zone).date()
    days = (moment.date - today).days
    clock = ""
    if moment.instant is not None:
        seconds = (moment.instant - now).total_seconds()
        span = say_span(seconds)
        if not span:
            return "now"
        if round(abs(seconds) / 60) < _COUNTED_HOURS * 60:
            return _sided(span, seconds < 0)
        clock = " " + format_local(moment.instant, zone)[11:]
    if abs(days) <= 1:
        return ("yesterday", "today", "tomorrow")[days + 1] + clock
    size = abs(days)
    for unit, length, limit in (("d", 1, 14), ("w", 7, 60), ("mo", 30, 365)):
        if size < limit:
            return _sided(f"{size // length} {unit}", days < 0)
    return _sided(f"{size // 365} y", days < 0)


def late_words(moment: Moment, now: datetime, zone: tzinfo) -> str:
    """Return for how long something is overdue, in few words: `now`, `20 min ago`, `5 h ago`, `3 d ago`."""
    days = (aware(now).astimezone(zone).date() - moment.date).days
    if moment.instant is None or days > 1:
        return f"{days} d ago"
    return say_ago((now - moment.instant).total_seconds())


def _sided(span: str, past: bool) -> str:
    return f"{span} ago" if past else f"in {span}"


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
    except (OSError, ValueError, KeyError):  # folders and other files, hostile names, unknown names
        raise UnknownZone(name) from None


def machine_zone(environ: Mapping[str, str], localtime_path: str = "/etc/localtime") -> tzinfo:
    """Return the zone of this machine: that of the variable TZ, else of the link or file at `localtime_path`, else UTC.

    TZ may be a name or a file; anything else counts as not set.
    """
    setting = environ.get("TZ", "").removeprefix(":")
    return (_zone_of(setting) if setting else None) or _zone_of(localtime_path) or UTC


def _zone_of(place: str) -> tzinfo | None:
    """Return the zone of a name or of a zone file by its whole path, None for anything else."""
    import os

    # The name is better than the file: it is known everywhere, and UTC needs no tables.
    is_file = place.startswith("/")
    with suppress(UnknownZone):
        return find_zone(os.path.realpath(place).rpartition(_ZONE_FOLDER)[2] if is_file else place)
    from zoneinfo import ZoneInfo

    with suppress(OSError, ValueError):
        if is_file:
            with open(place, "rb") as file:
                return ZoneInfo.from_file(file)
    return None


def read_clock(words: str) -> time | None:
    """Return a time of day such as `14:00`, `2pm`, `9` or `noon`; None for other words."""
    if words == "noon":
        return time(12)
    found = _TIME_OF_DAY.fullmatch(words)
    if found is None:
        return None
    hour, minute = int(found[1]), int(found[2] or 0)
    if found[3]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found[3] == "pm" else 0)
    return time(hour, minute) if hour < 24 and minute < 60 else None


def weekday_number(word: str) -> int | None:
    """Return 0 (Monday) to 6 for a weekday's name or at least its first three letters."""
    return _place(word, WEEKDAYS)


def month_number(word: str) -> int | None:
    """Return 1 to 12 for a month's name or at least its first three letters; `sept` is one of them."""
    place = _place(word, MONTHS)
    return None if place is None else place + 1


def _place(word: str, names: tuple[str, ...]) -> int | None:
    places = (place for place, name in enumerate(names) if len(word) > 2 and name.startswith(word))
    return next(places, None)
