"""The help: the pane's own keys first, looked through as one types, in every size; and what F1 says."""

from __future__ import annotations

from app.tui.keys.help import Help, key_groups
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, press, running, type_text
from tests.widgets.harness import screen_text


async def test_each_pane_has_its_own_keys_first(workspace: Workspace) -> None:
    """The board in Tasks, the year in the journal, approving where something waits; never those of another pane."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        own = {words: keys for keys, words in key_groups(app.screen)["Tasks"]}
        assert own["Show the tasks as a board"] == "b"
        assert "Start the task" in own
        await press(pilot, "c")
        calendar = [words for _, words in key_groups(app.screen)["Tasks"]]
        assert calendar[0] == "Go to the day before"
        await press(pilot, "3")
        found = key_groups(app.screen)
        assert next(iter(found)) == "Journal"
        assert ("c", "Show the year as a map") in found["Journal"]
        await press(pilot, "7")
        assert any(keys == "T" for keys, _ in key_groups(app.screen)["Monitors"])
        await press(pilot, "5")
        assert not any(keys == "T" for keys, _ in key_groups(app.screen).get("Contacts", ()))


async def test_what_is_typed_narrows_the_keys(workspace: Workspace) -> None:
    """Every word must occur; the count is said, Enter keeps what was found, Escape shows all, then closes."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "question_mark")
        assert isinstance(app.screen, Help)
        assert "/ find a key" in screen_text(app)
        count = sum(map(len, key_groups(app.main_screen).values()))
        await press(pilot, "slash")
        await type_text(pilot, "archive")
        shown = screen_text(app)
        assert f"of {count}" in shown
        assert "Archive tasks" in shown
        assert "Start the task" not in shown
        await type_text(pilot, " zzz")
        assert "No key fits “archive zzz”." in screen_text(app)
        assert f"0 of {count}" in screen_text(app)
        await press(pilot, *["backspace"] * 4, "enter")
        assert "Archive tasks" in screen_text(app)
        await press(pilot, "escape")
        assert "Start the task" in screen_text(app)
        await press(pilot, "escape")
        assert app.screen is app.main_screen
