"""The client that the tests of hooks share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.hooks.client import Client


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """Return a client in a new workspace."""
    return Client(tmp_path)
