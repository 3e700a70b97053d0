"""The only room that writes: reading beneath a workspace, the lock, transactions, their history.

Import `memory.storage.fsio` for the few file-changing calls that are no change of memory, and
`memory.storage.watch` for the watcher.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .changes import Change, FileChange
    from .files.version import ABSENT, MISSING, FileVersion, Stored
    from .state import PrivateState, RecordedTimes
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
    "RecordedTimes": "state",
    "PrivateState": "state",
    "Store": "store",
    "ABSENT": "files.version",
    "MISSING": "files.version",
    "Stored": "files.version",
    "FileVersion": "files.version",
}


def __getattr__(name: str) -> Any:
    """Return a name of this room, imported when it is first asked for: who reads one private file needs no more."""
    from importlib import import_module

    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = found
    return found
