"""Where a session of tests writes: a folder of its own, in memory where the machine has a place for that.

pytest would number the folder: a session that passed removes it before its lock, so one that begins in between gets
the same number, loses its lock to the end of the first, and then all its files to the next.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "memdeck-tests-"


def place() -> Path:
    """Return where sessions have their folders: what is forced to a disk takes as long as others keep that busy."""
    given = os.environ.get("PYTEST_DEBUG_TEMPROOT")
    return Path(given or ("/dev/shm" if _has_room("/dev/shm") else tempfile.gettempdir()))


def _has_room(folder: str) -> bool:
    """Whether a folder can hold what the tests write: some hundred MB at a time."""
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize > 2 << 30


def session_folder(root: Path) -> Path:
    """Return the folder of this process, which is not made yet; remove those of processes that ended."""
    for left in root.glob(f"{PREFIX}*"):
        if not _is_alive(left.name.removeprefix(PREFIX)):
            shutil.rmtree(left, ignore_errors=True)
    return root / f"{PREFIX}{os.getpid()}"


def _is_alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, ValueError, OverflowError):
        return True
    return True
