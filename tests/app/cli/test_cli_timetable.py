"""Lines for cron and units for systemd."""

from __future__ import annotations

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.cli.verbs.doctor.checks import scheduled
from app.cli.verbs.doctor.timetable import on_calendar, timetable, watch_expression
from memory.base.cron import BadCron
from memory.errors import UsageError
from tests.patience import PATIENCE

LOG = Path("/home/ann/.local/state/memdeck/maintain.log")


@pytest.mark.parametrize(
    ("expression", "calendar"),
    [
        ("0 2 * * *", "*-*-* 02:00:00"),
        ("*/15 * * * *", "*-*-* *:00/15:00"),
        ("30 1,13 * * 1-5", "Mon..Fri *-*-* 01,13:30:00"),
        ("0 9 * * MON", "Mon *-*-* 09:00:00"),
        ("0 9 * * 7", "Sun *-*-* 09:00:00"),
        ("0 3 1 */2 *", "*-01/2-01 03:00:00"),
        ("5 4 10-12 6 *", "*-06-10..12 04:05:00"),
        ("@daily", "*-*-* 00:00:00"),
        ("@monthly", "*-*-01 00:00:00"),
        ("@weekly", "Sun *-*-* 00:00:00"),
        ("0 0 1 * 1", None),
        ("0 0 L * *", None),
        ("0 0 * * 5#1", None),
    ],
)
def test_cron_expressions_as_calendars(expression: str, calendar: str | None) -> None:
    """The same times in systemd's form, or none where it has no such form."""
    assert on_calendar(expression) == calendar


@pytest.mark.parametrize("expression", ["0 2 * * *", "*/15 * * * *", "30 1,13 * * 1-5", "0 3 1 */2 *", "@weekly"])
def test_systemd_takes_the_calendars(expression: str) -> None:
    """systemd's own checker reads them."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("needs systemd-analyze")
    subprocess.run(
        ["systemd-analyze", "calendar", on_calendar(expression) or ""],
        check=True,
        capture_output=True,
        timeout=PATIENCE,
    )


def test_paths_are_quoted_for_each_reader() -> None:
    """Spaces, percent signs, quotes and dollars; characters that no such file can hold are refused."""
    plan = timetable(Path("/srv/a b/100% $x's"), None, LOG)
    assert plan.cron.startswith("0 2 * * * ")
    assert r"--maintain '/srv/a b/100\% $x'" in plan.cron
    assert "%" not in plan.cron.replace(r"\%", "")
    assert '--maintain "/srv/a b/100%% $$x\'s"' in plan.service
    assert plan.unit.startswith("memdeck-100-x-s-")
    assert timetable(Path("/srv/x"), None, LOG).unit != timetable(Path("/srv/y/x"), None, LOG).unit
    with pytest.raises(UsageError, match=r"schedule\.path"):
        timetable(Path("/srv/a\nb"), None, LOG)
    with pytest.raises(BadCron):
        timetable(Path("/srv/x"), "often", LOG)


def test_an_expression_without_counterpart_says_so() -> None:
    """The timer then runs every night, with a comment."""
    plan = timetable(Path("/srv/x"), "0 0 1 * 1", LOG)
    assert plan.cron.startswith("0 0 1 * 1 ")
    assert "# 0 0 1 * 1 has no counterpart here" in plan.timer
    assert "OnCalendar=*-*-* 02:00:00" in plan.timer


@pytest.mark.parametrize(
    ("crontab", "level"),
    [
        ("0 2 * * * memdeck --maintain /srv/x\n", "ok"),
        ("# 0 2 * * * memdeck --maintain /srv/x\n", "note"),
        ("0 2 * * * memdeck --maintain /srv/other\n", "note"),
        ("", "note"),
    ],
)
def test_doctor_looks_into_the_crontab(
    crontab: str, level: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An entry for this workspace counts, a comment or another workspace's does not."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert next(scheduled(Path("/srv/x"), crontab, tmp_path))[0] == level
    (tmp_path / "cron.d").mkdir()
    (tmp_path / "cron.d" / "memdeck").write_text(crontab.replace("* memdeck", "* ann memdeck"))
    said, message, *_ = next(scheduled(Path("/srv/x"), "", tmp_path))
    assert (said, "cron.d/memdeck" in message) == (level, level == "ok")


def test_doctor_looks_into_the_timers_of_systemd(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A service that was installed as printed is found."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".config" / "systemd" / "user"
    folder.mkdir(parents=True)
    plan = timetable(Path("/srv/x"), None, LOG)
    (folder / f"{plan.unit}.service").write_text(plan.service)
    (folder / f"{plan.unit}-watch.timer").write_text(plan.watch_timer)
    assert "enable --now" in str(next(scheduled(Path("/srv/x"), "")))
    (folder / "timers.target.wants").mkdir()
    (folder / "timers.target.wants" / f"{plan.unit}-watch.timer").symlink_to(folder / f"{plan.unit}-watch.timer")
    assert next(scheduled(Path("/srv/x"), ""))[0] == "ok"
    assert next(scheduled(Path("/srv/y"), ""))[0] == "note"


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ((), "*/5 * * * *"),
        (("*/5 * * * *",), "*/5 * * * *"),
        (("0 * * * *", "*/15 * * * *"), "*/15 * * * *"),
        (("0 9 * * *",), "0 * * * *"),
        (("* * * * *",), "* * * * *"),
        (("0,7 * * * *",), "*/6 * * * *"),
        (("often",), "*/5 * * * *"),
    ],
)
def test_the_watch_is_as_often_as_the_shortest_interval(intervals: tuple[str, ...], expected: str) -> None:
    """The second line of cron checks each monitor in its time; without any it is every five minutes."""
    assert watch_expression(intervals, datetime(2024, 1, 15, tzinfo=UTC), UTC) == expected
