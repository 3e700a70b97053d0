"""An open form: what others change meanwhile is said in it, one field is saved by Enter, suggestions come later."""

from __future__ import annotations

from memory.files.tasks.edits import edit_task, remove_task
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running, settle
from tests.reviewing import let_agents
from tests.widgets.harness import Harness, screen_text
from widgets.input.fields import FieldSpec
from widgets.input.form import Form


async def test_an_open_form_says_which_field_changed(workspace: Workspace) -> None:
    """An agent sets another date: the form names the field with both values, and what is typed stays."""
    let_agents(workspace.store)
    app = make_app(workspace)
    async with running(app) as pilot:
        task = app.navigation.pane.current()  # type: ignore[union-attr]
        await press(pilot, "e", "end", "!")
        workspace.change(
            "tasks.edit",
            lambda snapshot: edit_task(snapshot, task.ref, set={"assigned": "Carol"}, now=NOW),
            actor="agent:builder",
            now=NOW,
        )
        app.refresher.request()
        await settle(pilot)
        assert isinstance(app.screen, Form)
        assert f"Changed meanwhile by others: assigned ({task.assigned} → Carol)." in screen_text(app)
        assert app.screen.values()["title"] == f"{task.title}!"
        workspace.change(
            "tasks.remove", lambda snapshot: remove_task(snapshot, task.ref, now=NOW), actor="agent:builder", now=NOW
        )
        app.refresher.request()
        await settle(pilot)
        assert "was removed or renamed meanwhile" in screen_text(app)


async def test_enter_saves_a_form_of_one_field() -> None:
    """Also where the field has several lines; a form of two goes to the next."""
    found: list[object] = []
    one = FieldSpec("text", "text", "multiline")
    for fields, keys in (((one,), 1), ((FieldSpec("word", "word"),), 1), ((FieldSpec("word", "word"), one), 0)):
        app = Harness()
        async with app.run_test(size=(80, 24)) as pilot:
            form = Form("New", fields)
            app.push_screen(form, found.append)
            await pilot.pause()
            await pilot.press("h", "i", "enter")
            await pilot.pause()
            assert len(found) == keys
        found.clear()
