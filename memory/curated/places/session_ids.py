"""The ids of sessions: each names a folder, so it is one safe path segment."""

from __future__ import annotations

import re

from memory.base.patterns import late
from memory.errors import UsageError

_SEGMENT = late(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}", re.ASCII)


def is_segment(name: str) -> bool:
    """Tell whether a name may be that of a folder or file of a session."""
    return _SEGMENT.fullmatch(name) is not None and ".." not in name


def check_session(name: str) -> str:
    """Return the id of a session; UsageError `memory.validation` where it is not one safe path segment."""
    if not is_segment(name):
        raise UsageError("memory.validation", f"{name[:60]!r} cannot be the id of a session", field="session_id")
    return name
