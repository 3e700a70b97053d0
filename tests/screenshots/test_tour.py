"""The recorded tour: what was recorded can be played, and shows what the application drew."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from screenshots.tour import SIZE, Recording, Step, record, tour
from tests.terminal.tmux import Terminal, needs_tmux

CAST = Path(__file__).parents[2] / "screenshots" / "tour.cast"


def play(cast: str) -> tuple[dict[str, object], list[tuple[float, str]]]:
    """The header and the output of a cast."""
    header, *events = map(json.loads, cast.splitlines())
    assert all(kind == "o" for _, kind, _ in events)
    return header, [(at, text) for at, _, text in events]


def test_the_cast_can_be_played() -> None:
    """Version 2, times that go forward, a minute, and no path of the machine it was recorded on."""
    header, events = play(CAST.read_text("utf-8"))
    assert header["version"] == 2
    assert (header["width"], header["height"]) == SIZE
    times = [at for at, _ in events]
    assert times == sorted(times)
    assert 30 < times[-1] < 90
    text = "".join(text for _, text in events)
    for words in ("FAILING", "Rotate the API keys", "Heartbeat Check", "~/src/shop"):
        assert words in text
    assert "/tmp" not in text
    assert text.count("\x1b[?1049l") == 1


def test_any_program_is_recorded() -> None:
    """Output in pieces with their times, keys that are pressed, and how it ended."""
    script = "name = input('who? '); print('hello', name); raise SystemExit(3)"
    found = record([sys.executable, "-c", script], dict(os.environ), [Step("me\r", 0.1)], (40, 5), ready="who?")
    header, events = play(found.cast("a test"))
    assert found.code == 3
    assert (header["width"], header["title"]) == (40, "a test")
    assert "hello me" in "".join(text for _, text in events)


@pytest.mark.thorough
@pytest.mark.terminal
@needs_tmux
def test_the_cast_shows_what_was_drawn(tmp_path: Path) -> None:
    """A terminal shows the same characters in the same colours for the cast as for the recorded output."""
    found: Recording = tour([Step("2", 0.5), Step("j", 0.3), Step("L", 0.5)], (80, 24), patience=0.1)
    shown = []
    raw = "".join(text for _, text in found.events)
    cast = "".join(text for _, text in play(found.cast("a test"))[1])
    end = "\x1b[?1049l"
    for number, text in enumerate((raw, cast)):
        (tmp_path / f"{number}").mkdir()
        path = tmp_path / f"{number}" / "output"
        path.write_text(text.split(end)[0] + "\x1b[0m\x1b[24;1Hplayed", encoding="utf-8")
        with Terminal(tmp_path / f"{number}", ["sh", "-c", f"cat {path}; exec cat"], (80, 24), {}) as terminal:
            terminal.wait_for("played")
            shown.append(terminal.screen(escapes=True))
    assert "Deploy v2.1" in shown[0]
    assert shown[1] == shown[0]
