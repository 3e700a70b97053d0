"""Many checks at once: bounded, each once at a time, called off at once, and done when the slowest are."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from memory.files.monitors import Monitor
from memory.monitoring.checks import run_checks
from memory.monitoring.result import Around
from tests.memory.monitoring.monitoring_places import NOW, approved, http_server, monitors_of, state_of
from tests.patience import PATIENCE, Stopwatch

Plan = tuple[Monitor, Callable[[], object]]


def plan(root: Path, *sources: str, cancel: threading.Event | None = None) -> tuple[list[Plan], Around]:
    """Return approved monitors and what is around them."""
    monitors = monitors_of(*sources)
    around = Around(root, NOW, environ=os.environ, cancel=cancel, state=state_of(root))
    return [(monitor, partial(approved, monitor)) for monitor in monitors], around


def sleeper(name: str, text: str) -> str:
    """Return the source of a command monitor."""
    return f"{name}\n- type: command\n- command: {text}\n- folder: .\n- timeout: 20s\n"


def test_all_can_be_called_off(tmp_path: Path) -> None:
    """Calling off ends what runs, skips what waits, and leaves no result out."""
    cancel = threading.Event()
    sources = [sleeper(f"M{number}", "echo x >> ran; sleep 20") for number in range(6)]
    planned, around = plan(tmp_path, *sources, cancel=cancel)
    threading.Timer(0.3, cancel.set).start()
    watch = Stopwatch()
    results = [result for _, result in run_checks(planned, around, limit=2)]
    assert watch.seconds() < 5
    assert [(result.state, result.summary) for result in results] == [("skipped", "cancelled")] * 6
    assert (tmp_path / "ran").read_text() == "x\n" * 2


def test_a_hanging_server_is_called_off_too(tmp_path: Path) -> None:
    """A request that waits for its answer ends as soon as it is called off."""
    cancel = threading.Event()
    let_go = threading.Event()
    watch: list[Stopwatch] = []

    def hang(_handler: object) -> None:
        watch.append(Stopwatch())
        cancel.set()
        let_go.wait(PATIENCE)

    with http_server(hang) as (port, asked):  # type: ignore[arg-type]
        planned, around = plan(tmp_path, f"M\n- type: http\n- url: http://127.0.0.1:{port}/\n", cancel=cancel)
        ((_, result),) = run_checks(planned, around)
        assert watch[0].seconds() < 3
        assert len(asked) == 1
        let_go.set()
    assert (result.state, result.summary) == ("skipped", "cancelled")
