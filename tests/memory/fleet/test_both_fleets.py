"""What every fleet promises, whichever implementation answers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

from tests.memory.fleet.fleets import NOW, Fleets
from tests.patience import until

JOURNAL = """## 2024-01-14

### 09:00 - Looked into latency
- redis cache of staging answers late, ask agent:builder

### 10:00 - Zürich office 東京都
- naïve café, `code_span`

## 2024-01-13

### 11:00 - The cache again
- deploy to staging
"""


def test_listed_and_looked_at(top: Path, fleets: Fleets) -> None:
    """One row a workspace, by their paths, with what a person has to look at."""
    fleets.scan(top)
    assert [(path.name, host) for host, path in fleets.fleet.listed()] == [
        ("alpha", "here"),
        ("beta", "here"),
        ("gamma", "here"),
        ("delta", "here"),
    ]
    rows = fleets.fleet.overview(NOW)
    assert [row.path.name for row in rows] == ["alpha", "beta", "gamma", "delta"]
    assert {(row.overdue, row.systems, row.host, row.error, row.silent) for row in rows} == {
        (1, ("files",), "here", None, False)
    }


def test_one_search_over_all(top: Path, fleets: Fleets) -> None:
    """What contains all words comes first, wherever it is; then what contains some of them."""
    fleets.scan(top)
    hits, failed = fleets.fleet.search("renew gamma", NOW)
    assert failed == ()
    first = hits[0]
    assert (first.workspace.name, first.hit.entry.title, first.hit.fits_all) == ("gamma", "Renew gamma", True)
    assert (first.hit.entry.kind, first.hit.entry.file, first.hit.entry.line) == ("tasks", "tasks.md", 7)
    assert first.hit.entry.ref is not None
    assert {hit.workspace.name for hit in hits[1:]} >= {"alpha", "beta", "delta"}
    assert not any(one.hit.fits_all for one in hits[1:])
    assert len(fleets.fleet.search("renew", NOW, limit=2)[0]) == 2
    assert fleets.fleet.search("", NOW)[0] == ()


def test_the_language_of_search(top: Path, fleets: Fleets) -> None:
    """Phrases, exclusions, kinds, tags, days, diacritics and unspaced writing mean the same in every fleet."""
    (top / "alpha/.aiter/memory/journal.md").write_text(JOURNAL, encoding="utf-8")
    fleets.scan(top)

    def titles(query: str, kinds: tuple[str, ...] = ()) -> set[str]:
        return {one.hit.entry.title for one in fleets.fleet.search(query, NOW, 0, kinds)[0] if one.hit.fits_all}

    assert titles("cache") == {"Looked into latency", "The cache again"}
    assert titles("cache staging") == {"Looked into latency", "The cache again"}
    assert titles('"deploy to staging"') == {"The cache again"}
    assert titles('"to deploy"') == set()
    assert titles("cache -redis") == {"The cache again"}
    assert titles("lat") == {"Looked into latency"}
    assert titles("zurich") == {"Zürich office 東京都"}
    assert titles("東京") == {"Zürich office 東京都"}
    assert titles("naive cafe code_span") == {"Zürich office 東京都"}
    assert titles("tag:certificates") == {f"Renew {name}" for name in ("alpha", "beta", "gamma", "delta")}
    assert titles("tag:cert* -tag:beta gamma") == {"Renew gamma"}
    assert titles("in:journal after:2024-01-14") == {"Looked into latency", "Zürich office 東京都"}
    assert titles("in:journal before:2024-01-14") == {"The cache again"}
    assert titles("cache", ("tasks",)) == set()
    assert titles("renew", ("tasks",)) == {f"Renew {name}" for name in ("alpha", "beta", "gamma", "delta")}
    assert titles("' & | ! ( ) <-> :* \\ %s") == set()


def test_an_edit_is_found(top: Path, fleets: Fleets) -> None:
    """What is new is found and what is gone is not; the lines of all others are those of now."""
    fleets.scan(top)
    path = top / "beta/.aiter/memory/tasks.md"
    text = path.read_text()
    path.write_text(
        text.replace("## Pending\n", "## Pending\n\n### [LOW] Water the plants\n- created: 2024-01-02 09:00\n")
    )
    fleets.settle()
    assert [hit.workspace.name for hit in fleets.fleet.search("plants", NOW)[0]] == ["beta"]
    (hit,) = [one.hit for one in fleets.fleet.search("renew beta", NOW)[0] if one.hit.fits_all]
    assert hit.entry.line == 10
    path.write_text(text)
    fleets.settle()
    assert fleets.fleet.search("plants", NOW)[0] == ()
    path.write_text("---\ntype: task-list\n---\n\n## Pending\n")
    fleets.settle()
    assert not [one.hit for one in fleets.fleet.search("renew beta", NOW)[0] if one.hit.fits_all]


def test_one_that_is_removed_is_gone(top: Path, fleets: Fleets) -> None:
    """It is in no answer any more, and its files stay."""
    fleets.scan(top)
    fleets.remove(top / "beta")
    assert [path.name for _, path in fleets.fleet.listed()] == ["alpha", "gamma", "delta"]
    assert not [hit for hit in fleets.fleet.search("beta", NOW)[0] if hit.workspace.name == "beta"]
    assert (top / "beta/.aiter/memory/tasks.md").exists()


def test_a_dry_run_and_a_run(top: Path, fleets: Fleets) -> None:
    """What would move is told and nothing is written; then it moves, and the counts balance."""
    fleets.scan(top)
    before = {path: path.read_bytes() for path in top.rglob("*.md")}
    kept = tuple(fleets.fleet.maintain(NOW, actor="maintain", dry_run=True))
    assert [one.path.name for one in kept] == ["alpha", "beta", "gamma", "delta"]
    assert all(one.result is not None and one.result["rules"][0]["archived"] == 1 for one in kept)
    assert {path: path.read_bytes() for path in top.rglob("*.md")} == before
    for one in fleets.fleet.maintain(NOW, actor="maintain"):
        assert one.error is None
        assert one.result is not None
        (rule,) = [rule for rule in one.result["rules"] if rule["archived"]]
        assert (rule["rule"], rule["before"], rule["kept"], rule["archived"]) == ("archive-completed-tasks", 2, 1, 1)
        assert one.result["balanced"]
    fleets.settle()
    (hit,) = [one.hit for one in fleets.fleet.search("old gamma", NOW)[0] if one.hit.fits_all]
    assert hit.entry.file.startswith("archive/")

    def times() -> list[datetime]:
        fleets.settle()
        rows = fleets.fleet.overview(NOW + timedelta(hours=1))
        return [row.last_maintenance for row in rows if row.last_maintenance is not None]

    def told_of_the_next() -> bool:
        """Whether a run that moves nothing is told as well; times are told to the second."""
        again = tuple(fleets.fleet.maintain(NOW + timedelta(hours=1), actor="maintain"))
        assert not any(rule["archived"] for one in again if one.result for rule in one.result["rules"])
        return all(new > old for old, new in zip(first, times(), strict=True))

    first = times()
    assert len(first) == 4
    until(told_of_the_next, times)


def test_a_broken_one_stops_none(top: Path, fleets: Fleets) -> None:
    """One that is gone, one whose file is unreadable and one with a wrong setting are told; the others are done."""
    fleets.scan(top)
    (top / "alpha/.aiter").rename(top / "alpha/elsewhere")
    (top / "beta/.aiter/memory/tasks.md").unlink()
    (top / "beta/.aiter/memory/tasks.md").mkdir()
    (top / "delta/.aiter/memory/config.md").write_text("## Maintenance\n\n- archiveCompletedAfterDays: many\n")
    fleets.settle()
    later = NOW + timedelta(days=1)
    kept = {one.path.name: one for one in fleets.fleet.maintain(later, actor="maintain")}
    assert kept["alpha"].error is not None
    assert kept["alpha"].error["code"] == "fleet.gone"
    assert kept["beta"].error is not None
    assert kept["delta"].error is not None
    assert kept["gamma"].error is None
    fleets.settle()
    rows = {row.path.name: row for row in fleets.fleet.overview(later)}
    assert rows["alpha"].error is not None
    assert rows["gamma"].last_maintenance is not None
    found = {one.path.name: one for one in fleets.fleet.check(NOW)}
    assert found["beta"].result is not None
    assert any(problem["level"] == "error" for problem in found["beta"].result["problems"])
    assert found["alpha"].error is not None
    assert "Renew gamma" in {one.hit.entry.title for one in fleets.fleet.search("renew", later)[0]}


def test_threads_ask_at_once(top: Path, fleets: Fleets) -> None:
    """Each gets its own answer, as of letters that are typed while the search before them still runs."""
    fleets.scan(top)
    names = ["alpha", "beta", "gamma", "delta"] * 10
    with ThreadPoolExecutor(8) as threads:
        answers = threads.map(lambda name: fleets.fleet.search(f"renew {name}", NOW)[0][0].hit.entry.title, names)
        assert [*answers] == [f"Renew {name}" for name in names]
