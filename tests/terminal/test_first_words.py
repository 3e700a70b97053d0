"""What is said before the application is there: where it stands, and that the terminal comes back whatever happens."""

from __future__ import annotations

import os
import re
import signal
import sys
import termios
from pathlib import Path

import pytest

from app.tui.start_screen import ENTER, LEAVE, SHOW
from tests.terminal.pseudo import Pseudo
from tests.terminal.test_exits import HOUSE, opened, shop

__all__ = ["shop"]

SAY = """
import os, signal, sys, time
from app.tui.start_screen import StartText
from widgets.panes import panes_for
words = StartText()
words.say("~/shop", panes_for(()), os.environ)
"""


def script(folder: Path, code: str, **environ: str) -> Pseudo:
    """Run a program in a terminal of its own."""
    return Pseudo(folder, [sys.executable, "-c", code], {"PYTHONPATH": str(HOUSE), **environ})


def test_name_and_panes_stand_before_the_first_title(shop: Path) -> None:
    """They are there at once; the second screen is opened once and closed once, and the line is as it was."""
    with opened(shop) as terminal:
        terminal.wait_for("Deploy v2.1")
        before = terminal.output[: terminal.output.index(b"Deploy v2.1")]
        first = before[: before.index(b"\x1b[2;1H")].decode()
        assert first.startswith(ENTER)
        assert re.search(r"\x1b\[1;2H\x1b\[1mmemdeck\x1b\[m  ~/shop", first)
        assert "\x1b[4;4H2 Tasks" in first
        terminal.type("q")
        terminal.ended()
        assert terminal.process.returncode == 0
        assert terminal.output.count(ENTER.encode()) == terminal.output.count(LEAVE.encode()) == 1
        assert terminal.output.rindex(SHOW.encode()) > terminal.output.rindex(b"\x1b[?25l")
        assert termios.tcgetattr(terminal.slave) == terminal.before


@pytest.mark.parametrize("name", ["TERM", "HUP", "QUIT", "INT"])
def test_a_signal_before_the_application_is_there(tmp_path: Path, name: str) -> None:
    """The screen that was opened is closed again, and the process ends by the signal, or as Python ends by it."""
    ending = f"try:\n    os.kill(os.getpid(), signal.SIG{name}); time.sleep(20)\nfinally:\n    words.leave()"
    with script(tmp_path, SAY + ending) as terminal:
        terminal.ended()
        assert terminal.process.returncode == -signal.Signals[f"SIG{name}"]
        assert terminal.output.startswith(ENTER.encode())
        assert terminal.output.count((LEAVE + SHOW).encode()) == 1


def test_an_error_before_the_application_is_there(shop: Path) -> None:
    """An error on the way is said on the first screen."""
    code = """
import app.tui.launch as start, sys
from memory.errors import MemdeckError
def broken(*args, **kwargs):
    raise MemdeckError("test.broken", "nothing works")
start._make_app = broken
try:
    start.run(sys.argv[1])
except MemdeckError as error:
    print("said:", error.message)
"""
    with Pseudo(
        shop.parent, [sys.executable, "-c", code, str(shop)], {"PYTHONPATH": str(HOUSE), "XDG_STATE_HOME": "/nowhere"}
    ) as terminal:
        terminal.ended()
        output = terminal.output.decode()
        assert output.startswith(ENTER)
        assert output.index("said: nothing works") > output.index(LEAVE + SHOW)


@pytest.mark.parametrize("environ", [{"TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver"}, {"TERM": "dumb"}])
def test_where_no_terminal_is_drawn_on_nothing_is_said(tmp_path: Path, environ: dict[str, str]) -> None:
    """A browser and a terminal that cannot move its cursor get nothing before the application, nor when it fails."""
    with script(tmp_path, SAY + "words.leave()\nprint('nothing before')", **environ) as terminal:
        terminal.ended()
        assert terminal.output.strip() == b"nothing before"


def test_a_driver_that_draws_elsewhere_stays_as_it_is(tmp_path: Path) -> None:
    """A browser's driver and that of tests are nobody's terminal; that of a terminal outlives it, with words or not."""
    code = """
from textual.drivers.headless_driver import HeadlessDriver
from textual.drivers.linux_driver import LinuxDriver
from textual.drivers.web_driver import WebDriver
words = StartText()
print([words.driver(known) is known for known in (HeadlessDriver, WebDriver)], words.driver(LinuxDriver).__name__)
"""
    with script(tmp_path, SAY.rsplit("words.say", 1)[0] + code, TERM="dumb") as terminal:
        terminal.ended()
        assert terminal.output.strip() == b"[True, True] TakingOver"


def test_a_long_or_foreign_path_is_left_out(tmp_path: Path) -> None:
    """Only what every terminal shows in so many cells is written; the application shows the rest later."""
    code = SAY.replace('"~/shop"', 'os.environ["SHOWN"]') + "words.leave()"
    for shown in ("~/" + "x" * 300, "~/größe", "~/a\x1b[31mb"):
        with script(tmp_path, code, SHOWN=shown) as terminal:
            terminal.ended()
            assert b"memdeck" in terminal.output
            assert b"~/x" not in terminal.output
            assert "größe".encode() not in terminal.output
            assert b"\x1b[31m" not in terminal.output


def test_an_ignored_signal_stays_ignored(tmp_path: Path) -> None:
    """Started by nohup, a hang-up does not end it."""
    code = "import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + SAY
    code += "os.kill(os.getpid(), signal.SIGHUP)\nwords.leave()\nprint('still here')"
    with script(tmp_path, code) as terminal:
        terminal.ended()
        assert os.linesep.encode() in terminal.output
        assert b"still here" in terminal.output
