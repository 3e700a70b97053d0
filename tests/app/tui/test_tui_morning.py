"""The brief as a start page over a real workspace: what happened since somebody looked last, and what waits."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from app.tui.shell import WIDEST, in_one_line
from memory.files.tasks.edits import add_task, edit_task
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, make_workspace, press, running, settle, type_text
from tests.widgets.harness import screen_text
from widgets.list.rows import Heading
from widgets.pane.rows import RowKey


async def test_what_others_changed_since_the_last_look(workspace: Workspace) -> None:
    """The first time there is no news; later each change of others is told with its writer, and Enter goes there."""
    app = make_app(workspace, pane="brief")
    async with running(app) as pilot:
        assert "SINCE YOU LOOKED LAST" not in screen_text(app)
        await press(pilot, "q")
    later = NOW + timedelta(hours=1)
    workspace.change("add", lambda s: add_task(s, "Water plants", now=later), actor="gardener", now=later)
    workspace.change(
        "edit", lambda s: edit_task(s, "Water plants", set={"notes": "mine"}, now=later), actor="human", now=later
    )
    app = make_app(workspace, pane="brief", clock=lambda: NOW + timedelta(hours=2))
    async with running(app, (120, 50)) as pilot:
        shown = screen_text(app)
        assert "SINCE YOU LOOKED LAST  1" in shown
        assert "gardener added" in shown
        pane = app.navigation.pane
        row = next(key for key in pane.line_list.rows if isinstance(key, RowKey) and key.item.group == "news")
        pane.line_list.cursor = row
        await press(pilot, "enter")
        assert app.navigation.pane.pane_id == "tasks"
        assert app.navigation.pane.current().title == "Water plants"


async def test_what_waits_for_a_decision(workspace: Workspace) -> None:
    """Commands that nobody approved are named, and lead to where they stand."""
    app = make_app(workspace, pane="brief")
    async with running(app, (120, 50)) as pilot:
        pane = app.navigation.pane
        assert any(isinstance(key, Heading) and key.title == "WAITS FOR APPROVAL" for key in pane.line_list.rows)
        row = next(key for key in pane.line_list.rows if isinstance(key, RowKey) and key.item.group == "waiting")
        name = row.item.monitor.name
        pane.line_list.cursor = row
        await press(pilot, "enter")
        assert app.navigation.pane.current().name == name


async def test_overdue_tasks_stand_by_urgency_and_old_work_apart(tmp_path: Path) -> None:
    """The most urgent comes first although another one is late for longer; W says why here as well."""
    tasks = """## Pending
### [LOW] Longest
- due: 2024-01-01
### [HIGH] Weightiest
- due: 2024-01-10
## In Progress
### [LOW] Forgotten
- started: 2024-01-02
### [LOW] Fresh
- started: 2024-01-14
"""
    app = make_app(make_workspace(tmp_path, {"tasks.md": tasks}), pane="brief")
    async with running(app, (120, 50)) as pilot:
        items = [key.item for key in app.navigation.pane.line_list.rows if isinstance(key, RowKey)]
        assert [item.title for item in items if item.group == "overdue"] == ["Weightiest", "Longest"]
        assert [item.title for item in items if item.group == "stale"] == ["Forgotten"]
        assert [item.title for item in items if item.group == "progress"] == ["Fresh"]
        assert "for 13 d" in screen_text(app)
        await press(pilot, "W")
        assert "Urgency" in screen_text(app)


async def test_the_year_of_the_journal(workspace: Workspace) -> None:
    """c opens the map at the entry's day, keys choose days, Enter shows one, and Enter goes to an entry of it."""
    app = make_app(workspace, pane="journal")
    async with running(app) as pilot:
        await press(pilot, "c")
        count = sum(entry.date == "2024-01-15" for entry in workspace.snapshot().journal.entries())
        shown = screen_text(app)
        assert f"Monday 15 January 2024: {count} entries" in shown
        assert all(words in shown for words in ("Jan", " Mon ", " Sun ", "a day"))
        await press(pilot, "h")
        assert "Monday 8 January 2024: no entry" in screen_text(app)
        await press(pilot, "full_stop", "N")
        assert "14 January 2024" in screen_text(app)
        await press(pilot, "enter", "enter")
        assert app.navigation.pane.current().date == "2024-01-14"
        await press(pilot, "c", "h", "enter", "escape")
        assert app.navigation.pane.current().date == "2024-01-14"


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 10), (40, 9)], ids=str)
@pytest.mark.thorough(but=("(80, 24)",))
async def test_the_chosen_day_has_a_sign_of_its_own(workspace: Workspace, size: tuple[int, int]) -> None:
    """It is seen without any colour, wherever it goes; months and keys stay where ten lines are."""
    app = make_app(workspace, pane="journal")
    async with running(app, size) as pilot:
        await press(pilot, "c")

        def row_of(day: str) -> str:
            label = f" {day} "
            rows = [line for line in screen_text(app).splitlines() if label in line]
            assert rows
            return rows[0].split("the chosen day")[0]

        assert "◆" in row_of("Mon")
        await press(pilot, "up")
        assert "◆" in row_of("Sun")
        assert "Jan" in screen_text(app) or "Nov" in screen_text(app)
        assert ("Enter" in screen_text(app)) == (size[1] >= 10)
        for _ in range(60):
            await pilot.press("left")
        await settle(pilot)
        assert "◆" in row_of("Sun")
        assert " 2022: " in screen_text(app)


async def test_one_line_is_jotted_down_from_any_pane(workspace: Workspace) -> None:
    """i takes a title and what there is to say; the entry stands in the journal with the time."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "J")
        shown = " ".join(screen_text(app).split())
        assert "e.g. Call with Alice: she agreed to Friday" in shown
        assert "a colon and a blank begin a line below it" in shown
        await type_text(pilot, "Call with Alice")
        assert "all of it is the title" in screen_text(app)
        await type_text(pilot, ": she agrees")
        assert "title “Call with Alice”, below it the line “she agrees”" in screen_text(app)
        await press(pilot, "enter")
        entry = next(one for one in workspace.snapshot().journal.entries() if one.time == "10:30")
        assert (entry.time, entry.title, entry.lines) == ("10:30", "Call with Alice", ("she agrees",))
        assert app.navigation.pane.pane_id == "tasks"


async def test_a_line_that_a_filter_hides_clears_it_aloud(workspace: Workspace) -> None:
    """What is jotted down in a filtered journal is shown, and the message says that the filter went for it."""
    app = make_app(workspace, pane="journal")
    async with running(app) as pilot:
        await press(pilot, "slash")
        await type_text(pilot, "heartbeat")
        await press(pilot, "enter", "J")
        await type_text(pilot, "Another heartbeat")
        await press(pilot, "enter")
        pane = app.navigation.pane
        assert pane.filter == "heartbeat"
        assert pane.current().title == "Another heartbeat"
        await press(pilot, "J")
        await type_text(pilot, "Call with Alice")
        await press(pilot, "enter")
        assert pane.filter == ""
        assert pane.current().title == "Call with Alice"
        said = [note.message for note in app._notifications]
        assert any("It does not fit the filter “heartbeat”, which was cleared." in words for words in said)


async def test_a_long_line_is_told_in_one_line(workspace: Workspace) -> None:
    """The title in the message is cut, not the sentence around it."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "J")
        await type_text(pilot, "Talked to Alice about TLS #tls @Bob and much more")
        await press(pilot, "enter")
        (said,) = [note.message for note in app._notifications]
        assert said.startswith("Added 2024-01-15 10:30 'Talked to")
        assert said.endswith("…' to the journal")
        assert len(said) <= WIDEST - 4
    assert in_one_line("Nothing was different.", 10) == "Nothing was different."


async def test_the_journal_is_filtered_by_who_wrote(workspace: Workspace) -> None:
    """from:name leaves the entries that came from somebody."""
    app = make_app(workspace, pane="journal")
    async with running(app) as pilot:
        await press(pilot, "f")
        await type_text(pilot, "from:alice")
        await press(pilot, "enter")
        rows = [key.item for key in app.navigation.pane.line_list.rows if isinstance(key, RowKey)]
        assert rows
        assert all(any("alice" in line.casefold() for line in entry.lines) for entry in rows)
        assert len(rows) < workspace.snapshot().journal.count


async def test_a_line_of_knowledge_is_moved_by_key(workspace: Workspace) -> None:
    """m asks where to, the line goes there, and one undo brings it back."""
    app = make_app(workspace, pane="knowledge")
    async with running(app) as pilot:
        before = workspace.snapshot().knowledge.items
        item = next(one for one in before if one.kind != "decision")
        assert app.navigation.pane.go_to(item.ref)
        await press(pilot, "F", "G", "enter")
        assert len(workspace.snapshot().knowledge.items) == len(before)
        places = {one.text: (one.section, one.topic) for one in workspace.snapshot().knowledge.items}
        assert places[item.text] != (item.section, item.topic)
        await press(pilot, "u")
        places = {one.text: (one.section, one.topic) for one in workspace.snapshot().knowledge.items}
        assert places[item.text] == (item.section, item.topic)


LATE = "## Pending\n" + "".join(f"### [HIGH] Task {number}\n- due: 2024-01-02\n" for number in range(9))
QUIET = "### [HIGH] Later\n- due: 2025-01-02\n"


async def test_the_line_of_what_is_left_out_leads_to_all_of_it(tmp_path: Path) -> None:
    """Enter, o and a click on `… and 3 more` open the tasks, only those that are overdue, whatever narrowed them."""
    app = make_app(make_workspace(tmp_path, {"tasks.md": LATE + QUIET}), pane="brief")
    async with running(app) as pilot:
        for how in ("enter", "o", "click"):
            brief = app.navigation.pane
            rows = brief.line_list.rows
            place = next(at for at, key in enumerate(rows) if isinstance(key, RowKey) and key.item.group == "more")
            assert brief.current().group == "overdue"
            if how == "click":
                await pilot.click(brief.line_list, offset=(20, place))
                await settle(pilot)
            else:
                await press(pilot, *["j"] * 6)
                assert brief.current().words == "… and 3 more, all in Tasks"
                await press(pilot, how)
            tasks = app.navigation.pane
            assert (tasks.pane_id, tasks.filter) == ("tasks", "due:overdue")
            assert [row.item.title for row in tasks.line_list.rows if isinstance(row, RowKey)] == [
                f"Task {number}" for number in range(9)
            ]
            tasks.set_filter("later")
            await press(pilot, "1")
            app.navigation.pane.line_list.action_first()


async def test_the_line_of_what_waits_asks_for_each(workspace: Workspace) -> None:
    """Behind the first three that wait for an approval stand the questions for all of them."""
    app = make_app(workspace, pane="brief")
    async with running(app, (120, 50)) as pilot:
        pane = app.navigation.pane
        rows = [key for key in pane.line_list.rows if isinstance(key, RowKey) and key.item.group == "more"]
        waiting = next(row for row in rows if row.item.target == "waiting")
        pane.line_list.cursor = waiting
        await press(pilot, "enter")
        assert "1 of 7" in screen_text(app)


async def test_a_filter_of_the_brief_looks_at_all_and_counts_what_fits(tmp_path: Path) -> None:
    """What a long group leaves out is found as well, and the heading says how many are left."""
    app = make_app(make_workspace(tmp_path, {"tasks.md": LATE + QUIET}), pane="brief")
    async with running(app) as pilot:
        app.navigation.pane.set_filter("task 8")
        await settle(pilot)
        shown = screen_text(app)
        assert "OVERDUE  1 of 9  the most urgent first" in shown
        assert "Task 8" in shown
        assert "more" not in shown


async def test_what_is_urgent_comes_in_view(workspace: Workspace) -> None:
    """A draft that is told after the first look stands on top with its heading, and so does the next start."""
    app = make_app(workspace, pane="brief")
    async with running(app, (80, 24)) as pilot:
        before = app.navigation.pane.current()
        app.navigation.pane.say_drafts([("1", "Something typed", NOW)])
        await settle(pilot)
        shown = screen_text(app)
        assert "DRAFTS  1" in shown
        assert "Something typed  never saved" in shown
        assert app.navigation.pane.current() == before
        await press(pilot, "G", "q")
    app = make_app(workspace, pane="brief")
    async with running(app, (80, 24)) as pilot:
        assert app.navigation.pane.line_list.scroll_y == 0


@pytest.mark.parametrize("size", [(120, 36), (80, 24)], ids=str)
async def test_reasons_stand_behind_what_they_are_about(workspace: Workspace, size: tuple[int, int]) -> None:
    """Why something waits is read in full, also where the terminal is not wide."""
    app = make_app(workspace, pane="brief")
    async with running(app, size):
        shown = screen_text(app)
        wide = size[0] > 100
        assert ("nobody approved it yet" if wide else "not approved yet") in shown
        assert ("the workspace is not approved for outgoing checks" in shown) == wide


async def test_reasons_are_given_in_one_wording(workspace: Workspace) -> None:
    """Where one reason has no room for its sentence, none is given in one: the same is said in the same words."""
    app = make_app(workspace, pane="brief")
    seen = set()
    async with running(app, (130, 36)) as pilot:
        for width in range(130, 80, -7):
            await pilot.resize_terminal(width, 36)
            await settle(pilot)
            shown = screen_text(app)
            long = [words in shown for words in ("nobody approved it yet", "not approved for outgoing checks")]
            assert any(long) != ("not approved yet" in shown), width
            seen.add(any(long))
    assert seen == {True, False}


async def test_an_alert_has_one_time(tmp_path: Path) -> None:
    """The brief and Monitors say the same of a monitor that alerts, also while it may not run."""
    disk = "## Monitors\n### Disk\n- type: command\n- command: df\n- interval: 0 * * * *\n"
    disk += "- lastCheck: 2024-01-15T10:00:00Z\n- lastStatus: alert (93% used)\n"
    app = make_app(make_workspace(tmp_path, {"monitors.md": disk}), pane="brief")
    async with running(app) as pilot:
        line = next(text for text in screen_text(app).splitlines() if "93% used" in text)
        assert "30 min ago" in line
        await press(pilot, "7")
        line = next(text for text in screen_text(app).splitlines() if "alert, blocked" in text)
        assert "30 min ago" in line
        assert "since" not in line


async def test_a_line_that_stands_there_already_stays(workspace: Workspace) -> None:
    """Enter on the section that the cursor stands in changes nothing, and calm words say so."""
    app = make_app(workspace, pane="knowledge")
    async with running(app) as pilot:
        item = next(one for one in workspace.snapshot().knowledge.items if one.kind != "decision")
        assert app.navigation.pane.go_to(item.ref)
        before = workspace.snapshot().document("knowledge.md").dump()
        await press(pilot, "F", "enter")
        (said,) = app._notifications
        assert (said.severity, said.title) == ("information", "")
        assert said.message == f"It stands in {item.topic or item.section} already, so nothing moved."
        assert workspace.snapshot().document("knowledge.md").dump() == before
