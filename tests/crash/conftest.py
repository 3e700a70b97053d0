"""What every test of the crash harness stands on."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def top() -> Iterator[Path]:
    """Make a folder in memory, where syncing costs nothing."""
    folder = tempfile.mkdtemp(prefix="memdeck-crash-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    yield Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
