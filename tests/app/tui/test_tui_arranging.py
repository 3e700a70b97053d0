"""How tasks are arranged: columns that fit, cards that are cut, orders, kept views, what recurs, and jumping."""

from __future__ import annotations

from memory.workspace import Workspace
from tests.app.tui.test_tui_views import tasks_pane
from tests.app.tui.tui_helpers import make_app, press, running, type_text
from tests.widgets.harness import screen_text
from widgets.pane.rows import RowKey


async def test_orders_are_chosen_and_turned_round(workspace: Workspace) -> None:
    """S opens the orders at the one in use, which is reversed when it is chosen again; the title names it."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        assert "file order" in screen_text(app).splitlines()[1]
        await press(pilot, "S")
        assert "✓ file order" in screen_text(app)
        assert "Enter reverses it" in screen_text(app)
        await press(pilot, "j", "j", "enter")
        due = [row.item.title for row in tasks_pane(app).line_list.rows if isinstance(row, RowKey)][:3]
        await press(pilot, "S", "enter")
        assert tasks_pane(app).sort == "due, reversed"
        assert "sorted by due, reversed" in screen_text(app).splitlines()[1]
        turned = [row.item.title for row in tasks_pane(app).line_list.rows if isinstance(row, RowKey)][:3]
        assert turned == due[::-1]
        await press(pilot, "S", "enter")
        assert tasks_pane(app).sort == "due"


async def test_the_view_in_use_is_marked_and_named(workspace: Workspace) -> None:
    """V begins at the view that is shown, with a mark; the title has its name until something is arranged otherwise."""
    app = make_app(workspace, pane="tasks")
    async with running(app, (100, 30)) as pilot:
        for name, keys in (("boards", ("b",)), ("urgent", ("b", "S", "j", "enter"))):
            await press(pilot, *keys, "V", "G", "k", "enter")
            await type_text(pilot, name)
            await press(pilot, "enter")
            assert f"“{name}”" in screen_text(app).splitlines()[1]
        await press(pilot, "V")
        line = next(line for line in screen_text(app).splitlines() if "✓ urgent" in line)
        assert "▌ ✓ urgent" in line
        await press(pilot, "escape", "b")
        assert "“" not in screen_text(app).splitlines()[1]
    app = make_app(workspace, pane="tasks")
    async with running(app, (100, 30)) as pilot:
        await press(pilot, "V", "j", "enter")
        assert "“urgent”" in screen_text(app).splitlines()[1]
