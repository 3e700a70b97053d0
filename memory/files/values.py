"""The values of fields as they are read in every memory file: text, progress, dates."""

from __future__ import annotations

import re
from datetime import tzinfo

from memory.base.clock import BadMoment, Moment, read_moment
from memory.base.values import ABSENT

_PROGRESS = re.compile(r"([0-9]{1,3})[ \t]*%?", re.ASCII)


def text_or_none(value: str | None) -> str | None:
    """Return a value, None for one that says that there is none."""
    if value is None or (len(value) < 8 and value.strip().lower() in ABSENT):
        return None
    return value


def read_progress(value: str | None) -> int | None:
    """Return 0 to 100, None for another value."""
    found = _PROGRESS.fullmatch(value) if value else None
    return int(found[1]) if found and int(found[1]) <= 100 else None


def moment_or_none(text: str | None, zone: tzinfo) -> Moment | None:
    """Return the moment of a value, None where it is absent or does not exist."""
    if text is None:
        return None
    try:
        return read_moment(text, zone)
    except BadMoment:
        return None
