"""Drafts: what is typed and not saved is offered again, and merged with what others wrote since."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from memory.files.tasks.edits import edit_task
from memory.storage.private.drafts import Draft, Drafts
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running, task_of, type_text
from tests.patience import within
from tests.reviewing import let_agents
from tests.widgets.harness import screen_text
from widgets.dialogs.three_way import ThreeWay
from widgets.input.form import Form

FIRST = "Generate weekly report"


def drafts_of(workspace: Workspace) -> Drafts:
    """The drafts of a workspace."""
    assert workspace.state is not None
    return Drafts(workspace.state.folder)


def files_of(workspace: Workspace) -> list[Path]:
    """The files of drafts on the disk."""
    assert workspace.state is not None
    return sorted((workspace.state.folder.path / "drafts").glob("*.json"))


def a_draft(workspace: Workspace, **values: str) -> Draft:
    """What a program that was killed left of the form of the first task."""
    task = task_of(workspace, FIRST)
    base = {"title": task.title, "assigned": task.assigned or "", "notes": task.notes or ""}
    draft = Draft(
        *("01DRAFT", NOW, "tasks", "tasks.edit", FIRST, task.ref, False, {**base, **values}, base),
        owner="1@0",
    )
    drafts_of(workspace).put(draft)
    return draft


async def until(pilot: Pilot[int], check: Callable[[], object]) -> None:
    """Wait for something that a timer sets off."""
    async with within(lambda: screen_text(pilot.app)):
        while not check():
            await pilot.pause(0.05)


def change(workspace: Workspace, **fields: str) -> None:
    """Let an agent edit the first task."""
    let_agents(workspace.store)
    ref = task_of(workspace, FIRST).ref
    workspace.change(
        "tasks.edit", lambda snapshot: edit_task(snapshot, ref, set=fields, now=NOW), actor="agent:x", now=NOW
    )


async def test_typing_is_kept_and_leaving_drops_it(workspace: Workspace) -> None:
    """A second after the first key the draft is on the disk; leaving the form on purpose removes it, saving too."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "e")
        await type_text(pilot, " now")
        await until(pilot, lambda: files_of(workspace))
        assert drafts_of(workspace).left() == ()  # This process still has it open.
        await press(pilot, "escape", "y")
        assert files_of(workspace) == []
        await press(pilot, "e")
        await type_text(pilot, " now")
        await until(pilot, lambda: files_of(workspace))
        await press(pilot, "ctrl+s")
        assert files_of(workspace) == []
        assert task_of(workspace, f"{FIRST} now")


async def test_a_draft_is_offered_without_getting_in_the_way(workspace: Workspace) -> None:
    """The next start says so, the brief lists it, the palette and w continue it; saving removes it."""
    a_draft(workspace, title=f"{FIRST} now")
    app = make_app(workspace)
    async with running(app) as pilot:
        assert app.screen is app.main_screen
        assert ["was not saved" in note.message for note in app._notifications] == [True]
        assert "w open draft" in screen_text(app)
        await press(pilot, "3")
        assert "w open draft" not in screen_text(app), "only where it belongs, and in the brief"
        await press(pilot, "1")
        assert "DRAFTS" in screen_text(app)
        assert "w open draft" in screen_text(app)
        await press(pilot, "enter")
        assert isinstance(app.screen, Form)
        assert app.screen.values()["title"] == f"{FIRST} now"
        await press(pilot, "ctrl+s")
        assert task_of(workspace, f"{FIRST} now")
        assert files_of(workspace) == []
        await press(pilot, "1")
        assert "DRAFTS" not in screen_text(app)
        assert not app.state.left_drafts


async def test_a_draft_meets_newer_values(workspace: Workspace) -> None:
    """Others changed another field (it stays) and the same one (it is asked) since the draft was typed."""
    a_draft(workspace, assigned="mine")
    change(workspace, assigned="theirs", notes="newer")
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "w")
        assert isinstance(app.screen, Form)
        assert "Changed since by others: assigned, notes" in screen_text(app)
        assert app.screen.values()["notes"] == "newer"
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, ThreeWay)
        text = screen_text(app)
        for words in ("heartbeat", "mine", "theirs"):
            assert words in text
        await press(pilot, "b", "enter")
        task = task_of(workspace, FIRST)
        assert (task.assigned, task.notes) == ("heartbeat", "newer")


async def test_an_error_keeps_what_is_typed(workspace: Workspace) -> None:
    """An error that nobody expected ends the application, not what was typed."""

    def fail() -> None:
        raise RuntimeError("as unexpected as it gets")

    app = make_app(workspace)

    async def work() -> None:
        async with running(app) as pilot:
            await press(pilot, "e")
            await type_text(pilot, " now")
            app.call_later(fail)
            await until(pilot, lambda: not app.is_running)

    with pytest.raises(RuntimeError, match="unexpected"):
        await work()
    assert len(files_of(workspace)) == 1
