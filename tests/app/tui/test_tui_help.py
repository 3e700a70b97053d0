"""The help: the pane's own keys first, looked through as one types, in every size; and what F1 says."""

from __future__ import annotations

import pytest

from app.tui.keys.help import Help, help_lines, key_groups, narrowed
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, press, running, type_text
from tests.widgets.harness import screen_text
from widgets.text.styled_text import line_text, line_width


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


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 10)], ids=str)
async def test_the_help_says_that_there_is_more(workspace: Workspace, size: tuple[int, int]) -> None:
    """Below at first, above and below on the way, above at the end; and always what can be done."""
    app = make_app(workspace)
    async with running(app, size) as pilot:
        await press(pilot, "question_mark")
        assert "↓ more" in screen_text(app)
        await press(pilot, "j")
        assert "↑↓ more" in screen_text(app)
        await press(pilot, "G")
        shown = screen_text(app)
        assert "↑ more" in shown
        assert "Esc cancel" in shown
        await press(pilot, "q")
        assert app.screen is app.main_screen


@pytest.mark.parametrize("width", [34, 60, 76])
def test_sentences_stand_below_each_other(width: int) -> None:
    """What does not fit goes on in the column of the sentences, and nothing is wider than there is room."""
    rows = [("a", "Add an entry with a form that has many fields of all kinds, one a line")]
    rows += [("ctrl+shift+f12", "Look at what the monitor or task wants to run, and approve or deny it; elsewhere too")]
    lines = help_lines({"Tasks": rows}, width)
    texts = [line_text(one) for one in lines]
    assert texts[0] == "TASKS"
    assert all(line_width(one) <= width for one in lines)
    column = texts[1].index("Add")
    later = [text for text in texts[2:] if not text.startswith("ctrl")]
    assert later
    assert all(text[:column].isspace() and not text[column].isspace() for text in later)


def test_all_words_must_occur() -> None:
    """In the keys or in the sentence, in any case; headings without rows go."""
    groups = {"Tasks": [("s", "Start the task"), ("d", "Finish it")], "List": [("ctrl+f", "Search everything")]}
    assert narrowed(groups, "TASK start") == {"Tasks": [("s", "Start the task")]}
    assert narrowed(groups, "ctrl") == {"List": [("ctrl+f", "Search everything")]}
    assert narrowed(groups, " ") == groups


async def test_f1_explains_a_field(workspace: Workspace) -> None:
    """Which values there are, and that one is needed."""
    app = make_app(workspace, pane="contacts")
    async with running(app) as pilot:
        await press(pilot, "a", "f1")
        assert "It cannot be left empty." in screen_text(app)
        await press(pilot, "escape", "down", "down", "f1")
        shown = screen_text(app)
        assert "telegram, slack, dingtalk, email, webhook" in shown
        assert "ctrl+s" in shown
