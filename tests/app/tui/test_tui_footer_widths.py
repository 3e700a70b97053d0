"""The footer and messages at every size: the keys that stay, one verb for Enter and Esc, and the cursor's row free."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from textual.widgets._toast import Toast

from app.tui.keys.bindings import PARTS
from app.tui.keys.registry import BY_ID
from app.tui.shell import cursor_rows
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, make_workspace, press, running, settle
from tests.examples import in_turn
from tests.pilots import quiet
from tests.widgets.harness import screen_text

SIZES = [(200, 50), (120, 36), (80, 24), (60, 20), (40, 10), (30, 8), (20, 6)]
PANES = ("tasks", "journal", "monitors")


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("pane", PANES)
@pytest.mark.thorough(but=in_turn(PANES, SIZES))
async def test_the_usual_keys_stay_at_every_width(workspace: Workspace, size: tuple[int, int], pane: str) -> None:
    """a, e, / and ? are named however few columns there are, and Esc where there is something to leave."""
    app = make_app(workspace, pane=pane)
    async with running(app, size) as pilot:
        assert {"a", "e", "/", "?"} <= {hint.key for hint in app.main_screen.hints.hints}
        await press(pilot, "enter")
        assert {"Esc", "a", "e", "/", "?"} <= {hint.key for hint in app.main_screen.hints.hints}


async def test_undo_and_redo_come_last(workspace: Workspace) -> None:
    """They stand behind everything else, and go first where there is no room."""
    app = make_app(workspace)
    async with running(app, (200, 36)) as pilot:
        await press(pilot, "s", "d", "enter", "u")
        assert [hint.key for hint in app.main_screen.hints.hints][-2:] == ["u", "U"]
        await pilot.resize_terminal(60, 20)
        await settle(pilot)
        assert not {"u", "U"} & {hint.key for hint in app.main_screen.hints.hints}


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.thorough(but=("(120, 36)", "(30, 8)"))
async def test_messages_never_cover_the_row_under_the_cursor(tmp_path: Path, size: tuple[int, int]) -> None:
    """Wherever the cursor is when a message comes, and wherever it goes while one is there."""
    tasks = "## Pending\n\n" + "".join(f"### [LOW] Task {number}\n\n" for number in range(12))
    app = make_app(make_workspace(tmp_path, {"tasks.md": tasks}))
    async with app.run_test(size=size, notifications=True) as pilot:
        await settle(pilot)
        for words in ("Done.", "words " * 12 + "end", "first line\nsecond line\nthird line"):
            await press(pilot, "g", "g")
            app.say(words, title="Title")
            await quiet(app)
            for _ in range(12):
                drawn = screen_text(app).splitlines()
                assert app.screen.query(Toast)
                rows = cursor_rows(app.screen)
                assert rows is not None
                title = app.navigation.pane.current().title[:4]  # type: ignore[union-attr]
                assert all(title in drawn[row] for row in rows), f"{words!r} {rows} {drawn}"
                await press(pilot, "j")


def test_enter_and_escape_have_one_verb_each() -> None:
    """Enter saves, opens, chooses or applies; Escape cancels a dialog and goes back elsewhere."""
    words: dict[str, set[str]] = {"enter": set(), "escape": set()}
    for place in PARTS.values():
        module, _, name = place.partition(":")
        for binding in getattr(import_module(module), name).__dict__.get("BINDINGS", ()):
            first = binding.key.split(",")[0]
            if first in words and binding.show:
                words[first].add(binding.description)
    words["escape"].add(BY_ID["view.leave"].words)
    assert words == {"enter": {"save", "open", "choose", "apply"}, "escape": {"cancel", "back"}}


async def test_yes_and_no_stand_beside_what_they_mean(workspace: Workspace) -> None:
    """The buttons of a question name their keys, also those that a person chose."""
    app = make_app(workspace)
    async with running(app, (80, 24)) as pilot:
        await press(pilot, "x")
        text = screen_text(app)
        assert "y Remove" in text
        assert "n Keep" in text
        assert "y yes" not in text
