"""How a server ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.desks import make_workspace
from tests.patience import PATIENCE, line_of, until

from .serving import COMMAND, environment, serving


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.thorough(but=("SIGTERM",))
def test_a_signal_ends_it(tmp_path: Path, number: signal.Signals) -> None:
    """It ends with exit code 0 and takes its socket away."""
    path = tmp_path / "s"
    with serving(make_workspace(tmp_path), "--port", "0", "--socket", str(path)) as api:
        assert path.is_socket()
        api.process.send_signal(number)
        assert api.process.wait(PATIENCE) == 0
    assert not path.exists()


def test_it_ends_with_the_program_that_started_it(tmp_path: Path) -> None:
    """When its parent is killed the server ends by itself, and no socket is left."""
    root = make_workspace(tmp_path)
    path = tmp_path / "s"
    code = "import subprocess,sys; p = subprocess.Popen(sys.argv[1:]); print(p.pid, flush=True); p.wait()"
    words = [*COMMAND, "api", "-w", str(root), "-o", "json", "--socket", str(path)]
    parent = subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE, env=environment(root))
    assert parent.stdout is not None
    with parent.stdout:
        number = int(line_of(parent.stdout))
        assert json.loads(line_of(parent.stdout))["socket"] == str(path)
        parent.kill()
        parent.wait(PATIENCE)
        until(lambda: not _lives(number), lambda: "the server still runs")
    assert not path.exists()


def _lives(number: int) -> bool:
    try:
        os.kill(number, 0)
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"
