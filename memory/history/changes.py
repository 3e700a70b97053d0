"""The history of a workspace for display: what each change did, entry by entry, and what others did since a visit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.base.clock import exact_utc
from memory.files.snapshot import plain_title
from memory.files.versions.diff import ChangeView, change_views
from memory.storage import Change
from memory.storage.changes import ChangeRecord, RecordedFile, file_name, subject
from memory.storage.log import ChangeLog

if TYPE_CHECKING:
    from memory.storage.merging import MergedChange
    from memory.storage.store import SharedLog


def views_of(history: ChangeLog, record: ChangeRecord) -> tuple[ChangeView, ...]:
    """Return what a change did, entry by entry; empty where its content is no longer kept."""
    known = history.regions_by_file(record)
    files = [(file_name(path), known.get(path, ())) for path in record.paths]
    return change_views(files, record.actor, record.operation)


def rehearse_revert(log: SharedLog, change_id: str, now: datetime) -> tuple[MergedChange, tuple[ChangeView, ...]]:
    """Return what reverting a change of a log would write, also entry by entry, or its conflicts; nothing is written.

    Errors as `undo.revert_in`, but for conflicts.
    """
    record = log.history.get(change_id)
    from . import undo

    merged = undo.rehearse_revert(log, change_id, now=now)
    regions = [(file_name(file.path), log.history.touched_by(file)) for file in merged.files]
    return merged, change_views(regions, record.actor, "revert")


def row(record: ChangeRecord, store: str = "") -> dict[str, Any]:
    """Return a change with the keys of the JSON interface; `file` and `entry` are those of the main entry.

    `store` is the folder that the paths are relative to where that is not the workspace.
    """
    first = subject(record.touched)
    files = [file_name(path) for path in record.paths]
    return {
        "id": record.id,
        "time": exact_utc(record.time),
        "actor": record.actor,
        "operation": record.operation,
        "file": file_name(first.file) if first else (files[0] if files else None),
        "entry": first.ref if first else None,
        "summary": record.summary,
        "undoneBy": record.undone_by,
        "reviewedBy": record.reviewer,
        "proposal": record.proposal,
        "store": store or None,
        "files": files,
        "entries": [one.row() for one in record.touched],
        "revertible": record.kept and record.undone_by is None,
    }


def unrecorded_row(change: Change, store: str = "") -> dict[str, Any]:
    """Return the row of a change that is not in the log; see `row`."""
    files = tuple(RecordedFile(file.path, None, None, None) for file in change.files)
    record = ChangeRecord(0, change.id, change.time, change.actor, change.operation, change.summary, files)
    return row(record._replace(reviewer=change.reviewer, proposal=change.proposal), store)


# -- news: what others changed since the last visit, one line per entry and writer -----------------------------------

MOST_NEWS = 500
"""The most changes that are read for news, newest first."""


@dataclass(frozen=True, slots=True)
class News:
    """An entry that was changed: by whom, when last, how often, and how (`added`, `changed`, `removed`, …).

    `ref` is None where the entry has none, or where there were too many entries to list; then `title` describes the
    change.
    """

    actor: str
    time: datetime
    file: str
    ref: str | None
    title: str
    kind: str
    count: int = 1


def news_of(records: Iterable[ChangeRecord], *, mine: str) -> tuple[News, ...]:
    """Return what changes by other actors than `mine` did, newest first, without changes that were undone.

    `records` are newest first. An entry that one writer changed several times is one line, with their number.
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


def _note(
    found: dict[tuple[str, str, str], News], record: ChangeRecord, file: str, ref: str | None, title: str, kind: str
) -> None:
    key = (record.actor, file, ref or title)
    known = found.get(key)
    if known is None:
        found[key] = News(record.actor, record.time, file, ref, title, kind)
    else:
        # The newest change gives the time; `added` takes precedence over later kinds.
        kind = "added" if kind == "added" else known.kind
        found[key] = News(known.actor, known.time, file, known.ref, known.title, kind, known.count + 1)
