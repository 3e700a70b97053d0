"""The facts pane: what it lists, filters, adds and deletes, and what a message would inject."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, make_workspace, press, running, settle, type_text
from tests.widgets.harness import screen_text
from widgets.panes.facts import FactsPane

TEXTS = (
    ("Prefers Python over JavaScript", ("preference",), "user"),
    ("PostgreSQL 16 on port 5432", ("infra", "db"), "workspace"),
    ("Deploy target is us-east-1", ("infra", "deploy"), "workspace"),
)


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    """Return a workspace with tasks and three facts."""
    workspace = make_workspace(tmp_path, {"tasks.md": "## Pending\n\n### [HIGH] A task\n- due: null\n"})
    store = workspace.system("facts").store
    for number, (text, tags, scope) in enumerate(TEXTS):
        store.store(text, tags=tags, scope=scope, actor="agent:x", now=NOW - timedelta(hours=9 - number))
    return workspace


def ids(pane: FactsPane) -> list[str]:
    """Return the ids of the facts in the list."""
    return [row.item.id for row in pane.line_list.rows if hasattr(row, "item")]


async def test_g_and_f_open_the_facts(place: Workspace) -> None:
    """The pane is reached by g and its letter, stands in the sidebar with its count, and lists the newest first."""
    app = make_app(place)
    async with running(app) as pilot:
        await press(pilot, "g", "f")
        pane = app.navigation.pane
        assert isinstance(pane, FactsPane)
        assert ids(pane) == ["m-3", "m-2", "m-1"]
        text = screen_text(app)
        for words in ("Facts", "3 of 500", "Deploy target is us-east-1", "infra, deploy", "i inject"):
            assert words in text


async def test_a_fact_is_added_and_deleted_and_comes_back(place: Workspace) -> None:
    """a asks for text, tags and scope; x removes; u brings it back; all of it stands in Changes."""
    app = make_app(place)
    async with running(app) as pilot:
        await press(pilot, "g", "f", "a")
        await type_text(pilot, "Uses tabs")
        await pilot.press("ctrl+s")
        await settle(pilot)
        pane = app.navigation.pane
        assert ids(pane)[0] == "m-4"
        assert pane.current().text == "Uses tabs"
        await press(pilot, "x", "y")
        assert ids(pane) == ["m-3", "m-2", "m-1"]
        await press(pilot, "u")
        assert ids(pane)[0] == "m-4"
        await press(pilot, "0")
        assert "deleted m-4" in screen_text(app)


async def test_a_secret_stays_in_the_form(place: Workspace) -> None:
    """The form says why it is not stored, and nothing is written."""
    app = make_app(place)
    async with running(app) as pilot:
        await press(pilot, "g", "f", "a")
        await type_text(pilot, "password: " + "hunter2")
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "appears to contain a secret" in screen_text(app)
        assert len(place.system("facts").store.read().facts) == 3
