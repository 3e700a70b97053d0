"""Small manners: cards and their keys, links with dates, the cursor after `d`, open months, keys that are wrong."""

from __future__ import annotations

import pytest

from memory.base.problems import Problem
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, press, running


@pytest.mark.parametrize("keys", [("j",), ("j", "b"), ("c",), ("3", "j"), ("space", "j", "space")])
async def test_undo_of_a_removal_goes_to_what_came_back(workspace: Workspace, keys: tuple[str, ...]) -> None:
    """The cursor stands on the entry again, wherever it went meanwhile; redo and undo find it once more."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, *keys)
        pane = app.pane
        assert pane is not None
        removed = pane.selected()[0]
        for again in (("x", "y"), ("U",)):
            await press(pilot, *again)
            assert pane.find(removed.ref) is None
            await press(pilot, "home", "u")
            assert pane.current() == pane.find(removed.ref) is not None


def test_a_problem_says_bytes_as_the_application_does() -> None:
    """A byte that is no UTF-8 is `\\xe9` in a quoted title too, and what only looks like one stays."""
    assert Problem("note", "tasks.md", 1, "x", f"{'caf' + chr(0xDCE9)!r}").message == "'caf\\xe9'"
    literal = repr("\\udce9")
    assert Problem("note", "tasks.md", 1, "x", literal).message == literal
