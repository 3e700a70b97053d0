"""Workspaces for the tests of the application: the sample files of the format."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_workspace
from tests.fixture_files import SAMPLE


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """The sample files, on disk."""
    return make_workspace(tmp_path, {path.name: path.read_text("utf-8") for path in sorted(SAMPLE.glob("*.md"))})
