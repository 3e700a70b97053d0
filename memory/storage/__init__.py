"""The only package that writes files: reading in a workspace, the lock, transactions, their history.

Import `memory.storage.fsio` for the few file-changing calls that do not change memory, and `memory.storage.watch` for
the watcher.
"""

from __future__ import annotations

from .changes import Change, FileChange
from .own_folders import PrivateState
from .safe_open import ABSENT, MISSING, FileVersion, Stored
from .store import Store

__all__ = [
    "ABSENT",
    "MISSING",
    "Change",
    "FileChange",
    "FileVersion",
    "PrivateState",
    "Store",
    "Stored",
]
