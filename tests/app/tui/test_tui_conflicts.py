"""Two writers: what goes together does so without a word, the same thing asks, and nothing that was typed gets lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.files.tasks.edits import edit_task
from memory.files.tasks.operations import remove_task
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running, task_of, type_text
from tests.reviewing import let_agents
from tests.widgets.harness import screen_text
from widgets.dialogs.pick import Pick
from widgets.dialogs.three_way import ThreeWay
from widgets.input.form import Form

FIRST = "Generate weekly report"
RUNNING = "Monitor API latency"
ASSIGNED = ("e", "down", "down", "down", "down")


def edit(workspace: Workspace, title: str = FIRST, /, **fields: str) -> None:
    """Let an agent edit a task."""
    let_agents(workspace.store)
    ref = task_of(workspace, title).ref
    workspace.change(
        "tasks.edit", lambda snapshot: edit_task(snapshot, ref, set=fields, now=NOW), actor="agent:x", now=NOW
    )


def rewrite(workspace: Workspace, name: str, old: str, new: str) -> None:
    """Rewrite a file in place, as an editor does."""
    path = workspace.memory / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("keys", "wanted"),
    [
        (("m", "enter"), "heartbeatMine"),
        (("e", "end", "X", "ctrl+s", "enter"), "heartbeatMineX"),
    ],
    ids=["mine", "edited"],
)
async def test_one_key_per_choice(workspace: Workspace, keys: tuple[str, ...], wanted: str) -> None:
    """m takes mine, e types something else; what else was typed, and what others wrote, is saved along with it."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "e", "end", "!", "down", "down", "down", "down", "end")
        await type_text(pilot, "Mine")
        edit(workspace, assigned="Theirs", tags="newer")
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, ThreeWay)
        await press(pilot, *keys)
        assert app.screen is app.main_screen
        task = task_of(workspace, f"{FIRST}!")
        assert (task.assigned, task.tags) == (wanted, ("newer",))


async def test_escape_goes_back_to_the_form(workspace: Workspace) -> None:
    """Leaving the question writes nothing and gives the form back, with mine in it and theirs beside it."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, *ASSIGNED)
        await type_text(pilot, "Mine")
        edit(workspace, assigned="Theirs", tags="newer")
        await press(pilot, "ctrl+s", "escape")
        assert isinstance(app.screen, Form)
        values = app.screen.values()
        assert (values["assigned"], values["tags"]) == ("heartbeatMine", "newer")
        assert task_of(workspace, FIRST).assigned == "Theirs"
        await press(pilot, "ctrl+s", "m", "enter")
        assert task_of(workspace, FIRST).assigned == "heartbeatMine"


async def test_the_editor_merges_and_asks(workspace: Workspace, tmp_path: Path) -> None:
    """While $EDITOR is open somebody changes another field (it stays) and the same one (it is asked)."""
    tasks = workspace.memory / "tasks.md"
    script = tmp_path / "editor"
    script.write_text(
        "#!/bin/sh\n"
        "sed -i 's/^- assigned: .*/- assigned: mine/' \"$1\"\n"
        f"sed -i '0,/^- assigned: heartbeat/s//- assigned: theirs/; 0,/^- notes: Run/s//- notes: First run/' {tasks}\n"
    )
    script.chmod(0o755)
    app = make_app(workspace, environ={"EDITOR": str(script), "PATH": "/usr/bin:/bin"})
    async with running(app) as pilot:
        await press(pilot, "j", "E")
        assert isinstance(app.screen, ThreeWay)
        text = screen_text(app)
        for words in ("assigned", "heartbeat", "mine", "theirs"):
            assert words in text
        await press(pilot, "m", "enter")
        task = task_of(workspace, "Deploy v2.1 to staging")
        assert task.assigned == "mine"
        assert task.notes.startswith("First run")


@pytest.mark.parametrize("key", ["c", "escape"])
async def test_a_removed_entry_leaves_a_choice(workspace: Workspace, key: str) -> None:
    """Copy what was typed, or (Escape) keep it as a draft: said, and done."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, *ASSIGNED, "end", "!")
        ref = task_of(workspace, FIRST).ref
        let_agents(workspace.store)
        workspace.change("r", lambda look: remove_task(look, ref, now=NOW), actor="agent:x", now=NOW)
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, Pick)
        assert "no longer exists" in screen_text(app)
        await press(pilot, key)
        assert app.screen is app.main_screen
        assert FIRST not in [task.title for task in workspace.snapshot().tasks.items]
        assert bool(app.state.left_drafts) == (key == "escape")
        assert ("heartbeat!" in app.clipboard) == (key == "c")
