"""The index: the same finds as by reading, kept up with every edit, and thrown away whenever it is odd."""

from __future__ import annotations

import os
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.workspaces import size_of, workspace_files
from memory.files import MEMORY_FILES
from memory.files.edit import Edit
from memory.files.journal.edits import add_entry
from memory.search.hits import SearchAnswer
from memory.search.index import inventory, writer
from memory.search.index.ranked_lookup import Lookup
from memory.search.records import Record
from memory.search.searcher import Searcher
from memory.system import System
from memory.systems import searcher_of
from memory.workspace import Workspace
from tests.examples import examples
from tests.fixture_files import sample
from tests.memory.moving import Moving, behind_tasks

from .test_recall_scan import Item, ask

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
EMPTY = 18 * 16384
"""Bytes of the tables while nothing is in them."""
QUERIES = (
    "deploy",
    "deploy staging",
    '"to staging"',
    "api -deploy",
    "-deploy in:tasks",
    "in:archive",
    "in:journal after:2024-01-14",
    "before:2024-01-14 deploy",
    "tag:deployment",
    "-tag:deployment in:tasks",
    "a",
    "re*",
    "deplyo",
    "zurich",
    "東京",
    "都",
    "in:nowhere x",
    "2024-01-15",
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """The sample files, an archive, and words that are written in other ways."""
    files = {name: sample(name).decode() for name in MEMORY_FILES}
    files["tasks.md"] += "\n### [LOW] Zürich 東京都\n- created: 2024-01-02\n- tags: deployment, Ops/Infra\n"
    files["archive/tasks-2023-12.md"] = "## Completed\n### [LOW] Old deploy\n- completed: 2023-12-01\n"
    return Workspace.init(
        tmp_path / "shop", NOW, actor="test", state_home=tmp_path / "state", machine_zone=UTC, files=files
    )[0]


def finds(answer: SearchAnswer | None) -> set[tuple[object, ...]]:
    """Return what was found, each with its place."""
    assert answer is not None
    return {(hit.entry.file, hit.entry.line, hit.entry.ref, hit.entry.title, hit.entry.text) for hit in answer.hits}


def assert_agrees(searcher: Searcher, queries: tuple[str, ...] = QUERIES) -> None:
    """The index finds what reading everything finds."""
    for text in queries:
        indexed = searcher.ask(ask(text), 0)
        read = searcher.scan(ask(text), 0)
        assert finds(indexed) == finds(read), text
        assert indexed is not None
        assert (indexed.also, indexed.count) == (read.also, read.count), text


def test_the_index_agrees_with_reading(workspace: Workspace) -> None:
    """The same entries with their files, lines and refs for each kind of query; the best are the same for any limit."""
    searcher = searcher_of(workspace)
    assert not searcher.fresh()
    assert searcher.update()
    assert searcher.fresh()
    assert_agrees(searcher)
    everything = searcher.ask(ask("deploy"), 0)
    few = searcher.ask(ask("deploy"), 3)
    assert everything is not None
    assert few is not None
    assert few.hits == everything.hits[:3]
    assert all(0 < hit.score <= 1 for hit in everything.hits)
    assert everything.hits[0].title_marks


@pytest.mark.parametrize("learn", [True, False])
def test_every_edit_is_followed(workspace: Workspace, learn: bool) -> None:
    """Only what is different is indexed again, in the process that knows the files and in one that does not."""
    searcher = searcher_of(workspace)
    searcher.update(learn=learn)
    before = searcher._index._writer.held.indexed  # type: ignore[union-attr]

    def add(number: int) -> None:
        workspace.change(
            "add", lambda now: add_entry(now, f"Zebra {number}", [f"stripe{number}"], now=NOW), actor="test", now=NOW
        )

    for number in range(5):
        add(number)
        assert not searcher.fresh()
        if not learn:
            searcher.close()
        assert searcher.update(learn=learn)
        assert searcher.fresh()
        assert_agrees(searcher, (f"stripe{number}", "zebra", "deploy", "in:journal"))
    if learn:
        assert searcher._index._writer.held.indexed - before == 5  # type: ignore[union-attr]
    assert_agrees(searcher)


def test_a_process_that_knows_nothing_reads_no_entry_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One edit of a long file is found by marks: neither are its other entries unpacked, nor records made of them."""
    place = Workspace.init(
        tmp_path / "shop",
        NOW,
        actor="t",
        state_home=tmp_path / "state",
        machine_zone=UTC,
        files=workspace_files(size_of("600x2000"), NOW),
    )[0]
    searcher = searcher_of(place)
    searcher.update()
    made: list[str] = []
    for name in ("task_record", "journal_record"):
        real = getattr(inventory, name)
        monkeypatch.setattr(inventory, name, lambda one, real=real: made.append(one.file) or real(one))
    unpack = writer.unpack
    monkeypatch.setattr(writer, "unpack", lambda *given: made.extend(["row"] * len(found := unpack(*given))) or found)
    for name in ("tasks.md", "journal.md"):
        path = place.memory / name
        text = path.read_text()
        at = text.index("\n### ", len(text) // 2)
        path.write_text(f"{text[:at]}\nstripes of a zebra\n{text[at:]}")
        searcher.close()
        place.let_go()
        made.clear()
        assert searcher.update()
        assert 1 <= made.count(name) <= 10
        assert len(made) <= 200
        assert searcher._index._writer.held.indexed == 1  # type: ignore[union-attr]
    assert_agrees(searcher, ("zebra", "redis"))


def test_another_heading_over_the_same_entries(workspace: Workspace) -> None:
    """What an entry says depends on the day it stands under, too: another day is another entry."""
    searcher = searcher_of(workspace)
    searcher.update()
    path = workspace.memory / "journal.md"
    days = re.findall(r"^## (\d{4}-\d{2}-\d{2})", path.read_text(), re.MULTILINE)
    path.write_text(path.read_text().replace(f"## {days[0]}", "## 2023-11-30", 1))
    searcher.close()
    assert searcher.update()
    assert_agrees(searcher, ("2023-11-30", days[0], "before:2023-12-01", "deploy"))


@pytest.mark.parametrize(
    "text", ["deploy", "deploy staging", "staging", "staging deployment", "re*", '"to staging" deploy']
)
def test_points_do_not_depend_on_how_often_a_word_is_asked_for(workspace: Workspace, text: str) -> None:
    """A word that begins no other is asked for once; each entry has the points of the word and its beginning."""
    searcher = searcher_of(workspace)
    assert searcher.update()
    index = searcher._index
    assert index is not None
    query = ask(text)

    def both(lookup: Lookup) -> tuple[dict[int, float], dict[int, float]]:
        fits, asked = lookup._expression(query), lookup._expression(query, ranked=True)
        assert fits is not None
        points = dict(
            lookup.connection.execute("SELECT rowid, -bm25(find, 1.0, 5.0, 0.0) FROM find WHERE find MATCH ?", (asked,))
        )
        return dict(lookup._ranked(query, fits, 0, 1 << 62)), points

    found = index.read(both)
    assert found is not None
    assert found[0]
    assert found[0] == {number: pytest.approx(points / (points + 8)) for number, points in found[1].items()}


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
    assert sum(hit.entry.file.startswith("archive/") for hit in answer.hits) == 3


WORDS = ["deploy", "redis", "Zürich", "東京都", "api", "staging", "a", "ab", "x_1"]


def _file(choose: random.Random, entries: list[str]) -> str:
    parts = ["## Pending\n"]
    for number, entry in enumerate(entries):
        if choose.random() < 0.1:
            parts.append("## In Progress\n")
        parts.append(f"### [LOW] {entry} {number % 3}\n- created: 2024-01-{1 + number % 28:02}\n- tags: {entry}\n")
    return "".join(parts)


@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=150), min_size=2, max_size=4),
    st.booleans(),
    st.integers(0, 1 << 20),
)
def test_any_history_of_files_agrees(
    tmp_path_factory: pytest.TempPathFactory, versions: list[list[str]], learn: bool, seed: int
) -> None:
    """Whatever was written over a file, with known objects and without, the index finds what reading finds."""
    folder = tmp_path_factory.mktemp("history")
    choose = random.Random(seed)
    place, _ = Workspace.init(
        folder / "shop", NOW, actor="test", state_home=folder / "state", machine_zone=UTC, files={"tasks.md": "# T\n"}
    )
    searcher = searcher_of(place)
    for entries in versions:
        mixed = [*entries]
        choose.shuffle(mixed)
        (place.memory / "tasks.md").write_text(_file(choose, mixed), encoding="utf-8")
        assert searcher.update(learn=learn)
        assert_agrees(
            searcher, ("deploy", "redis -api", "zurich", "都", "ab", "tag:staging", "x_1", "-redis", "2024-01-03")
        )
    searcher.close()


def test_what_is_odd_is_thrown_away(workspace: Workspace, tmp_path: Path) -> None:
    """A removed, damaged, foreign or half-written index is never an error, and there again after the next update."""
    state = workspace.state
    assert state is not None
    path = state.folder.path / "search.sqlite"

    def cut() -> None:
        path.write_bytes(path.read_bytes()[:20000])

    def garbage() -> None:
        path.write_bytes(b"no database at all" * 1000)

    def another_version() -> None:
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE about SET version = 'older'")
        connection.close()

    def lost_rows() -> None:
        with sqlite3.connect(path) as connection:
            connection.execute("DELETE FROM body")
        connection.close()

    def lost_table() -> None:
        with sqlite3.connect(path) as connection:
            connection.execute("DROP TABLE entry")
        connection.close()

    harms: tuple[Callable[[], object], ...] = (path.unlink, cut, garbage, another_version, lost_rows, lost_table)
    for harm in harms:
        searcher = searcher_of(workspace)
        assert searcher.update()
        searcher.close()
        harm()
        for _ in range(2):
            answer = searcher_of(workspace).search(ask("deploy"), 20)
            assert answer.hits, harm
        searcher = searcher_of(workspace)
        assert searcher.update()
        assert_agrees(searcher, ("deploy", "zurich"))
        searcher.close()


def test_lost_marks_are_no_other_entries(workspace: Workspace) -> None:
    """An index without marks of its entries, or with too few, is made anew by the next edit."""
    state = workspace.state
    assert state is not None
    for number, harm in enumerate(("DELETE FROM mark", "UPDATE mark SET data = substr(data, 1, length(data) - 12)")):
        searcher = searcher_of(workspace)
        assert searcher.update()
        searcher.close()
        with sqlite3.connect(state.folder.path / "search.sqlite") as connection:
            connection.execute(harm)
        connection.close()
        path = workspace.memory / "tasks.md"
        path.write_text(path.read_text() + f"\n### [LOW] Zebra {number}\n")
        assert searcher.update()
        assert_agrees(searcher, ("deploy", "zebra", f"zebra {number}"))
        searcher.close()


def test_removed_under_an_open_search(workspace: Workspace) -> None:
    """Who has the index open when it is removed goes on, and makes another one."""
    searcher = searcher_of(workspace)
    assert searcher.update()
    assert workspace.state is not None
    for ending in ("", "-wal", "-shm"):
        (workspace.state.folder.path / f"search.sqlite{ending}").unlink(missing_ok=True)
    assert searcher.search(ask("deploy"), 5).hits
    assert searcher.update()
    assert_agrees(searcher, ("deploy",))


def test_without_a_place_everything_is_read(tmp_path: Path) -> None:
    """No state folder, or one that must not be used: the answers are the same, and nothing is written."""
    files = {name: sample(name).decode() for name in MEMORY_FILES}
    place = Workspace.init(tmp_path / "a", NOW, actor="t", machine_zone=UTC, files=files)[0]
    assert searcher_of(place).search(ask("deploy"), 5).source == "scan"
    inside = Workspace(place.root, state_home=place.root / ".state")
    assert searcher_of(inside).search(ask("deploy"), 5).source == "scan"
    assert not (place.root / ".state").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder(workspace: Workspace) -> None:
    """Where the state folder cannot be written to, everything is read."""
    assert workspace.state is not None
    folder = workspace.state.folder.path
    folder.chmod(0o500)
    try:
        assert searcher_of(workspace).search(ask("deploy"), 5).hits
    finally:
        folder.chmod(0o700)


def test_a_first_answer_comes_before_the_end(workspace: Workspace) -> None:
    """An update that is stopped has indexed some files; what it has is found, and the next one goes on."""
    searcher = searcher_of(workspace)
    turns = iter([True] * 4)
    assert not searcher.update(lambda: next(turns, False))
    assert 0 < searcher.coverage() < 1
    assert searcher.ask(ask("redis in:knowledge"), 5).hits  # type: ignore[union-attr]
    assert searcher.update()
    assert searcher.fresh()
    assert_agrees(searcher, ("deploy",))


def test_two_processes_share_one_index(workspace: Workspace) -> None:
    """What one has indexed the other finds; edits that both see are indexed once, and correctly."""
    one, other = searcher_of(workspace), searcher_of(workspace)
    assert one.update(learn=True)
    assert other.update(learn=True)
    for number in range(4):
        workspace.change(
            "add", lambda now, n=number: add_entry(now, f"Entry {n}", ["zebra"], now=NOW), actor="test", now=NOW
        )
        (one, other)[number % 2].update(learn=True)
        (other, one)[number % 2].update(learn=True)
        assert_agrees(one, ("zebra", "deploy"))
        assert_agrees(other, ("zebra", "deploy"))


def test_files_that_cannot_be_read_are_named(workspace: Workspace) -> None:
    """They are left out, said, and found again once they can be read."""
    searcher = searcher_of(workspace)
    assert searcher.update()
    path = workspace.memory / "contacts.md"
    held = path.read_bytes()
    path.unlink()
    os.mkfifo(path)
    assert searcher.update()
    assert list(searcher.refused) == ["contacts.md"]
    assert not searcher.ask(ask("in:contacts"), 5).hits  # type: ignore[union-attr]
    path.unlink()
    path.write_bytes(held)
    assert searcher.update()
    assert searcher.refused == {}
    assert_agrees(searcher, ("in:contacts", "alice"))


class Plain(System):
    """A system that only has records, as a new one may."""

    def __init__(self, texts: list[str]) -> None:
        """Keep what it holds."""
        self.texts = texts

    def records(self, kinds: object = None, refused: object = None) -> Iterator[Record]:
        """Yield one record for each text, all of one file and a kind that search does not know."""
        for number, text in enumerate(self.texts):
            yield Record("notes", "notes.jsonl", text.split()[0], text, Item(number), "", ("tagged",))


def test_a_system_of_records_alone(workspace: Workspace) -> None:
    """A system with records alone is searched and indexed like the others, under its own kind."""
    assert workspace.state is not None
    system = Plain(["alpha one", "beta two"])
    searcher = Searcher(workspace.state.folder, lambda: [system])
    for texts in (["alpha one", "beta two"], ["alpha one", "gamma three", "beta two"], ["gamma three"], []):
        system.texts = texts
        assert searcher.update()
        assert_agrees(searcher, ("alpha", "beta in:notes", "gamma tag:tagged", "in:notes.jsonl"))


def test_many_common_words_are_bounded(tmp_path: Path) -> None:
    """Where more fit than are weighed, titles come first, then the newest; the answer says that there are more."""
    lines = [
        f"### [LOW] task {number}\n- created: 2024-01-{1 + number % 28:02}\n- notes: common\n" for number in range(900)
    ]
    lines[500] = "### [LOW] the common one\n- created: 2023-01-01\n"
    place = Workspace.init(
        tmp_path / "shop",
        NOW,
        actor="t",
        state_home=tmp_path / "state",
        machine_zone=UTC,
        files={"tasks.md": "## Pending\n" + "".join(lines)},
    )[0]
    searcher = searcher_of(place)
    assert searcher.update()
    answer = searcher.ask(ask("common"), 20)
    assert answer is not None
    assert answer.more
    assert answer.hits[0].entry.title == "the common one"
    assert {hit.entry.date for hit in answer.hits[1:]} == {"2024-01-28"}
    assert len(searcher.ask(ask("common"), 0).hits) == 900  # type: ignore[union-attr]


def test_the_index_is_small(tmp_path: Path) -> None:
    """It takes at most half as much again as the text, beside what empty tables take; also after many edits."""
    files = workspace_files(size_of("300x3000"), NOW)
    place = Workspace.init(
        tmp_path / "shop", NOW, actor="t", state_home=tmp_path / "state", machine_zone=UTC, files=files
    )[0]
    text = sum(len(one.encode()) for one in files.values())
    searcher = searcher_of(place)
    assert searcher.update(learn=True)
    assert searcher.size <= 1.5 * text + EMPTY
    assert_agrees(searcher, ("redis", "deploy staging", "tag:infra -deploy"))


@pytest.mark.parametrize("learn", [True, False])
def test_twins_and_far_edits(tmp_path: Path, learn: bool) -> None:
    """A twin that comes or goes gives others another ref; edits at both ends of a long file move all lines."""
    blocks = [f"### [LOW] task {number}\n- created: 2024-01-02\n" for number in range(400)]
    place = Workspace.init(
        tmp_path / "shop",
        NOW,
        actor="t",
        state_home=tmp_path / "state",
        machine_zone=UTC,
        files={"tasks.md": "## Pending\n" + "".join(blocks)},
    )[0]
    path = place.memory / "tasks.md"
    searcher = searcher_of(place)
    assert searcher.update(learn=learn)
    for change in (
        lambda: blocks.insert(3, blocks[390]),
        lambda: (blocks.insert(0, "### [LOW] top\n- a: b\n- c: d\n"), blocks.append("### [LOW] end\n")),
        lambda: (
            blocks.pop(4),
            blocks.pop(200),
            blocks.insert(320, "### [LOW] task 7\n- created: 2024-01-02\n- x: y\n"),
        ),
        lambda: blocks.insert(0, "- a line above all\n"),
        lambda: (blocks.pop(0), blocks.__setitem__(100, blocks[100] + "- notes: n\n"), blocks.pop(300)),
    ):
        change()
        path.write_text("## Pending\n" + "".join(blocks), "utf-8")
        assert searcher.update(learn=learn)
        assert searcher.fresh()
        assert_agrees(searcher, ("task", "top", "end", "notes"))


@pytest.mark.parametrize("learn", [True, False])
def test_lines_above_all_entries(tmp_path: Path, learn: bool) -> None:
    """A line more in the front matter, or in a section without entries, moves all entries, though none has changed."""
    blocks = "".join(f"### [LOW] task {number}\n- created: 2024-01-02\n" for number in range(400))
    text = f"---\na: 1\n---\n# Tasks\n\nWords.\n\n## Notes\n\n## Pending\n{blocks}"
    place = Workspace.init(
        tmp_path / "shop", NOW, actor="t", state_home=tmp_path / "state", machine_zone=UTC, files={"tasks.md": text}
    )[0]
    searcher = searcher_of(place)
    assert searcher.update(learn=learn)
    for old, new in (("a: 1\n", "a: 1\nb: 2\n"), ("Words.\n", "Words.\nMore.\n")):
        text = text.replace(old, new, 1)
        (place.memory / "tasks.md").write_text(text, "utf-8")
        assert searcher.update(learn=learn)
        assert_agrees(searcher, ("task",))


def test_edits_from_any_side(workspace: Workspace) -> None:
    """Tasks edited, removed, added and moved by memdeck: lines and refs stay those of the files."""
    searcher = searcher_of(workspace)
    searcher.update(learn=True)
    for turn in range(4):
        document = workspace.snapshot().document("tasks.md")
        section = 0 if turn % 2 else 1
        entries = document.sections[section].entries
        if turn < 2:
            changed = document.replace_entry(section, 0, entries[0].set_field("notes", f"turn{turn}\n  more"))
        else:
            changed = document.with_section(section, document.sections[section].with_entries(entries[1:]))
        workspace.change("edit", lambda _, changed=changed: Edit({"tasks.md": changed}, "edit"), actor="t", now=NOW)
        assert searcher.update(learn=True)
        assert_agrees(searcher, (f"turn{turn}", "in:tasks", "deploy"))
