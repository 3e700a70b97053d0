"""The part of a memory system that a workspace uses. A type only: short commands do not load it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class Attached(Protocol):
    """The part of a memory system that a workspace uses; `memory.systems.System` is the whole.

    Paths are relative to the workspace.
    """

    @property
    def name(self) -> str:
        """The name under which it is registered."""

    def present(self) -> bool:
        """Return whether the workspace holds this system."""

    def files(self) -> Iterable[str]:
        """Yield the files that the history checks for changes of other programs, as paths in the workspace."""

    def folders(self) -> Iterable[str]:
        """Yield the folders to watch while the application is open, as paths in the workspace."""

    def look(self) -> object:
        """Return a snapshot of it for panes: immutable, and the same object as long as its files are unchanged."""

    def adopt(self, folder: str) -> None:
        """Add a folder of a `listed` system that is not listed, for its history."""

    def close(self) -> None:
        """Close what it opened; the next use opens it again."""
