"""The shelves of the memory files: tasks and journals by section, the small files as they are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memory.files import MEMORY_FILES
from memory.search.records import FILE_KINDS, journal_record, records, task_record

from .inventory import EntryGroup, Shelf, whole

if TYPE_CHECKING:
    from memory.files.journal.model import Journal
    from memory.files.snapshot import Snapshot
    from memory.files.tasks.model import TaskList
    from memory.workspace import Workspace

_KIND_OF = {"orchestration": "plans"}


def shelves_of_files(workspace: Workspace) -> Iterator[Shelf]:
    """Yield a shelf for each memory file and each archive that is there, the small files first.

    Nothing is read yet. `groups` raises MemdeckError for a file that must not or cannot be read.
    """
    snapshot = workspace.snapshot()
    for name in (*MEMORY_FILES[2:], *MEMORY_FILES[:2], *reversed(snapshot.archive_names)):
        try:
            found = os.stat(workspace.memory / name)
        except OSError:
            continue
        # Before the file is read: what changes it in between makes the stamp an old one.
        stamp = f"{found.st_dev}.{found.st_ino}.{found.st_size}.{found.st_mtime_ns}.{found.st_ctime_ns}"
        kind = name.removeprefix("archive/").removesuffix(".md")
        kind = kind.partition("-")[0] if name.startswith("archive/") else kind
        kind = _KIND_OF.get(kind, kind)
        if kind in FILE_KINDS:
            yield Shelf(name, stamp, lambda name=name, kind=kind: _groups(snapshot, name, kind))  # type: ignore[misc]


def _groups(snapshot: Snapshot, name: str, kind: str) -> Sequence[EntryGroup]:
    snapshot.document(name)  # raises here where it cannot be read
    if kind == "tasks":
        lists = (snapshot.tasks, *snapshot.archived_tasks()) if name != "tasks.md" else (snapshot.tasks,)
        return next((_task_groups(tasks) for tasks in lists if tasks.file == name), [])
    if kind == "journal":
        journals = (snapshot.journal, *snapshot.archived_journals()) if name != "journal.md" else (snapshot.journal,)
        return next((_journal_groups(journal) for journal in journals if journal.file == name), [])
    return [whole([record for record in records(snapshot, (kind,)) if record.file == name])]


def _task_groups(tasks: TaskList) -> list[EntryGroup]:
    groups: list[EntryGroup] = []
    all_tasks = tasks.tasks
    start = 0
    while start < len(all_tasks):
        section = all_tasks[start].at[0]
        held = tasks.document.sections[section]
        end = start + len(held)
        part = all_tasks[start:end]
        groups.append(
            EntryGroup(
                held,
                held.name,
                len(part),
                lambda held=held: held.entries,  # type: ignore[misc]
                lambda index, part=part: task_record(part[index]),  # type: ignore[misc]
            )
        )
        start = end
    return groups


def _journal_groups(journal: Journal) -> list[EntryGroup]:
    return [
        EntryGroup(
            section := journal.document.section(day.section),
            day.date or "",
            day.size,
            lambda section=section: section.entries,  # type: ignore[misc]
            lambda index, day=day: journal_record(journal.of_day(day)[index]),  # type: ignore[misc]
        )
        for day in journal.days
        if day.size
    ]
