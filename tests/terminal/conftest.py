"""The workspace of the tests in a real terminal."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.terminal.tmux import memdeck

HOUSE = Path(__file__).parents[2]
NOW = "2024-01-15T10:50:00Z"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Return a sample workspace."""
    environ = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "TZ": "UTC", "PYTHONPATH": str(HOUSE)}
    subprocess.run(
        memdeck("demo", str(tmp_path / "shop"), "--no-open", "--now", NOW),
        check=True,
        env=environ,
        cwd=tmp_path,
        timeout=PATIENCE,
    )
    return tmp_path / "shop"
