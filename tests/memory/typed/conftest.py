"""Agents on a real disk, in a home of their own, with files as old as a test wants them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.storage import Store
from memory.typed.registry import Agent, read_registry, store_of

NOW = datetime(2026, 4, 18, 12, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Den:
    """A home with a registry, and the folders of its agents."""

    top: Path
    names: list[str] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.top / "home"

    @property
    def state(self) -> Path:
        return self.top / "state"

    def add(self, name: str, aidefile: str = "", *, at: str | None = None, registered: bool = True) -> Path:
        """Make the folder of an agent, with an Aidefile, and register it."""
        folder = self.top / (at or name)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "Aidefile").write_text(aidefile)
        if registered:
            self.names.append(f'[[agents]]\nname = "{name}"\npath = "{folder}"\n')
            self.register("\n".join(self.names))
        return folder

    def register(self, text: str) -> None:
        """Write the registry."""
        (self.home / ".aide").mkdir(parents=True, exist_ok=True)
        (self.home / ".aide" / "config.toml").write_text(text)

    def agent(self, name: str) -> Agent:
        """Return a registered agent."""
        return next(agent for agent in read_registry(self.home) if agent.name == name)

    def store(self, agent: Agent) -> Store:
        """Return the store of an agent."""
        return store_of(agent.folder, self.state)


def put(folder: Path, path: str, text: str = "x\n", *, days: float = 0, extra_ns: int = 0) -> Path:
    """Write a file that is as many days old at `NOW`; `extra_ns` makes it older still."""
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    when = int((NOW - timedelta(days=days)).timestamp()) * 1_000_000_000 - extra_ns
    os.utime(place, ns=(when, when))
    return place


def tree(folder: Path) -> Mapping[str, bytes]:
    """Return the files of a folder but memdeck's own, by their paths."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".memdeck" not in path.parts
    }


@pytest.fixture
def den(tmp_path: Path) -> Den:
    """An empty home."""
    (tmp_path / "home").mkdir()
    return Den(tmp_path)
