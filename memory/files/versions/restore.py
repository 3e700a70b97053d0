"""Restores archived entries, and earlier versions of an entry."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from memory.document import Document, Entry
from memory.errors import MemdeckError
from memory.files.edit import Edit, EntryEdits, started_document
from memory.files.find import ENTRIES, PLANS, TASKS, Lookup
from memory.files.journal.edits import JOURNAL_EDITS, without_entry
from memory.files.journal.model import JournalEntry, read_date, split_heading
from memory.files.plans.edits import PLAN_EDITS
from memory.files.plans.model import Plan
from memory.files.refs import read_ref, short
from memory.files.snapshot import Snapshot, kind_of
from memory.files.tasks.edits import TASK_EDITS
from memory.files.tasks.model import Task

HOMES = {"tasks": "tasks.md", "journal": "journal.md", "plans": "orchestration.md"}
"""The file that archived entries of each kind came from."""


def restore_entry(snapshot: Snapshot, ref: str, *, now: datetime) -> Edit:
    """Move an archived entry back: a task to Completed, a journal entry to its day, a plan to Completed Plans.

    Its bytes stay as they are. `ref` is a ref, its hex digits, or a unique part of the title. Raises NotFoundError
    `archive.not_found`, AmbiguousError `archive.ambiguous`, UsageError `document.unclosed`.
    """
    item = find_archived(snapshot, ref)
    kind = kind_of(item.file) or "tasks"
    home = HOMES[kind]
    archive = snapshot.document(item.file)
    title = archive.section(item.at[0]).title
    document, place = _placed(started_document(snapshot, home, now), kind, item.entry, title)
    emptied = without_entry(archive, item.at, read_date(title)) if kind == "journal" else archive.remove_entry(*item.at)
    return Edit({home: document, item.file: emptied}, f"restored {short(item.title)} to {home}", (home, place))


def find_archived(snapshot: Snapshot, text: str) -> Task | JournalEntry | Plan:
    """Return the archived entry that a text names; errors as `restore_entry`."""
    scope, _ = read_ref(text.strip()) or (None, "")
    wanted = None if scope is None else kind_of(scope) or kind_of(f"{scope}.md")
    pools = {"tasks": TASKS.archive, "journal": ENTRIES.archive, "plans": PLANS.archive}

    def archived(_: Snapshot) -> Iterator[Task | JournalEntry | Plan]:
        for kind, pool in pools.items():
            if pool is not None and wanted in (None, kind):
                yield from pool(snapshot)

    # A scope that is no kind of entries names a file, and only that file is searched.
    kind = scope if scope is not None and f"{scope}.md" in HOMES.values() else ""
    return Lookup(kind, "archive", archived, has_id=_has_id, traced=False).find(snapshot, text)


def _has_id(item: Task | JournalEntry | Plan, text: str) -> bool:
    return isinstance(item, Plan) and item.plan_id == text


def _placed(document: Document, kind: str, entry: Entry, title: str) -> tuple[Document, tuple[int, int]]:
    """Return the document with an archived entry inserted where it belongs, and its place."""
    wanted = read_date(title) if kind == "journal" else "completed"
    if wanted is None:
        raise MemdeckError("archive.no_date", f"{entry.title[:60]!r} is under no date", "move it with an editor")
    edits: dict[str, EntryEdits[Any]] = {"tasks": TASK_EDITS, "journal": JOURNAL_EDITS, "plans": PLAN_EDITS}
    document, section = edits[kind].with_section(document, wanted)

    def time(one: Entry) -> str:
        return (split_heading(one.title)[0] if kind == "journal" else one.fields.get("completed")) or ""

    # Newest first, as files are kept.
    mine, entries = time(entry), document.section(section).entries
    index = next((number for number, one in enumerate(entries) if time(one) <= mine), len(entries))
    return document.insert_entry(section, index, entry), (section, index)
