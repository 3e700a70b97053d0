"""The prompt pane: what hooks send, block by block, pinned and muted by keys."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot

from app.tui.app import MemdeckApp
from memory.prompts.brief import START_TOKENS, brief
from memory.prompts.compose import AgentPrompt
from memory.workspace import Workspace
from screenshots.make import WIDE, rest
from tests.patience import PATIENCE
from tests.widgets.harness import screen_text
from widgets.panes.prompt import PromptPane

from .tui_helpers import NOW, make_app, press, running, settle, type_text


def look(app: MemdeckApp) -> AgentPrompt:
    """Return what the open pane shows."""
    pane = app.pane
    assert isinstance(pane, PromptPane)
    assert pane.source is not None
    found = pane.source.look(NOW)
    assert not isinstance(found, str)
    return found.prompt


async def test_blocks_are_pinned_and_muted_by_keys(workspace: Workspace) -> None:
    """p puts a block on top, m keeps it out, each takes itself back; the text is that of the hook, byte for byte."""
    before = brief(workspace, NOW, budget=START_TOKENS)
    app = make_app(workspace, pane="prompt")
    async with running(app) as pilot:
        assert look(app) == before
        first, second = before.blocks[:2]
        await press(pilot, "j", "p")
        assert look(app).blocks[0].ref == second.ref
        assert look(app).text == brief(workspace, NOW, budget=START_TOKENS).text != before.text
        await press(pilot, "p")
        assert look(app) == before
        await press(pilot, "k", "m")
        assert look(app).not_sent("mute")[0].ref == first.ref
        assert first.text not in look(app).text
        assert "MUTED" in screen_text(app)
        await press(pilot, "m")
        assert look(app) == before


def outside(workspace: Workspace, *words: str, given: str = "") -> str:
    """Return what memdeck says as a process that shares the private settings."""
    assert workspace.state is not None
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith("MEMDECK")},
        "XDG_STATE_HOME": str(workspace.state.folder.path.parents[1]),
        "PYTHONPATH": str(Path(__file__).parents[3]),
        "TZ": "UTC",
    }
    command = [sys.executable, "-m", "app.main", *words, "-w", str(workspace.root), "--now", NOW.isoformat()]
    done = subprocess.run(command, input=given.encode(), env=environ, capture_output=True, timeout=PATIENCE, check=True)
    return done.stdout.decode()


async def test_a_message_is_asked_for_and_the_entry_is_gone_to(workspace: Workspace) -> None:
    """e shows what the hook sends for a message, and o goes to the entry, where it is edited."""
    app = make_app(workspace, pane="prompt")
    async with running(app) as pilot:
        await press(pilot, "e")
        await type_text(pilot, "deploy staging")
        await press(pilot, "enter")
        assert "for: deploy staging" in screen_text(app)
        assert look(app).text != ""
        await press(pilot, "e", "ctrl+u", "enter", "o")
        pane = app.pane
        assert pane is not None
        assert pane.pane_id == "tasks"


async def test_the_balance_sheet_of_what_hooks_sent(workspace: Workspace) -> None:
    """b shows what was sent before by its cost, and what is sent again; m works in both."""
    outside(workspace, "hook", "session-start", "--client", "codex", given='{"session_id": "one"}')
    app = make_app(workspace, pane="prompt")
    async with running(app, (120, 60)) as pilot:
        first = look(app).blocks[0]
        await press(pilot, "b")
        assert "tokens spent" in screen_text(app)
        assert "SENT BEFORE" in screen_text(app)
        pane = app.pane
        assert pane is not None
        item = pane.selected()[0].thing
        assert item.reason.startswith("sent 1×, ")
        await press(pilot, "m")
        assert [one.ref for one in look(app).not_sent("mute")] == [item.ref]
        await press(pilot, "m", "x", "y")
        await settle(pilot)
        assert item.ref not in look(app).text
        await press(pilot, "u", "b")
        await settle(pilot)
        assert look(app).blocks[0] == first


def test_look(snap_compare: Callable[..., bool], workspace: Workspace, tmp_path: Path) -> None:
    """What is sent and what is muted."""
    from memory.prompts.sheet import change_choices

    first, second, *_ = brief(workspace, NOW).blocks
    assert first.ref
    assert second.ref
    one, two = first.ref, second.ref
    change_choices(workspace.state, lambda old: old.having(one, "mute").having(two, "pin"), now=NOW)
    app = make_app(workspace, pane="prompt", environ={"HOME": str(tmp_path), "LANG": "C.UTF-8"})
    app.animation_level = "none"

    async def wait(pilot: Pilot[MemdeckApp]) -> None:
        await settle(pilot)
        await rest(pilot.app, pilot)

    assert snap_compare(app, terminal_size=WIDE, run_before=wait)
