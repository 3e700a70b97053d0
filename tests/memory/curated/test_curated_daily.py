"""Daily logs: made of the events when a day is over, cut where they are long, and archived."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory.curated.curated import Curated
from memory.curated.model import Json
from memory.curated.operations.registry import BY_NAME, OperationCall
from memory.curated.upkeep import counts
from memory.errors import MemdeckError
from tests.memory.curated.conftest import NOW, Den, ask, tree, write

TOMORROW = NOW + timedelta(days=1)


def run(curated: Curated, name: str, /, now: Any = TOMORROW, **values: Any) -> Json:
    """Call an operation of the registry."""
    return BY_NAME[name].call(curated, values, OperationCall(now, "cli", "cli"))


def logs(den: Den, folder: str = "daily") -> dict[str, str]:
    """Return the logs of the workspace by name."""
    found = tree(den.workspace / ".agh/memory/_system" / folder)
    return {name: data.decode() for name, data in found.items() if data is not None}


def test_a_log_says_what_was_done(den: Den) -> None:
    """One line an event, without the text of a memory; it is shown at once, and written once when the day is over."""
    curated = den.open()
    write(den, curated, "project", "Coffee", "likes oat milk", scope="workspace")
    assert run(curated, "daily sweep", NOW + timedelta(minutes=5), scope="workspace")["written"] == 0
    text = run(curated, "daily show", date="2026-01-15")["text"]
    assert text.startswith("# 2026-01-15 (workspace)\n\n- 12:00:01 memory.write.committed workspace project_coffee.md")
    assert "oat" not in text
    dry = run(curated, "daily sweep", scope="workspace", dry_run=True)
    assert (dry["written"], logs(den)) == (1, {})
    assert run(curated, "daily sweep", scope="workspace")["written"] == 1
    assert logs(den) == {"2026-01-15.md": text}
    before = tree(den.workspace)
    assert run(curated, "daily sweep", scope="workspace")["written"] == 0
    assert tree(den.workspace) == before
    (row,) = run(curated, "daily ls")["logs"]
    assert (row["date"], row["scope"], row["operation_count"], row["archived"]) == ("2026-01-15", "workspace", 1, False)
    assert row["path"].endswith(".agh/memory/_system/daily/2026-01-15.md")


def test_a_long_log_has_several_files(den: Den) -> None:
    """No line is lost, and they are shown in order."""
    den.settings("[memory.daily]\nmax_lines = 3\n")
    curated = den.open()
    things = ["oats", "rye", "plums", "tea", "salt", "bread", "jam"]
    for thing in things:
        write(den, curated, "project", thing, f"{thing} {thing}ly", scope="workspace")
    run(curated, "daily sweep")
    assert set(logs(den)) == {"2026-01-15.md", "2026-01-15.2.md", "2026-01-15.3.md"}
    whole = run(curated, "daily show", date="2026-01-15", scope="workspace")["text"]
    assert all(f"project_{thing}.md" in whole for thing in things)


def test_old_logs_are_archived(den: Den) -> None:
    """After 30 days a log moves, with its bytes, and is still shown."""
    curated = den.open()
    write(den, curated, "project", "Coffee", "likes oat milk", scope="workspace")
    run(curated, "daily sweep")
    first = logs(den)["2026-01-15.md"]
    assert run(curated, "daily sweep", NOW + timedelta(days=31), scope="workspace")["archived"] == 1
    assert (logs(den), logs(den, "archive/daily")) == ({}, {"2026-01-15.md": first})
    (row,) = run(curated, "daily ls", date="2026-01-15")["logs"]
    assert row["archived"]
    assert run(curated, "daily show", date="2026-01-15")["text"] == first
    done = run(curated, "daily sweep", NOW + timedelta(days=61), scope="workspace")
    assert (done["written"], done["archived"]) == (0, 0)


def test_a_log_that_is_no_day_is_an_error(den: Den) -> None:
    """A day that is none, and one on which nothing was done."""
    curated = den.open()
    for date, code in (("yesterday", "memory.validation"), ("2020-01-01", "memory.not_found")):
        with pytest.raises(MemdeckError) as caught:
            run(curated, "daily show", date=date)
        assert caught.value.code == code


def test_a_day_is_listed_once_for_each_scope(den: Den) -> None:
    """Recalls, which belong to no scope of their own, count with those of their side."""
    curated = den.open()
    write(den, curated, "project", "Coffee", "likes oat milk", scope="workspace")
    ask(den, curated, "who likes oat milk")
    listed = counts(curated.sides["workspace"])
    assert [(row["scope"], row["operation_count"]) for row in listed] == [("workspace", 2)]
