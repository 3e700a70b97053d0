"""Forms and $EDITOR: what is typed arrives in the file, errors keep the form open, conflicts lose nothing."""

from __future__ import annotations

from pathlib import Path

from memory.files.tasks.edits import edit_task
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running, task_of, type_text
from tests.widgets.harness import screen_text
from widgets.dialogs.pick import Confirm, Pick
from widgets.dialogs.three_way import ThreeWay
from widgets.input.form import Form

FIRST = "Generate weekly report"


async def test_a_task_is_added_with_dates_as_people_say_them(workspace: Workspace) -> None:
    """a opens the form; the title is needed, the due date may be words, the cursor goes to the new task."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "a", "ctrl+s")
        assert isinstance(app.screen, Form)
        assert app.screen.errors() == {"title": "required"}
        await type_text(pilot, "Water the plants")
        await press(pilot, "tab", "tab")
        await type_text(pilot, "fri 9")
        await press(pilot, "ctrl+s")
        assert app.screen is app.main_screen
        task = task_of(workspace, "Water the plants")
        assert (task.due, task.priority, task.section) == ("2024-01-19 09:00", "NORMAL", "pending")
        assert app.pane.current().title == "Water the plants"


async def test_a_renamed_entry_is_still_the_same_entry(workspace: Workspace) -> None:
    """An agent changed the title meanwhile, and with it the ref: the user chooses between both titles."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "e")
        await type_text(pilot, " mine")
        ref = task_of(workspace, FIRST).ref
        workspace.change(
            "test", lambda snapshot: edit_task(snapshot, ref, set={"title": "Theirs"}, now=NOW), actor="cli", now=NOW
        )
        await press(pilot, "ctrl+s")
        assert task_of(workspace, "Theirs")
        assert isinstance(app.screen, ThreeWay)
        await press(pilot, "m", "enter")
        assert app.screen is app.main_screen
        assert task_of(workspace, f"{FIRST} mine")


async def test_a_broken_text_is_offered_again(workspace: Workspace) -> None:
    """A text that is two entries is refused and not lost; leaving puts it into the clipboard."""
    environ = {"EDITOR": "sed -i '$a### another'", "PATH": "/usr/bin:/bin"}
    app = make_app(workspace, environ=environ)
    before = (workspace.memory / "tasks.md").read_bytes()
    async with running(app) as pilot:
        await press(pilot, "E")
        assert isinstance(app.screen, Confirm)
        await press(pilot, "n")
        assert app.clipboard.rstrip().endswith("### another")
    assert (workspace.memory / "tasks.md").read_bytes() == before


async def test_an_editor_that_fails_or_is_missing_changes_nothing(workspace: Workspace) -> None:
    """An exit code, a command that does not exist and unmatched quotes are messages."""
    before = (workspace.memory / "tasks.md").read_bytes()
    for command in ("false", "no-such-editor-here", "vi 'x", "true"):
        app = make_app(workspace, environ={"EDITOR": command, "PATH": "/usr/bin:/bin"})
        async with running(app) as pilot:
            await press(pilot, "E")
            assert app.screen is app.main_screen
    assert (workspace.memory / "tasks.md").read_bytes() == before


async def test_a_folder_without_memory_offers_to_make_it(tmp_path: Path) -> None:
    """The first start shows what is missing; c creates it and the application goes on in it."""
    app = make_app(None, path=str(tmp_path / "new"), environ={"XDG_STATE_HOME": str(tmp_path / "state")})
    (tmp_path / "new").mkdir()
    async with running(app) as pilot:
        assert isinstance(app.screen, Pick)
        await press(pilot, "c")
        assert (tmp_path / "new/.aiter/memory/tasks.md").exists()
        assert app.pane.pane_id == "tasks"
        assert "Press a" in screen_text(app)
        await press(pilot, "a")
        assert isinstance(app.screen, Form)
