"""Where the person goes while something is written or read, the cursor stays, whatever was asked before."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from app.tui import shell
from app.tui.app import MemdeckApp
from app.tui.keys.jump import JumpLabel
from memory.files.tasks.edits import remove_task
from memory.files.tasks.model import read_tasks
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, make_workspace, press, running, send, settle
from tests.patience import PATIENCE, within
from widgets.panes.tasks.pane import TasksPane


@contextmanager
def held(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> Iterator[None]:
    """Let nothing past a function that threads call, until the end of the block."""
    goes_on, known = threading.Event(), getattr(owner, name)

    def waits(*arguments: Any) -> Any:
        assert goes_on.wait(PATIENCE)
        return known(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, waits)
        try:
            yield
        finally:
            goes_on.set()


async def go(pilot: Pilot[int], *keys: str) -> None:
    """Press keys one after the other while something is held; `label` is the one that jumps to the last row."""
    app = pilot.app
    assert isinstance(app, MemdeckApp)
    for key in keys:
        if key == "label":
            key = [label.label for label in app.screen.query(JumpLabel)][-1]
        send(pilot, key)
        await pilot.pause()
        async with within(lambda: app.screen):
            while not app.type_ahead.idle:
                await pilot.pause(0.001)


CHANGES = {
    "a form that edits": ("tasks", (), ("e", "q", "ctrl+s", "escape")),
    "a form that adds": ("tasks", (), ("a", "n", "ctrl+s")),
    "a task that is done": ("tasks", (), ("d", "enter")),
    "a card that is moved": ("tasks", ("b",), ("greater_than_sign",)),
    "a line of the journal": ("journal", (), ("J", "n", "enter")),
    "a line of knowledge that is moved": ("knowledge", ("j", "j"), ("F", "end", "enter")),
    "an undo": ("tasks", (), ("u",)),
}
"""What leads the cursor to an entry once it is written: the pane, the keys before, and those that ask for it."""


@pytest.mark.parametrize("reading", [False, True], ids=["written", "read"])
@pytest.mark.parametrize("change", CHANGES)
async def test_the_cursor_stays_where_the_person_went(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, change: str, reading: bool
) -> None:
    """While a change is written, or read back, another row is chosen: the cursor is not taken back to the change."""
    pane_id, before, keys = CHANGES[change]
    last = workspace.snapshot().tasks.tasks[-1].ref
    workspace.change("test", lambda snapshot: remove_task(snapshot, last, now=NOW), actor="human", now=NOW)
    app = make_app(workspace, pane=pane_id)
    async with running(app) as pilot:
        await press(pilot, *before)
        pane = app.navigation.pane
        changes = len(workspace.store.history.list(100))
        with held(monkeypatch, pane, "read") if reading else app.edits.one:
            await go(pilot, *keys)
            assert app.screen is app.main_screen
            await go(pilot, "j", "j")
            there = pane.line_list.cursor
            assert there is not None
        await settle(pilot)
        assert len(workspace.store.history.list(100)) == changes + 1
        assert pane.line_list.cursor is there


WAYS = {
    "the last row": ("G",),
    "the row that a label leads to": ("semicolon", "label"),
    "a filter": ("slash", "r", "e", "d", "i", "s"),
    "another pane": ("5",),
    "another pane and back": ("5", "left_square_bracket"),
    "another column": ("b", "l"),
    "another day": ("c", "l"),
}
"""Where the person goes, but by `j`."""


@pytest.mark.parametrize("way", WAYS)
async def test_wherever_the_person_went(workspace: Workspace, way: str) -> None:
    """A row, a filter that hides what was saved, another pane, column or day: the save takes nobody back from there."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        tasks = app.navigation.pane
        assert isinstance(tasks, TasksPane)

        def place() -> tuple[object, ...]:
            day = None if tasks.calendar is None else tasks.calendar.day
            item = tasks.current()
            return app.navigation.pane, tasks.line_list, item and item.ref, tasks.filter, day

        with app.edits.one:
            await go(pilot, "a", "n", "ctrl+s", *WAYS[way])
            there = place()
        await settle(pilot)
        assert place() == there


async def test_who_comes_back_to_a_renamed_entry_stays_with_it(workspace: Workspace) -> None:
    """It is another row once it is read; the cursor that was elsewhere meanwhile does not fall to its neighbour."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        with app.edits.one:
            await go(pilot, "e", "q", "ctrl+s", "j", "k")
        await settle(pilot)
        assert app.navigation.pane.current().title.endswith("q")


async def test_whoever_stays_is_led_to_each_change(workspace: Workspace) -> None:
    """Two entries that are added one right after the other: the cursor goes to them, the one told last keeps it."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        with app.edits.one:
            await go(pilot, *("a", "x", "ctrl+s"), *("a", "y", "ctrl+s"))
        await settle(pilot)
        assert app.navigation.pane.current().title == "y"


async def test_what_was_asked_first_is_written_first(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two changes right after another, whose threads begin the wrong way round, are written in their order."""
    app = make_app(workspace, pane="tasks")
    late: list[Callable[[], None]] = []
    begin = shell.run_in_thread

    def backwards(*arguments: Any, group: str, **options: Any) -> None:
        if group != "change" or len(late) > 1:
            begin(*arguments, group=group, **options)
            return
        late.append(partial(begin, *arguments, group=group, **options))
        if len(late) == 2:
            # It waits at the lock before the other one begins.
            late[1]()
            late[0]()

    async with running(app) as pilot:
        monkeypatch.setattr(shell, "run_in_thread", backwards)
        await go(pilot, *("a", "x", "ctrl+s"), *("a", "y", "ctrl+s"))
        await settle(pilot)
        assert [record.summary for record in workspace.store.history.list(2)] == ["added 'y'", "added 'x'"]
        assert app.navigation.pane.current().title == "y"


LINKED = "Set up CI pipeline"
"""A task that a journal entry mentions."""


async def test_a_link_that_is_found_late_is_not_followed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """`o` is pressed before the links of an entry are known, and then another row is chosen: nothing is opened."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        pane = app.navigation.pane
        linked = pane.arrangement.row_of(next(task.ref for task in workspace.snapshot().tasks if task.title == LINKED))
        while pane.line_list.cursor is not linked:
            await press(pilot, "j")
        await press(pilot, "k")
        with held(monkeypatch, pane, "links"):
            await go(pilot, "o", "j")
            assert pane.line_list.cursor is linked
        await settle(pilot)
        assert app.navigation.pane is pane
        await press(pilot, "o")
        assert app.navigation.pane is not pane


async def test_a_jump_into_an_archive_that_is_still_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry stands in a file that is read first; where another row is chosen meanwhile, that stays."""
    entry = "---\ntype: task-archive\n---\n\n## Archived\n\n### [NORMAL] {0}\n- completed: {0}-02\n"
    months = ("2023-10", "2023-11", "2023-12")
    workspace = make_workspace(tmp_path, {f"archive/tasks-{month}.md": entry.format(month) for month in months})
    app = make_app(workspace, pane="archive")
    async with running(app) as pilot:
        pane, name = app.navigation.pane, "archive/tasks-2023-10.md"
        (task,) = read_tasks(name, workspace.snapshot().document(name)).tasks
        with held(monkeypatch, pane, "read"):
            app.navigation.jump(name, task.ref)
            await go(pilot, "j")
            there = pane.line_list.cursor
        await settle(pilot)
        assert not pane.unread()
        assert pane.line_list.cursor is there


async def test_what_is_typed_behind_the_mentions_of_a_task(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O opens a journal that was shown before and is read anew: keys behind it are about the entries that it lists."""
    journal = (workspace.memory / "journal.md").read_text("utf-8")
    app = make_app(workspace, pane="journal")
    async with running(app) as pilot:
        pane = app.navigation.pane
        await press(pilot, "2")
        task = next(task for task in workspace.snapshot().tasks if f'"{task.title}"' in journal)
        app.navigation.pane.go_to(task.ref)
        with held(monkeypatch, pane, "read"):
            await go(pilot, "O", "slash", "x", "enter")
            assert pane.filter.endswith("x")
        await settle(pilot)
        assert pane.filter.endswith("x")
