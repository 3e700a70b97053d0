"""Keys from the start on, and the end in the middle of them: whatever waits then, memdeck leaves without an error."""

from __future__ import annotations

import os
import random
import re
import string
import termios
from pathlib import Path

import pytest

from tests.terminal.pseudo import Pseudo
from tests.terminal.test_exits import HOUSE, shop
from tests.terminal.tmux import memdeck

__all__ = ["shop"]

SEEDS = range(120) if os.environ.get("MEMDECK_BURSTS") == "all" else range(6)
# In the editor that `E` opens, the terminal itself takes ctrl+q.
KEYS = (
    *(string.ascii_letters + string.digits).translate({ord("q"): None, ord("E"): None}),
    *"/;?,.[]<> \r\t",
    *("\x1b", "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1bOP"),
    *("\x04", "\x06", "\x0e", "\x10", "\x12", "\x15"),
)
LEAVE = "\x1b[?1049l"
ENDS = ("\x11", "jjj\x11jjj\r/ab", "/a\x11bc", "\x06redis\x11", "a\x11abc")
"""`ctrl+q`, alone and among keys that come together with it."""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.thorough
def test_it_leaves_whatever_waits(shop: Path, seed: int) -> None:
    """From the first words on, also while modules are still loaded, and with forms, searches and questions open."""
    chance = random.Random(seed)
    environ = {"PYTHONPATH": str(HOUSE), "XDG_STATE_HOME": str(shop.parent / "state"), "EDITOR": "true"}
    with Pseudo(shop.parent, memdeck(str(shop)), environ, chance.choice([(120, 36), (80, 24), (40, 10)])) as terminal:
        terminal.wait_for("memdeck")
        terminal.type(chance.choice(("", "j", "/ab", "3")))
        # Before that the terminal itself takes ctrl+q.
        terminal.wait_until(lambda: not termios.tcgetattr(terminal.slave)[3] & termios.ICANON, "keys come as they are")
        if chance.random() < 0.5:
            terminal.wait_for("Deploy")
        for _ in range(chance.randrange(12)):
            keys = "".join(chance.choice(KEYS) for _ in range(chance.choice((1, 2, 3, 6))))
            terminal.type(keys)
            # An escape is one key with what comes right behind it.
            terminal.read(0.2 if keys.endswith("\x1b") else chance.choice((0.005, 0.03, 0.1)))
        terminal.type(chance.choice(ENDS))
        terminal.ended()
        assert terminal.process.returncode == 0, terminal.output[-20_000:].decode(errors="replace")
        end = terminal.output.rpartition(LEAVE.encode())[2]
        said = re.sub(rb"\x1b\[\?[0-9]+[hl]|\x1b]22;default\x07|\s", b"", end)
        assert said in (b"", b"Everythingissavedin~/shop."), said
