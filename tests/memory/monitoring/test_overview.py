"""How monitors stand: the last results, the next run, and Prometheus' text."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from memory.errors import RefusedError
from memory.monitoring.overview import prometheus, standings
from memory.monitoring.result import Result
from tests.memory.monitoring.keeping import NOW, Place, command


def test_results_have_an_end(tmp_path: Path) -> None:
    """Old results go, but a thousand stay whatever the clock says, and they come newest first."""
    place = Place(tmp_path, "")
    results = [Result("One", "healthy", f"{number}", seconds=0.1) for number in range(1_100)]
    ledger = place.ledger()
    ledger.run(lambda db: ledger.record(db, results, NOW - timedelta(days=40), {}), None)
    ledger.run(lambda db: ledger.record(db, results[:1], NOW, {}), None)
    assert ledger.rows("SELECT count(*) FROM run") == [(1_000,)]
    (newest,) = ledger.last_results(3).values()
    assert [past.summary for past in newest] == ["0", "1099", "1098"]


def exported(place: Place) -> str:
    """Return what is printed for Prometheus."""
    found = standings(place.workspace, place.workspace.snapshot(), NOW)
    return prometheus(found, (), NOW, host="box", workspace="/srv/shop")


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
