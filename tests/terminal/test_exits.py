"""Whatever ends the application in a form: the terminal is as before, and what was typed is offered again."""

from __future__ import annotations

import json
import os
import signal
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest

from tests.commands import memdeck as run_memdeck
from tests.patience import PATIENCE, Stopwatch
from tests.terminal.pseudo import Pseudo
from tests.terminal.tmux import memdeck

HOUSE = Path(__file__).parents[2]
NOW = "2024-01-15T10:50:00Z"
ENDING = 1.0
"""Seconds that the application may wait for something once a signal said that it ends."""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Return a sample workspace."""
    environ = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "TZ": "UTC", "PYTHONPATH": str(HOUSE)}
    done = run_memdeck(["demo", str(tmp_path / "shop"), "--no-open", "--now", NOW], cwd=tmp_path, environ=environ)
    assert done.returncode == 0, done.stderr
    return tmp_path / "shop"


def opened(shop: Path, *leader: str) -> Pseudo:
    """Open the application in a terminal of its own, itself or by another program that leads the session."""
    environ = {"XDG_STATE_HOME": str(shop.parent / "state"), "TZ": "UTC", "PYTHONPATH": str(HOUSE)}
    return Pseudo(shop.parent, [*leader, *memdeck(str(shop), "--now", NOW, "--pane", "tasks")], environ)


def typed(shop: Path) -> list[str]:
    """Return the titles in the drafts on the disk."""
    folder = shop.parent / "state" / "memdeck"
    titles = []
    for path in sorted(folder.glob("*/drafts/*.json")):
        with suppress(FileNotFoundError):  # It was saved, and is removed, since the folder was listed.
            assert path.stat().st_mode & 0o777 == 0o600
            titles.append(json.loads(path.read_text())["values"]["title"])
    return titles


def in_a_form(terminal: Pseudo) -> None:
    """Open the form of the first task and type behind its title."""
    terminal.wait_for("Deploy v2.1")
    terminal.type("e")
    terminal.wait_for("Edit task")
    terminal.type(" XYZ")
    terminal.wait_for("XYZ")


@pytest.mark.parametrize("name", ["TERM", "HUP", "INT", "QUIT"])
@pytest.mark.thorough(but=("TERM",))
def test_a_signal_in_a_form_keeps_what_was_typed(shop: Path, name: str) -> None:
    """It waits less than a second; the terminal is as it was, the exit code is the signal's, a draft is there."""
    with opened(shop) as terminal:
        in_a_form(terminal)
        number = signal.Signals[f"SIG{name}"]
        os.kill(terminal.process.pid, number)
        assert terminal.ended() < ENDING
        assert terminal.process.returncode == 128 + number
        assert termios.tcgetattr(terminal.slave) == terminal.before
        left = terminal.output.rpartition(b"\x1b[?1049h")[2]
        assert b"\x1b[?1049l" in left
        assert b"Traceback" not in left
    assert typed(shop) == ["Answer ACME about the double charge (order 88213) XYZ"]


def test_kill_in_a_form_loses_two_seconds_at_most(shop: Path) -> None:
    """kill -9: what was typed is on the disk within two seconds, the next start offers it, and w continues it."""
    with opened(shop) as terminal:
        in_a_form(terminal)
        watch = Stopwatch(terminal.process.pid)
        terminal.wait_until(
            lambda: typed(shop) == ["Answer ACME about the double charge (order 88213) XYZ"], "the draft is on the disk"
        )
        assert watch.seconds() < 2.0
        terminal.process.kill()
        terminal.process.wait(PATIENCE)
    with opened(shop) as terminal:
        terminal.wait_for("was not saved")
        terminal.type("w")
        terminal.wait_for("Edit task")
        terminal.wait_for("XYZ")
        terminal.type("\x13")
        tasks = shop / ".aiter" / "memory" / "tasks.md"
        terminal.wait_until(lambda: "(order 88213) XYZ" in tasks.read_text(), "the title is in the file")
        terminal.wait_until(lambda: typed(shop) == [], "the draft is gone")
        terminal.type("q")
        terminal.ended()
        assert terminal.process.returncode == 0


@pytest.mark.parametrize("debug", ["", "1"])
@pytest.mark.thorough(but=("",))
def test_an_error_that_nobody_expected_is_one_line(shop: Path, debug: str) -> None:
    """What went wrong is said where errors are said, without a traceback, and nothing that was typed is lost."""
    broken = (
        "import sys; from app.tui.commands import screens; from app.main import main\n"
        "def fail(app): raise ValueError('two\\nlines \\x1b[31m')\n"
        "screens.jump = fail\n"
        f"sys.argv[1:] = [{str(shop)!r}, '--now', {NOW!r}]\n"
        "sys.exit(main())"
    )
    environ = {"XDG_STATE_HOME": str(shop.parent / "state"), "PYTHONPATH": str(HOUSE), "MEMDECK_DEBUG": debug}
    with Pseudo(shop.parent, [sys.executable, "-c", broken], environ) as terminal:
        terminal.wait_for("Deploy v2.1")
        terminal.type("L")
        terminal.ended()
        said = terminal.output.rpartition(b"\x1b[?1049l")[2].decode()
        assert terminal.process.returncode == 1
        assert termios.tcgetattr(terminal.slave) == terminal.before
        assert said.count("memdeck: internal: ValueError: two lines") == 1
        assert ("Traceback" in said) == bool(debug)
        assert "\x1b[31m" not in said
