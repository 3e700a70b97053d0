"""The only package that writes files: reading in a workspace, the lock, transactions, their history.

Import `memory.storage.fsio` for the few file-changing calls that do not change memory, and `memory.storage.watch` for
the watcher.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from .changes import Change, FileChange
    from .own_folders import PrivateState, RecordedTimes
    from .safe_open import ABSENT, MISSING, FileVersion, Stored
    from .store import Store

__all__ = [
    "ABSENT",
    "MISSING",
    "Change",
    "FileChange",
    "FileVersion",
    "PrivateState",
    "RecordedTimes",
    "Store",
    "Stored",
]

_PLACES = {
    "Change": "changes",
    "FileChange": "changes",
    "RecordedTimes": "own_folders",
    "PrivateState": "own_folders",
    "Store": "store",
    "ABSENT": "safe_open",
    "MISSING": "safe_open",
    "Stored": "safe_open",
    "FileVersion": "safe_open",
}


def __getattr__(name: str) -> Any:
    """Return a name of this package, imported on first use: reading one private file needs no more."""
    from importlib import import_module

    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = found
    return found
