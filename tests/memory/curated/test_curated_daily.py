"""Daily logs: made of the events, cut where they are full, archived, brought back and purged."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory.curated.curated import Curated
from memory.curated.daily import counts, is_due, sweep
from memory.curated.model import Json
from memory.curated.operations.registry import BY_NAME, OperationCall
from memory.errors import MemdeckError
from tests.memory.curated.conftest import NOW, Den, ask, tree, write


def run(curated: Curated, name: str, /, now: Any = NOW + timedelta(minutes=5), **values: Any) -> Json:
    """Call an operation of the registry."""
    return BY_NAME[name].call(curated, values, OperationCall(now, "cli", "cli"))


def logs(den: Den, folder: str = "daily") -> dict[str, str]:
    """Return the logs of the workspace by name."""
    found = tree(den.workspace / ".agh/memory/_system" / folder)
    return {name: data.decode() for name, data in found.items() if data is not None}


def test_a_log_says_what_was_done(den: Den) -> None:
    """One line an event, by day; a sweep writes it, a second one changes nothing, and no text of a memory is in it."""
    curated = den.open()
    write(den, curated, "project", "Coffee", "likes oat milk", scope="workspace")
    dry = run(curated, "daily sweep", scope="workspace", dry_run=True)
    assert (dry["written"], logs(den)) == (1, {})
    assert run(curated, "daily sweep", scope="workspace")["written"] == 1
    (text,) = logs(den).values()
    assert text.startswith("# 2026-01-15 (workspace)\n\n- 12:00:01 memory.write.committed workspace project_coffee.md")
    assert "oat" not in text
    before = tree(den.workspace)
    assert run(curated, "daily sweep", scope="workspace")["written"] == 0
    assert tree(den.workspace) == before
    (row,) = run(curated, "daily ls")["logs"]
    assert (row["date"], row["scope"], row["operation_count"], row["archived"]) == ("2026-01-15", "workspace", 1, False)
    assert row["path"].endswith(".agh/memory/_system/daily/2026-01-15.md")
    assert run(curated, "daily show", date="2026-01-15")["text"] == text


@pytest.mark.parametrize("settings", ["max_lines = 3\n", "max_bytes = 330\n"])
def test_a_full_log_rotates(den: Den, settings: str) -> None:
    """The full ones get numbers, no line is lost, and each is an event once."""
    den.settings(f"[memory.daily]\n{settings}rotate_format = 'log-{{date}}.{{seq}}.md'\n")
    curated = den.open()
    things = ["oats", "rye", "plums", "tea", "salt", "bread", "jam"]
    for thing in things:
        write(den, curated, "project", thing, f"{thing} {thing}ly", scope="workspace")
    run(curated, "daily sweep")
    run(curated, "daily sweep")
    found = logs(den)
    assert set(found) >= {"2026-01-15.md", "log-2026-01-15.1.md", "log-2026-01-15.2.md"}
    whole = "".join(found[name] for name in sorted(found, key=lambda name: (name == "2026-01-15.md", name)))
    places = [whole.index(f"project_{thing}.md") for thing in things]
    assert places == sorted(places)
    assert all(text.count("\n- ") <= 3 for text in found.values())
    events = curated.sides["workspace"].records.events(ops=("memory.daily.rotated",), limit=50)
    assert len(events) == len(found) - 1


def test_old_logs_are_archived_restored_and_purged(den: Den) -> None:
    """After 30 days a log moves, with its bytes; it comes back when asked for, and goes when the settings say."""
    den.settings("[memory.daily]\nhard_delete_days = 60\n")
    curated = den.open()
    side = curated.sides["workspace"]
    write(den, curated, "project", "Coffee", "likes oat milk", scope="workspace")
    run(curated, "daily sweep")
    first = logs(den)["2026-01-15.md"]
    later = NOW + timedelta(days=31)
    assert sweep(curated, side, OperationCall(later, "maintain"), dry_run=True)["archived"] == 1
    assert sweep(curated, side, OperationCall(later, "maintain"))["archived"] == 1
    assert (logs(den), logs(den, "archive/daily")) == ({}, {"2026-01-15.md": first})
    (row,) = run(curated, "daily ls", date="2026-01-15")["logs"]
    assert row["archived"]
    assert run(curated, "daily restore", later, date="2026-01-15")["restored"] == ["2026-01-15.md"]
    assert logs(den) == {"2026-01-15.md": first}
    assert sweep(curated, side, OperationCall(later, "maintain"))["archived"] == 1
    assert run(curated, "daily purge", later, older_than_days=60)["purged"] == 0
    assert run(curated, "daily purge", later, older_than_days=30, dry_run=True)["purged"] == 1
    assert sweep(curated, side, OperationCall(NOW + timedelta(days=61), "maintain"))["purged"] == 1
    assert logs(den, "archive/daily") == {}
    ops = {row["op"] for row in side.records.events(limit=100) if row["op"].startswith("memory.daily")}
    assert ops == {"memory.daily.archived", "memory.daily.restored", "memory.daily.purged"}
    assert sweep(curated, side, OperationCall(NOW + timedelta(days=61), "maintain"))["written"] == 0


def test_the_archive_has_a_size(den: Den) -> None:
    """The oldest logs leave it first."""
    den.settings("[memory.daily]\nmax_archive_bytes = 250\n")
    curated = den.open()
    for day in range(3):
        at = NOW + timedelta(days=day)
        write(den, curated, "project", f"Thing {day}", f"thing {day} is kept here", scope="workspace", now=at)
    for days in (3, 40, 41):
        sweep(curated, curated.sides["workspace"], OperationCall(NOW + timedelta(days=days), "maintain"))
    left = logs(den, "archive/daily")
    assert 0 < len(left) < 3
    assert "2026-01-17.md" in left


def test_maintenance_sweeps_once_a_day(den: Den) -> None:
    """The sweep is due when its hour has come since the last one."""
    curated = den.open()
    side = curated.sides["workspace"]
    write(den, curated, "project", "Coffee", "likes oat milk", scope="workspace")
    assert is_due(curated, side, NOW)
    sweep(curated, side, OperationCall(NOW, "maintain"))
    assert not is_due(curated, side, NOW + timedelta(hours=14, minutes=59))
    assert is_due(curated, side, NOW + timedelta(hours=15, minutes=1))


def test_a_log_that_is_no_day_is_an_error(den: Den) -> None:
    """A day that is none, and one on which nothing was done."""
    curated = den.open()
    for date, code in (("yesterday", "memory.validation"), ("2020-01-01", "memory.not_found")):
        with pytest.raises(MemdeckError) as caught:
            run(curated, "daily show", date=date)
        assert caught.value.code == code


def test_a_log_outlives_the_database(den: Den) -> None:
    """Without the events of the morning the log keeps what it said of them, and goes on."""
    curated = den.open()
    write(den, curated, "project", "Coffee", "likes oat milk", scope="workspace")
    run(curated, "daily sweep")
    curated.close()
    for path in den.state.rglob("curated.sqlite*"):
        path.unlink()
    write(den, curated, "project", "Tea", "likes green tea", scope="workspace")
    run(curated, "daily sweep")
    text = logs(den)["2026-01-15.md"]
    assert [name in text for name in ("project_coffee.md", "project_tea.md")] == [True, True]
    assert run(curated, "daily sweep")["written"] == 0


def test_a_day_is_listed_once_for_each_scope(den: Den) -> None:
    """Recalls, which belong to no scope of their own, count with those of their side."""
    curated = den.open()
    write(den, curated, "project", "Coffee", "likes oat milk", scope="workspace")
    ask(den, curated, "who likes oat milk")
    listed = counts(curated.sides["workspace"])
    assert [(row["scope"], row["operation_count"]) for row in listed] == [("workspace", 2)]
