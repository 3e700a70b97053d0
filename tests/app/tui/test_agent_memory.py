"""The tabs of "Agent memory": one set of keys, forms from operations' parameters, operations in the palette."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from app.demo.curated import add_curated
from app.demo.siblings import add_beside
from app.demo.workspace import demo_files
from memory.state.bundles import edit, key_of
from memory.state.system import ProjectState
from memory.systems import system_of
from memory.workspace import Workspace
from tests.widgets.harness import screen_text
from widgets.dialogs.dialogs import Preview
from widgets.dialogs.pick import Confirm
from widgets.dialogs.three_way import ThreeWay
from widgets.input.form import Form
from widgets.pane.rows import RowKey

from .tui_helpers import NOW, jobs_done, make_app, press, running, settle, type_text


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Workspace]:
    """The sample workspace with all memory systems."""
    files = demo_files(NOW, UTC)
    made, _ = Workspace.init(
        tmp_path / "shop", NOW, actor="cli", state_home=tmp_path / "state", machine_zone=UTC, files=files
    )
    with made:
        add_beside(made, NOW, actor="cli")
        add_curated(made, NOW)
    with Workspace.open(tmp_path / "shop", state_home=tmp_path / "state", home=tmp_path / "home") as workspace:
        yield workspace


async def test_one_digit_walks_the_tabs_and_each_says_what_it_is_for(demo: Workspace) -> None:
    """5 opens the tabs in turn; the first line of each says what agents do with it."""
    app = make_app(demo, pane="tasks")
    seen = {}
    async with running(app, (120, 36)) as pilot:
        for _ in range(4):
            await press(pilot, "5")
            await settle(pilot)
            pane = app.pane
            assert pane is not None
            seen[pane.pane_id] = pane.purpose in screen_text(app)
    assert seen == dict.fromkeys(("facts", "typed", "state", "curated"), True)


async def test_suggestions_of_sessions_are_added_by_one_key(demo: Workspace) -> None:
    """R in Curated adds what waits, and does nothing else."""
    app = make_app(demo, pane="curated")
    tasks = next(demo.root.rglob("tasks.md"))
    before = tasks.read_text("utf-8")
    async with running(app, (120, 36)) as pilot:
        assert "1 suggestion from sessions" in screen_text(app)
        await press(pilot, "home", "R")
        await jobs_done(pilot)
        await settle(pilot)
        assert "suggestion from sessions" not in screen_text(app)
        assert "Courier interface" in screen_text(app)
    assert tasks.read_text("utf-8") == before


async def test_a_fact_is_added_and_removed_by_its_operations(demo: Workspace) -> None:
    """The form has the parameters of `facts store`; x removes the fact, and u brings it back."""
    app = make_app(demo, pane="facts")
    async with running(app, (120, 36)) as pilot:
        await press(pilot, "a")
        assert isinstance(app.screen, Form)
        await type_text(pilot, "The deploy key is kept by Bob")
        await press(pilot, "ctrl+s")
        assert "The deploy key is kept" in screen_text(app)
        await press(pilot, "home", "x")
        assert isinstance(app.screen, Confirm)
        await press(pilot, "y")
        assert "The deploy key is kept" not in screen_text(app)
        await press(pilot, "u")
        assert "The deploy key is kept" in screen_text(app)


async def test_a_recall_is_shown_before_it_is_applied(demo: Workspace) -> None:
    """R shows what the state of the project suggests; Enter does it and says so; nothing waits for a recall then."""
    app = make_app(demo, pane="state")
    async with running(app, (120, 36)) as pilot:
        assert "2 to recall" in screen_text(app)
        await press(pilot, "R")
        await jobs_done(pilot)
        await settle(pilot)
        assert isinstance(app.screen, Preview)
        assert "changed sections" in screen_text(app)
        await press(pilot, "enter")
        await jobs_done(pilot)
        await settle(pilot)
        assert "2 to recall" not in screen_text(app)
        (told,) = app._notifications
        assert told.message.startswith("recalled 2 events: changed current-focus")
        assert told.message.endswith("; u undoes it")


@pytest.mark.thorough(one_of=2)
@pytest.mark.parametrize(
    ("ref", "mine", "other"),
    [("state#gotcha-1", "cause", "symptom"), ("state#current-focus", "currentState", "summary")],
)
async def test_what_others_changed_in_an_entry_of_the_state_is_merged(
    demo: Workspace, ref: str, mine: str, other: str
) -> None:
    """Another field keeps the text of the others; the same field is asked, with all three texts."""
    store = system_of(demo, "state", ProjectState).store
    section = "gotchas" if ref == "state#gotcha-1" else "current-focus"

    def entries() -> list[dict[str, Any]]:
        value = store.memory().bundle[key_of(section)]
        return value if isinstance(value, list) else [value]

    def change(name: str, text: str) -> None:
        first, *rest = entries()
        first = {**first, name: [text] if isinstance(first[name], list) else text}
        edit(store, section, [first, *rest] if section == "gotchas" else first, actor="cli", now=NOW)

    app = make_app(demo, pane="state")
    async with running(app, (120, 36)) as pilot:
        assert app.pane is not None
        assert app.pane.go_to(ref)
        await press(pilot, "e")
        assert isinstance(app.screen, Form)
        change(other, "It hangs at night")
        await press(pilot, "ctrl+home")
        await type_text(pilot, "Mine: ")
        await press(pilot, "ctrl+s")
        await settle(pilot)
        assert app.screen is app.main_screen
        assert entries()[0][other] == "It hangs at night"
        assert "Mine: " in str(entries()[0][mine])
        await press(pilot, "e", "ctrl+home")
        change(mine, "Of the others")
        await type_text(pilot, "Newer ")
        await press(pilot, "ctrl+s")
        await settle(pilot)
        assert isinstance(app.screen, ThreeWay)
        assert "Of the others" in screen_text(app)


async def test_the_palette_runs_any_operation(demo: Workspace) -> None:
    """`state query` asks for its question and shows the answer of the command line."""
    app = make_app(demo, pane="state")
    async with running(app, (120, 36)) as pilot:
        await press(pilot, "colon")
        await type_text(pilot, "state query")
        await press(pilot, "enter")
        assert isinstance(app.screen, Form)
        await type_text(pilot, "what is next")
        await press(pilot, "ctrl+s")
        await jobs_done(pilot)
        await settle(pilot)
        assert isinstance(app.screen, Preview)
        assert "Warn when the pool is nearly empty" in screen_text(app)


async def test_what_is_typed_for_an_operation_is_kept_until_it_is_run(demo: Workspace) -> None:
    """Refused, the form opens again with it; when the application ends meanwhile, w goes on with it in the next one."""
    app = make_app(demo, pane="tasks")
    async with running(app, (120, 36), says=True) as pilot:
        await press(pilot, "colon")
        await type_text(pilot, "facts store")
        await press(pilot, "enter")
        await type_text(pilot, "password: hunter2-and-more-9931")
        await press(pilot, "ctrl+s")
        await settle(pilot)
        assert isinstance(app.screen, Form)
        assert "hunter2-and" in screen_text(app)
        await press(pilot, "ctrl+a", "ctrl+k")
        await type_text(pilot, "The deploy key is kept by Bob")
        app.form_drafts.save_now()
    for path in (demo.state.folder.path / "drafts").glob("*.json"):
        text = path.read_text()
        path.write_text(re.sub(r'"owner": "[^"]*"', '"owner": ""', text))
    app = make_app(demo, pane="tasks")
    async with running(app, (120, 36), says=True) as pilot:
        await press(pilot, "w")
        assert isinstance(app.screen, Form)
        assert "The deploy key is kept" in screen_text(app)
        await press(pilot, "ctrl+s")
        await settle(pilot)
        assert not list((demo.state.folder.path / "drafts").glob("*.json"))
        await press(pilot, "5")
        assert "The deploy key is kept" in screen_text(app)


async def test_a_memory_of_a_client_is_changed_once_its_folder_is_allowed(demo: Workspace) -> None:
    """The tab has each folder; the first change asks, no keeps what was typed, yes writes it, and u takes it back."""
    root, home = os.path.realpath(demo.root), demo.home
    assert home is not None
    folder = home / ".claude/projects" / re.sub(r"[^A-Za-z0-9]", "-", root) / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("- [Tabs](tabs.md) - always\n")
    (folder / "tabs.md").write_text("---\nname: Tabs\ndescription: Always\nmetadata: \n  type: feedback\n---\n\nYes.\n")
    app = make_app(demo, pane="clients")
    async with running(app, (120, 36), says=True) as pilot:
        assert "CLAUDE CODE (PROJECT)" in screen_text(app)
        await press(pilot, "home", "e")
        assert isinstance(app.screen, Form)
        await press(pilot, "ctrl+a", "ctrl+k")
        await type_text(pilot, "No.")
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, Confirm)
        await press(pilot, "n")
        assert isinstance(app.screen, Form)
        assert (folder / "tabs.md").read_text().endswith("---\n\nYes.\n")
        await press(pilot, "ctrl+s", "y")
        assert (folder / "tabs.md").read_text().endswith("---\n\nNo.\n")
        await press(pilot, "u")
        assert (folder / "tabs.md").read_text().endswith("---\n\nYes.\n")


async def test_what_a_client_deleted_waits_and_comes_back_by_one_key(demo: Workspace) -> None:
    """One row of Waiting brings back all of it, and u deletes it again."""
    root, home = os.path.realpath(demo.root), demo.home
    assert home is not None
    folder = home / ".claude/projects" / re.sub(r"[^A-Za-z0-9]", "-", root) / "memory"
    folder.mkdir(parents=True)
    texts = {f"rule-{number}.md": f"---\nname: Rule {number}\ntype: feedback\n---\n\nYes.\n" for number in range(3)}
    texts["MEMORY.md"] = "".join(f"- [Rule {number}](rule-{number}.md) - always\n" for number in range(3))
    for name, text in texts.items():
        (folder / name).write_text(text)
    demo.notice(NOW)
    for number in range(3):
        (folder / f"rule-{number}.md").unlink()
    (folder / "MEMORY.md").write_text("")
    os.utime(folder, (1, 1))  # As if it happened a while ago: a file may be missing for a moment.
    app = make_app(demo, pane="waiting")
    async with running(app, (120, 36), says=True) as pilot:
        assert "DELETED BY CLIENTS" in screen_text(app)
        await press(pilot, "G", "a", "y")
        assert {name: (folder / name).read_text() for name in texts} == texts
        assert "DELETED BY CLIENTS" not in screen_text(app)
        await press(pilot, "u")
        assert not (folder / "rule-1.md").exists()


async def test_all_selected_deletions_come_back(demo: Workspace) -> None:
    """`a` on two selected rows of Waiting brings back what was deleted in both folders, one change each."""
    root, home = os.path.realpath(demo.root), demo.home
    assert home is not None
    places = (
        home / ".claude/projects" / re.sub(r"[^A-Za-z0-9]", "-", root) / "memory/tabs.md",
        home / ".claude/agent-memory/builder/quotes.md",
    )
    for place in places:
        place.parent.mkdir(parents=True)
        place.write_text("---\nname: Rule\ntype: feedback\n---\n\nYes.\n")
    demo.notice(NOW)
    for place in places:
        place.unlink()
        os.utime(place.parent, (1, 1))  # As if it happened a while ago: a file may be missing for a moment.
    app = make_app(demo, pane="waiting")
    async with running(app, (120, 36), says=True) as pilot:
        await press(pilot, "G", "space", "k", "space", "a", "y", "y")
        assert [place.exists() for place in places] == [True, True]
        assert "DELETED BY CLIENTS" not in screen_text(app)
        await press(pilot, "u", "u")
        assert [place.exists() for place in places] == [False, False]


async def test_what_is_in_doubt_is_marked_and_settled_by_one_key(demo: Workspace) -> None:
    """The older of two facts is marked; C calls it still true, or removes one of them, and u takes either back."""
    with (demo.root / ".aegis/memory/memories.jsonl").open("a") as facts:
        for number, day in ((91, "Thursdays"), (92, "Mondays")):
            text, time = f"The release branch is cut on {day}", f"2024-01-15T10:{number - 60}:00Z"
            row = {"id": f"m-{number}", "scope": "workspace", "text": text, "tags": [], "ts": time}
            facts.write(json.dumps(row) + "\n")
    app = make_app(demo, pane="facts")
    async with running(app, (140, 36)) as pilot:
        await settle(pilot)
        pane = app.pane
        assert pane is not None
        (row,) = pane.doubted
        assert isinstance(row, RowKey)
        assert pane.place_cursor(row)
        await settle(pilot)
        assert "▲ older" in screen_text(app)
        assert "IN DOUBT" in screen_text(app)
        await press(pilot, "C", "t")
        await settle(pilot)
        assert pane.doubted == {}
        await press(pilot, "u")
        await settle(pilot)
        assert set(pane.doubted) == {row}
        await press(pilot, "C", "o")
        await settle(pilot)
        assert pane.doubted == {}
        assert "Mondays" not in screen_text(app)
