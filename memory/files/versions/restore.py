"""Restores archived entries, and earlier versions of an entry."""

from __future__ import annotations

from datetime import datetime
from itertools import chain
from typing import Any

from memory.errors import MemdeckError
from memory.files import ARCHIVE_KINDS
from memory.files.edit import Edit, EntryEdits, started_document
from memory.files.find import Lookup
from memory.files.journal.edits import JOURNAL_EDITS, without_entry
from memory.files.journal.model import JournalEntry, read_date
from memory.files.plans.edits import PLAN_EDITS
from memory.files.plans.model import Plan
from memory.files.refs import read_ref, short
from memory.files.snapshot import Snapshot, kind_of
from memory.files.tasks.edits import TASK_EDITS
from memory.files.tasks.model import Task

_EDITS: dict[str, EntryEdits[Any]] = {"tasks": TASK_EDITS, "journal": JOURNAL_EDITS, "plans": PLAN_EDITS}
"""The edits of the file that archived entries of each kind came from."""


def restore_entry(snapshot: Snapshot, ref: str, *, now: datetime) -> Edit:
    """Move an archived entry back: a task to Completed, a journal entry to its day, a plan to Completed Plans.

    Its bytes stay as they are. `ref` is a ref, its hex digits, or a unique part of the title. Raises NotFoundError
    `archive.not_found`, AmbiguousError `archive.ambiguous`, UsageError `document.unclosed`.
    """
    item = find_archived(snapshot, ref)
    edits = _EDITS[kind_of(item.file) or "tasks"]
    archive, section = snapshot.document(item.file), "completed"
    emptied = archive.remove_entry(*item.at)
    if edits is JOURNAL_EDITS:
        day = read_date(archive.section(item.at[0]).title)
        if day is None:
            raise MemdeckError("archive.no_date", f"{short(item.title)} is under no date", "move it with an editor")
        section, emptied = day, without_entry(archive, item.at, day)
    document, place = edits.insert_by_time(started_document(snapshot, edits.file, now), section, item.entry)
    words = f"restored {short(item.title)} to {edits.file}"
    return Edit({edits.file: document, item.file: emptied}, words, (edits.file, place))


def find_archived(snapshot: Snapshot, text: str) -> Task | JournalEntry | Plan:
    """Return the archived entry that a text names; errors as `restore_entry`."""
    name = text.strip()
    scope, _ = read_ref(name) or (None, "")
    # A scope that is no kind of entries names a file, and only that file is searched.
    kinds = [kind for kind in ARCHIVE_KINDS if scope in (None, kind) or f"{scope}".startswith(f"archive/{kind}-")]
    lookup: Lookup[Task | JournalEntry | Plan] = Lookup(scope if scope in kinds else "", "archive")
    archives = chain.from_iterable(map(snapshot.archived, kinds))
    found = lookup.among(snapshot, name, [item for view in archives for item in view.listed()])
    if found is None:
        raise lookup.not_found(name)
    return found
