"""Search records: one for every task, entry, fact, contact, plan, monitor and setting, archives included."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from memory.files import MEMORY_FILES
from memory.files.contacts.model import Contact
from memory.files.journal.model import JournalEntry
from memory.files.knowledge.model import KnowledgeItem
from memory.files.monitors import Monitor
from memory.files.plain import unread_lines
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


class Named(Protocol):
    """A record, or what an index holds of one."""

    @property
    def kind(self) -> str:
        """The kind of the record."""

    @property
    def file(self) -> str:
        """The file that holds it."""

    @property
    def title(self) -> str:
        """The title of the entry."""


def derived_ref(record: Named) -> str:
    """Return the ref of a record without its own, derived from its file and its title."""
    return f"{record.kind}#{identity_hex(record.kind, record.file, record.title)}"


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
        kind = name.removeprefix("archive/").removesuffix(".md")
        kind = kind.partition("-")[0] if name.startswith("archive/") else kind
        kind = "plans" if kind == "orchestration" else kind
        if kind in FILE_KINDS:
            yield FileRecords(name, stamp, lambda name=name, kind=kind: _of_file(snapshot, name, kind))  # type: ignore[misc]


def _of_file(snapshot: Snapshot, name: str, kind: str) -> Sequence[Record]:
    snapshot.document(name)  # raises here if it cannot be read
    found: list[Record] = []
    if name.startswith("archive/"):
        for tasks in snapshot.archived_tasks() if kind == "tasks" else ():
            if tasks.file == name:
                found += map(task_record, tasks.tasks)
        for journal in snapshot.archived_journals() if kind == "journal" else ():
            if journal.file == name:
                found += map(journal_record, journal.entries())
    elif kind == "tasks":
        found += map(task_record, snapshot.tasks.tasks)
    elif kind == "journal":
        found += map(journal_record, snapshot.journal.entries())
    if kind not in ("tasks", "journal"):
        return [record for record in records(snapshot, (kind,)) if record.file == name]
    return [*found, *unread_records(snapshot, name, kind)]


def records(snapshot: Snapshot, kinds: Collection[str] = FILE_KINDS) -> Iterator[Record]:
    """Yield the records of some kinds, those of the archive after those of the files, then what nothing reads."""
    for kind in FILE_KINDS:
        if kind in kinds:
            yield from _SOURCES[kind](snapshot)
            for name in (*MEMORY_FILES, *snapshot.archive_names):
                if (kind_of(name) or name.removesuffix(".md")) == kind:
                    yield from unread_records(snapshot, name, kind)


def _tasks(snapshot: Snapshot) -> Iterator[Record]:
    for tasks in (snapshot.tasks, *snapshot.archived_tasks()):
        yield from map(task_record, tasks.tasks)


def task_record(task: Task) -> Record:
    """Return the record of a task; its date is the latest day among its times."""
    text = task.entry.text
    days = _DAY.findall(text)
    tags = tuple(task.tags) if "tags" in text else ()
    return Record("tasks", task.file, task.title, text, task, max(days, default=""), tags)


def _journal(snapshot: Snapshot) -> Iterator[Record]:
    for journal in (snapshot.journal, *snapshot.archived_journals()):
        yield from map(journal_record, journal.entries())


def journal_record(entry: JournalEntry) -> Record:
    """Return the record of a journal entry; its date is searchable, too."""
    date = entry.date or ""
    return Record("journal", entry.file, entry.title, f"{date} {entry.entry.text}", entry, date)


def _knowledge(snapshot: Snapshot) -> Iterator[Record]:
    yield from map(knowledge_record, snapshot.knowledge.items)


def knowledge_record(item: KnowledgeItem) -> Record:
    """Return the record of a fact or a decision; its place in the file is searchable, too."""
    parts = (item.section, item.topic, item.date, item.text, item.reason)
    text = "\n".join(part for part in parts if part)
    return Record("knowledge", item.file, item.text, text, item, (item.date or "")[:10])


def _contacts(snapshot: Snapshot) -> Iterator[Record]:
    yield from map(contact_record, snapshot.contacts.all())


def contact_record(item: Contact) -> Record:
    """Return the record of a channel, a route or a person."""
    title = getattr(item, "name", None) or getattr(item, "channel", None) or ""
    return Record("contacts", item.file, title, _values(item.json()), item)


def _plans(snapshot: Snapshot) -> Iterator[Record]:
    for plans in (snapshot.plans, *snapshot.archived_plans()):
        yield from map(plan_record, plans.plans)


def plan_record(plan: Plan) -> Record:
    """Return the record of a plan; its date is the latest day among its times."""
    text = plan.entry.text
    return Record("plans", plan.file, plan.title, text, plan, max(_DAY.findall(text), default=""))


def _monitors(snapshot: Snapshot) -> Iterator[Record]:
    yield from map(monitor_record, snapshot.monitors.monitors)


def monitor_record(monitor: Monitor) -> Record:
    """Return the record of a monitor."""
    return Record("monitors", monitor.file, monitor.name, _values(monitor.json()), monitor)


def _config(snapshot: Snapshot) -> Iterator[Record]:
    for setting in snapshot.config.settings:
        text = f"{setting.section or ''}\n{setting.key}: {setting.value} {setting.remark or ''}"
        yield Record("config", "config.md", setting.key, text, setting)


class UnreadText(NamedTuple):
    """A line of a memory file that nothing reads; it has no ref. `line` counts from 0."""

    line: int
    text: str


def unread_records(snapshot: Snapshot, name: str, kind: str) -> Iterator[Record]:
    """Yield the lines of a file that no entry, list or table takes, so that search finds them."""
    for one in unread_lines(name, snapshot.document(name)):
        yield Record(kind, name, one.title[:200], f"{one.heading}\n{one.title}", UnreadText(one.line, one.title))


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


_SOURCES: dict[str, Callable[[Snapshot], Iterator[Record]]] = {
    "tasks": _tasks,
    "journal": _journal,
    "knowledge": _knowledge,
    "contacts": _contacts,
    "plans": _plans,
    "monitors": _monitors,
    "config": _config,
}
