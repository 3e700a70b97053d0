"""The state pane in the application: a part of a recall, a question, a repair, the validation commands, maintenance."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.state.bundles import edit
from tests.app.tui.projects import project
from tests.app.tui.test_tui_state import bytes_of, opened, pane_of, pressed, said
from tests.app.tui.tui_helpers import jobs_done, press, running, settle, type_text
from tests.memory.state.states import ACTOR, Repository
from tests.widgets.harness import screen_text
from tests.widgets.panes.looking import detail_words
from widgets.dialogs.consent import ConsentScreen
from widgets.dialogs.dialogs import Preview
from widgets.dialogs.pick import Pick


@pytest.fixture
def shop(tmp_path: Path) -> Repository:
    """A small shop with a backlog and a source that failed."""
    return project(tmp_path)


async def test_a_recall_of_one_section(shop: Repository) -> None:
    """% asks for the part; the preview says what is left behind, and Enter changes that section alone."""
    before = shop.memory.bundle
    async with running(opened(shop)) as pilot:
        await pressed(pilot, "percent_sign")
        assert isinstance(pilot.app.screen, Pick)
        assert "3 waiting, of sessions" in screen_text(pilot.app)
        await press(pilot, "escape")
        assert shop.memory.bundle == before
        await pressed(pilot, "percent_sign", "6")
        assert isinstance(pilot.app.screen, Preview)
        shown = screen_text(pilot.app)
        assert "section  Gotchas" in shown
        assert "also change Current focus, Next steps, which this recall leaves; they wait" in " ".join(
            shown.replace("│", " ").split()
        )
        await pressed(pilot, "enter")
    after = shop.memory.bundle
    assert [key for key in before if before[key] != after[key]] == ["gotchas"]


async def test_a_question_is_answered_with_citations(shop: Repository) -> None:
    """A quotation mark asks, the answer names its places, and nothing is written; an empty question is none."""
    before = bytes_of(shop)
    async with running(opened(shop)) as pilot:
        await press(pilot, '"', "enter")
        assert not isinstance(pilot.app.screen, Preview)
        await press(pilot, '"')
        await type_text(pilot, "which traps are there in the cache of tenants")
        await pressed(pilot, "enter")
        assert isinstance(pilot.app.screen, Preview)
        shown = screen_text(pilot.app)
        for words in ("Cache key forgets the tenant", "CITATIONS", "docs/agent-memory/gotchas.md", "mode traps"):
            assert words in shown
        assert "Enter apply" not in shown
        await press(pilot, "escape")
    assert bytes_of(shop) == before


async def test_a_repair_shows_its_plan(shop: Repository) -> None:
    """Escape leaves the damage, Enter mends it in one change, u brings it back, and a sound state has no plan."""
    shop.path("docs/agent-memory/gotchas.md").unlink()
    damaged = bytes_of(shop)
    async with running(opened(shop)) as pilot:
        await pressed(pilot, "exclamation_mark")
        assert "* shows what can be mended" in detail_words(pane_of(pilot))
        await pressed(pilot, "asterisk")
        assert isinstance(pilot.app.screen, Preview)
        assert "docs/agent-memory/gotchas.md" in screen_text(pilot.app)
        assert "Enter apply" in screen_text(pilot.app)
        await pressed(pilot, "escape")
        assert bytes_of(shop) == damaged
        await pressed(pilot, "asterisk", "enter")
        assert "Repaired 1 file" in said(pilot)
        assert shop.codes() == []
        await pressed(pilot, "asterisk")
        assert "Nothing to repair" in screen_text(pilot.app)
        assert "Enter apply" not in screen_text(pilot.app)
        await pressed(pilot, "escape", "u")
        assert bytes_of(shop) == damaged


def with_commands(shop: Repository) -> None:
    """Give the bundle two validation commands, one of which fails."""
    commands = [
        {"label": "tests", "command": ["sh", "-c", "echo 3 passed"], "purpose": "They pass."},
        {"label": "lint", "command": ["sh", "-c", "echo two faults; exit 1"], "purpose": "No faults."},
    ]
    edit(shop.store, "validation-commands", commands, actor=ACTOR, now=shop.later())


async def test_validation_commands_run_once_approved(shop: Repository) -> None:
    """R asks for each command, runs them, and notes how they ended; denied, nothing runs and nothing is written."""
    with_commands(shop)
    async with running(opened(shop, environ={"PATH": "/usr/bin:/bin", "HOME": str(shop.home)})) as pilot:
        before = bytes_of(shop)
        await press(pilot, "R")
        assert isinstance(pilot.app.screen, ConsentScreen)
        assert "echo 3 passed" in screen_text(pilot.app)
        await pressed(pilot, "escape")
        assert bytes_of(shop) == before
        await press(pilot, "R", "y")
        assert "two faults" in screen_text(pilot.app)
        await pressed(pilot, "y")
        await jobs_done(pilot)
        await settle(pilot)
    run = shop.memory.bundle["currentFocus"]["validationSnapshot"]
    assert run["summary"] == "1 of 2 validation commands passed"
    assert [(one["label"], one["status"]) for one in run["results"]] == [("tests", "passed"), ("lint", "failed")]


async def test_maintenance_is_applied_where_only_the_state_has_something_to_do(shop: Repository) -> None:
    """M recalls what waits though no entry moves, says so, does not wait for the interval, and u takes it back."""
    shop.set("automation.importSyncBeforeRecall", "false")
    before = bytes_of(shop)
    shop.system.unattended.ran(shop.at)
    async with running(opened(shop)) as pilot:
        await pressed(pilot, "M")
        assert "would recall 3 events" in screen_text(pilot.app)
        assert "Enter apply" in screen_text(pilot.app)
        await pressed(pilot, "enter")
        assert "Recall into the project's state: 3 events" in said(pilot)
        assert "u takes it back." in said(pilot)
        assert not shop.memory.unrecalled()
        await pressed(pilot, "M")
        assert "Nothing has to move." in screen_text(pilot.app)
        assert "Enter apply" not in screen_text(pilot.app)
        await pressed(pilot, "escape", "u")
        assert bytes_of(shop) == before
