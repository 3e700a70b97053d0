"""What is said in the corner is drawn each time it is said, by a real terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.terminal.test_a_day import open_in
from tests.terminal.tmux import needs_tmux

pytestmark = [pytest.mark.terminal, needs_tmux]
SAID = "Copied"


@pytest.mark.thorough
def test_words_are_seen_again_after_they_went(shop: Path) -> None:
    """The same words come a second and a third time, each after those before went by themselves."""
    with open_in(shop, (120, 36)) as terminal:
        terminal.wait_for("PENDING")
        terminal.press("0")
        terminal.wait_for("by  ")
        sent = shop.parent / "sent"
        terminal.record(sent)
        terminal.wait_until(sent.exists, "the program's output is recorded")
        for _ in range(3):
            before = sent.read_bytes().count(SAID.encode())
            terminal.press("y")
            terminal.wait_until(lambda before=before: sent.read_bytes().count(SAID.encode()) > before, SAID)
            terminal.wait_for(lambda screen: SAID not in screen)
            # The record may lag behind the screen: what it still brings must not be taken for the next words.
            terminal.wait_until(lambda: _is_quiet(sent), "nothing more is recorded")
        terminal.press("q")


def _is_quiet(sent: Path) -> bool:
    """Return whether the record was last written to a second ago, by the clock of its file system."""
    mark = sent.with_name("mark")
    mark.touch()
    return mark.stat().st_mtime - sent.stat().st_mtime > 1
