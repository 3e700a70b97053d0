"""How monitors stand: uptime, the last results, the next run, and Prometheus' text."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from memory.errors import RefusedError
from memory.monitoring.checks.result import Result
from memory.monitoring.history.overview import prometheus, standings
from memory.monitoring.history.results import last_results, record_results, uptimes
from tests.memory.monitoring.keeping import NOW, Place, command


def record(place: Place, state: str, hours: float, seconds: float = 0.5) -> None:
    """Record one result so many hours before NOW."""
    ledger = place.ledger()
    result = Result("One", state, "words", seconds=seconds)  # type: ignore[arg-type]
    ledger.run(lambda db: record_results(db, [result], NOW - timedelta(hours=hours)), None)


def test_uptime(tmp_path: Path) -> None:
    """The share of healthy checks over a day, a week and a month; what measured nothing does not count."""
    place = Place(tmp_path, command("One", "true"))
    for hours, state in (
        (1, "healthy"),
        (2, "failing"),
        (3, "blocked"),
        (50, "healthy"),
        (60, "error"),
        (400, "failing"),
    ):
        record(place, state, hours)
    assert uptimes(place.ledger(), NOW) == {"One": {"24h": 50.0, "7d": 50.0, "30d": 40.0}}


def test_results_have_an_end(tmp_path: Path) -> None:
    """Old results go, but a thousand stay whatever the clock says, and they come newest first."""
    place = Place(tmp_path, "")
    results = [Result("One", "healthy", f"{number}", seconds=0.1) for number in range(1_100)]
    ledger = place.ledger()
    ledger.run(lambda db: record_results(db, results, NOW - timedelta(days=40)), None)
    ledger.run(lambda db: record_results(db, results[:1], NOW), None)
    assert ledger.rows("SELECT count(*) FROM run") == [(1_000,)]
    (newest,) = last_results(ledger, 3).values()
    assert [past.summary for past in newest] == ["0", "1099", "1098"]


def test_how_a_monitor_stands(tmp_path: Path) -> None:
    """State, since when, uptime, five results, the next run, the mute; unknown where nobody looked yet."""
    place = Place(
        tmp_path, command("One", "test -e flag") + command("Two", "true", "- lastStatus: healthy", interval="bad")
    )
    place.approve("check")
    for minutes in range(0, 35, 5):
        place.watch(minutes, names=["One"])
    place.ledger().mute("*", NOW + timedelta(hours=2))
    now = NOW + timedelta(minutes=31)
    one, two = (found.json() for found in standings(place.workspace, place.workspace.snapshot(), now))
    assert (one["state"], one["since"], one["failures"]) == ("failing", "2026-01-15T11:30:00Z", 7)
    assert (one["alerting"], one["triggered"], one["uptime"]["24h"]) == (True, True, 0.0)
    assert [past["state"] for past in one["results"]] == ["failing"] * 5
    assert one["results"][0]["at"] == "2026-01-15T12:00:00Z"
    assert (one["nextRun"], one["mutedUntil"]) == ("2026-01-15T12:05:00Z", "2026-01-15T13:30:00Z")
    assert (two["state"], two["since"], two["results"], two["nextRun"]) == ("unknown", None, [], None)
    assert two["uptime"] == {"24h": None, "7d": None, "30d": None}


def exported(place: Place) -> str:
    """Return what is printed for Prometheus."""
    found = standings(place.workspace, place.workspace.snapshot(), NOW)
    return prometheus(found, (), NOW, host="box", workspace="/srv/shop")


@pytest.mark.parametrize("name", ["One", 'Quoted "x" \\ back'])
def test_prometheus(tmp_path: Path, name: str) -> None:
    """Each metric has help, type and one line a monitor, names are escaped, what was never measured is missing."""
    place = Place(tmp_path, command(name, "true") + command("New", "true", interval="0 0 1 1 *"))
    place.approve("check")
    place.watch(names=[name])
    text = exported(place)
    label = name.replace("\\", "\\\\").replace('"', '\\"')
    lines = text.splitlines()
    place_labels = 'host="box",workspace="/srv/shop"'
    assert f'memdeck_monitor_up{{name="{label}",{place_labels}}} 1' in lines
    stamp = f"{NOW.timestamp():.0f}"
    assert f'memdeck_monitor_last_check_timestamp_seconds{{name="{label}",{place_labels}}} {stamp}' in lines
    assert f'memdeck_monitor_uptime_ratio{{name="{label}",span="24h",{place_labels}}} 1' in lines
    assert 'memdeck_monitor_up{name="New"' not in text
    assert f'memdeck_monitor_muted{{name="New",{place_labels}}} 0' in lines
    assert sum(line.startswith("# TYPE") for line in lines) == 10
    assert text.endswith("\n")


def test_a_state_folder_that_others_can_write_to(tmp_path: Path) -> None:
    """What stands in it counts for nothing: monitors are listed as unknown, and nothing runs."""
    place = Place(tmp_path, command("One", "true"))
    place.approve()
    place.watch()
    folder = place.workspace.state.folder.path  # type: ignore[union-attr]
    folder.chmod(0o777)
    [one] = standings(place.workspace, place.workspace.snapshot(), NOW)
    assert one.state == "unknown"
    with pytest.raises(RefusedError):
        place.watch(5)
