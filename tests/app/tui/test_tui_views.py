"""Views of the tasks over a real workspace: board, calendar, groups, saved views, urgency, and many tasks at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.tui.app import MemdeckApp
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, make_workspace, press, running, settle, type_text
from tests.widgets.harness import screen_text
from widgets.list.board import BoardColumn
from widgets.list.rows import Heading
from widgets.pane.rows import RowKey
from widgets.panes.tasks.pane import TasksPane
from widgets.text.styled_text import line_text

SIZES = [(120, 36), (80, 24), (40, 10)]


def tasks_pane(app: MemdeckApp) -> TasksPane:
    """The pane of tasks."""
    pane = app.navigation.pane
    assert isinstance(pane, TasksPane)
    return pane


def lanes(app: MemdeckApp) -> list[list[str]]:
    """The first words of the cards of each column."""
    board = tasks_pane(app).board
    assert board is not None
    return [[row.item.title.split()[0] for row in cards.rows if isinstance(row, RowKey)] for cards in board.lists]


def said(app: MemdeckApp) -> str:
    """What the last toast says."""
    return [*app._notifications][-1].message


def headings(app: MemdeckApp) -> list[str]:
    """The headings of the list."""
    return [key.title for key in tasks_pane(app).line_list.rows if isinstance(key, Heading)]


async def test_cards_are_moved_by_key(workspace: Workspace) -> None:
    """shift+right starts and finishes, shift+left reopens; the cursor goes along, and one undo takes each move back."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "b")
        assert lanes(app) == [["Deploy", "Generate", "Update"], ["Monitor"], ["Set"]]
        await press(pilot, "shift+right")
        assert [len(cards) for cards in lanes(app)] == [2, 2, 1]
        assert tasks_pane(app).current().title.startswith("Deploy")
        assert tasks_pane(app).current().section == "in-progress"
        await press(pilot, "shift+right")
        await type_text(pilot, "live")
        await press(pilot, "enter")
        assert "Deploy" in lanes(app)[2]
        assert tasks_pane(app).current().outcome == "live"
        await press(pilot, "shift+left")
        assert tasks_pane(app).current().section == "completed"
        await press(pilot, "u", "u")
        assert lanes(app) == [["Deploy", "Generate", "Update"], ["Monitor"], ["Set"]]


async def test_a_column_says_how_many_cards_stand_below(workspace: Workspace) -> None:
    """The name of a column counts what is out of view below, and at its end what is above."""
    app = make_app(workspace, pane="tasks")
    async with running(app, (120, 10)) as pilot:
        await press(pilot, "b")
        assert "PENDING  3  ↓ 1 more" in screen_text(app)
        await press(pilot, "G")
        assert "PENDING  3  ↑ 1 more " in screen_text(app)
        assert "↓" not in screen_text(app).splitlines()[2]


async def test_the_title_of_a_column_follows_its_width(workspace: Workspace) -> None:
    """A column that gets its width later than its board, as one that is shown alone does, has as much as fits."""
    app = make_app(workspace, pane="tasks")
    async with running(app, (120, 10)) as pilot:
        await press(pilot, "b")
        column = tasks_pane(app).line_list.parent
        assert isinstance(column, BoardColumn)
        column.styles.width = 10
        await settle(pilot)
        assert column.title.words.strip() == "PE… 3 ↓"
        column.styles.width = "1fr"
        await settle(pilot)
        assert column.title.words.strip() == "PENDING  3  ↓ 1 more"


async def test_the_line_between_cards_belongs_to_none(workspace: Workspace) -> None:
    """The band of the card under the cursor covers its two lines, and not the blank one below."""
    app = make_app(workspace, pane="tasks")
    async with running(app, frames=True) as pilot:
        await press(pilot, "b")
        cards = tasks_pane(app).line_list
        drawn = [cards.render_line(y) for y in range(4)]
        assert [strip.text.startswith("▌") for strip in drawn] == [True, True, False, False]
        assert drawn[2].text.strip() == ""


async def test_arrows_go_from_column_to_column(workspace: Workspace) -> None:
    """Left and right choose the column that keys mean; b shows the list again with the same task under the cursor."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "b", "right", "l")
        assert tasks_pane(app).current().section == "completed"
        await press(pilot, "right", "h")
        assert tasks_pane(app).current().section == "in-progress"
        await press(pilot, "enter")
        assert tasks_pane(app).is_open
        await press(pilot, "escape", "b")
        assert tasks_pane(app).view_name == "list"
        assert tasks_pane(app).current().section == "in-progress"
        assert tasks_pane(app).line_list.has_focus


async def test_a_card_is_dragged_with_the_mouse(workspace: Workspace) -> None:
    """A card that is let go over another column goes there."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "b")
        board = tasks_pane(app).board
        assert board is not None
        source, target = board.lists[0], board.lists[1]
        await pilot.mouse_down(source, offset=(6, 0))
        await pilot.mouse_up(target, offset=(6, 3))
        await settle(pilot)
        assert "Deploy" in lanes(app)[1]


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_every_view_fits_every_size(workspace: Workspace, size: tuple[int, int]) -> None:
    """Nothing breaks from wide to small, and what is in little room says where it is."""
    app = make_app(workspace, pane="tasks")
    async with running(app, size) as pilot:
        await press(pilot, "b")
        assert ("1/3" in screen_text(app)) == (size[0] < 80)
        await press(pilot, "c")
        assert ("January 2024" in screen_text(app)) == (size[0] >= 60)
        assert "MON 15 JAN" in screen_text(app)
        for width, height in ((20, 6), (5, 3), (1, 1), size):
            await pilot.resize_terminal(width, height)
            await settle(pilot)
        assert "Deploy v2.1" in screen_text(app)


async def test_the_calendar_goes_by_days_and_months(workspace: Workspace) -> None:
    """Left and right choose the day, < and > the month, the full stop today; a new task is due on that day."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "c")
        calendar = tasks_pane(app).calendar
        assert calendar is not None
        assert str(calendar.day) == "2024-01-15"
        await press(pilot, "right", "right")
        assert str(calendar.day) == "2024-01-17"
        assert "nothing stands on this day" in screen_text(app)
        await press(pilot, "greater_than_sign")
        assert str(calendar.day) == "2024-02-17"
        await press(pilot, "less_than_sign", "a")
        await type_text(pilot, "Call the bank")
        await press(pilot, "ctrl+s")
        assert "due: 2024-01-17\n" in (workspace.memory / "tasks.md").read_text("utf-8")
        assert tasks_pane(app).current().title == "Call the bank"
        await press(pilot, "full_stop")
        assert str(calendar.day) == "2024-01-15"


async def test_a_look_into_the_calendar_keeps_the_task(workspace: Workspace) -> None:
    """c and c again: the cursor is where it was, also on a task that no day has; who moved there stays there."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "a")
        await type_text(pilot, "Some day")
        await press(pilot, "ctrl+s")
        for _ in range(2):
            await press(pilot, "c")
            assert tasks_pane(app).current().title != "Some day"
            await press(pilot, "c")
            assert tasks_pane(app).current().title == "Some day"
        await press(pilot, "c", "j", "c")
        assert tasks_pane(app).current().title != "Some day"


async def test_grouping_is_offered_where_it_is_seen(workspace: Workspace) -> None:
    """The board sorts and has its columns for groups; a calendar does neither, and keeps its views all the same."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        for key, seen, unseen in (("z", "GROUP BY", "Sort ─"), ("b", "", ""), ("z", "SORT BY", "GROUP BY")):
            await press(pilot, key)
            assert seen in screen_text(app)
            assert not unseen or unseen not in screen_text(app)
            if key == "z":
                await press(pilot, "escape")
        await press(pilot, "c", "z")
        assert len(app.screen_stack) == 1
        await press(pilot, "S")
        assert tasks_pane(app).sort == tasks_pane(app).sorts[0]
        await press(pilot, "V")
        assert "Save this view" in screen_text(app)


async def test_the_board_of_no_tasks_has_its_columns_on_top(tmp_path: Path) -> None:
    """What there is to do stands below the names of the columns, not above them."""
    app = make_app(make_workspace(tmp_path, {"tasks.md": "# Tasks\n"}), pane="tasks")
    async with running(app, (80, 24)) as pilot:
        await press(pilot, "b")
        lines = screen_text(app).splitlines()
        top = next(number for number, line in enumerate(lines) if "PENDING" in line)
        assert "board" in lines[top - 1]
        assert any("What there is to do" in line for line in lines[top + 1 : top + 4])


async def test_a_filter_that_hides_a_new_task_is_cleared_aloud(workspace: Workspace) -> None:
    """A new task that fits leaves the filter alone; one that does not clears it, and the toast says so."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "slash")
        await type_text(pilot, "report")
        await press(pilot, "enter", "a")
        await type_text(pilot, "Another report")
        await press(pilot, "ctrl+s")
        assert tasks_pane(app).filter == "report"
        assert tasks_pane(app).current().title == "Another report"
        assert "which was cleared" not in said(app)
        await press(pilot, "a")
        await type_text(pilot, "Something else")
        await press(pilot, "ctrl+s")
        assert tasks_pane(app).filter == ""
        assert tasks_pane(app).current().title == "Something else"
        assert "does not fit the filter “report”" in said(app)


async def test_a_filter_counts_what_it_leaves_and_says_what_is_no_field(workspace: Workspace) -> None:
    """Headings count the rows below them, and a word that looks like a field is told with those that there are."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        pending = next(key for key in tasks_pane(app).line_list.rows if isinstance(key, Heading))
        assert pending.note == "3"
        await press(pilot, "slash")
        for key in ("r", "e", "p", "backspace"):
            await press(pilot, key)
            shown = [key for key in tasks_pane(app).line_list.rows if isinstance(key, Heading | RowKey)]
            found = [key.note for key in shown if isinstance(key, Heading)]
            assert (
                sum(int(note.split(" of ")[0]) for note in found) == sum(isinstance(key, RowKey) for key in shown) > 0
            )
        await press(pilot, "escape")
        assert next(key for key in tasks_pane(app).line_list.rows if isinstance(key, Heading)).note == "3"
        await press(pilot, "slash")
        await type_text(pilot, "pry:high tag:x")
        assert "0 of 5  pry: is no field" in screen_text(app)
        assert "pry: is no field; there are title:" in screen_text(app)


async def test_the_title_keeps_what_matters_most(workspace: Workspace) -> None:
    """Where group, sort and count have no room together, the count goes first, then the sort."""
    app = make_app(workspace, pane="tasks")
    async with running(app, (120, 36)) as pilot:
        pane = tasks_pane(app)
        pane.set_group("priority")
        pane.set_sort("urgency")
        await settle(pilot)
        for width, there, gone in (
            (140, "grouped by priority  sorted by urgency  4 open", "nothing"),
            (110, "grouped by priority", "4 open"),
        ):
            await pilot.resize_terminal(width, 36)
            await settle(pilot)
            top = screen_text(app).splitlines()[1]
            assert there in top
            assert gone not in top


async def test_a_form_says_which_of_the_selected_tasks_it_edits(workspace: Workspace) -> None:
    """e edits the task under the cursor and says so where others are selected, with the keys that change all."""
    app = make_app(workspace, pane="tasks")
    async with running(app, (80, 24)) as pilot:
        await press(pilot, "e")
        assert "Only this task" not in screen_text(app)
        await press(pilot, "escape", "space", "k", "e")
        assert "Only this task" not in screen_text(app), "it is the selected one"
        await press(pilot, "escape", "j", "space", "e")
        assert "Only this task is edited; D @ t + - change all 2 selected." in screen_text(app)
        assert "ctrl+s save" in screen_text(app)
        await press(pilot, "escape")
        assert len(tasks_pane(app).line_list.selected) == 2


async def test_removing_says_what_takes_it_back(workspace: Workspace) -> None:
    """The toast names the key, which a person may have changed."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "x", "y")
        assert said(app).endswith(". u takes it back.")
        await press(pilot, "u")
        assert [len(cards) for cards in [tasks_pane(app).snapshot.tasks.in_section("pending")]] == [3]


async def test_recurrences_stand_ahead(workspace: Workspace) -> None:
    """What recurs weekly stands on the Mondays to come."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "c")
        calendar = tasks_pane(app).calendar
        assert calendar is not None
        days = [
            row.occasion.day.day
            for row in calendar.list.rows
            if isinstance(row, RowKey) and row.occasion.kind == "again"
        ]
        assert days == [22, 29]
        grid = "\n".join(line_text(content) for content, _ in calendar.month.rows)
        assert "22·" in grid, "a further run is no dot"


async def test_a_day_is_chosen_with_the_mouse(workspace: Workspace) -> None:
    """A click on a day of the month goes there."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "c")
        calendar = tasks_pane(app).calendar
        assert calendar is not None
        row = next(y for y, (_, places) in enumerate(calendar.month.rows) if any(day.day == 24 for day, _ in places))
        at = next(start for day, start in calendar.month.rows[row][1] if day.day == 24)
        await pilot.click(calendar.month, offset=(at + 2, row))
        await settle(pilot)
        assert calendar.day.day == 24


async def test_grouping_and_sorting_by_menu(workspace: Workspace) -> None:
    """z groups and sorts by any field; S opens the orders at the one in use and goes to the next with S."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "z", "j", "j", "enter")
        assert headings(app) == ["HIGH", "NORMAL", "LOW"]
        await press(pilot, "z", "G", "enter")
        assert tasks_pane(app).sort == "tags"
        await press(pilot, "S", "S", "enter")
        assert tasks_pane(app).sort == "file order"
        assert "grouped by priority" in screen_text(app)
        await press(pilot, "z", "escape")
        assert headings(app) == ["HIGH", "NORMAL", "LOW"]


async def test_views_are_kept_under_a_name(workspace: Workspace) -> None:
    """V keeps group, sort and filter under a name, opens them again, also after a restart, and takes them away."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "z", "j", "j", "enter", "S", "j", "enter", "V", "enter")
        await type_text(pilot, "by weight")
        await press(pilot, "enter", "V", "G", "enter")
        assert (tasks_pane(app).group, tasks_pane(app).sort) == ("section", "file order")
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "V")
        assert "by weight" in screen_text(app)
        await press(pilot, "enter")
        assert (tasks_pane(app).group, tasks_pane(app).sort) == ("priority", "urgency")
        await press(pilot, "V", "x")
        assert "by weight" not in screen_text(app)
        assert app.pane_state.saved_views("tasks") == {}


async def test_the_view_is_remembered(workspace: Workspace) -> None:
    """Who leaves on the board comes back to it."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "b", "q")
    app = make_app(workspace, pane="tasks")
    async with running(app):
        assert tasks_pane(app).view_name == "board"


async def test_many_tasks_are_edited_in_one_change(workspace: Workspace) -> None:
    """Tags are given and taken, somebody is assigned, priorities raised: each is one change and one undo."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        before = (workspace.memory / "tasks.md").read_bytes()
        await press(pilot, "v", "G", "v", "t")
        await type_text(pilot, "+all")
        await press(pilot, "enter")
        assert all("all" in task.tags for task in workspace.snapshot().tasks)
        assert len({task.tags for task in workspace.snapshot().tasks}) > 1
        await press(pilot, "g", "g", "v", "G", "v", "at")
        await type_text(pilot, "Zoe")
        await press(pilot, "enter")
        assert {task.assigned for task in workspace.snapshot().tasks} == {"Zoe"}
        await press(pilot, "g", "g", "v", "G", "v", "plus", "g", "g", "v", "G", "v", "plus")
        assert {task.priority for task in workspace.snapshot().tasks} == {"HIGH"}
        await press(pilot, "u", "u", "u", "u")
        assert _body((workspace.memory / "tasks.md").read_bytes()) == _body(before)


def _body(data: bytes) -> bytes:
    """A file without the time of its last change."""
    return b"".join(line for line in data.splitlines(keepends=True) if not line.startswith(b"updated:"))


async def test_why_says_the_terms(workspace: Workspace) -> None:
    """W shows the number and what it is made of."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "W")
        shown = screen_text(app)
        assert "Urgency 14." in shown
        assert "+6.0" in shown
        assert "priority" in shown
        await press(pilot, "escape")
        assert "Urgency" not in screen_text(app)


async def test_a_task_is_duplicated(workspace: Workspace) -> None:
    """The copy stands in Pending, is new, and the cursor is on it."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        app.action_do("task.copy")
        await settle(pilot)
        task = tasks_pane(app).current()
        assert task.title.endswith("(copy)")
        assert task.created == "2024-01-15 10:30"
        assert len(workspace.snapshot().tasks.in_section("pending")) == 4


async def test_the_filter_narrows_every_view(workspace: Workspace) -> None:
    """Typing in the filter leaves the cards and days that fit."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "b", "slash")
        await type_text(pilot, "latency")
        await press(pilot, "enter")
        assert lanes(app) == [[], ["Monitor"], []]
        await press(pilot, "c")
        calendar = tasks_pane(app).calendar
        assert calendar is not None
        assert not [row for row in calendar.list.rows if isinstance(row, RowKey)]


async def test_a_task_is_split_linked_and_noted(workspace: Workspace) -> None:
    """Parts come from a form, a plan from a menu, a note goes to the journal and names the task."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        app.action_do("task.split")
        await settle(pilot)
        await type_text(pilot, "Ask Bob")
        await press(pilot, "ctrl+s")
        part = tasks_pane(app).current()
        assert (part.title, part.notes) == ("Ask Bob", "Part of: Deploy v2.1 to staging")
        app.action_do("task.plan")
        await settle(pilot)
        await press(pilot, "g", "g", "enter")
        plan = workspace.snapshot().plans.in_section("active")[0]
        assert tasks_pane(app).current().orchestration_id == plan.plan_id
        app.action_do("task.note")
        await settle(pilot)
        await type_text(pilot, "he knows")
        await press(pilot, "enter")
        entry = next(one for one in workspace.snapshot().journal.entries() if one.title == "Task Note")
        assert (entry.title, entry.lines) == ("Task Note", ('"Ask Bob": he knows',))


async def test_the_chosen_colours_are_there_again_in_every_workspace(tmp_path: Path, workspace: Workspace) -> None:
    """What is tried and left with Esc is not kept; a terminal that has no such theme shows its usual one."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        usual = app.theme
        app.overlays.themes()
        await press(pilot, "down", "down", "escape")
    app = make_app(workspace, pane="tasks")
    assert app.theme == usual
    async with running(app) as pilot:
        app.overlays.themes()
        await press(pilot, "down", "enter")
        chosen = app.theme
    assert chosen != usual
    state = workspace.state
    assert state is not None
    other = make_workspace(tmp_path / "other", {})
    beside = Workspace.open(other.root, state_home=state.folder.home, machine_zone=other.machine_zone)
    assert [make_app(one).theme for one in (workspace, beside, other)] == [chosen, chosen, usual]
    assert make_app(workspace, depth="16").theme == chosen
    assert make_app(workspace, remembers=False).theme == usual
    app = make_app(workspace)
    app.pane_state.keep_theme("nord")
    assert (make_app(workspace).theme, make_app(workspace, depth="256").theme) == ("nord", usual)
    app.pane_state.keep_theme("no such theme")
    assert make_app(workspace).theme == usual


@pytest.mark.parametrize(
    ("pane", "last"),
    [
        ("tasks", "Press a to add the first task."),
        ("plans", "here."),
        ("archive", "it would move."),
        ("monitors", "or."),
    ],
)
async def test_a_small_window_shows_what_an_empty_pane_is_for(tmp_path: Path, pane: str, last: str) -> None:
    """At 40×10 all of it is there, blank lines left out where they have no room; in less it ends with an ellipsis."""
    app = make_app(make_workspace(tmp_path, {"tasks.md": "## Pending\n"}), pane=pane)
    async with running(app, (40, 10)) as pilot:
        assert last in screen_text(app)
        await pilot.resize_terminal(24, 7)
        await settle(pilot)
        assert "…" in screen_text(app)
