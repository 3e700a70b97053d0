"""Sessions about whose turns a model is asked just now, noted where other processes see it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING

from memory.base.json_objects import read_object
from memory.curated.dreaming.lock import counts
from memory.curated.index.records import milliseconds
from memory.curated.model import Json
from memory.errors import MemdeckError

from .turns import side_of_turns

if TYPE_CHECKING:
    from memory.curated.curated import Curated


@contextmanager
def asking(curated: Curated, session: str, now: datetime) -> Iterator[None]:
    """Note for the time of the block that a model is asked about a session; what cannot be noted stops nothing."""
    _note(curated, session, {"pid": os.getpid(), "since": milliseconds(now)}, now)
    try:
        yield
    finally:
        _note(curated, session, None, now)


def asked(curated: Curated, now: datetime) -> tuple[str, ...]:
    """Return the sessions about which a process asks that still runs."""
    record = side_of_turns(curated).record("asking")
    return () if record is None else tuple(_live(record.read().base, now))


def _note(curated: Curated, session: str, value: Json | None, now: datetime) -> None:
    record = side_of_turns(curated).record("asking")
    if record is None:
        return

    def change(data: bytes | None) -> bytes:
        found = _live(data, now)
        if value is None:
            found.pop(session, None)
        else:
            found[session] = value
        return json.dumps(found).encode("utf-8", "replace")

    with suppress(MemdeckError):
        record.update(change, command="extract", now=now)


def _live(data: bytes | None, now: datetime) -> dict[str, Json]:
    return {name: one for name, one in read_object(data).items() if isinstance(one, dict) and counts(one, now)}
