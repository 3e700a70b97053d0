"""The limits of remediation, row by row."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memory.monitoring.watch import refused_remedy

NOW = datetime(2026, 1, 15, 11, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("failures", "attempts", "why"),
    [
        (1, [], "waits for 2 failures in a row"),
        (2, [], ""),
        (2, [(-14, True)], "ran less than 15 minutes ago"),
        (2, [(-15, True)], ""),
        (9, [(-16, False)], ""),
        (9, [(-16, False), (-40, False)], "stopped: the last 2 did not help"),
        (9, [(-16, None), (-40, None)], "stopped: the last 2 did not help"),
        (9, [(-16, True), (-40, False)], ""),
        (9, [(-100, False), (-200, False)], ""),
        (2, [(-16, True), (-60, True), (-1439, True)], "ran 3 times within a day"),
        (2, [(-16, True), (-60, True), (-1440, True)], ""),
        # A clock that was ahead when it ran: its distance counts.
        (2, [(14, True)], "ran less than 15 minutes ago"),
        (2, [(60 * 24 * 400, True)], ""),
    ],
)
def test_limits(failures: int, attempts: list[tuple[int, bool | None]], why: str) -> None:
    """Attempts (minutes from now, whether it helped) decide; the outage began 90 minutes ago."""
    past = [(NOW + timedelta(minutes=minutes), helped) for minutes, helped in attempts]
    assert refused_remedy(past, failures, NOW - timedelta(minutes=90), NOW) == why
