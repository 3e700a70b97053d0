"""Leaving the application: whatever moment its terminal goes, or it is left in, the process is soon gone."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contract.place import NOW, Place
from tests.patience import until
from tests.terminal.pseudo import Pseudo
from tests.terminal.tmux import memdeck

SECONDS = 2.0
"""How long the application may go on, without the time for which other programs have the processors."""

TASKS = ".aiter/memory/tasks.md"
UNMOVED = ("sh", "-c", 'trap : HUP; "$@"; exit 7', "sh")
"""A leader of the session that gets the signal for a closed terminal, and passes it on to no one."""


@pytest.fixture
def large(workspace: Place) -> Place:
    """Return a workspace whose 20,000 tasks are still read while the first of them are on the screen."""
    notes = "what is known about it so far, " * 15
    tasks = "".join(
        f"### [NORMAL] Task number {number}\n- created: 2026-02-01 09:00\n- notes: {notes}\n\n"
        for number in range(20_000)
    )
    workspace.write(TASKS, f"# Tasks\n\n## Pending\n\n{tasks}## In Progress\n\n## Completed (last 7 days)\n")
    return workspace


def opened(place: Place, *leader: str, editor: str = "true") -> Pseudo:
    """Open the application in a terminal of its own, itself or by another program that leads the session."""
    environ = {**place.environment, "EDITOR": editor}
    return Pseudo(place.work, [*leader, *memdeck(str(place.work), "--now", NOW)], environ)


def starting(terminal: Pseudo) -> None:
    """It was just started."""


def drawing(terminal: Pseudo) -> None:
    """It has taken the terminal, and nothing is drawn yet."""
    terminal.wait_for("\x1b[?1049h")


def reading(terminal: Pseudo) -> None:
    """The first titles are on the screen, and the rest is still read."""
    terminal.wait_for("Task number")


def in_a_form(terminal: Pseudo) -> None:
    """A form is open, and a title is half typed."""
    reading(terminal)
    terminal.type("a")
    terminal.wait_for("New task")
    terminal.type("Half a ti")
    terminal.wait_for("Half a ti")


def in_the_editor(terminal: Pseudo) -> None:
    """The person's own editor has the terminal."""
    reading(terminal)
    terminal.type("E")
    terminal.wait_for("in the editor")


def leaving(terminal: Pseudo) -> None:
    """It was left, and has just given the screen back."""
    reading(terminal)
    terminal.type("q")
    terminal.wait_for("\x1b[?1049l")


def asked_to_leave(terminal: Pseudo) -> None:
    """The key that leaves was just pressed."""
    reading(terminal)
    terminal.type("q")


def suspended(terminal: Pseudo) -> None:
    """It was suspended, as a shell's job is."""
    reading(terminal)
    os.kill(terminal.process.pid, signal.SIGTSTP)
    state = Path(f"/proc/{terminal.process.pid}/stat")

    def stopped() -> bool:
        terminal.read(0.01)
        return state.read_text().rpartition(") ")[2][:1] == "T"

    until(stopped)


def editor_in(place: Place) -> str:
    """Return an editor that ends neither with its terminal nor soon."""
    script = place.top / "editor"
    script.write_text("#!/bin/sh\ntrap '' HUP\necho in the editor\nexec sleep 20\n", encoding="utf-8")
    script.chmod(0o755)
    return str(script)


MOMENTS = [starting, drawing, reading, in_a_form, in_the_editor, asked_to_leave, leaving]


@pytest.mark.thorough(but=("in_a_form-below a shell",))
@pytest.mark.parametrize("leader", [(), UNMOVED], ids=["alone", "below a shell"])
@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment.__name__)
def test_it_ends_with_its_terminal(large: Place, moment: Callable[[Pseudo], None], leader: tuple[str, ...]) -> None:
    """The terminal is closed, and the process is gone: no thread reads a terminal that is not there for ever."""
    with opened(large, *leader, editor=editor_in(large)) as terminal:
        moment(terminal)
        terminal.hang_up()
        assert terminal.ended() < SECONDS


@pytest.mark.thorough
def test_it_ends_with_its_terminal_while_it_is_suspended(large: Place) -> None:
    """The system wakes what is suspended when its terminal is closed."""
    with opened(large) as terminal:
        suspended(terminal)
        terminal.hang_up()
        assert terminal.ended() < SECONDS


@pytest.mark.thorough(but=("in_the_editor-SIGTERM",))
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda number: number.name)
@pytest.mark.parametrize("moment", [reading, in_the_editor, leaving], ids=lambda moment: moment.__name__)
def test_a_signal_ends_it(large: Place, moment: Callable[[Pseudo], None], number: signal.Signals) -> None:
    """The terminal is given back, whatever is still read or waited for."""
    with opened(large, editor=editor_in(large)) as terminal:
        moment(terminal)
        os.kill(terminal.process.pid, number)
        assert terminal.ended() < SECONDS
        assert b"\x1b[?1049l" in terminal.output.rpartition(b"\x1b[?1049h")[2]


@pytest.mark.thorough
def test_what_was_saved_is_there_although_it_was_left_at_once(large: Place) -> None:
    """The key that leaves comes right behind the one that saves; the task is in the file when the process is gone."""
    with opened(large) as terminal:
        in_a_form(terminal)
        terminal.type("tle\x13q")
        assert terminal.ended() < SECONDS
    assert b"### [NORMAL] Half a title\n" in large.read(TASKS)


@pytest.mark.thorough
def test_what_was_typed_is_offered_again(large: Place) -> None:
    """A form that was open when the terminal closed is a draft at the next start."""
    with opened(large) as terminal:
        in_a_form(terminal)
        terminal.hang_up()
        terminal.ended()
    with opened(large) as terminal:
        terminal.wait_for("was not saved")
