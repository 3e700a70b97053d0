"""The memory systems of one workspace as the workspace itself needs them: made once each, and none spoils another."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from .errors import MemdeckError
from .registry import registered, system_name

if TYPE_CHECKING:
    from .registry import SystemName

T = TypeVar("T")
FAILED = "system.failed"
"""The code of errors of which the cause is the code of a memory system."""
_NONE: tuple[str, ...] = ()


class Attached(Protocol):
    """What a workspace itself asks of a memory system; `memory.systems.System` has all of it."""

    @property
    def name(self) -> str:
        """The name under which it is registered."""

    def present(self) -> bool:
        """Tell whether the workspace holds this system."""

    def files(self) -> Iterable[str]:
        """Yield the files that the history looks at for changes of other programs, as seen from the workspace."""

    def folders(self) -> Iterable[str]:
        """Yield the folders to watch while a person looks, as seen from the workspace."""

    def look(self) -> object:
        """Return one look at it for panes: immutable, and the same as long as its files are."""

    def adopt(self, folder: str) -> None:
        """Take in a folder of a `listed` system that nobody listed, for its history."""

    def close(self) -> None:
        """Close what it opened; the next question opens it again."""


class Systems:
    """The systems of the workspace at `root`; each is made from the workspace when it is asked for the first time.

    One whose code fails has no answer; `check` and `doctor` say so.
    """

    def __init__(self, root: Path, home: Path | None, workspace: object) -> None:
        """Keep where things are; nothing is imported yet."""
        self._root = root
        self._home = home
        self._workspace = workspace
        self._made: dict[str, Attached] = {}
        self._failed: dict[str, MemdeckError] = {}

    def get(self, name: str) -> Attached:
        """Return a system, present or not; MemdeckError `system.failed` where it cannot be made."""
        known = self._made.get(name)
        if known is None:
            if name in self._failed:
                # Its stores were added already: it is not tried again.
                raise self._failed[name].with_traceback(None)
            module, _, made = system_name(name).place.partition(":")
            try:
                known = getattr(import_module(module), made)(self._workspace)
            except MemoryError:
                raise
            except Exception as error:
                self._failed[name] = system_failed(name, "load", error)
                raise self._failed[name] from error
            known = self._made.setdefault(name, known)
        return known

    def names(self) -> tuple[str, ...]:
        """Return the names of the systems that are here; one is imported only where the home folder lists it."""
        return tuple(one.name for one in registered() if os.path.lexists(self._root / one.mark) or self._is_listed(one))

    def _is_listed(self, system: SystemName) -> bool:
        """Tell whether the home folder lists something of a system that lies in the workspace."""
        if not system.listed or self._home is None or not os.path.lexists(self._home / system.listed):
            return False
        return self._asked(system.name, lambda found: found.present(), False)

    def present(self) -> tuple[str, ...]:
        """Return the names of the systems that are present; one that fails counts as present where its mark is."""
        return tuple(name for name in self.names() if self._asked(name, lambda found: found.present(), True))

    def files(self) -> frozenset[str]:
        """Return the files that the history looks at for changes of other programs, as seen from the workspace."""
        return frozenset(path for name in self.present() for path in self._asked(name, _files_of, _NONE))

    def folders(self) -> tuple[str, ...]:
        """Return the folders to watch, as seen from the workspace."""
        return tuple(path for name in self.present() for path in self._asked(name, _folders_of, _NONE))

    def look(self, name: str) -> object:
        """Return the look at a system; MemdeckErrors of the system, and `system.failed` for any other."""
        try:
            return self.get(name).look()
        except (MemdeckError, MemoryError):
            raise
        except Exception as error:
            raise system_failed(name, "look", error) from error

    def add_around(self, path: str) -> None:
        """Add the stores of all systems that are present, and of one whose mark is around a file of the workspace."""
        self.present()
        for system in registered():
            folder = os.path.dirname(path) if system.listed else ""
            while folder:
                if os.path.lexists(self._root / folder / system.mark):
                    self._asked(system.name, lambda found, folder=folder: found.adopt(folder), None)  # type: ignore[misc]
                folder = os.path.dirname(folder)

    def close(self) -> None:
        """Close what the systems opened that were asked; one that fails at it keeps no other one open."""
        for name in tuple(self._made):
            self._asked(name, lambda found: found.close(), None)

    def _asked(self, name: str, ask: Callable[[Attached], T], otherwise: T) -> T:
        """Return what a system answers, `otherwise` where it fails."""
        try:
            return ask(self.get(name))
        except MemoryError:
            raise
        except Exception:
            return otherwise


def _files_of(system: Attached) -> tuple[str, ...]:
    return tuple(system.files())


def _folders_of(system: Attached) -> tuple[str, ...]:
    return tuple(system.folders())


def system_failed(name: str, hook: str, error: Exception) -> MemdeckError:
    """Return what is said of a system whose code failed."""
    title = system_name(name).title
    why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return MemdeckError(FAILED, f"{title} failed at {hook}: {why}", f"report it to the makers of {name}", system=name)
