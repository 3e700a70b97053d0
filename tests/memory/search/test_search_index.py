"""The index: kept up with every edit of the files, shared, and thrown away whenever it is odd."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.search.hits import SearchAnswer
from memory.search.query import Query, read_query
from memory.search.searcher import Searcher, search_records
from memory.systems import records_of_all, searcher_of
from memory.workspace import Workspace
from tests.examples import examples
from tests.memory.moving import Moving, behind_tasks

NOW = datetime(2024, 3, 1, 9, 0, tzinfo=UTC)
TASKS = "## Pending\n\n### [LOW] Zürich 東京都\n- created: 2024-01-02\n- tags: deployment, Ops/Infra\n"


def ask(text: str) -> Query:
    """Return the query of a text without relative days."""
    return read_query(text, lambda _: None)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace with one task and an archive."""
    files = {"tasks.md": TASKS, "archive/tasks-2023-12.md": "## Completed\n### [LOW] Old deploy\n- notes: zurich\n"}
    return Workspace.init(
        tmp_path / "shop", NOW, actor="test", state_home=tmp_path / "state", machine_zone=UTC, files=files
    )[0]


def finds(answer: SearchAnswer | None) -> list[tuple[object, ...]]:
    """Return what was found, each with its place."""
    assert answer is not None
    return [(hit.entry.file, hit.entry.line, hit.entry.ref, hit.entry.title, hit.entry.text) for hit in answer.every]


def assert_as_new(workspace: Workspace, searcher: Searcher, *texts: str) -> None:
    """An index that was kept up answers as one that is made of the same files now."""
    for text in texts:
        assert finds(searcher.ask(ask(text), 0)) == finds(search_records(records_of_all(workspace), ask(text), 0)), text


WORDS = ["deploy", "redis", "Zürich", "東京都", "getUserToken", "staging", "a", "x_1", "\udcff"]


@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=60), min_size=2, max_size=4), st.integers(0, 1 << 20))
def test_any_history_of_a_file(tmp_path_factory: pytest.TempPathFactory, versions: list[list[str]], seed: int) -> None:
    """Whatever was written over a file, with twins, moves and lines above: refs and lines are those of the file."""
    folder = tmp_path_factory.mktemp("history")
    choose = random.Random(seed)
    place = Workspace.init(folder / "shop", NOW, actor="test", state_home=folder / "state", machine_zone=UTC)[0]
    searcher = searcher_of(place)
    for entries in versions:
        parts = ["\n" * choose.randint(0, 2) + "## Pending\n"]
        parts += [
            f"### [LOW] {entry} {number % 3}\n- created: 2024-01-{1 + number % 28:02}\n- tags: {entry}\n"
            for number, entry in enumerate(choose.sample(entries, len(entries)))
        ]
        (place.memory / "tasks.md").write_bytes("".join(parts).encode("utf-8", "surrogateescape"))
        assert searcher.update()
        assert_as_new(place, searcher, "deploy", "redis -staging", "zurich", "都", "token", "tag:staging", "2024-01-03")
    searcher.close()


def test_a_task_that_moves_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found once by the search that reads its files, which is asked while it moves to the archive."""
    moving = Moving(tmp_path / "moving", tmp_path / "state")
    with Workspace.open(moving.path, state_home=moving.state_home) as workspace:
        searcher = searcher_of(workspace)
        assert Counter(hit.entry.title for hit in searcher.search(ask("go"), 0).hits) == moving.all
        moving.maintain()
        left = [moving.maintain]
        behind_tasks(monkeypatch, lambda: left and left.pop()())
        answer = searcher.search(ask("go"), 0)
        searcher.close()
    assert not left
    assert Counter(hit.entry.title for hit in answer.hits) == moving.all


def test_what_is_odd_is_thrown_away(workspace: Workspace) -> None:
    """A removed, damaged, foreign or half-written index is never an error, and answers again after the next edit."""
    assert workspace.state is not None
    path = workspace.state.folder.path / "search.sqlite"

    def run(statement: str) -> None:
        with sqlite3.connect(path) as connection:
            connection.execute(statement)
        connection.close()

    harms: tuple[Callable[[], object], ...] = (
        path.unlink,
        lambda: path.write_bytes(path.read_bytes()[:20000]),
        lambda: path.write_bytes(b"no database at all" * 1000),
        lambda: run("PRAGMA user_version = 7"),
        lambda: run("DROP TABLE entry"),
        lambda: run("DROP TABLE find_data"),
    )
    for harm in harms:
        searcher = searcher_of(workspace)
        assert searcher.update()
        searcher.close()
        harm()
        again = searcher_of(workspace)
        assert finds(again.search(ask("zurich"), 20)), harm
        again.close()


def test_two_processes_share_one_index(workspace: Workspace) -> None:
    """What one has indexed the other finds; edits that both see are indexed correctly by each."""
    one, other = searcher_of(workspace), searcher_of(workspace)
    assert one.update()
    for number, (first, second) in enumerate([(one, other), (other, one)]):
        (workspace.memory / "tasks.md").write_text(TASKS + f"### [LOW] Zebra {number}\n", encoding="utf-8")
        assert first.update()
        assert second.update()
        assert_as_new(workspace, second, f"zebra {number}", "zurich")
    one.close()
    other.close()


def test_an_update_that_is_stopped(workspace: Workspace) -> None:
    """What it has indexed is found, the answer says that it is not complete, and the next update goes on."""
    searcher = searcher_of(workspace)
    left = [True]
    answer = searcher.search(ask("zurich"), 20, patience=lambda: bool(left and left.pop()))
    assert not answer.complete
    assert any("not complete" in note for note in answer.notes)
    assert searcher.search(ask("zurich"), 20).complete
    searcher.close()


def test_with_something_in_its_place(tmp_path: Path) -> None:
    """The answers are the same, from an index in memory, and nothing is written."""
    place = Workspace.init(tmp_path / "shop", NOW, actor="test", state_home=tmp_path / "state", machine_zone=UTC)[0]
    (place.memory / "tasks.md").write_text(TASKS, encoding="utf-8")
    (place.state.folder.path / "search.sqlite").mkdir()
    searcher = searcher_of(place)
    assert [hit.entry.title for hit in searcher.search(ask("zurich"), 20).hits] == ["Zürich 東京都"]
    searcher.close()
