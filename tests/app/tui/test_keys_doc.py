"""The page of keys is what the bindings are."""

from __future__ import annotations

from pathlib import Path

from app.tui.actions import ACTIONS
from app.tui.keysdoc import keys_page

PAGE = Path(__file__).parents[3] / "docs" / "keys.md"


def test_the_page_of_keys_is_up_to_date() -> None:
    """docs/keys.md is what `python -m app.tui.keysdoc` prints."""
    assert PAGE.read_text("utf-8") == keys_page()


def test_every_action_is_on_the_page() -> None:
    """No action is missing, and none has no words."""
    page = keys_page()
    for action in ACTIONS:
        assert f"`{action.id}`" in page
        assert action.description.strip()
