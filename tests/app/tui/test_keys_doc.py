"""The page of keys is what the bindings are."""

from __future__ import annotations

from pathlib import Path

from app.tui.commands.table import COMMANDS
from app.tui.keys.every_key import keys_page

PAGE = Path(__file__).parents[3] / "docs" / "keys.md"


def test_the_page_of_keys_is_up_to_date() -> None:
    """docs/keys.md is as `python -m app.tui.keys.every_key` writes it."""
    page = PAGE.read_text("utf-8")
    assert page == keys_page(page)


def test_every_command_is_on_the_page() -> None:
    """No action is missing, and none has no words."""
    page = keys_page("")
    for action in COMMANDS:
        assert f"`{action.id}`" in page
        assert action.description.strip()
