"""Times of day without messages: maintenance windows and quiet hours.

`22:00-07:00`, `SUN 02:00-04:00`, `MON-FRI 18:00-08:00`, several separated by commas, and single ones with dates,
`2024-01-20 22:00 to 2024-01-21 02:00`. Wall-clock times of the workspace's zone; a window over midnight belongs to the
day on which it begins; its end is exclusive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo

from memory.errors import UsageError

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAILY = re.compile(r"(?:([a-z]{3})(?:-([a-z]{3}))?\s+)?(\d{1,2}):(\d{2})\s*(?:-|–|to)\s*(\d{1,2}):(\d{2})", re.ASCII)
_ONCE = re.compile(r"(\d{4}-\d{2}-\d{2}[ t]\d{2}:\d{2})\s*(?:-|–|to)\s*(\d{4}-\d{2}-\d{2}[ t]\d{2}:\d{2})", re.ASCII)
_MOST = 20


@dataclass(frozen=True, slots=True)
class Window:
    """One window: `days` (0 is Monday) with `start` and `end` as minutes of the day, or two local times."""

    days: frozenset[int] = frozenset(range(7))
    start: int = 0
    end: int = 0
    once: tuple[datetime, datetime] | None = None

    def until(self, now: datetime, zone: tzinfo) -> datetime | None:
        """Return the instant (UTC) at which the window around `now` ends; None if `now` is outside."""
        local = now.astimezone(zone).replace(tzinfo=None)
        for begins, ends in self._near(local):
            if begins <= local < ends:
                end = ends.replace(tzinfo=zone).astimezone(UTC)
                return max(end, now.astimezone(UTC))
        return None

    def _near(self, local: datetime) -> Iterable[tuple[datetime, datetime]]:
        if self.once is not None:
            yield self.once
            return
        for back in (0, 1):
            with suppress(OverflowError):
                day = datetime.combine(local.date() - timedelta(days=back), time())
                if day.weekday() in self.days:
                    length = (self.end - self.start) % 1440 or 1440
                    begins = day + timedelta(minutes=self.start)
                    yield begins, begins + timedelta(minutes=length)


def parse_windows(text: str) -> tuple[Window, ...]:
    """Parse windows; UsageError `window.invalid` with the invalid part."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) > _MOST:
        raise UsageError("window.invalid", f"{len(parts)} windows are too many", f"write {_MOST} at most")
    return tuple(_window(part) for part in parts)


def _window(text: str) -> Window:
    plain = text.lower()
    once = _ONCE.fullmatch(plain)
    daily = _DAILY.fullmatch(plain)
    with suppress(ValueError):
        if once is not None:
            begins, ends = (datetime.fromisoformat(part.upper()) for part in once.groups())
            if begins < ends:
                return Window(once=(begins, ends))
        elif daily is not None:
            first, last, *clock = daily.groups()
            hour, minute, end_hour, end_minute = (int(part) for part in clock)
            if max(minute, end_minute) < 60 and hour < 24 and end_hour * 60 + end_minute <= 1440:
                return Window(_days(first, last), hour * 60 + minute, (end_hour * 60 + end_minute) % 1440)
    raise UsageError(
        "window.invalid",
        f"{text[:40]!r} is no window of time",
        "write 22:00-07:00, SUN 02:00-04:00 or 2024-01-20 22:00 to 2024-01-21 02:00",
    )


def _days(first: str | None, last: str | None) -> frozenset[int]:
    if first is None:
        return frozenset(range(7))
    begin = _DAYS.index(first)
    end = begin if last is None else _DAYS.index(last)
    return frozenset((begin + step) % 7 for step in range((end - begin) % 7 + 1))


def ends_at(windows: Iterable[Window], now: datetime, zone: tzinfo) -> datetime | None:
    """Return the instant (UTC) at which the last of the windows around `now` ends; None if `now` is in none."""
    return max((end for window in windows if (end := window.until(now, zone)) is not None), default=None)
