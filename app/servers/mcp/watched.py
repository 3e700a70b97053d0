"""Resources that clients subscribed to and whose content changed; nothing is watched before the first subscription."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from memory.errors import BusyError, MemdeckError

if TYPE_CHECKING:
    from memory.storage.watch import Watcher

    from .calls import Calls

MOST = 500
"""The most resources that are watched."""


class WatchedResources:
    """Calls back with each watched resource whose content changed, from its own thread."""

    def __init__(self, calls: Calls) -> None:
        """Nothing is watched yet."""
        self._calls = calls
        self._changed: Callable[[str], object] = str
        self._known: dict[str, str | None] = {}
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
                self._known.setdefault(uri, self._content(uri))
            if self._watcher is None:
                self._watcher = self._calls.workspace.watcher(self._look)
                self._watcher.start()

    def remove(self, uris: Collection[str]) -> None:
        """Stop watching resources, unless others subscribed to them, too."""
        with self._mutex:
            self._asked.subtract(uris)
            self._asked = +self._asked
            self._known = {uri: content for uri, content in self._known.items() if uri in self._asked}
            idle = None if self._asked else self._watcher
            self._watcher = None if idle else self._watcher
        if idle is not None:
            idle.stop()

    def _look(self, _names: frozenset[str]) -> None:
        with self._mutex:
            now = {uri: self._content(uri) for uri in self._known}
            told = [uri for uri, content in now.items() if content != self._known[uri]]
            self._known, changed = now, self._changed
        for uri in told:
            changed(uri)

    def _content(self, uri: str) -> str | None:
        try:
            return self._calls.resource(uri)[0]
        except MemdeckError:
            return None
