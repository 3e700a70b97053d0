"""News: what others changed since somebody looked last, one line per entry and writer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from memory.files.refs.entry_refs import plain_title

from .changes import file_name

if TYPE_CHECKING:
    from memory.storage.log.records import ChangeRecord

MOST = 500
"""So many of the newest changes are looked at."""

TOGETHER = 5
"""Who adds more entries than this in one change did not write them one by one."""


@dataclass(frozen=True, slots=True)
class News:
    """An entry that somebody changed: who, when last, how often, what was done (`added`, `changed`, `removed`, …).

    `ref` is None where the entry has none, or where there were too many to be named; then `title` says what it was.
    """

    actor: str
    time: datetime
    file: str
    ref: str | None
    title: str
    kind: str
    count: int = 1


def news_of(records: Iterable[ChangeRecord], *, mine: str) -> tuple[News, ...]:
    """Return what changes of others than `mine` did, the newest first; what was taken back since is left out.

    `records` come newest first. An entry that the same writer changed several times is one line, with their number.
    """
    found: dict[tuple[str, str, str], News] = {}
    for record in records:
        if record.actor == mine or record.undone_by is not None or record.undoes is not None or not record.files:
            continue
        if not record.touched:
            _note(found, record, file_name(record.paths[0]), None, record.summary, "changed")
        for one in record.touched:
            kind = "changed" if one.kind == "edited" else one.kind
            _note(found, record, file_name(one.file), one.ref, plain_title(file_name(one.file), one.title), kind)
    return tuple(found.values())


def added_by(records: Iterable[ChangeRecord], file: str) -> dict[str, str]:
    """Return who added the entries of a file (its name in the memory folder), by ref; `records` come newest first.

    A first look at a file names whoever looked, and an import whoever imported, so changes of more than `TOGETHER`
    entries say nothing.
    """
    found: dict[str, str] = {}
    for record in records:
        added = [one for one in record.touched if one.kind == "added" and one.ref and file_name(one.file) == file]
        if len(added) <= TOGETHER and record.undoes is None:
            for one in added:
                found.setdefault(one.ref or "", record.actor)
    return found


def _note(
    found: dict[tuple[str, str, str], News], record: ChangeRecord, file: str, ref: str | None, title: str, kind: str
) -> None:
    key = (record.actor, file, ref or title)
    known = found.get(key)
    if known is None:
        found[key] = News(record.actor, record.time, file, ref, title, kind)
    else:
        # The newest says when; that it was added stays more important than what was done to it after.
        kind = "added" if kind == "added" else known.kind
        found[key] = News(known.actor, known.time, file, known.ref, known.title, kind, known.count + 1)
