"""One real application in a real terminal for a long time: at the end it holds little more than at the beginning."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from app.places import state_home
from bench.outside_part import edit
from bench.places import NOW, Places, memdeck
from bench.terminal import Screen
from bench.workspaces import FIRST_TITLE
from memory.workspace import Workspace
from tests.crash.kill import Tally

MOST = 1.3
"""How many times what it held after the first look it may hold at the end."""

PACE = 0.05
"""Seconds between two changes from outside, and after each key."""

PANES = "1234567890"
OPENED = (("a", "escape"), ("colon", "escape"), ("question", "escape"), ("slash", "escape"), ("enter", "escape"))
"""What is opened and left: a form, the palette, the help, a filter, an entry."""

KEYS = {"escape": b"\x1b", "colon": b":", "question": b"?", "slash": b"/", "enter": b"\r"}
OWN = (b"s", b"u")
"""A change of one's own, and the one that takes it back."""


def soak(top: Path, outside: int = 5_000, own: int = 1_000) -> Tally:
    """Change files from outside and with keys, open and leave whatever there is, again and again."""
    tally = Tally("5,000 changes from outside, 1,000 of one's own, all panes and forms")
    places = Places(top)
    root = places.workspace("M")
    tasks = places.memory(root) / "tasks.md"
    text = tasks.read_bytes()
    with Screen([memdeck(), str(root), "--now", NOW.isoformat()], places.environment()) as screen:
        screen.wait_for([FIRST_TITLE])
        screen.settle(quiet=3.0, timeout=25)
        first = screen.resident_mib()
        _open_all(screen)
        held = screen.resident_mib()
        worked = screen.processor()
        number = 0
        while number < outside:
            edit(tasks, text, str(number))
            screen.take(PACE)
            number += 1
            tally.points += 1
            if number % (outside // 20) == 0:
                _open_all(screen)
                screen.output.clear()
        tally.notes["processor ms each"] = (screen.processor() - worked) * 1000 / outside
        for number in range(own):
            _press(screen, OWN[number % 2])
            tally.points += 1
            if number % (own // 10) == 0:
                _open_all(screen)
                screen.output.clear()
        screen.settle(quiet=5.0, timeout=60)
        last = screen.resident_mib()
        tally.notes |= {"first look MiB": first, "all opened MiB": held, "end MiB": last, "times": last / held}
        tally.expect(last <= MOST * held, f"holds {last:.0f} MiB at the end, {held:.0f} once all was opened")
        tally.expect(_runs(screen.pid), "it does not run any more")
    made = _changes(root, places, NOW)
    tally.notes["own changes"] = made
    tally.expect(made >= own // 2, f"{made} changes of {own} were made")
    return tally


def _open_all(screen: Screen) -> None:
    """Open every pane, in each of them whatever can be opened, and go back to the tasks."""
    for pane in PANES:
        _press(screen, pane.encode())
        for opened, left in OPENED:
            _press(screen, KEYS.get(opened, opened.encode()))
            _press(screen, KEYS[left])
    _press(screen, b"2")
    screen.settle(quiet=1.5, timeout=20)


def _press(screen: Screen, key: bytes) -> None:
    screen.send(key)
    screen.take(PACE)


def _runs(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}/exe")


def _changes(root: Path, places: Places, now: datetime) -> int:
    workspace = Workspace.open(root, state_home=state_home(places.environment()))
    return sum(
        change.actor == "human" for change in workspace.store.history.list(100_000, since=now.replace(year=2000))
    )
