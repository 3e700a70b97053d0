"""The titles of sessions of Codex, as its index tells them."""

from __future__ import annotations

import os
import stat
from functools import lru_cache
from pathlib import Path

from memory.storage.files.safe_open import open_beneath

from .lines import read_lines

_MOST_BYTES = 64 << 20


def title_of(index: Path, session: str) -> str | None:
    """Return the title of a session; None where the index has none or cannot be read."""
    try:
        found = os.stat(index)
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return _titles(str(index), (found.st_mtime_ns, found.st_size)).get(session)


@lru_cache(maxsize=4)
def _titles(index: str, version: tuple[int, int]) -> dict[str, str]:
    """Read an index once for each of its versions; of equal ids the last line counts."""
    titles: dict[str, str] = {}
    path = Path(index)
    try:
        with os.fdopen(open_beneath(path.name, path.parent), "rb") as file:
            for line in read_lines(file, min(version[1], _MOST_BYTES)):
                record = line.record or {}
                name, title = record.get("id"), record.get("thread_name")
                if isinstance(name, str) and isinstance(title, str) and title.strip():
                    titles[name] = title
    except OSError:
        return {}
    return titles
