"""A person edits in a real terminal while another process rewrites the file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import commands
from tests.terminal.conftest import HOUSE, NOW
from tests.terminal.test_a_day import file, open_in, put
from tests.terminal.tmux import needs_tmux

pytestmark = [pytest.mark.terminal, needs_tmux]


def agent(shop: Path, *words: str) -> None:
    """Let an agent work with the command line, in a process of its own."""
    environ = {**os.environ, "XDG_STATE_HOME": str(shop.parent / "state"), "TZ": "UTC", "PYTHONPATH": str(HOUSE)}
    rule = ("review", "policy", "agent:*", "*", "apply", "-w", str(shop), "--now", NOW)
    assert commands.memdeck(rule, cwd=shop.parent, environ=environ, person=True).returncode == 0
    command = (*words, "-w", str(shop), "--actor", "agent:builder")
    assert commands.memdeck(command, cwd=shop.parent, environ=environ, child=True, clock=NOW).returncode == 0


@pytest.mark.parametrize("size", [(120, 36), (40, 10)], ids=str)
@pytest.mark.thorough(but=("(40, 10)",))
def test_both_changes_survive_and_the_same_field_asks(shop: Path, size: tuple[int, int]) -> None:
    """Other entries and other fields go together without a word; the same field is asked about, one key each."""
    with open_in(shop, size, "--pane", "tasks") as terminal:
        terminal.wait_for("Deploy v2.1")
        terminal.press("j", "j", "e", "End")
        terminal.wait_for("Edit task")
        terminal.type(" soon")
        # An editor rewrites the whole file in place, an agent sets another field of the same task.
        put(shop, "tasks.md", "] Update README with", "] Rewrite README with")
        agent(shop, "tasks", "edit", "Deploy v2.1", "--set", "notes=by the agent")
        terminal.press("C-s")
        terminal.wait_until(lambda: "Deploy v2.1 to staging soon\n" in file(shop, "tasks.md"), "the title is saved")
        text = file(shop, "tasks.md")
        assert "] Rewrite README with" in text
        assert "- notes: by the agent\n" in text
        terminal.wait_for(lambda screen: "Edit task" not in screen and "meanwhile" not in screen)

        # The detail has it too: a form that opened before would have begun with what stood there before.
        terminal.press("Enter")
        terminal.wait_for("soon")
        terminal.press("Escape")
        terminal.press("e", "Down", "Down", "Down", "Down", "End")
        terminal.type(" and me")
        agent(shop, "tasks", "edit", "Deploy v2.1", "--set", "assigned=theirs", "--set", "action=by the agent")
        terminal.press("C-s")
        terminal.wait_for("both changed it")
        assert "- assigned: theirs\n" in file(shop, "tasks.md")
        terminal.press("m")
        terminal.wait_for("your choices")
        terminal.press("Enter")
        terminal.wait_until(lambda: "- assigned: heartbeat and me\n" in file(shop, "tasks.md"), "mine was chosen")
        assert "- action: by the agent\n" in file(shop, "tasks.md")
        terminal.press("q")
        terminal.wait_for("ended with 0")
    assert "<<<<<<<" not in file(shop, "tasks.md")
