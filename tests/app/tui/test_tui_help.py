"""The help: the pane's own keys first, narrowed as one types; and what F1 says."""

from __future__ import annotations

from app.tui.app import MemdeckApp
from app.tui.keys.help import NOT_NOW, CommandRow, CommandScreen, key_rows
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, press, running, type_text
from tests.widgets.harness import screen_text


def own_rows(app: MemdeckApp) -> list[CommandRow]:
    """The second group of the help, behind the usual keys."""
    rows = key_rows(app.screen, app)
    own = next(row.group for row in rows if row.group != "Usual")
    return [row for row in rows if row.group == own]


async def test_each_pane_has_its_own_keys_first(workspace: Workspace) -> None:
    """The board in Tasks, the year in the journal, approving where something waits; never those of another pane."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        own = {row.sentence: row for row in own_rows(app)}
        assert own["Show the tasks as a board, or as a list"].keys == "b"
        assert not own["Start the task"].why
        dead = {row.sentence: row.why for row in key_rows(app.screen, app) if row.group == NOT_NOW}
        assert dead["Move the card right: start or finish the task"] == "Only works on the board (b)."
        assert dead["Set the progress in percent, with a note"] == "Not in progress yet: s starts it."
        await press(pilot, "c")
        assert own_rows(app)[0].sentence == "Go to the previous day"
        await press(pilot, "3")
        assert {row.group for row in own_rows(app)} == {"Journal"}
        assert any(row.keys == "c" and "year" in row.sentence for row in own_rows(app))
        await press(pilot, "7")
        assert any(row.keys == "T" for row in own_rows(app))
        assert not any(row.id == "task.start" for row in key_rows(app.screen, app))


async def test_what_is_typed_narrows_the_keys(workspace: Workspace) -> None:
    """Every word must fit, other words for a command and its key find it too; Escape closes."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "question_mark")
        assert isinstance(app.screen, CommandScreen)
        assert "USUAL" in screen_text(app)
        await type_text(pilot, "archive")
        assert "Start the task" not in screen_text(app)
        assert "archive old" in screen_text(app)
        await type_text(pilot, " zzz")
        assert "No command matches \u201carchive zzz\u201d." in screen_text(app)
        await press(pilot, "escape")
        assert app.screen is app.main_screen
        for typed, found in (
            ("delete", "remove"),
            ("rename", "edit"),
            ("quit", "quit"),
            ("new", "add"),
            ("complete", "done"),
            ("theme", "theme"),
            ("settings", "Config"),
        ):
            await press(pilot, "question_mark")
            await type_text(pilot, typed)
            assert found in screen_text(app).partition(typed)[2], typed
            await press(pilot, "escape")


async def test_a_key_has_one_line(workspace: Workspace) -> None:
    """Where a key does one of two things by the row, one line names both."""
    for pane in ("tasks", "waiting", "prompt", "typed"):
        app = make_app(workspace, pane=pane)
        async with running(app):
            keys = [row.keys for row in key_rows(app.screen, app) if row.keys]
            assert len(keys) == len(set(keys)), pane
