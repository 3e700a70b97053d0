"""An open form: what others change meanwhile is said in it, one field is saved by Enter, suggestions come later."""

from __future__ import annotations

from pathlib import Path

from memory.files.tasks.edits import edit_task, remove_task
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, make_workspace, press, running, settle, type_text
from tests.reviewing import let_agents
from tests.widgets.harness import Harness, screen_text
from widgets.input.fields import FieldSpec
from widgets.input.form import Form
from widgets.panes.tasks.forms import adding, editing


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


async def test_a_low_form_names_the_fields_that_changed(tmp_path: Path) -> None:
    """Where there is one line for it, the names of the fields stand in it; at another height their values, too."""
    workspace = make_workspace(tmp_path, {"tasks.md": "## Pending\n\n### [HIGH] Pay\n- created: 2024-01-15\n"})
    let_agents(workspace.store)
    app = make_app(workspace)
    async with running(app, (40, 10)) as pilot:
        await press(pilot, "2", "e")
        (task,) = workspace.snapshot().tasks
        workspace.change(
            "tasks.edit",
            lambda snapshot: edit_task(snapshot, task.ref, set={"priority": "LOW", "notes": "a\nb"}, now=NOW),
            actor="agent:builder",
            now=NOW,
        )
        app.refresher.request()
        await settle(pilot)
        assert "Changed by others: priority, notes" in screen_text(app)
        await pilot.resize_terminal(120, 36)
        await settle(pilot)
        assert "Changed meanwhile by others: priority (HIGH → LOW), notes (none → a" in screen_text(app)


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


async def test_a_form_opens_before_its_suggestions_are_read(tmp_path: Path) -> None:
    """Making the form of a task reads no task; the first letter of a field does, and then it is completed."""
    tasks = "## Pending\n\n" + "".join(f"### [LOW] Task {n}\n- assigned: Person{n}\n\n" for n in range(30))
    workspace = make_workspace(tmp_path, {"tasks.md": tasks})
    snapshot = workspace.snapshot()
    adding(snapshot, NOW)
    assert "tasks" not in snapshot.__dict__
    first = snapshot.tasks.tasks[0]
    assert all(callable(spec.suggestions) for spec in editing(snapshot, first, NOW).fields if spec.name == "assigned")
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "a", *["down"] * 4)
        await type_text(pilot, "Person2")
        await settle(pilot)
        await press(pilot, "right")
        assert app.screen.values()["assigned"].startswith("Person2")  # type: ignore[attr-defined]


DONE = "## Completed\n\n### [LOW] Old\n- created: 2023-01-01\n- completed: 2023-01-02\n"


async def test_undo_of_what_was_made_here_says_no_other_origin(tmp_path: Path) -> None:
    """Neither a change that is undone at once nor maintenance from here was made in another memdeck."""
    app = make_app(make_workspace(tmp_path, {"tasks.md": DONE + "\n## Pending\n\n### [LOW] New\n"}))
    async with running(app) as pilot:
        await pilot.press("s", "u")
        await settle(pilot)
        assert not [note.message for note in app._notifications if "made" in note.message]
        await press(pilot, "A", "enter")
        await press(pilot, "u")
        said = [note.message for note in app._notifications]
        assert said
        assert not [words for words in said if "made" in words]
