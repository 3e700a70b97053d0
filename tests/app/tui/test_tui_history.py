"""History by keys: the whole log, the changes of an entry, taking back any change, and the archive."""

from __future__ import annotations

from datetime import timedelta

from memory.files.tasks.edits import edit_task
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running, task_of
from tests.reviewing import let_agents
from tests.widgets.harness import screen_text
from widgets.dialogs.dialogs import Preview
from widgets.dialogs.three_way import ThreeWay
from widgets.panes.changes import LoggedChange

FIRST = "Deploy v2.1 to staging"
AGENT = "agent:builder"


def ref_of(workspace: Workspace, title: str) -> str:
    """The ref of the task of a title."""
    return next(task.ref for task in workspace.snapshot().tasks.items if task.title == title)


def edit(workspace: Workspace, title: str, /, actor: str = AGENT, days: int = 0, **fields: str) -> str:
    """Let somebody edit a task some days ago; return the id of the change."""
    let_agents(workspace.store)
    ref, now = ref_of(workspace, title), NOW - timedelta(days=days)
    outcome = workspace.change(
        "tasks.edit", lambda snapshot: edit_task(snapshot, ref, set=fields, now=now), actor=actor, now=now
    )
    return outcome.change.id


def listed(app: object) -> list[LoggedChange]:
    """The changes in the list."""
    pane = app.pane
    return [row.item.thing for row in pane.line_list.rows if hasattr(row, "item")]


def test_changes_opened_before_the_first_look_count_nothing_of_before(workspace: Workspace) -> None:
    """A key may open Changes before the log was read: what is older than the start is not new then either."""
    edit(workspace, FIRST, assigned="Alice")
    changes = make_app(workspace).outside_changes
    changes.viewed()
    assert changes.look(NOW).unseen == 0


async def test_the_log_of_every_writer_is_listed(workspace: Workspace) -> None:
    """Agents, people and other programs, also from before the start; the detail says what became of each entry."""
    edit(workspace, FIRST, days=7, assigned="Alice")
    path = workspace.memory / "tasks.md"
    workspace.notice(NOW)
    path.write_text(path.read_text().replace("assigned: Alice", "assigned: Bob", 1))
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "s", "0")
        assert [one["actor"] for one in listed(app)] == ["human", "outside", "test", AGENT]
        text = screen_text(app)
        assert text.index("TODAY  3") < text.index("LAST 7 DAYS  1")
        await press(pilot, "j")
        assert "assigned: Bob" in screen_text(app)
        assert app.state.count == 0


async def test_a_change_of_an_agent_is_taken_back(workspace: Workspace) -> None:
    """X shows what that changes, Enter does it beside newer changes, u brings it back; the change is marked, and X on
    it offers to make it again.
    """
    edit(workspace, FIRST, days=7, assigned="Alice")
    edit(workspace, "Update README with new API docs", "cli", tags="newer")
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "0", "G", "X")
        assert isinstance(app.screen, Preview)
        assert "assigned: heartbeat" in screen_text(app)
        await press(pilot, "escape")
        assert task_of(workspace, FIRST).assigned == "Alice"
        await press(pilot, "X", "enter")
        assert task_of(workspace, FIRST).assigned == "heartbeat"
        assert task_of(workspace, "Update README with new API docs").tags == ("newer",)
        (mine,) = [one for one in listed(app) if one["actor"] == AGENT]
        assert mine["undoneBy"] is not None
        assert "undone" in screen_text(app)
        await press(pilot, "X")
        assert app.pane.current().thing["id"] == mine["id"]
        assert "Redo: " in screen_text(app)
        assert "Enter redoes this one" in screen_text(app)
        await press(pilot, "escape", "u")
        assert task_of(workspace, FIRST).assigned == "Alice"


async def test_a_refused_revert_says_why_and_offers_three_columns(workspace: Workspace) -> None:
    """Somebody touched the entry since: the reason, what was before, and now; a choice is written and undoable."""
    edit(workspace, FIRST, days=7, assigned="Alice", notes="from the agent")
    edit(workspace, FIRST, "cli", assigned="Bob")
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "0", "G", "X")
        assert isinstance(app.screen, ThreeWay)
        text = screen_text(app)
        for words in ("changed the same", "Alice", "heartbeat", "Bob"):
            assert words in text
        await press(pilot, "escape")
        assert task_of(workspace, FIRST).assigned == "Bob"
        await press(pilot, "X", "t", "enter")
        task = task_of(workspace, FIRST)
        assert (task.assigned, task.notes) == ("Bob", "Run tests first, then deploy via CI/CD")
        await press(pilot, "u")
        assert task_of(workspace, FIRST).notes == "from the agent"


async def test_the_changes_of_one_entry_are_listed_and_taken_back(workspace: Workspace) -> None:
    """H leads to Changes, where only those of the entry are listed; X takes one back, and Escape leads back."""
    edit(workspace, FIRST, days=3, assigned="Alice")
    edit(workspace, "Update README with new API docs", days=2, assigned="Carol")
    edit(workspace, FIRST, "cli", days=1, notes="by hand")
    app = make_app(workspace)
    async with running(app) as pilot:
        app.pane.go_to(ref_of(workspace, FIRST))
        await press(pilot, "H")
        assert app.pane.pane_id == "changes"
        text = screen_text(app)
        assert "3 of 4" in text, "the last one created the file"
        assert "Carol" not in text
        await press(pilot, "G", "X", "enter")
        assert task_of(workspace, FIRST).assigned != "Alice"
        assert task_of(workspace, FIRST).notes == "by hand"
        await press(pilot, "escape")
        assert app.pane.current().title == FIRST
        await press(pilot, "0")
        assert app.pane.filter == ""


async def test_what_another_program_removed_is_brought_back_in_brief(workspace: Workspace) -> None:
    """Brief lists it; B on its row brings it back, u takes that back, and x leaves it so."""
    workspace.notice(NOW)
    path = workspace.memory / "tasks.md"
    text = path.read_text()
    entry = next(part for part in text.split("### ") if FIRST in part.split("\n")[0])
    path.write_text(text.replace(f"### {entry}", ""))
    app = make_app(workspace)
    async with running(app, (120, 50)) as pilot:
        await press(pilot, "1")
        assert "REMOVED BY OTHER PROGRAMS" in screen_text(app)
        pane = app.pane
        row = next(row for row in pane.line_list.rows if getattr(getattr(row, "item", None), "part", "") == "lost")
        pane.line_list.cursor = row
        await press(pilot, "B")
        assert task_of(workspace, FIRST)
        assert "REMOVED BY OTHER PROGRAMS" not in screen_text(app)
        await press(pilot, "u")
        pane.line_list.cursor = next(
            row for row in pane.line_list.rows if getattr(getattr(row, "item", None), "part", "") == "lost"
        )
        await press(pilot, "x")
        assert "REMOVED BY OTHER PROGRAMS" not in screen_text(app)
