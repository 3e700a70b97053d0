"""The versions of one entry in the change log, and a preview of reverting a change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.document import Entry
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot, ref_of
from memory.files.versions import restore
from memory.files.versions.diff import ChangeView, change_views
from memory.storage.changes import ChangeRecord, file_name
from memory.storage.merging import MergedChange
from memory.storage.store import SharedLog
from memory.workspace import Workspace

from . import undo
from .changes import views_of

MOST = 200
"""The most changes of one entry that are read at once."""


@dataclass(frozen=True, slots=True)
class EntryVersion:
    """An entry right after a change, or with `first` before the oldest known change.

    `view` is what the change did to it, None where its bytes are no longer kept. `source` is None where the entry did
    not exist, or is not known.
    """

    record: ChangeRecord
    view: ChangeView | None
    first: bool = False

    @property
    def source(self) -> str | None:
        """The entry's text in this version."""
        if self.view is None:
            return None
        return self.view.before if self.first else self.view.after

    @property
    def known(self) -> bool:
        """Whether the log still has this version, even if only that there was no entry."""
        return self.view is not None


def versions_of(workspace: Workspace, ref: str, *, limit: int = MOST) -> tuple[EntryVersion, ...]:
    """Return the versions of the entry of a ref, newest first, through its renames; at most `limit` changes back."""
    found: list[EntryVersion] = []
    names = {_digits(ref)}
    records = workspace.store.history.list(entry=ref, limit=limit)
    for record in records:
        names |= {_digits(one.old_ref) for one in record.touched if one.old_ref and _digits(one.ref) in names}
        views = views_of(workspace.store.history, record) if record.kept else ()
        view = next((view for view in views if _names(view) & names), None)
        found.append(EntryVersion(record, view))
    last = found[-1].view if found else None
    if last is not None and last.before is not None:
        found.append(EntryVersion(found[-1].record, last, first=True))
    return tuple(found)


def _digits(ref: str | None) -> str:
    return (ref or "").rpartition("#")[2][:10].lower()


def _names(view: ChangeView) -> set[str]:
    names = {_digits(view.entry)} if view.entry else set()
    if view.before is not None:
        before = Entry(view.before.encode("utf-8", "surrogateescape"))
        # A day's heading names a journal entry as well; a moved one has its old section in `moved_from`.
        names.add(_digits(ref_of(view.file, view.section, before)))
    return names - {""}


def bring_back(snapshot: Snapshot, versions: Sequence[EntryVersion], version: EntryVersion) -> Edit:
    """Give the entry of some versions (newest first) the text of one of them, at its current or last place.

    Raises UsageError `document.structure` for a text that is not an entry, and as
    `memory.files.versions.restore.restore_version`.
    """
    last = next(one.view for one in versions if one.view is not None)
    names = [name for one in versions if one.view is not None for name in (one.view.entry, one.view.title)]
    titles = tuple(dict.fromkeys(name for name in names if name))
    return restore.restore_version(snapshot, last.file, Entry.from_text(version.source or ""), last.section, titles)


def rehearse_revert(log: SharedLog, change_id: str, now: datetime) -> tuple[MergedChange, tuple[ChangeView, ...]]:
    """Return what reverting a change of a log would write, also entry by entry, or its conflicts; nothing is written.

    Errors as `undo.revert_in`, but for conflicts.
    """
    record = log.history.get(change_id)
    merged = undo.rehearse_revert(log, change_id, now=now)
    regions = [(file_name(file.path), log.history.touched_by(file)) for file in merged.files]
    return merged, change_views(regions, record.actor, "revert")
