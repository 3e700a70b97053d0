"""The day of the journal over a real workspace, its filters, and the entries that mention a task."""

from __future__ import annotations

from datetime import timedelta

from app.tui.app import MemdeckApp
from memory.files.journal.edits import add_entry
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running, settle, type_text
from tests.widgets.harness import screen_text
from widgets.calendar.day import DayScreen
from widgets.pane.rows import RowKey

SIZES = [(120, 36), (80, 24), (40, 10)]


def titles(app: MemdeckApp) -> list[str]:
    """The entries that the journal's filter leaves."""
    pane = app.navigation.pane
    assert pane is not None
    return [key.item.title for key in pane.line_list.rows if isinstance(key, RowKey)]


def day_screen(app: MemdeckApp) -> DayScreen:
    """The dialog that is open."""
    assert isinstance(app.screen, DayScreen)
    return app.screen


async def test_a_day_is_shown_on_its_hours(workspace: Workspace) -> None:
    """b shows the day of the entry under the cursor with times, signs and words at every size, down to one cell."""
    entries = workspace.snapshot().journal.entries(since="2024-01-15", until="2024-01-15")
    app = make_app(workspace, pane="journal")
    async with running(app) as pilot:
        await press(pilot, "b")
        for size in (*SIZES, (20, 6), (5, 3), (1, 1), (80, 24)):
            await pilot.resize_terminal(*size)
            await settle(pilot)
            if size in SIZES:
                shown = screen_text(app)
                assert "15 Jan" in shown
                assert all(f"{entry.time} " in shown and entry.title.split()[0] in shown for entry in entries)
        await press(pilot, "escape")
        assert not isinstance(app.screen, DayScreen)


async def test_enter_goes_to_the_entry(workspace: Workspace) -> None:
    """The day opens at the entry under the cursor; Enter goes to another one of it."""
    app = make_app(workspace, pane="journal")
    async with running(app) as pilot:
        before = app.navigation.pane.current()
        await press(pilot, "b")
        screen = day_screen(app)
        entries = screen.list.day.entries
        assert entries[screen.list.cursor].entry.ref == before.ref
        await press(pilot, "g", "g")
        wanted = entries[0].entry
        await press(pilot, "enter")
        assert app.navigation.pane.current().ref == wanted.ref


async def test_days_follow_each_other_and_the_year_leads_to_them(workspace: Workspace) -> None:
    """Left and right pass over empty days, c shows the year at the day, Enter there shows a day again."""
    app = make_app(workspace, pane="journal")
    async with running(app) as pilot:
        await press(pilot, "b", "left")
        assert str(day_screen(app).day) == "2024-01-14"
        await press(pilot, "right")
        assert str(day_screen(app).day) == "2024-01-15"
        await press(pilot, "left", "c")
        assert "Sunday 14 January 2024" in screen_text(app)
        await press(pilot, "h", "enter")
        assert str(day_screen(app).day) == "2024-01-07"
        assert "nothing was written on this day" in screen_text(app)
        await press(pilot, "enter", "full_stop")
        assert str(day_screen(app).day) == "2024-01-15"


async def test_a_day_of_the_archive_leads_to_the_archive(workspace: Workspace) -> None:
    """Entries that were archived stand in their day, and Enter goes to them there."""
    folder = workspace.memory / "archive"
    folder.mkdir(exist_ok=True)
    (folder / "journal-2023-12.md").write_text("## 2023-12-05\n\n### 09:00 — Long ago\n- said\n", "utf-8")
    app = make_app(workspace, pane="journal")
    async with running(app) as pilot:
        await press(pilot, "G", "b", *["left"] * 9)
        assert str(day_screen(app).day) == "2023-12-05"
        assert "Long ago" in screen_text(app)
        await press(pilot, "enter")
        assert app.navigation.pane.pane_id == "archive"
        assert app.navigation.pane.current().title == "Long ago"


async def test_the_change_log_says_who_wrote(workspace: Workspace) -> None:
    """An entry whose words name nobody shows who added it, as far as the log knows."""
    now = NOW - timedelta(minutes=5)
    workspace.change(
        "journal.add",
        lambda snapshot: add_entry(snapshot, "Index rebuilt", ("took 4 min",), now=now),
        actor="agent:dba",
        now=now,
    )
    app = make_app(workspace, pane="journal")
    async with running(app) as pilot:
        await press(pilot, "b")
        row = next(line for line in screen_text(app).split("\n") if "10:25 · Index rebuilt" in line)
        assert "agent:dba" in row


async def test_the_journal_is_filtered_by_kind_and_author(workspace: Workspace) -> None:
    """kind: and from: leave what fits, together as well; f says the names, and right completes a kind."""
    app = make_app(workspace, pane="journal")
    async with running(app) as pilot:
        await press(pilot, "f")
        assert "date: title: time: from: kind: about:" in screen_text(app)
        await type_text(pilot, "kind:ta")
        await press(pilot, "right")
        assert app.navigation.pane.filter == "kind:task"
        await press(pilot, "enter")
        assert titles(app)
        assert all(title.startswith("Task") for title in titles(app))
        app.navigation.pane.set_filter("kind:message from:alice")
        assert titles(app) == ["IM Response"]
        app.navigation.pane.set_filter("kind:decision")
        assert titles(app) == []


async def test_one_key_lists_what_mentions_a_task(workspace: Workspace) -> None:
    """O opens the journal with the entries that mention the task under the cursor; about: takes words as well."""
    journal = (workspace.memory / "journal.md").read_text("utf-8")
    task = next(task for task in workspace.snapshot().tasks if f'"{task.title}"' in journal)
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        app.navigation.pane.go_to(task.ref)
        await press(pilot, "O")
        assert app.navigation.pane.pane_id == "journal"
        assert app.navigation.pane.filter.startswith("about:")
        found = [key.item for key in app.navigation.pane.line_list.rows if isinstance(key, RowKey)]
        assert found
        assert all(f'"{task.title}"' in entry.entry.text for entry in found)
        app.navigation.pane.set_filter("about:" + task.title.split()[0].casefold())
        assert {entry.ref for entry in found} <= {
            key.item.ref for key in app.navigation.pane.line_list.rows if isinstance(key, RowKey)
        }
