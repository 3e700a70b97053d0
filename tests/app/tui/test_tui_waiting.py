"""The inbox: what agents propose comes in while the application is open, and is decided by keys."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.tui.app import MemdeckApp
from memory.errors import BlockedError
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot
from memory.files.tasks.edits import edit_task
from memory.files.tasks.operations import remove_task
from memory.review.inbox import Inbox
from memory.workspace import Workspace
from screenshots.make import WIDE, rest
from tests.patience import within
from tests.widgets.harness import screen_text
from widgets.dialogs.three_way import ThreeWay
from widgets.panes.waiting import WaitingPane

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


def waiting(app: MemdeckApp) -> list[str]:
    """The refs of what waits."""
    assert app.pane is not None
    return [one.ref for one in app.pane.arrangement.rows.values if one.part != "decided"]


def stands(app: MemdeckApp) -> str:
    """What the detail says of how the proposal stands to the files."""
    pane = app.pane
    assert pane is not None
    said = next(part.value for part in pane.detail(pane.current()) if getattr(part, "label", "") == "now")
    return str(said)


async def test_a_proposal_is_accepted_and_taken_back_by_keys(workspace: Workspace) -> None:
    """The detail shows what it does; a makes it, and u takes it back to the byte."""
    before = tasks(workspace)
    removal(workspace)
    app = make_app(workspace, pane="waiting")
    async with running(app) as pilot:
        assert "builder" in screen_text(app)
        assert stands(app) == "the files are as the agent saw them"
        await press(pilot, "a")
        assert FIRST not in tasks(workspace)
        assert "PROPOSALS" not in screen_text(app)
        await press(pilot, "u")
        assert tasks(workspace) == before


async def test_what_a_proposal_would_do_is_found_anew_for_each_reading(workspace: Workspace) -> None:
    """No answer about earlier files is taken for one about those on the screen."""
    removal(workspace)
    app = make_app(workspace, pane="waiting")
    async with running(app):
        pane = app.pane
        assert isinstance(pane, WaitingPane)
        before = pane.told_key(pane.current())
        # The same object, as a later one may have the address of one that is gone.
        pane.show(pane.snapshot, NOW)
        assert pane.told_key(pane.current()) != before


async def test_a_proposal_is_rejected_without_a_question_and_waits_again(workspace: Workspace) -> None:
    """r rejects it; the files stay; u lets the last rejected one wait again, with what it would do."""
    before = tasks(workspace)
    titles = [task.title for task in workspace.snapshot().tasks.items][:2]
    first, second = [removal(workspace, title) for title in titles]
    app = make_app(workspace, pane="waiting")
    async with running(app) as pilot:
        await press(pilot, "r", "r")
        assert {Inbox(workspace.together).get(one).state for one in (first, second)} == {"rejected"}
        assert tasks(workspace) == before
        await press(pilot, "u", "u")
        assert {Inbox(workspace.together).get(one).state for one in (first, second)} == {"waiting"}
        assert tasks(workspace) == before
        await press(pilot, "home", "a", "a")
        assert [title for title in titles if title in tasks(workspace)] == []


async def test_what_needs_approval_is_denied_without_a_question_and_waits_again(workspace: Workspace) -> None:
    """r denies the command under the cursor, u lets it wait again; the footer says what a and r do there."""
    app = make_app(workspace, pane="waiting")
    async with running(app) as pilot:
        before = waiting(app)
        assert "a approve" in screen_text(app)
        await press(pilot, "r")
        assert waiting(app) == before[1:]
        await press(pilot, "u")
        assert waiting(app) == before


async def test_what_was_decided_stays_listed_and_r_takes_it_back(workspace: Workspace) -> None:
    """An accepted proposal is reverted, a rejected one and a denied command wait again; none of them is counted."""
    before, count = tasks(workspace), len(Inbox(workspace.together).list())
    titles = [task.title for task in workspace.snapshot().tasks.items][:2]
    for title in titles:
        removal(workspace, title)
    app = make_app(workspace, pane="waiting")
    async with running(app) as pilot:
        first = waiting(app)
        await press(pilot, "a", "r", "r")
        decided = [one.title.partition(":")[0] for one in app.pane.arrangement.rows.values if one.part == "decided"]
        assert sorted(decided) == ["Accepted", "Denied", "Rejected"]
        assert not {one.removeprefix("decided:") for one in first[:2]} & set(waiting(app))
        for _ in decided:
            await press(pilot, "G", "r")
        assert tasks(workspace) == before
        assert len(waiting(app)) == len(first) - 1
        assert len(Inbox(workspace.together).list()) == count + 1
        assert "DECIDED" not in screen_text(app)


@pytest.mark.parametrize(("key", "due"), [("m", "2024-02-02"), ("t", "2024-03-03")])
async def test_the_same_field_is_asked_in_three_columns(workspace: Workspace, key: str, due: str) -> None:
    """The proposal, what the file says now, and what was there before both."""
    propose(workspace, lambda look: edit_task(look, FIRST, set={"due": "2024-02-02", "notes": "seen"}, now=NOW))
    workspace.change(
        "edit", lambda look: edit_task(look, FIRST, set={"due": "2024-03-03"}, now=NOW), actor="human", now=NOW
    )
    app = make_app(workspace, pane="waiting")
    async with running(app) as pilot:
        assert stands(app) == "the same text was changed since"
        await press(pilot, "a")
        assert isinstance(app.screen, ThreeWay)
        assert {"2024-02-02", "2024-03-03"} <= set(screen_text(app).split())
        await press(pilot, key, "enter")
        task = next(one for one in workspace.snapshot().tasks.items if one.title == FIRST)
        assert (task.due, task.notes) == (due, "seen")
        assert Inbox(workspace.together).count() == 0


async def test_the_header_counts_a_proposal_and_leads_there(workspace: Workspace) -> None:
    """A proposal that comes while the application is open is counted in the header with the approvals."""
    app = make_app(workspace, watches=True, keeps_watch=False, pane="tasks")
    async with running(app) as pilot:
        found = re.search(r"(\d+) waiting", screen_text(app))
        before = int(found[1]) if found else 0
        removal(workspace)
        async with within(lambda: screen_text(app)):
            while f"{before + 1} waiting" not in screen_text(app):
                await pilot.pause(0.05)
        await press(pilot, "9")
        assert FIRST in screen_text(app)


def test_look(snap_compare: Callable[..., bool], workspace: Workspace, tmp_path: Path) -> None:
    """Proposals of two agents, one of which no longer fits the files."""
    removal(workspace)
    propose(workspace, lambda look: edit_task(look, "Generate weekly report", set={"due": "2024-02-02"}, now=NOW))
    propose(workspace, lambda look: edit_task(look, FIRST, set={"due": "2024-02-02"}, now=NOW), "agent:support")
    workspace.change(
        "edit", lambda look: edit_task(look, FIRST, set={"due": "2024-03-03"}, now=NOW), actor="human", now=NOW
    )
    app = make_app(workspace, pane="waiting", environ={"HOME": str(tmp_path), "LANG": "C.UTF-8"})
    app.animation_level = "none"

    async def wait(pilot: Pilot[MemdeckApp]) -> None:
        await settle(pilot)
        await rest(pilot.app, pilot)

    assert snap_compare(app, terminal_size=WIDE, run_before=wait)
