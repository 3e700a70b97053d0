"""Detects that files changed: polling decides, the system's notifications only wake it earlier.

(Notification queues overflow, and a folder that is replaced takes its watches along.)
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from .safe_open import ABSENT, UNKNOWN, FileVersion

_PAUSE = 0.03


More = Callable[[], Mapping[str, Path]]
"""Returns further folders by the prefix of their files' names."""


class Watcher:
    """Calls back, from its own thread, with the names of the Markdown files that changed.

    Watched are the files of `folder` and of its `archive`, whether they exist yet or not. Names are relative to
    `folder` (`tasks.md`, `archive/tasks-2024-01.md`); one that appeared or vanished counts as changed, and one that was
    written within the last tick of the file system's clock may be named twice. In further folders all files are
    watched; their names begin with the folder's key in `more`. memdeck's own changes are reported as well. A folder
    that leads out of `within` has no files, unless its key is an absolute path. `interval` is in seconds. An exception
    of the callback or `more` ends nothing.
    """

    def __init__(
        self,
        folder: Path,
        callback: Callable[[frozenset[str]], object],
        interval: float = 1.0,
        *,
        hints: bool = True,
        more: More | None = None,
        within: Path | None = None,
    ) -> None:
        """Store what to watch; without `hints` it only polls. `within` is the workspace (None: anywhere).

        `more` returns further folders; it is called with every poll.
        """
        self.folder = folder
        self.interval = interval
        self._callback = callback
        self._hints = hints
        self._more: More = more or dict
        self._within = None if within is None else os.path.realpath(within).rstrip("/") + "/"
        self._further: Mapping[str, Path] = {}
        self._wake = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memdeck-watch", daemon=True)
        self._seen: dict[str, FileVersion] = {}
        self._observer: Any = None
        self._watched: dict[Path, tuple[int, int]] = {}

    def start(self) -> None:
        """Record the current files and watch from here on, unless it was stopped meanwhile.

        RuntimeError if it was started before.
        """
        self._seen = self._versions()
        self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it; no callback follows. May be called twice, and while it is starting."""
        self._stopped.set()
        self._wake.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stopped.is_set():
                if self._hints:
                    self._listen()
                if self._wake.wait(self.interval):
                    # A write comes as several notifications: let the rest of them arrive first.
                    self._stopped.wait(_PAUSE)
                    self._wake.clear()
                if not self._stopped.is_set():
                    self._poll()
        finally:
            self._silence()

    def _poll(self) -> None:
        """Compare with what was seen last and call back with the difference."""
        now, before = self._versions(), self._seen
        changed = frozenset(n for n in before.keys() | now.keys() if before.get(n, ABSENT) != now.get(n, ABSENT))
        # A version younger than a tick may belong to two contents: report the file once more next time. Not a third
        # time, because a server's clock may always be ahead of ours.
        at = time.time_ns()
        twice = {name for name in changed if before.get(name) != UNKNOWN}
        self._seen = {n: UNKNOWN if n in twice and not v.settled(at) else v for n, v in now.items()}
        if changed:
            with suppress(Exception):
                self._callback(changed)

    def _folders(self) -> list[tuple[str, Path]]:
        """Return the folders in the workspace, and those with a whole path, each with the prefix of its files' names.

        A link in a clone must not cause folders elsewhere to be watched.
        """
        folders = [("", self.folder), ("archive/", self.folder / "archive")]
        folders += [(f"{prefix}/", folder) for prefix, folder in self._further.items()]
        within = self._within
        return [
            (prefix, folder)
            for prefix, folder in folders
            if within is None or prefix.startswith("/") or f"{os.path.realpath(folder)}/".startswith(within)
        ]

    def _versions(self) -> dict[str, FileVersion]:
        """Return the versions of all watched files."""
        with suppress(Exception):  # Else the folders of the last poll are watched.
            self._further = self._more()
        found: dict[str, FileVersion] = {}
        for prefix, folder in self._folders():
            only_markdown = prefix in ("", "archive/")
            # A folder that is missing, or removed while it is read, has no files.
            with suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.endswith(".md") if only_markdown else entry.is_file(follow_symlinks=False):
                        try:
                            found[prefix + entry.name] = FileVersion.of(os.stat(entry.path))
                        except FileNotFoundError:
                            continue
                        except OSError:
                            found[prefix + entry.name] = UNKNOWN
        return found

    def _listen(self) -> None:
        """Subscribe to notifications from the folders that exist now; without them, polling alone is used."""
        found: dict[Path, tuple[int, int]] = {}
        for _, folder in self._folders():
            with suppress(OSError):
                stat = os.stat(folder)
                found[folder] = (stat.st_dev, stat.st_ino)
        if found == self._watched:
            return
        self._silence()
        self._watched = found
        if not found:
            return
        try:
            self._observer = _observer(found, self._wake.set)
        except (ImportError, OSError):
            self._silence()

    def _silence(self) -> None:
        observer, self._observer = self._observer, None
        if observer is not None:
            with suppress(OSError, RuntimeError):
                observer.stop()
                if observer.is_alive():
                    observer.join()


def _observer(folders: Mapping[Path, object], wake: Callable[[], None]) -> Any:
    """Return a started observer that calls `wake` whenever something is written, moved or removed in the folders."""
    # Imported here: reading and changing files never needs it, and it may not be installed.
    from watchdog import events
    from watchdog.observers import Observer

    class FileEvents(events.FileSystemEventHandler):
        def on_any_event(self, event: Any) -> None:  # noqa: ARG002
            wake()

    # Not reads: the watcher's own reads would wake it for ever.
    kinds = [
        *(events.FileCreatedEvent, events.FileModifiedEvent, events.FileClosedEvent),
        *(events.FileMovedEvent, events.FileDeletedEvent),
        *(events.DirCreatedEvent, events.DirModifiedEvent, events.DirMovedEvent, events.DirDeletedEvent),
    ]
    observer = Observer()
    for folder in folders:
        observer.schedule(FileEvents(), str(folder), event_filter=kinds)
    observer.start()
    return observer
