"""Who is reachable how, over the sample workspace: marks in rows, the way of a notification, no secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.tui.app import MemdeckApp
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running
from tests.widgets.harness import screen_text
from tests.widgets.panes.looking import DEMO, detail_words
from widgets.pane.base import Pane
from widgets.text.glyphs import ASCII

SECRET = "tgram://hunter2/chat"


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    """The files of the demo, on disk."""
    from datetime import UTC

    files = {name: str(text) for name, text in DEMO.items()}
    return Workspace.init(
        tmp_path / "shop", NOW, actor="test", state_home=tmp_path / "state", machine_zone=UTC, files=files
    )[0]


def pane_of(app: MemdeckApp) -> Pane:
    """The pane that is open."""
    assert app.navigation.pane is not None
    return app.navigation.pane


def row_of(app: MemdeckApp, name: str) -> str:
    """The first row on the screen that begins with a name."""
    return next(line for line in screen_text(app).split("\n") if name in line)


async def test_rows_say_which_channel_is_used_first(shop: Workspace) -> None:
    """1 stands before the channel that would be used, 2 before the fallback, a sign before who is not reached."""
    environ = {"MEMDECK_CHANNEL_CHANNEL_ABC123": SECRET, "MEMDECK_CHANNEL_CHANNEL_DEF456": "json://localhost"}
    app = make_app(shop, pane="contacts", environ=environ)
    async with running(app) as pilot:
        assert "1 Dev Team Bot" in row_of(app, "Dev Team Bot")
        assert "2 Slack Alerts" in row_of(app, "Slack Alerts")
        assert "▲ Carol" in screen_text(app)
        assert "▲ Bob" not in screen_text(app)
        person = next(one for one in shop.snapshot().contacts.people if one.name == "Bob")
        pane_of(app).go_to(person.ref)
        await press(pilot, "enter")
        words = detail_words(pane_of(app))
        assert "REACHED BY 1st ✓ Slack Alerts connected" in words
        assert "1st ✓ Dev Team Bot, used first 2nd ✓ Slack Alerts, the fallback" in words
        assert "The fallback is how Bob is reached." in words
        assert "hunter2" not in screen_text(app)


async def test_without_an_address_the_detail_says_why(shop: Workspace) -> None:
    """Channels that nothing can be sent to have the sign of an alert and a reason, with ASCII signs as well."""
    app = make_app(shop, pane="contacts", environ={}, glyphs=ASCII)
    async with running(app) as pilot:
        row = row_of(app, "Dev Team Bot")
        assert "! Dev Team Bot" in row
        assert "telegram  connected" in row, "no check mark beside the sign"
        assert "no channel can notify" in screen_text(app)
        await press(pilot, "g", "g", "j")
        words = detail_words(pane_of(app))
        assert "status connected notifies ! no, channels.toml has no address for it" in words
        assert "! no channel can take it" in words
        assert "1st ! Dev Team Bot channels.toml has no address for it" in words
