"""Records by file: the records of a system, file by file, so that the index finds changes without reading everything.

A system with large files reports which groups of entries changed; the records of others are compared by value. Of the
memory files, tasks and journals come by section, the small files as they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memory.files import MEMORY_FILES
from memory.files.journal.model import read_journal
from memory.files.tasks.model import read_tasks
from memory.search.records import FILE_KINDS, Record, journal_record, records, task_record, unread_records

if TYPE_CHECKING:
    from memory.files.journal.model import Journal
    from memory.files.snapshot import Snapshot
    from memory.files.tasks.model import TaskList
    from memory.workspace import Workspace


class RawEntry(Protocol):
    """An entry as it is written in its file."""

    @property
    def raw(self) -> bytes:
        """Its bytes."""


class EntryGroup(NamedTuple):
    """Consecutive entries of one file, in their order.

    While `token` is the same object and `name` the same text, the group is unchanged. The objects of `items` stay the
    same while their entries do, and the content of an entry depends only on its bytes (`raw`) and `name`. `items` None:
    compare the records. `record` creates the record of an entry.
    """

    token: object
    name: str
    size: int
    items: Callable[[], Sequence[RawEntry]] | None
    record: Callable[[int], Record]


class FileRecords(NamedTuple):
    """One file. Equal stamps mean equal bytes; an empty stamp means unknown. `groups` reads the file."""

    file: str
    stamp: str
    groups: Callable[[], Sequence[EntryGroup]]


def grouped_by_file(found: Iterable[Record]) -> Iterator[FileRecords]:
    """Yield the records of a system, grouped by file."""
    files: dict[str, list[Record]] = {}
    for record in found:
        files.setdefault(record.file, []).append(record)
    for file, held in files.items():
        yield FileRecords(file, "", lambda held=held: [whole(held)])  # type: ignore[misc]


def whole(held: Sequence[Record]) -> EntryGroup:
    """Return one group of records that are compared by value."""
    return EntryGroup(object(), "", len(held), None, held.__getitem__)


def records_of_memory_files(workspace: Workspace) -> Iterator[FileRecords]:
    """Yield the records of each memory file and each archive that exists, the small files first.

    Nothing is read yet. `groups` raises MemdeckError for a file that must not or cannot be read.
    """
    snapshot = workspace.snapshot()
    for name in (*MEMORY_FILES[2:], *MEMORY_FILES[:2], *reversed(snapshot.archive_names)):
        try:
            found = os.stat(workspace.memory / name)
        except OSError:
            continue
        # Taken before the file is read: if the file changes in between, the stamp is outdated and it is read again.
        stamp = f"{found.st_dev}.{found.st_ino}.{found.st_size}.{found.st_mtime_ns}.{found.st_ctime_ns}"
        kind = name.removeprefix("archive/").removesuffix(".md")
        kind = kind.partition("-")[0] if name.startswith("archive/") else kind
        kind = "plans" if kind == "orchestration" else kind
        if kind in FILE_KINDS:
            yield FileRecords(name, stamp, lambda name=name, kind=kind: _groups(snapshot, name, kind))  # type: ignore[misc]


def _groups(snapshot: Snapshot, name: str, kind: str) -> Sequence[EntryGroup]:
    snapshot.document(name)  # raises here if it cannot be read
    unread = list(unread_records(snapshot, name, kind))
    told = [whole(unread)] if unread else []
    if kind == "tasks":
        return [*_task_groups(snapshot.view(name, read_tasks)), *told]
    if kind == "journal":
        return [*_journal_groups(snapshot.view(name, read_journal)), *told]
    return [whole([record for record in records(snapshot, (kind,)) if record.file == name])]


def _task_groups(tasks: TaskList) -> list[EntryGroup]:
    groups: list[EntryGroup] = []
    for index, found in groupby(tasks.tasks, key=lambda task: task.at[0]):
        part, section = tuple(found), tasks.document.section(index)
        groups.append(
            EntryGroup(
                section,
                section.name,
                len(part),
                lambda part=part: [task.raw for task in part],  # type: ignore[misc]
                lambda number, part=part: task_record(part[number]),  # type: ignore[misc]
            )
        )
    return groups


def _journal_groups(journal: Journal) -> list[EntryGroup]:
    return [
        EntryGroup(
            journal.document.section(day.section),
            day.date or "",
            day.size,
            lambda day=day: [entry.raw for entry in journal.of_day(day)],  # type: ignore[misc]
            lambda index, day=day: journal_record(journal.of_day(day)[index]),  # type: ignore[misc]
        )
        for day in journal.days
        if day.size
    ]
