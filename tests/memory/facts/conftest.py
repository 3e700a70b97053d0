"""A workspace with facts, and a naive reading of the format to compare with."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory.facts import FactStore
from memory.facts.model import SHOWN
from memory.workspace import Workspace

NOW = datetime(2026, 2, 26, 12, 0, tzinfo=UTC)


@pytest.fixture
def now() -> datetime:
    """Return the time at which everything happens."""
    return NOW


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Make a workspace that holds nothing but a folder for facts."""
    root = tmp_path / "shop"
    (root / ".aegis" / "memory").mkdir(parents=True)
    return Workspace.open(root, state_home=tmp_path / "state", machine_zone=UTC)


@pytest.fixture
def file(workspace: Workspace) -> Path:
    """Return the path of the file of facts."""
    return workspace.root / SHOWN


@pytest.fixture
def store(workspace: Workspace) -> FactStore:
    """Return the facts of the workspace."""
    store: FactStore = workspace.system("facts").store
    return store


@pytest.fixture
def add(store: FactStore, now: datetime) -> Callable[..., dict[str, Any]]:
    """Return a function that stores a fact and returns the answer for programs."""

    def do(text: str, at: datetime = now, **more: Any) -> dict[str, Any]:
        return store.store(text, actor="cli", now=at, **more).json()

    return do


def line(fact_id: str, text: str, ts: str = "2026-01-01T00:00:00Z", tags: list[str] | None = None) -> bytes:
    """Return one line of the file."""
    values = {"id": fact_id, "scope": "workspace", "text": text, "tags": tags or [], "ts": ts}
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
