"""The inbox: what agents propose comes in while the application is open, and is decided by keys."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.tui.app import MemdeckApp
from memory.errors import BlockedError
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot
from memory.files.tasks.edits import add_task, edit_task, remove_task
from memory.review import Inbox
from memory.storage.review.policy import checked_rule
from memory.workspace import Workspace
from screenshots.make import SMALL, USUAL, WIDE, rest
from tests.patience import within
from tests.widgets.harness import screen_text
from widgets.dialogs.dialogs import Confirm
from widgets.dialogs.three_way import ThreeWay

from .tui_helpers import NOW, make_app, press, running, settle

FIRST = "Deploy v2.1 to staging"
AGENT = "agent:builder"


def propose(workspace: Workspace, build: Callable[[Snapshot], Edit], actor: str = AGENT) -> str:
    """Let an agent change what a person wrote; return the id of the proposal."""
    with pytest.raises(BlockedError) as caught:
        workspace.change("tasks.edit", build, actor=actor, now=NOW)
    return str(caught.value.details["proposal"])


def removal(workspace: Workspace, title: str = FIRST) -> str:
    """Let an agent propose to remove a task."""
    return propose(workspace, lambda look: remove_task(look, title, now=NOW))


def tasks(workspace: Workspace) -> str:
    """The file of tasks."""
    return (workspace.memory / "tasks.md").read_text()


def stands(app: MemdeckApp) -> str:
    """What the detail says of how the proposal stands to the files."""
    pane = app.navigation.pane
    assert pane is not None
    said = next(part.value for part in pane.detail(pane.current()) if getattr(part, "label", "") == "now")
    return str(said)


async def test_a_proposal_is_accepted_and_taken_back_by_keys(workspace: Workspace) -> None:
    """The detail shows what it does; . makes it, and u takes it back to the byte."""
    before = tasks(workspace)
    removal(workspace)
    app = make_app(workspace, pane="inbox")
    async with running(app) as pilot:
        assert "agent:builder" in screen_text(app)
        assert stands(app) == "the files are as the agent saw them"
        await press(pilot, "full_stop")
        assert FIRST not in tasks(workspace)
        assert "Nothing waits" in screen_text(app)
        await press(pilot, "u")
        assert tasks(workspace) == before


async def test_what_was_accepted_outside_is_taken_back_by_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory in ~/.agh keeps a change log of its own; u and U walk over it as over that of the workspace."""
    monkeypatch.delenv("AGH_HOME", raising=False)
    home = tmp_path / "home"
    path = home / ".agh" / "memory" / "user_editor.md"
    path.parent.mkdir(parents=True)
    path.write_text("Uses vim\n")
    (tmp_path / "shop" / ".aiter" / "memory").mkdir(parents=True)
    (tmp_path / "shop" / ".aiter" / "memory" / "tasks.md").write_text("## Pending\n")
    with Workspace.open(tmp_path / "shop", state_home=tmp_path / "state", machine_zone=UTC, home=home) as workspace:
        (store,) = workspace.outside()
        transaction = store.transaction("curated.write", actor=AGENT, now=NOW)
        with suppress(BlockedError), transaction as writing:
            writing.write("memory/user_editor.md", b"Uses emacs\n", base=b"Uses vim\n")
            writing.commit("renewed user_editor.md")
        assert Inbox(workspace).count() == 1
        app = make_app(workspace, pane="inbox")
        async with running(app) as pilot:
            assert screen_text(app).count("memory/user_editor.md") == 1
            await press(pilot, "full_stop")
            assert path.read_text() == "Uses emacs\n"
            said = [note.message for note in app._notifications]
            assert said == ["Accepted: renewed user_editor.md in ~/.agh. u takes it back."]
            await press(pilot, "u")
            assert path.read_text() == "Uses vim\n"
            assert [note.message for note in app._notifications][-1].startswith(
                "Undo: renewed user_editor.md in ~/.agh"
            )
            await press(pilot, "U")
            assert path.read_text() == "Uses emacs\n"


async def test_a_proposal_is_rejected_after_a_question(workspace: Workspace) -> None:
    """x asks, Enter or n keeps it, y rejects it; the files stay."""
    before = tasks(workspace)
    number = removal(workspace)
    app = make_app(workspace, pane="inbox")
    async with running(app) as pilot:
        await press(pilot, "x")
        assert isinstance(app.screen, Confirm)
        await press(pilot, "n")
        assert Inbox(workspace).get(number).waiting
        await press(pilot, "x", "y")
        assert Inbox(workspace).get(number).state == "rejected"
        assert tasks(workspace) == before


async def test_many_are_decided_at_once(workspace: Workspace) -> None:
    """What is selected is accepted together after one question, each as a change of its own."""
    titles = [task.title for task in workspace.snapshot().tasks.tasks][:3]
    for title in titles:
        removal(workspace, title)
    app = make_app(workspace, pane="inbox")
    async with running(app) as pilot:
        await press(pilot, "space", "space", "space", "full_stop")
        assert isinstance(app.screen, Confirm)
        await press(pilot, "y")
        assert Inbox(workspace).count() == 0
        assert [title for title in titles if title in tasks(workspace)] == []
        assert len(workspace.store.history.list(actor=AGENT)) == 3


@pytest.mark.parametrize(("key", "due"), [("m", "2024-02-02"), ("t", "2024-03-03")])
async def test_the_same_field_is_asked_in_three_columns(workspace: Workspace, key: str, due: str) -> None:
    """The proposal, what the file says now, and what was there before both."""
    propose(workspace, lambda look: edit_task(look, FIRST, set={"due": "2024-02-02", "notes": "seen"}, now=NOW))
    workspace.change(
        "edit", lambda look: edit_task(look, FIRST, set={"due": "2024-03-03"}, now=NOW), actor="human", now=NOW
    )
    app = make_app(workspace, pane="inbox")
    async with running(app) as pilot:
        assert stands(app) == "the same was changed since"
        await press(pilot, "full_stop")
        assert isinstance(app.screen, ThreeWay)
        assert {"2024-02-02", "2024-03-03"} <= set(screen_text(app).split())
        await press(pilot, key, "enter")
        task = next(one for one in workspace.snapshot().tasks.tasks if one.title == FIRST)
        assert (task.due, task.notes) == (due, "seen")
        assert Inbox(workspace).count() == 0


def under_the_cursor(app: MemdeckApp) -> str:
    """The id of the proposal under the cursor."""
    pane = app.navigation.pane
    assert pane is not None
    return str(pane.current().ref)


async def test_the_cursor_moves_on_from_what_was_decided_only(workspace: Workspace) -> None:
    """It stays where accepting meets a conflict that is left open or a faster reviewer, and goes to the next below."""
    titles = [task.title for task in workspace.snapshot().tasks.tasks if task.title != FIRST][:2]
    oldest, older = (removal(workspace, title) for title in titles)
    clashing = propose(workspace, lambda look: edit_task(look, FIRST, set={"due": "2024-02-02"}, now=NOW))
    newest = propose(workspace, lambda look: edit_task(look, FIRST, set={"notes": "seen"}, now=NOW))
    workspace.change(
        "edit", lambda look: edit_task(look, FIRST, set={"due": "2024-03-03"}, now=NOW), actor="human", now=NOW
    )
    app = make_app(workspace, pane="inbox")
    async with running(app) as pilot:
        assert under_the_cursor(app) == newest
        await press(pilot, "full_stop")
        assert under_the_cursor(app) == clashing
        await press(pilot, "full_stop")
        assert isinstance(app.screen, ThreeWay)
        await press(pilot, "escape")
        assert under_the_cursor(app) == clashing
        await press(pilot, "x", "y")
        assert Inbox(workspace).get(clashing).state == "rejected"
        assert under_the_cursor(app) == older
        await press(pilot, "full_stop")
        assert under_the_cursor(app) == oldest


async def test_what_could_not_be_accepted_stays_selected(workspace: Workspace) -> None:
    """Of several that are accepted together those that wait on are under the next key."""
    other = next(task.title for task in workspace.snapshot().tasks.tasks if task.title != FIRST)
    removal(workspace, other)
    clashing = propose(workspace, lambda look: edit_task(look, FIRST, set={"due": "2024-02-02"}, now=NOW))
    workspace.change(
        "edit", lambda look: edit_task(look, FIRST, set={"due": "2024-03-03"}, now=NOW), actor="human", now=NOW
    )
    app = make_app(workspace, pane="inbox")
    async with running(app) as pilot:
        await press(pilot, "space", "space", "full_stop", "y")
        assert other not in tasks(workspace)
        pane = app.navigation.pane
        assert pane is not None
        assert [one.ref for one in pane.selected()] == [under_the_cursor(app)] == [clashing]


async def test_the_pane_comes_with_the_first_proposal(workspace: Workspace) -> None:
    """Nothing is in the sidebar before; then the pane with its number, and a line in Brief, within a beat or two."""
    app = make_app(workspace, watches=True, keeps_watch=False, pane="tasks")
    async with running(app) as pilot:
        assert "Inbox" not in screen_text(app)
        removal(workspace)
        async with within(lambda: screen_text(app)):
            while "Inbox      1" not in screen_text(app):
                await pilot.pause(0.05)
        await press(pilot, "1")
        assert "1 proposal of agents" in screen_text(app)
        await press(pilot, "g", "i")
        assert FIRST in screen_text(app)


async def test_hostile_text_of_a_proposal_is_text(workspace: Workspace) -> None:
    """No markup and no escape of an agent drives the screen."""
    rule = checked_rule(AGENT, "add", "review")
    Inbox(workspace).change_policy(lambda old: old.with_rule(rule), reviewer="human", now=NOW)
    hostile = "[/nope] [bold]x \u202etxt"
    propose(workspace, lambda look: add_task(look, hostile, now=NOW))
    app = make_app(workspace, pane="inbox")
    async with running(app) as pilot:
        assert "[/nope] [bold]x" in screen_text(app)
        assert "\u202e" not in screen_text(app)
        await press(pilot, "full_stop")
        assert "[/nope] [bold]x" in tasks(workspace)


LOOKS = {"wide": WIDE, "usual": USUAL, "small": SMALL}


@pytest.mark.parametrize("name", LOOKS)
def test_look(name: str, snap_compare: Callable[..., bool], workspace: Workspace, tmp_path: Path) -> None:
    """Proposals of two agents, one of which goes together with the files no more, at every size."""
    removal(workspace)
    propose(workspace, lambda look: edit_task(look, "Generate weekly report", set={"due": "2024-02-02"}, now=NOW))
    propose(workspace, lambda look: edit_task(look, FIRST, set={"due": "2024-02-02"}, now=NOW), "agent:support")
    workspace.change(
        "edit", lambda look: edit_task(look, FIRST, set={"due": "2024-03-03"}, now=NOW), actor="human", now=NOW
    )
    app = make_app(workspace, pane="inbox", environ={"HOME": str(tmp_path), "LANG": "C.UTF-8"})
    app.animation_level = "none"

    async def wait(pilot: Pilot[MemdeckApp]) -> None:
        await settle(pilot)
        await rest(pilot.app, pilot)

    assert snap_compare(app, terminal_size=LOOKS[name], run_before=wait)
