"""Search records: one for every task, entry, fact, contact, plan, monitor and setting, archives included."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from memory.files import MEMORY_FILES, MEMORY_FOLDER
from memory.files.check import unread_lines
from memory.files.config import Setting
from memory.files.contacts import Contact
from memory.files.journal.model import JournalEntry
from memory.files.knowledge import KnowledgeItem
from memory.files.monitors import Monitor
from memory.files.plans.model import Plan
from memory.files.refs import identity_hex
from memory.files.snapshot import Snapshot, kind_of
from memory.files.tasks.model import Task
from memory.registry import REGISTRY

FILE_KINDS = REGISTRY[0].kinds
"""The kinds of records of the memory files."""


_DAY = re.compile(r"^- (?:created|started|completed|lastUpdate): (\d{4}-\d\d-\d\d)", re.MULTILINE)


class Record(NamedTuple):
    """One searchable thing; `text` is its whole source, `item` its typed view.

    `date` is an ISO date or empty; among equally good hits the later date comes first. `tags` as they are written.
    """

    kind: str
    file: str
    title: str
    text: str
    item: Any
    date: str = ""
    tags: tuple[str, ...] = ()

    @property
    def ref(self) -> str | None:
        """The ref, computed on access; None for settings."""
        ref: str | None = getattr(self.item, "ref", None)
        return ref

    @property
    def line(self) -> int:
        """The line in the file, from 0."""
        line: int = self.item.line
        return line


class FoundEntry(NamedTuple):
    """The searchable data of a record; `line` from 0, `date` an ISO date or empty, `ref` None for settings.

    `room` is the number of its workspace if one index holds several.
    """

    kind: str
    file: str
    title: str
    text: str
    date: str
    ref: str | None
    line: int
    tags: tuple[str, ...] = ()
    room: int = 0


def derived_ref(record: Record | FoundEntry) -> str:
    """Return the ref of a record without its own, derived from its file and its title."""
    return f"{record.kind}#{identity_hex(record.kind, record.file, record.title)}"


def path_of(kind: str, file: str) -> str:
    """Return the path of a record's file in the workspace, which resources and people take."""
    return f"{MEMORY_FOLDER}/{file}" if kind in FILE_KINDS else file


class FileRecords(NamedTuple):
    """One file. Equal stamps mean equal bytes; an empty stamp means unknown. `records` reads the file."""

    file: str
    stamp: str
    records: Callable[[], Sequence[Record]]


def grouped_by_file(found: Iterable[Record]) -> Iterator[FileRecords]:
    """Yield the records of a system, grouped by file."""
    files: dict[str, list[Record]] = {}
    for record in found:
        files.setdefault(record.file, []).append(record)
    for file, held in files.items():
        yield FileRecords(file, "", lambda held=held: held)  # type: ignore[misc]


def records_of_memory_files(snapshot: Snapshot, folder: Path) -> Iterator[FileRecords]:
    """Yield the records of each memory file and each archive that exists, the small files first.

    Nothing is read yet. `records` raises MemdeckError for a file that must not or cannot be read.
    """
    for name in (*MEMORY_FILES[2:], *MEMORY_FILES[:2], *reversed(snapshot.archive_names)):
        try:
            found = os.stat(folder / name)
        except OSError:
            continue
        # Taken before the file is read: if the file changes in between, the stamp is outdated and it is read again.
        stamp = f"{found.st_dev}.{found.st_ino}.{found.st_size}.{found.st_mtime_ns}.{found.st_ctime_ns}"
        if _kind(name) in FILE_KINDS:
            yield FileRecords(name, stamp, partial(_of_file, snapshot, name))


def records(snapshot: Snapshot, kinds: Collection[str] = FILE_KINDS) -> Iterator[Record]:
    """Yield the records of some kinds, those of the archive after those of the files."""
    for kind in FILE_KINDS:
        for name in (*MEMORY_FILES, *reversed(snapshot.archive_names)):
            if kind in kinds and _kind(name) == kind:
                yield from _of_file(snapshot, name)


def _kind(name: str) -> str:
    """Return the kind of the records of a memory file or an archive."""
    return kind_of(name) or name.removesuffix(".md")


def _of_file(snapshot: Snapshot, name: str) -> list[Record]:
    """Return the records of a file, and its lines that no entry, list or table takes, so that search finds them.

    MemdeckError for a file that must not or cannot be read.
    """
    document, kind = snapshot.document(name), _kind(name)
    unread = (
        Record(kind, name, one.title[:200], f"{one.heading}\n{one.title}\n{one.below}", UnreadText(one.line, one.title))
        for one in unread_lines(name, document)
    )
    return [*_entries(snapshot, name, kind), *unread]


def _entries(snapshot: Snapshot, name: str, kind: str) -> Iterator[Record]:
    """Return the records of the entries of a file."""
    view = snapshot.view_of(name)
    items = view.entries() if kind == "journal" else view.settings if kind == "config" else view.items
    return map(RECORDS[kind], items)


def task_record(task: Task) -> Record:
    """Return the record of a task; its date is the latest day among its times."""
    text = task.entry.text
    days = _DAY.findall(text)
    tags = tuple(task.tags) if "tags" in text else ()
    return Record("tasks", task.file, task.title, text, task, max(days, default=""), tags)


def journal_record(entry: JournalEntry) -> Record:
    """Return the record of a journal entry; its date is searchable, too."""
    date = entry.date or ""
    return Record("journal", entry.file, entry.title, f"{date} {entry.entry.text}", entry, date)


def knowledge_record(item: KnowledgeItem) -> Record:
    """Return the record of a fact or a decision; its place in the file is searchable, too."""
    parts = (item.section, item.topic, item.date, item.text, item.reason)
    text = "\n".join(part for part in parts if part)
    return Record("knowledge", item.file, item.text, text, item, (item.date or "")[:10])


def contact_record(item: Contact) -> Record:
    """Return the record of a channel, a route or a person."""
    title = getattr(item, "name", None) or getattr(item, "channel", None) or ""
    return Record("contacts", item.file, title, _values(item.json()), item)


def plan_record(plan: Plan) -> Record:
    """Return the record of a plan; its date is the latest day among its times."""
    text = plan.entry.text
    return Record("plans", plan.file, plan.title, text, plan, max(_DAY.findall(text), default=""))


def monitor_record(monitor: Monitor) -> Record:
    """Return the record of a monitor."""
    return Record("monitors", monitor.file, monitor.name, _values(monitor.json()), monitor)


def setting_record(one: Setting) -> Record:
    """Return the record of a setting."""
    text = f"{one.section or ''}\n{one.key}: {one.value} {one.remark or ''}"
    return Record("config", "config.md", one.key, text, one)


RECORDS: dict[str, Callable[[Any], Record]] = {
    "tasks": task_record,
    "journal": journal_record,
    "knowledge": knowledge_record,
    "contacts": contact_record,
    "plans": plan_record,
    "monitors": monitor_record,
    "config": setting_record,
}
"""The functions that return the record of an entry, by its kind."""


class UnreadText(NamedTuple):
    """A line of a memory file that nothing reads; it has no ref. `line` counts from 0."""

    line: int
    text: str


def _values(values: dict[str, Any]) -> str:
    found: list[str] = []
    for key, value in values.items():
        if key in ("ref", "line", "file") or value is None:
            continue
        if isinstance(value, dict):
            found += [f"{inner}: {text}" for inner, text in value.items()]
        else:
            found.append(f"{key}: {value}")
    return "\n".join(found)
