"""Hints about knowledge in the application: marks, reasons, links, and the words of the filter."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path

import pytest

from app.tui.app import MemdeckApp
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running
from tests.widgets.harness import screen_text
from tests.widgets.panes.looking import DEMO, detail_words
from widgets.list.outline import Branch
from widgets.pane.base import Pane
from widgets.pane.rows import RowKey


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    """The files of the demo, on disk."""
    return Workspace.init(
        tmp_path / "shop",
        NOW,
        actor="test",
        state_home=tmp_path / "state",
        machine_zone=UTC,
        files={name: str(text) for name, text in DEMO.items()},
    )[0]


def pane_of(app: MemdeckApp) -> Pane:
    """The pane that is open."""
    assert app.navigation.pane is not None
    return app.navigation.pane


def texts(app: MemdeckApp) -> list[str]:
    """The facts that the filter leaves."""
    rows = [key.item for key in pane_of(app).line_list.rows if isinstance(key, RowKey)]
    return [item.text for item in rows if not isinstance(item, Branch)]


async def test_marks_lead_to_what_is_said_twice(shop: Workspace) -> None:
    """A row has a mark, the detail says how much is the same and where, and o goes there and back."""
    app = make_app(shop, pane="knowledge")
    async with running(app) as pilot:
        assert screen_text(app).count("≈ twice") == 2
        assert screen_text(app).count("↻ stale") == 1
        pane_of(app).go_to(next(item.ref for item in shop.snapshot().knowledge if item.text.startswith("Never")))
        await press(pilot, "enter")
        words = detail_words(pane_of(app))
        assert "twice On Fridays never deploy" in words
        assert "all words the same, in Project Knowledge / E-commerce Platform" in words
        await press(pilot, "o")
        assert pane_of(app).current().text.startswith("On Fridays")


async def test_filter_words(shop: Workspace) -> None:
    """is: tells what is said twice, facts and decisions; decisions stand newest first."""
    app = make_app(shop, pane="knowledge")
    async with running(app):
        pane_of(app).set_filter("is:duplicate")
        assert len(texts(app)) == 2
        pane_of(app).set_filter("is:decision is:stale")
        assert len(texts(app)) == 1
        pane_of(app).set_filter("is:decision section:decisions")
        dates = [
            key.item.date
            for key in pane_of(app).line_list.rows
            if isinstance(key, RowKey) and not isinstance(key.item, Branch)
        ]
        assert len(dates) == 5
        assert dates == sorted(dates, reverse=True)
        pane_of(app).set_filter("is:fact")
        assert len(texts(app)) == len(shop.snapshot().knowledge.items) - 6
