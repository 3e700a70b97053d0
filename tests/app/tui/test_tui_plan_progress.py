"""A plan's progress over time in the application: from the change log, from dates, at every size."""

from __future__ import annotations

from datetime import UTC, timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.tui.app import MemdeckApp
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running, settle
from tests.patience import within
from tests.widgets.harness import screen_text
from tests.widgets.panes.looking import DEMO, detail_words
from widgets.pane.base import Pane
from widgets.text.glyphs import ASCII


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    """The files of the demo, on disk since three days."""
    return Workspace.init(
        tmp_path / "shop",
        NOW - timedelta(days=3),
        actor="test",
        state_home=tmp_path / "state",
        machine_zone=UTC,
        files={name: str(text) for name, text in DEMO.items()},
    )[0]


def pane_of(app: MemdeckApp) -> Pane:
    """The pane that is open."""
    assert app.navigation.pane is not None
    return app.navigation.pane


async def looked_back(pilot: Pilot[int], app: MemdeckApp) -> None:
    """Wait until the cursor rested long enough on the plan and its past was found."""
    async with within(lambda: detail_words(pane_of(app))):
        while "DONE BY" not in detail_words(pane_of(app)):
            await pilot.pause(0.02)
            await settle(pilot)


async def test_progress_by_dates(shop: Workspace) -> None:
    """The demo's plan shows its phases and tasks day by day, with words beside the bars."""
    app = make_app(shop, pane="plans")
    async with running(app) as pilot:
        await press(pilot, "g", "g")
        await looked_back(pilot, app)
        words = detail_words(pane_of(app))
        assert "DONE BY DAY phases ▁▃▃▃ 1 of 4 done tasks ▁▃▃▄ 3 of 8 done time 12 Jan to today" in words
        assert "last done Stock reservation, today By the dates of tasks." in words


async def test_the_change_log_tells_what_it_saw(shop: Workspace) -> None:
    """A task that somebody marks as completed counts from that moment on, without any date in the file."""
    path = shop.memory / "orchestration.md"
    shop.notice(NOW - timedelta(days=2))
    text = path.read_text("utf-8")
    row = next(line for line in text.split("\n") if line.startswith("| t3 "))
    path.write_text(text.replace(row, row.replace("running  ", "completed").replace(" 65%", "100%")), "utf-8")
    shop.notice(NOW - timedelta(days=1))
    app = make_app(shop, pane="plans", glyphs=ASCII)
    async with running(app) as pilot:
        await press(pilot, "g", "g")
        await looked_back(pilot, app)
        words = detail_words(pane_of(app))
        assert "tasks _-=+ 4 of 8 done" in words
        assert "1 seen in the change log, 3 by the dates of tasks." in words


async def test_the_log_calls_plans_by_their_own_refs(shop: Workspace) -> None:
    """The name of a plan in the change log is its ref, so H shows its versions and changes lead to it."""
    path = shop.memory / "orchestration.md"
    shop.notice(NOW - timedelta(days=2))
    path.write_text(path.read_text("utf-8").replace("- currentPhase: 2", "- currentPhase: 3", 1), "utf-8")
    shop.notice(NOW - timedelta(days=1))
    plan = shop.snapshot().plans.plans[0]
    touched = shop.store.history.list(1)[0].touched
    assert [one.ref for one in touched if one.title == plan.title] == [plan.ref]
    app = make_app(shop, pane="plans")
    async with running(app) as pilot:
        await press(pilot, "g", "g", "H")
        shown = screen_text(app)
        assert "currentPhase" in shown
        await press(pilot, "escape", "0", "g", "g", "o")
        assert pane_of(app).pane_id == "plans"
        assert pane_of(app).current().ref == plan.ref
