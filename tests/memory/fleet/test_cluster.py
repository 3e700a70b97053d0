"""The server of the tests: it ends with the process that started it, whatever ends that."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE, until
from tests.postgres import Cluster

_WORKER = """
import sys
from tests.postgres import running
with running() as made:
    print(made.folder, flush=True)
    sys.stdin.read()
"""


def test_the_server_ends_with_a_test_process_that_was_killed(cluster: Cluster) -> None:
    """A worker that is killed leaves no server and no folder behind."""
    worker = subprocess.Popen([sys.executable, "-c", _WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert worker.stdout is not None
    folder = Path(os.fsdecode(worker.stdout.readline().strip()))
    pid = int((folder / "data/postmaster.pid").read_text().split()[0])
    os.kill(pid, 0)
    worker.send_signal(signal.SIGKILL)
    worker.communicate(timeout=PATIENCE)

    def gone() -> bool:
        return not Path(f"/proc/{pid}").exists() and not folder.exists()

    until(gone, lambda: (pid, folder))
