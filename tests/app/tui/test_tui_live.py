"""What happens outside appears, and maintenance shows its plan before it moves anything."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from app.tui.spine import Changed
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, make_workspace, press, running, settle
from tests.patience import PATIENCE, within
from tests.widgets.harness import HOSTILE, assert_safe, screen_text
from widgets.dialogs.dialogs import Preview
from widgets.panes import panes_for


async def test_an_outside_change_keeps_cursor_and_selection(workspace: Workspace) -> None:
    """Another program adds a task on top: cursor and selection stay, the new row flashes, Changes says who."""
    app = make_app(workspace)
    async with running(app) as pilot:
        pane = app.pane
        await press(pilot, "space", "j")
        cursor, selected = pane.current().title, [item.title for item in pane.selected()]
        path = workspace.memory / "tasks.md"
        path.write_text(path.read_text().replace("## Pending\n", "## Pending\n\n### [HIGH] From outside\n", 1))
        app.post_message(Changed(frozenset({"tasks.md"})))
        await settle(pilot)
        assert pane.current().title == cursor
        assert [item.title for item in pane.selected()] == selected
        assert [row.item.title for row in pane.line_list._flashing] == ["From outside"]
        assert "From outside" in screen_text(app)
        (change,) = workspace.store.history.list(actor="outside")
        assert [one.title for one in change.touched if one.ref] == ["[HIGH] From outside"]
        await press(pilot, "0")
        assert "From outside" in screen_text(app)


async def test_the_watcher_tells_the_application(workspace: Workspace) -> None:
    """A real change on disk reaches the screen through the watcher's thread."""
    app = make_app(workspace, watches=True)
    async with running(app) as pilot:
        path = workspace.memory / "tasks.md"
        path.write_text(path.read_text().replace("Deploy v2.1", "Deliver v2.2"))
        async with within(lambda: screen_text(app)):
            while "Deliver v2.2" not in screen_text(app):
                await pilot.pause(0.02)


OLD_TASK = "### [NORMAL] Long done\n- completed: 2023-11-02\n"
OLD_ENTRY = "\n## 2023-10-01\n\n### 09:00 — Long ago\n- a line\n"


@pytest.mark.parametrize(
    ("key", "file", "archive", "words"),
    [
        ("A", "tasks.md", "archive/tasks-2023-11.md", ("completed more than 7 days ago", "2023-11-02  Long done")),
        ("P", "journal.md", "archive/journal-2023-10.md", ("dated more than 30 days ago", "2023-10-01  Long ago")),
        ("M", "tasks.md", "archive/tasks-2023-11.md", ("completed more than 7 days ago", "2023-10-01  Long ago")),
    ],
)
async def test_maintenance_shows_its_plan_first(
    workspace: Workspace, key: str, file: str, archive: str, words: tuple[str, ...]
) -> None:
    """A, P and M show what moves where; Escape leaves everything, Enter moves it, u brings it back."""
    for name, text in (("tasks.md", OLD_TASK), ("journal.md", OLD_ENTRY)):
        path = workspace.memory / name
        path.write_text(path.read_text().rstrip("\n") + "\n" + text)
    before = (workspace.memory / file).read_bytes()
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, key)
        assert isinstance(app.screen, Preview)
        text = screen_text(app)
        assert archive in text
        assert " kept + " in text
        assert all(one in text for one in words)
        rows = text.split("\n")
        hints = next(number for number, row in enumerate(rows) if "Enter apply" in row)
        assert not rows[hints - 1].strip(" │")
        await press(pilot, "escape")
        assert (workspace.memory / file).read_bytes() == before
        await press(pilot, key, "enter")
        assert (workspace.memory / archive).exists()
        assert (workspace.memory / file).read_bytes() != before
        assert workspace.store.history.list()[0].operation == "maintain"
        await press(pilot, "u")
        assert (workspace.memory / file).read_bytes() == before
        assert not (workspace.memory / archive).exists()


SIZES = [(120, 36), (40, 10), (1, 1)]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.thorough(but=("80x24",))
async def test_every_pane_opens_in_every_size(workspace: Workspace, size: tuple[int, int]) -> None:
    """Every pane, its detail, the palette and the help open in every size, and a resize keeps them."""
    app = make_app(workspace)
    async with running(app, size) as pilot:
        for pane in panes_for(()):
            await press(pilot, pane.key)
            await pilot.press("enter", "escape")
        await pilot.press("1", "2", "colon", "escape", "question_mark", "escape", "a", "escape")
        await pilot.resize_terminal(90, 20)
        await settle(pilot)
        assert "Deploy v2.1" in screen_text(app)


@pytest.mark.parametrize("size", [(120, 30), (70, 24)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.thorough(but=("70x24",))
async def test_hostile_content_neither_crashes_nor_reaches_the_terminal(tmp_path: Path, size: tuple[int, int]) -> None:
    """Titles and values that try to steer the terminal or to be markup are shown as they are, everywhere."""
    texts = [text.replace("\n", " ").replace("\r", " ") for text in HOSTILE.values()]
    tasks = "".join(
        f"### [HIGH] {text}\n- due: {text[:40]}\n- notes: {text}\n- tags: {text[:60]}\n- {'x' * 9}: {text}\n\n"
        for text in texts
    )
    journal = "".join(f"### 10:00 — {text}\n- {text}\n\n" for text in texts)
    knowledge = "".join(f"- {text}\n" for text in texts)
    workspace = make_workspace(tmp_path, {})
    for name, text in {
        "tasks.md": f"---\ntype: task-list\n---\n\n## Pending\n\n{tasks}",
        "journal.md": f"## 2024-01-15\n\n{journal}",
        "knowledge.md": f"## Facts [/x]\n{knowledge}",
        "monitors.md": f"## Monitors\n\n### [/nope]\x1b[31m\n- type: {texts[0]}\n- lastStatus: {texts[2]}\n",
        "contacts.md": f"## People\n- **{texts[1]}** ({texts[2]}): {texts[4]}\n",
        "config.md": f"## X\n- target: {texts[2]}\n",
    }.items():
        (workspace.memory / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    app = make_app(workspace)
    async with running(app, size) as pilot:
        for _ in range(len(texts) - 1):
            assert_safe(screen_text(app))
            await pilot.press("j")
        await press(pilot, "e")
        assert_safe(screen_text(app))
        await press(pilot, "escape", "x")
        assert_safe(screen_text(app))
        await pilot.press("y", "u", "d", "escape", "t", "escape")
        await press(pilot, "s")
        assert_safe(screen_text(app))
        for pane in panes_for(()):
            await press(pilot, pane.key)
            await pilot.press("enter", "escape", "j")
            assert_safe(screen_text(app))
        app.say("[/nope] \x1b[31m", title="[bold]\x9b", severity="error")
        await settle(pilot)
        assert_safe(screen_text(app))


async def test_files_are_read_while_many_jobs_run(workspace: Workspace) -> None:
    """Ten jobs that do not end hold up nothing: a change from outside is read and shown."""
    app, goes_on = make_app(workspace), threading.Event()
    async with running(app) as pilot:
        for _ in range(10):
            app.jobs.start("waiting", lambda _job: goes_on.wait(PATIENCE), lambda _: None)
        path = workspace.memory / "tasks.md"
        path.write_text(path.read_text().replace("## Pending\n", "## Pending\n\n### [HIGH] From outside\n", 1))
        app.post_message(Changed(frozenset({"tasks.md"})))
        await settle(pilot)
        assert "From outside" in screen_text(app)
        goes_on.set()


async def test_a_removed_file_is_told_when_nothing_else_happens(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log gives a file time to come back; after that the files are read once more, and Changes says it is gone."""
    monkeypatch.setattr("memory.storage.log.PASSING", 0.3)
    monkeypatch.setattr("app.tui.app.GIVEN_SECONDS", 0.5)
    path = workspace.memory / "archive" / "journal-2023-12.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("## 2023-12-01\n\n### 09:00 — Long ago\n- a line\n")
    workspace.notice(NOW)
    app = make_app(workspace, watches=True, keeps_watch=False, pane="changes")
    async with running(app) as pilot:
        path.unlink()
        async with within(lambda: screen_text(app)):
            while "removed" not in screen_text(app):
                await pilot.pause(0.05)
