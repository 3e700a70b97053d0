"""The store of an agent's files: rooted in its folder, with the change log of the workspace that contains it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from memory.errors import MemdeckError
from memory.registry import workspace_of
from memory.review.gate import pass_or_hold
from memory.storage import PrivateState, Store
from memory.storage.changes import PlainReading

from .files import LOCK, PRIVATE
from .registry import agents_of, read_registry


class TypedReading(PlainReading):
    """Reads an agent's files for the history: Markdown by sections, any other file as bytes."""

    def __init__(self, folder: str = "") -> None:
        """`folder` is the agent's folder, whose name is the agent's name in the history."""
        self._owner = f"agent:{folder.rpartition('/')[2]}"

    def owner(self, path: str) -> str | None:
        """Return the agent that owns a file; None for the Aidefile and the core files, which a person sets up."""
        return None if self.lasts(path) else self._owner

    def knows(self, path: str) -> bool:
        """Return whether a file belongs to the agent: any but sentinels and memdeck's own."""
        return not path.endswith(LOCK) and PRIVATE not in path.split("/")

    def lasts(self, path: str) -> bool:
        """Return whether a path is the Aidefile or in a folder `core`; other files are made and expire."""
        return path == "Aidefile" or "core" in path.split("/")[:-1] or path.endswith("/core.md")


def store_of(folder: Path, state_home: Path | None, home: Path | None = None) -> Store:
    """Return the store of an agent; its lock and history are the same wherever the caller is.

    They are those of the workspace that contains the folder, or of the folder itself. `state_home` is None for the one
    that the environment names, `home` the person's home folder.
    """
    real = os.path.realpath(folder)
    root = Path(workspace_of(real) or real)
    state = PrivateState(state_home, root, home)
    return Store(Path(real), state=state, workspace=root, reading=TypedReading(real), gate=pass_or_hold)


def path_in(store: Store, path: str | os.PathLike[str]) -> str:
    """Return a path of an agent's file relative to its folder, links of folders resolved.

    `path` is absolute, or relative to the agent's folder. Raises MemdeckError `typed.outside`.
    """
    top = os.path.realpath(store.root)
    text = os.fspath(path)
    if not text or "\0" in text:
        raise MemdeckError("typed.outside", "an empty path names no file", "name a file of the agent")
    place = os.path.join(top, text)
    folder, name = os.path.split(os.path.normpath(place))
    real = os.path.join(os.path.realpath(folder), name)
    if not real.startswith(top.rstrip("/") + "/"):
        raise MemdeckError(
            "typed.outside", f"{text[:200]!r} is outside of the agent's folder", "name a file of the agent", path=text
        )
    return real[len(top.rstrip("/")) + 1 :]


def outside(root: Path, home: Path, state_home: Path) -> Iterator[Store]:
    """Yield the stores of the registered agents outside of a workspace; none where the registry cannot be read."""
    with suppress(MemdeckError):
        inside = {agent.folder for agent in agents_of(root, home)}
        for agent in read_registry(home):
            if agent.folder not in inside and agent.folder.is_dir():
                yield store_of(agent.folder, state_home, home)
