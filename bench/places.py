"""The generated workspaces on disk and the programs that are measured on them."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from bench.measure import Unavailable
from bench.workspaces import EPOCH, size_of, write_workspace

NOW: datetime = EPOCH
ROOT = Path(__file__).resolve().parent.parent


class Places:
    """One temporary folder for a run: workspaces by size, copies of them, and a home of its own."""

    def __init__(self, folder: Path) -> None:
        """Use `folder`, which must exist."""
        self.folder = folder
        self._copies = 0

    @functools.cache  # noqa: B019 - one object lives for one run
    def workspace(self, name: str) -> Path:
        """Return the root of the workspace of that size, generated on first use; nobody may change it."""
        root = self.folder / f"workspace-{name}"
        write_workspace(root, size_of(name), NOW)
        return root

    def copy(self, name: str) -> Path:
        """Return the root of a fresh copy of the workspace of that size."""
        self._copies += 1
        root = self.folder / f"copy-{self._copies}"
        shutil.copytree(self.workspace(name), root)
        return root

    def memory(self, root: Path) -> Path:
        """Return the memory folder of a workspace root."""
        return root / ".aiter" / "memory"

    def environment(self) -> dict[str, str]:
        """Return an environment in which programs leave nothing outside the temporary folder."""
        kept = {key: os.environ[key] for key in ("PATH", "USER", "TMPDIR") if key in os.environ}
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        return kept | {
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "TZ": "UTC",
            "PYTHONPATH": str(ROOT),
        }

    def run(self, command: Sequence[str | Path], cwd: Path | None = None, *, codes: Sequence[int] = (0,)) -> None:
        """Run a program to its end with its output thrown away; Unavailable if it fails."""
        done = subprocess.run(
            [str(word) for word in command],
            cwd=cwd or self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        if done.returncode not in codes:
            words = done.stderr.decode("utf-8", "replace").strip().splitlines() or [""]
            raise Unavailable(f"{Path(command[0]).name} exits with {done.returncode}: {words[-1]}")


def memdeck() -> str:
    """Return the path of the `memdeck` command beside this Python; Unavailable if it is not installed."""
    beside = Path(sys.executable).with_name("memdeck")
    if not beside.exists():
        raise Unavailable("the memdeck command is not installed beside this Python")
    return str(beside)


def temporary() -> tempfile.TemporaryDirectory[str]:
    """Return a temporary folder for `Places`."""
    return tempfile.TemporaryDirectory(prefix="memdeck-bench-")
