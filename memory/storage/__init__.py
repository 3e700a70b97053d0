"""The only room that writes: reading beneath a workspace, the lock, transactions, their history.

Import `memory.storage.fsio` for the few file-changing calls that are no change of memory, and
`memory.storage.watch` for the watcher.
"""

from __future__ import annotations

from .changes import Change, FileChange
from .files.version import ABSENT, MISSING, Stored, Version
from .private.state import Recorded, State
from .store import Store

__all__ = ["ABSENT", "MISSING", "Change", "FileChange", "Recorded", "State", "Store", "Stored", "Version"]
