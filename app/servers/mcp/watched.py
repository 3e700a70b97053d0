"""What clients want to hear of: resources whose files changed; nothing is watched before somebody asks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from memory.errors import MemdeckError

from .definitions import BRIEF_URI, ENTRY_URI, FILE_URI

if TYPE_CHECKING:
    from memory.storage.watch import Watcher
    from memory.workspace import Workspace

    from .calls import Calls

MOST = 500
"""So many resources are watched at most; the first ones stay."""


class WatchedResources:
    """Calls back with each watched resource that changed, from a thread of its own."""

    def __init__(self, workspace: Workspace, calls: Calls) -> None:
        """Nothing is watched yet."""
        self._workspace = workspace
        self._calls = calls
        self._changed: Callable[[str], object] | None = None
        self._entries: dict[str, str | None] = {}
        self._others: set[str] = set()
        self._watcher: Watcher | None = None
        self._mutex = threading.Lock()

    def add(self, uris: list[str], changed: Callable[[str], object]) -> None:
        """Watch resources from here on."""
        with self._mutex:
            self._changed = changed
            for uri in uris:
                if len(self._entries) + len(self._others) >= MOST:
                    break
                if uri.startswith(ENTRY_URI):
                    self._entries.setdefault(uri, self._content(uri))
                elif uri == BRIEF_URI or uri.startswith(FILE_URI):
                    self._others.add(uri)
            if self._watcher is None:
                self._watcher = self._workspace.watcher(self._look)
                self._watcher.start()

    def _look(self, names: frozenset[str]) -> None:
        from urllib.parse import quote

        from memory.workspace import MEMORY_FOLDER

        with self._mutex:
            told = {BRIEF_URI} & self._others
            for name in names:
                for path in (name, f"{MEMORY_FOLDER}/{name}"):
                    told |= {FILE_URI + quote(path, safe="/")} & self._others
            for uri, before in self._entries.items():
                now = self._content(uri)
                if now != before:
                    self._entries[uri] = now
                    told.add(uri)
            changed = self._changed
        for uri in sorted(told):
            if changed is not None:
                changed(uri)

    def _content(self, uri: str) -> str | None:
        try:
            return self._calls.resource(uri)[0]
        except MemdeckError:
            return None

    def close(self) -> None:
        """Watch nothing any more."""
        if self._watcher is not None:
            self._watcher.stop()
