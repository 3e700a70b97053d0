"""Entries that a person restored from the archive: the day of the restore counts as their date."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from memory.base.clock import Moment
from memory.document import Document
from memory.document.nodes import bare
from memory.files.snapshot import ref_of

from .rules import Today


class Restored(NamedTuple):
    """One restored entry: the time of the restore, its source without the blank lines at its end, and its ref."""

    time: datetime
    source: bytes
    ref: str | None


RestoredIn = Callable[[str], Sequence[Restored]]
"""Returns the entries restored into a memory file, by its name in the memory folder; newest first."""


def staying(
    name: str, document: Document, restored: Sequence[Restored], today: Today, age: timedelta
) -> frozenset[tuple[int, int]]:
    """Return the places (section, entry) of entries restored at most `age` ago, even if their fields changed since.

    An entry that is no longer as it was restored is found by its ref.
    """
    fresh = [
        one for one in restored if not today.older(Moment("", one.time.astimezone(today.zone).date(), one.time), age)
    ]
    if not fresh:
        return frozenset()

    by_source: dict[bytes, set[tuple[int, int]]] = {}
    by_ref: dict[str, set[tuple[int, int]]] = {}
    sources, refs = {one.source for one in fresh}, {one.ref for one in fresh if one.ref}
    for index, section in document.all_sections():
        for number, entry in enumerate(section.entries):
            if (source := bare(entry)) in sources:
                by_source.setdefault(source, set()).add((index, number))
            elif refs and (ref := ref_of(name, section.title or None, entry)) in refs and ref is not None:
                by_ref.setdefault(ref, set()).add((index, number))
    found: set[tuple[int, int]] = set()
    for one in fresh:
        found |= by_source.get(one.source) or by_ref.get(one.ref or "", set())
    return frozenset(found)
