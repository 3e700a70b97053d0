"""The footer and the header follow what can be done: undo, selections, calendar and journal; counts lead somewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.tui import main_screen
from app.tui.app import MemdeckApp
from app.tui.commands.conditions import Situation
from app.tui.keys.available import KeyState, key_state
from app.tui.keys.help import key_groups
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, make_workspace, press, running, settle
from tests.widgets.harness import screen_text
from widgets.text.glyphs import ASCII


def hints(app: MemdeckApp) -> list[str]:
    """What the footer says."""
    return [f"{hint.keys} {hint.description}" for hint in app.main_screen.hints.hints]


async def test_undo_and_redo_are_named_where_there_is_something(workspace: Workspace) -> None:
    """Nothing at first, undo behind a change, redo behind an undo; their keys say so where there is nothing."""
    app = make_app(workspace)
    async with running(app, (200, 36)) as pilot:
        assert {"u undo", "U redo"}.isdisjoint(hints(app))
        await press(pilot, "u")
        assert [one.message for one in app._notifications] == ["Nothing to undo."]
        await press(pilot, "U")
        assert [one.message for one in app._notifications] == ["Nothing to redo."]
        await press(pilot, "s")
        assert "u undo" in hints(app)
        assert "U redo" not in hints(app)
        await press(pilot, "u")
        assert "U redo" in hints(app)
        assert "u undo" not in hints(app)
        await press(pilot, "U")
        assert "u undo" in hints(app)
    app = make_app(workspace)
    async with running(app, (200, 36)) as pilot:
        assert "u undo" in hints(app)


async def test_undo_right_behind_a_change_counts(workspace: Workspace) -> None:
    """The key means something before anybody looked whether there is something to undo."""
    app = make_app(workspace)
    async with running(app, (200, 36)) as pilot:
        sections = [task.section for task in workspace.snapshot().tasks.tasks]
        await pilot.press("s", "u")
        await settle(pilot)
        assert [task.section for task in workspace.snapshot().tasks.tasks] == sections
        assert "U redo" in hints(app)


async def test_the_keys_are_looked_at_once_for_each_reason(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step of the cursor asks what the keys mean once, and so does a dialog that goes; one that opens covers them."""
    app = make_app(workspace)
    async with running(app, (160, 36)) as pilot:
        looks: list[KeyState] = []

        def look(now: Situation) -> KeyState:
            looks.append(key_state(now))
            return looks[-1]

        monkeypatch.setattr(main_screen, "key_state", look)
        await press(pilot, "j")
        assert len(looks) == 1
        await press(pilot, "d")
        assert app.screen is not app.main_screen
        assert len(looks) == 1
        await press(pilot, "escape")
        assert len(looks) == 2
        await press(pilot, "d", "enter")
        assert {"u undo", "a add"} <= set(hints(app))


async def test_a_selection_shows_what_is_done_to_it(workspace: Workspace) -> None:
    """How many there are, how to let go of them, and only what is done to all; then as before."""
    app = make_app(workspace)
    async with running(app, (160, 36)) as pilot:
        await press(pilot, "space", "space")
        assert screen_text(app).splitlines()[-1].startswith(" 2 selected  Esc back")
        found = hints(app)
        assert {"Esc back", "s start", "d done", "x remove", "t tags", ": command", "? help"} <= set(found)
        assert {"e edit", "b board", "a add", "/ filter"}.isdisjoint(found)
        await press(pilot, "escape")
        assert {"e edit", "a add", "/ filter"} <= set(hints(app))
        assert "selected" not in screen_text(app)


async def test_selected_monitors_that_wait_can_be_approved(workspace: Workspace) -> None:
    """T is named as long as one of them waits; editing, which is of one, is not."""
    app = make_app(workspace, pane="monitors")
    async with running(app, (160, 36)) as pilot:
        assert "T approve" in hints(app)
        await press(pilot, "space", "space")
        assert {"Esc back", "R run", "m mute", "T approve", "x remove"} <= set(hints(app))
        assert "e edit" not in hints(app)


async def test_the_calendar_names_its_own_keys(workspace: Workspace) -> None:
    """Days, months and today stand first; a click on each of two keys does its own."""
    app = make_app(workspace)
    async with running(app, (160, 36)) as pilot:
        await press(pilot, "c")
        assert hints(app)[:3] == ["←/→ day", "</> month", ". today"]
        calendar = app.navigation.pane.calendar
        day = calendar.day
        last = screen_text(app).splitlines()[-1]
        await pilot.click("KeyHints", offset=(last.index("→"), 0))
        await settle(pilot)
        assert (calendar.day - day).days == 1
        await pilot.click("KeyHints", offset=(last.index("←"), 0))
        await settle(pilot)
        assert calendar.day == day


async def test_arrows_are_words_where_there_are_only_signs_of_ascii(workspace: Workspace) -> None:
    """Else they would be taken for the keys < and >, in the footer, in a form and in the help."""
    app = make_app(workspace, glyphs=ASCII)
    async with running(app, (160, 36)) as pilot:
        await press(pilot, "c")
        assert hints(app)[:2] == ["left/right day", "</> month"]
        assert ("left h", "Go to the day before") in key_groups(app.screen)["Tasks"]
        await press(pilot, "a", "down")
        shown = screen_text(app)
        assert "left/right or h n l" in shown
        assert "left/right choose" in shown


async def test_words_follow_the_pane(workspace: Workspace) -> None:
    """b and c are a board and a calendar of tasks, a day and a year of the journal."""
    app = make_app(workspace, pane="journal")
    async with running(app, (160, 36)) as pilot:
        assert {"b day", "c year"} <= set(hints(app))
        await press(pilot, "2")
        assert {"b board", "c calendar"} <= set(hints(app))


async def test_the_blank_of_a_hint_is_part_of_it(workspace: Workspace) -> None:
    """A click between key and word does what both say."""
    app = make_app(workspace)
    async with running(app) as pilot:
        last = screen_text(app).splitlines()[-1]
        await pilot.click("KeyHints", offset=(last.index("? help") + 1, 0))
        await settle(pilot)
        assert app.screen is not app.main_screen


LATE = "## Pending\n\n### [LOW] First\n\n### [HIGH] Late\n- due: 2024-01-02\n"
BROKEN = "## Pending\n\n### [LOW] First\n\n### [HIGH] Deploy\n- due: 2026-13-45 25:99\n"


@pytest.mark.parametrize("start", ["tasks", "brief", "journal"])
async def test_a_count_of_the_header_leads_to_what_it_counts(tmp_path: Path, start: str) -> None:
    """Overdue tasks stand in the brief; the cursor goes to the first of them, whatever was open."""
    app = make_app(make_workspace(tmp_path, {"tasks.md": LATE}), pane=start)
    async with running(app) as pilot:
        top = screen_text(app).splitlines()[0]
        await pilot.click("HeaderLine", offset=(top.index("1 overdue"), 0))
        await settle(pilot)
        pane = app.navigation.pane
        assert pane.pane_id == "brief"
        assert (pane.current().group, pane.current().title) == ("overdue", "Late")


async def test_what_waits_and_what_is_wrong_are_led_to(workspace: Workspace, tmp_path: Path) -> None:
    """Approvals stand in the brief, and a problem is where its line is."""
    app = make_app(workspace)
    async with running(app) as pilot:
        top = screen_text(app).splitlines()[0]
        await pilot.click("HeaderLine", offset=(top.index("for approval"), 0))
        await settle(pilot)
        assert app.navigation.pane.current().group == "waiting"
    app = make_app(make_workspace(tmp_path / "other", {"tasks.md": BROKEN}), pane="journal")
    async with running(app) as pilot:
        top = screen_text(app).splitlines()[0]
        await pilot.click("HeaderLine", offset=(top.index("1 problem"), 0))
        await settle(pilot)
        assert app.navigation.pane.current().title == "Deploy"


async def test_a_message_stands_once(workspace: Workspace) -> None:
    """A dialog that comes says it itself, and what lies below does not; afterwards it stands where it stood."""
    app = make_app(workspace)
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settle(pilot)
        app.say("Said once.")
        await pilot.pause()

        def where() -> list[bool]:
            return [rack.display for screen in app.screen_stack for rack in screen.query("ToastRack")]

        assert where() == [True]
        await press(pilot, "question_mark")
        assert where() == [False, True]
        assert screen_text(app).count("Said once.") == 1
        await press(pilot, "escape")
        assert where() == [True]


async def test_a_narrow_archive_says_how_an_entry_comes_back(tmp_path: Path) -> None:
    """At 40 columns the one thing that can be done to an archived entry is named, before the words of a usual key."""
    archived = "---\ntype: task-archive\n---\n\n## Completed\n\n### [NORMAL] Old\n- completed: 2023-12-01\n"
    app = make_app(make_workspace(tmp_path, {"archive/tasks-2023-12.md": archived}))
    async with running(app, (40, 10)) as pilot:
        await press(pilot, "9", "r")
        assert "B brings back what is archived" in [*app._notifications][-1].message
        await press(pilot, "j", "j")
        assert [hint for hint in hints(app) if hint[0] in ":?"] == [": ", "? help"]
        assert "B bring back" in hints(app)
