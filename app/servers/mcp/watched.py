"""Resources that clients subscribed to and whose files changed; nothing is watched before the first subscription."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING
from urllib.parse import unquote

from memory.errors import BusyError, MemdeckError

from .definitions import BRIEF_URI, ENTRY_URI, FILE_URI

if TYPE_CHECKING:
    from memory.storage.watch import Watcher

    from .calls import Calls

MOST = 500
"""The most resources that are watched."""


class WatchedResources:
    """Calls back with each watched resource that changed, from its own thread."""

    def __init__(self, calls: Calls) -> None:
        """Nothing is watched yet."""
        self._calls = calls
        self._changed: Callable[[str], object] | None = None
        self._entries: dict[str, str | None] = {}
        self._others: dict[str, str] = {}
        self._asked: Counter[str] = Counter()
        self._watcher: Watcher | None = None
        self._mutex = threading.Lock()

    def add(self, uris: Collection[str], changed: Callable[[str], object]) -> None:
        """Watch resources, each until `remove` was called as often; BusyError `mcp.watched`."""
        with self._mutex:
            self._changed = changed
            if len(set(uris) | self._asked.keys()) > MOST:
                raise BusyError("mcp.watched", f"{MOST} resources are watched at most", "unsubscribe from some")
            self._asked.update(uris)
            for uri in uris:
                if uri.startswith(ENTRY_URI):
                    self._entries.setdefault(uri, self._content(uri))
                elif uri == BRIEF_URI or uri.startswith(FILE_URI):
                    self._others[uri] = unquote(uri.removeprefix(FILE_URI))
            if self._watcher is None:
                self._watcher = self._calls.workspace.watcher(self._look)
                self._watcher.start()

    def remove(self, uris: Collection[str]) -> None:
        """Stop watching resources, unless others subscribed to them, too."""
        with self._mutex:
            self._asked.subtract(uris)
            for uri in uris:
                if self._asked[uri] <= 0:
                    del self._asked[uri]
                    self._entries.pop(uri, None)
                    self._others.pop(uri, None)

    def _look(self, names: frozenset[str]) -> None:
        from memory.workspace import MEMORY_FOLDER

        changed_files = {path for name in names for path in (name, f"{MEMORY_FOLDER}/{name}")}
        with self._mutex:
            told = {uri for uri, name in self._others.items() if uri == BRIEF_URI or name in changed_files}
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
        """Stop watching everything."""
        if self._watcher is not None:
            self._watcher.stop()
