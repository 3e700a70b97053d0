"""Daily logs: made of the events when a day is over, cut where they are long, and archived."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from memory.curated.curated import Curated
from memory.curated.model import Json
from memory.curated.operations.registry import BY_NAME, OperationCall
from memory.curated.upkeep import counts, sweep
from tests.memory.curated.conftest import NOW, Den, ask, tree, write

TOMORROW = NOW + timedelta(days=1)


def run(curated: Curated, name: str, /, now: Any = TOMORROW, **values: Any) -> Json:
    """Call an operation of the registry."""
    return BY_NAME[name].call(curated, values, OperationCall(now, "cli", "cli"))


def swept(curated: Curated, now: datetime = TOMORROW, *, dry_run: bool = False) -> dict[str, int]:
    """Write and archive the logs of the workspace, as maintenance does."""
    return sweep(curated, curated.sides["workspace"], OperationCall(now), dry_run=dry_run)


def logs(den: Den, folder: str = "daily") -> dict[str, str]:
    """Return the logs of the workspace by name."""
    found = tree(den.workspace / ".agh/memory/_system" / folder)
    return {name: data.decode() for name, data in found.items() if data is not None}


def test_a_log_says_what_was_done(den: Den) -> None:
    """One line an event, without the text of a memory; it is written once, when the day is over."""
    curated = den.open()
    write(den, curated, "project", "Coffee", "likes oat milk", scope="workspace")
    assert swept(curated, NOW + timedelta(minutes=5))["written"] == 0
    dry = swept(curated, dry_run=True)
    assert (dry["written"], logs(den)) == (1, {})
    assert swept(curated)["written"] == 1
    ((name, text),) = logs(den).items()
    assert name == "2026-01-15.md"
    assert text.startswith("# 2026-01-15 (workspace)\n\n- 12:00:01 memory.write.committed workspace project_coffee.md")
    assert "oat" not in text
    before = tree(den.workspace)
    assert swept(curated)["written"] == 0
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
    swept(curated)
    assert set(logs(den)) == {"2026-01-15.md", "2026-01-15.2.md", "2026-01-15.3.md"}
    whole = "".join(logs(den).values())
    assert all(f"project_{thing}.md" in whole for thing in things)


def test_old_logs_are_archived(den: Den) -> None:
    """After 30 days a log moves, with its bytes, and is still listed."""
    curated = den.open()
    write(den, curated, "project", "Coffee", "likes oat milk", scope="workspace")
    swept(curated)
    first = logs(den)["2026-01-15.md"]
    assert swept(curated, NOW + timedelta(days=31))["archived"] == 1
    assert (logs(den), logs(den, "archive/daily")) == ({}, {"2026-01-15.md": first})
    (row,) = run(curated, "daily ls", date="2026-01-15")["logs"]
    assert row["archived"]
    done = swept(curated, NOW + timedelta(days=61))
    assert (done["written"], done["archived"]) == (0, 0)


def test_a_day_is_listed_once_for_each_scope(den: Den) -> None:
    """Recalls, which belong to no scope of their own, count with those of their side."""
    curated = den.open()
    write(den, curated, "project", "Coffee", "likes oat milk", scope="workspace")
    ask(den, curated, "who likes oat milk")
    listed = counts(curated.sides["workspace"])
    assert [(row["scope"], row["operation_count"]) for row in listed] == [("workspace", 2)]
