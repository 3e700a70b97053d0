"""Each instant of a schedule once: four zones over their clock changes, clocks that jump, several runners, crashes."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import pytest

from memory.base.clock import find_zone
from memory.base.cron import latest_run, next_runs
from memory.document import parse
from memory.files.monitors import Monitor, Monitors
from memory.monitoring.ledger import MonitorLedger
from memory.monitoring.schedule import Scheduled, due_instant, due_of, next_due, schedules
from memory.storage.own_folders import StateFolder
from tests.examples import in_turn
from tests.memory_files import snapshot_of

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo")
EXPRESSIONS = ("*/5 * * * *", "30 2 * * *", "0 * * * *", "*/30 2 * * *", "0 0 * * *", "15 1,2,3 * * *", "45 23 * * MON")


def changes(zone: tzinfo) -> list[datetime]:
    """Return when the clocks of a zone change in 2026."""
    hours = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number) for number in range(24 * 365)]
    offsets = [hour.astimezone(zone).utcoffset() for hour in hours]
    return [hour for hour, old, new in zip(hours[1:], offsets, offsets[1:], strict=False) if old != new]


def monitor(name: str = "One", interval: str = "*/5 * * * *") -> Monitor:
    """Return a monitor with an interval."""
    text = f"## Monitors\n\n### {name}\n- type: command\n- command: true\n- interval: {interval}\n"
    return Monitors("monitors.md", parse(text.encode())).items[0]


def ledger_in(folder: Path) -> MonitorLedger:
    """Return the record of one workspace below a folder."""
    return MonitorLedger(StateFolder(folder / "state", folder / "shop"))


@pytest.mark.parametrize("name", ZONES)
@pytest.mark.parametrize("expression", EXPRESSIONS[:6])
@pytest.mark.thorough(but=in_turn(EXPRESSIONS[:6], ZONES))
def test_every_instant_once_over_clock_changes(name: str, expression: str) -> None:
    """A runner that looks every five minutes runs what the schedule names, each once, around every change."""
    zone = find_zone(name)
    for change in changes(zone):
        begin, end = change - timedelta(hours=4), change + timedelta(hours=4)
        last = latest_run(expression, begin, zone)
        ran = []
        now = begin
        while now < end:
            now += timedelta(minutes=5)
            found = due_instant(expression, last.astimezone(UTC) if last else None, now, zone)
            if found is not None:
                ran.append(found)
                last = found
        expected = [run.astimezone(UTC) for run in next_runs(expression, begin, zone, 120) if run <= end]
        assert ran == expected


def test_a_time_that_is_skipped_runs_once_after_it() -> None:
    """Half past two does not exist when clocks go forward: the run comes as the clock shows three, once."""
    zone = find_zone("Europe/Berlin")
    night = datetime(2026, 3, 28, 12, tzinfo=UTC)
    runs = next_runs("30 2 * * *", night, zone, 2)
    assert [run.isoformat() for run in runs] == ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"]


def test_missed_runs_are_one() -> None:
    """However many instants passed while nobody looked, there is one run, for the newest of them."""
    last = datetime(2026, 1, 15, 9, 0, tzinfo=UTC)
    now = datetime(2026, 1, 15, 11, 32, tzinfo=UTC)
    newest = datetime(2026, 1, 15, 11, 30, tzinfo=UTC)
    assert due_instant("*/5 * * * *", last, now, UTC) == newest
    assert due_instant("*/5 * * * *", now - timedelta(minutes=7), now, UTC) == newest
    assert due_instant("*/5 * * * *", newest, now, UTC) is None


def test_what_never_ran_is_due() -> None:
    """A new monitor runs at once, one without an interval never, and a wrong interval is told with its line."""
    now = datetime(2026, 1, 15, 11, 32, tzinfo=UTC)
    rows = (("One", "*/5 * * * *"), ("Two", "null"), ("Three", "61 * * * *"))
    text = "".join(f"### {name}\n- interval: {interval}\n" for name, interval in rows)
    due, problems = due_of(schedules(snapshot_of({"monitors.md": f"## Monitors\n{text}"})), {}, now, UTC)
    assert [one.key for one, _ in due] == ["One"]
    assert len(problems) == 1
    assert problems[0].startswith("monitors.md:6: interval of 'Three': ")
    assert next_due("61 * * * *", now, UTC) is None
    assert next_due("0 12 * * *", now, UTC) == now.replace(hour=12, minute=0)


@pytest.mark.parametrize("seed", range(2))
def test_clocks_that_jump_run_nothing_twice(tmp_path: Path, seed: int) -> None:
    """Runners with a clock that jumps by minutes, hours and years claim no instant twice, and none is late for long."""
    chance = random.Random(seed)
    one, two = ledger_in(tmp_path), ledger_in(tmp_path)
    item = monitor()
    now = datetime(2026, 3, 28, 20, tzinfo=UTC)
    taken: list[datetime] = []
    zone = find_zone("Europe/Berlin")
    for _ in range(100):
        jump = chance.choice([1, 1, 1, 1, 3, 7, -2, -30, 60, -180, 60 * 24 * 400, -60 * 24 * 400])
        now = min(
            max(now + timedelta(minutes=jump), datetime(2020, 1, 1, tzinfo=UTC)), datetime(2040, 1, 1, tzinfo=UTC)
        )
        for ledger in chance.sample([one, two], 2):
            due = due_of([Scheduled("monitors", "One", item.interval or "", item)], ledger.last_claims(now), now, zone)[
                0
            ]
            taken += [at for _, at in ledger.claim([("One", at) for _, at in due], now)]
        newest = latest_run("*/5 * * * *", now, zone)
        assert newest is not None
        assert newest.astimezone(UTC) in taken
    assert len(taken) == len(set(taken))


def test_what_a_crash_interrupted_is_named_once(tmp_path: Path) -> None:
    """What was claimed may have run: the next runner names it, and no instant of it runs again."""
    now = datetime(2026, 1, 15, 11, 30, tzinfo=UTC)
    crashed = ledger_in(tmp_path)
    both = {("One", now), ("Two", now)}
    assert crashed.claim(both, now) == both
    crashed.run(lambda db: crashed.end(db, [("One", now)]), None)
    crashed.close()
    after = ledger_in(tmp_path)
    assert after.claim(both, now) == set()
    assert after.take_over() == ("Two",)
    assert after.take_over() == ()
