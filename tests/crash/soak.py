"""One real application in a real terminal for a long time: at the end it holds little more than at the beginning."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.outside_part import edit
from bench.places import NOW, Places, memdeck
from bench.terminal import Screen
from bench.workspaces import FIRST_TITLE
from memory.storage.own_folders import state_home
from memory.workspace import Workspace
from tests.crash.kill import Tally

Say = Callable[[int, float, float], None]

MOST = 1.3
"""How many times what it held before it may hold at the end."""

PACE = 0.05
"""Seconds between two changes from outside."""

QUIET = 0.1
"""Seconds without a picture after which the next key is pressed."""

ESCAPE = 0.25
"""Seconds that nothing is pressed after Esc: with a key at once after it, it were one with Alt."""

CALM = 6
"""How many times in a row no thread may have work, 20 ms apart, before the next key is pressed."""

REST = 5.0
"""Seconds without keys before a look at what it holds: nobody works without a pause."""

ROUNDS = 4
"""How often everything is opened and left, between equal shares of the changes."""

PATIENCE = 60.0
"""Seconds after which a key that should have changed a file has done nothing."""

AGAIN = 10.0
"""Seconds after which such a key is pressed once more."""

PANES = "1234567890"
OPENED = (("a", "escape"), ("colon", "escape"), ("question", "escape"), ("slash", "escape"), ("enter", "escape"))
"""What is opened and left in each pane: a form, the palette, the help, a filter, an entry."""
SCREENS = (("search", "escape"), ("H", "escape"), ("x", "escape"), ("e", "escape"), ("V", "escape"), ("z", "escape"))
"""What is opened and left from the tasks: search, history, a question, a form of an entry, saved views, the order."""

KEYS = {"escape": b"\x1b", "colon": b":", "question": b"?", "slash": b"/", "enter": b"\r", "search": b"\x06"}
OWN = (b"s", b"u")
"""A change of one's own, and the one that takes it back."""


def soak(top: Path, outside: int = 5_000, own: int = 1_000, say: Say | None = None) -> Tally:
    """Change files from outside; then also with keys, and open and leave whatever there is, again and again.

    What it holds after the changes from outside is compared with what it held after the first look; panes, forms and
    dialogs that were opened once stay loaded, so the rest, with half as many changes from outside again beside those
    of one's own, is compared with what it held when all had been.

    `say` is told the round, the memory held in MiB and the processor time so far, in seconds.
    """
    tally = Tally(f"{outside:,} + {outside // 2:,} changes from outside, {own:,} own, all panes")
    places = Places(top)
    root = places.workspace("M")
    tasks = places.memory(root) / "tasks.md"
    text = tasks.read_bytes()
    environment = places.environment() | {"ESCDELAY": "25"}
    with Screen([memdeck(), str(root), "--now", NOW.isoformat()], environment) as screen:
        screen.wait_for([FIRST_TITLE])
        screen.settle(quiet=3.0, timeout=25)
        # On a busy machine the rest of the first look comes long after its titles.
        screen.take(REST)
        _calm(screen)
        first = screen.resident_mib()
        worked = _edit(screen, tasks, text, outside, tally)
        screen.take(REST)
        edited = screen.resident_mib()
        _say(say, 0, screen)
        _open_all(screen)
        held = screen.resident_mib()
        _say(say, 0, screen)
        for number in range(1, ROUNDS + 1):
            worked += _edit(screen, tasks, text, outside // 2 // ROUNDS, tally)
            for turn in range(own // ROUNDS):
                tally.points += 1
                if not _change(screen, tasks, OWN[turn % len(OWN)]):
                    tally.expect(False, f"{OWN[turn % len(OWN)]!r} changed nothing; drawn was {screen.text()[-500:]!r}")
                    return tally
            _open_all(screen)
            _say(say, number, screen)
        screen.take(REST)
        last = screen.resident_mib()
        tally.notes |= {"processor ms each": worked * 1000 / (tally.points - own // ROUNDS * ROUNDS)}
        tally.notes |= {"first look MiB": first, "edited MiB": edited, "all opened MiB": held, "end MiB": last}
        tally.notes |= {"× first look": edited / first, "× all opened": last / held}
        tally.expect(edited <= MOST * first, f"holds {edited:.0f} MiB, {first:.0f} after the first look")
        tally.expect(last <= MOST * held, f"holds {last:.0f} MiB at the end, {held:.0f} once all was opened")
        tally.expect(os.path.exists(f"/proc/{screen.pid}/exe"), "it does not run any more")
    made = _changes(root, places)
    tally.notes["own changes"] = made
    tally.expect(made >= own * 0.9, f"{made} changes of {own} were made")
    return tally


def _edit(screen: Screen, tasks: Path, text: bytes, times: int, tally: Tally) -> float:
    """Change the tasks from outside; return the processor time that it took, in seconds."""
    before = screen.processor()
    for _ in range(times):
        edit(tasks, text, str(tally.points))
        screen.take(PACE)
        tally.points += 1
    screen.settle(quiet=1.0, timeout=20)
    return screen.processor() - before


def _say(say: Say | None, number: int, screen: Screen) -> None:
    if say is not None:
        say(number, screen.resident_mib(), screen.processor())


def _open_all(screen: Screen) -> None:
    """Open every pane, in each of them whatever can be opened, and go back to the tasks."""
    for pane in PANES:
        _press(screen, pane.encode())
        _open(screen, OPENED)
    _press(screen, b"2")
    _open(screen, SCREENS)
    screen.settle(quiet=1.5, timeout=20)
    screen.output.clear()


def _open(screen: Screen, what: Sequence[tuple[str, str]]) -> None:
    for opened, left in what:
        _press(screen, KEYS.get(opened, opened.encode()))
        _press(screen, KEYS[left])


def _press(screen: Screen, key: bytes) -> None:
    """Press a key, and wait until nothing is left to do after it: on a busy machine a form may come late."""
    screen.send(key)
    screen.take(ESCAPE if key == KEYS["escape"] else QUIET)
    _calm(screen)


def _calm(screen: Screen) -> None:
    """Wait until no thread has work for a moment, however little time of the machine there is for them."""
    calm, end = 0, time.monotonic() + PATIENCE
    while calm < CALM and time.monotonic() < end:
        screen.take(0.02)
        calm = 0 if screen.works() else calm + 1


def _change(screen: Screen, tasks: Path, key: bytes) -> bool:
    """Press a key until the file has changed, and wait until that is drawn; return whether it has.

    Once is enough, but where a busy machine has not drawn the change before yet: the key may mean nothing till then.
    """
    before = tasks.read_bytes()
    screen.output.clear()
    end = time.monotonic() + PATIENCE
    while tasks.read_bytes() == before and time.monotonic() < end:
        screen.send(key)
        again = time.monotonic() + AGAIN
        while tasks.read_bytes() == before and time.monotonic() < again:
            screen.take(0.02)
    screen.settle(quiet=QUIET, timeout=2)
    return tasks.read_bytes() != before


def _changes(root: Path, places: Places) -> int:
    """Return how many changes of a person the change log holds."""
    workspace = Workspace.open(root, state_home=state_home(places.environment()))
    return sum(change.actor == "human" for change in workspace.store.history.list(100_000))
