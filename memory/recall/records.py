"""What can be found: one record for every task, entry, fact, contact, plan, monitor and setting, archives included."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.registry import REGISTRY

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot

FILE_KINDS = REGISTRY[0].kinds
"""The kinds of records of the memory files."""


class Record(NamedTuple):
    """One thing that can be found; `text` is its whole source, `item` its typed view.

    `date` is an ISO date or empty; of equally good finds the later one comes first.
    """

    kind: str
    file: str
    title: str
    text: str
    item: Any
    date: str = ""

    @property
    def ref(self) -> str | None:
        """The ref, worked out when asked for; settings have none."""
        ref: str | None = getattr(self.item, "ref", None)
        return ref

    @property
    def line(self) -> int:
        """The line in the file, from 0."""
        line: int = self.item.line
        return line


def records(snapshot: Snapshot, kinds: Collection[str] = FILE_KINDS) -> Iterator[Record]:
    """Yield the records of some kinds, those of the archive behind those of the files."""
    for kind in FILE_KINDS:
        if kind in kinds:
            yield from _SOURCES[kind](snapshot)


def _tasks(snapshot: Snapshot) -> Iterator[Record]:
    for tasks in (snapshot.tasks, *snapshot.archived_tasks()):
        for task in tasks.tasks:
            yield Record("tasks", task.file, task.title, task.entry.text, task)


def _journal(snapshot: Snapshot) -> Iterator[Record]:
    for journal in (snapshot.journal, *snapshot.archived_journals()):
        for entry in journal.entries():
            date = entry.date or ""
            yield Record("journal", entry.file, entry.title, f"{date} {entry.entry.text}", entry, date)


def _knowledge(snapshot: Snapshot) -> Iterator[Record]:
    for item in snapshot.knowledge.items:
        parts = (item.section, item.topic, item.date, item.text, item.reason)
        yield Record("knowledge", item.file, item.text, "\n".join(part for part in parts if part), item)


def _contacts(snapshot: Snapshot) -> Iterator[Record]:
    for item in snapshot.contacts.all():
        title = getattr(item, "name", None) or getattr(item, "channel", None) or ""
        yield Record("contacts", item.file, title, _values(item.json()), item)


def _plans(snapshot: Snapshot) -> Iterator[Record]:
    for plans in (snapshot.plans, *snapshot.archived_plans()):
        for plan in plans.plans:
            yield Record("plans", plan.file, plan.title, plan.entry.text, plan)


def _monitors(snapshot: Snapshot) -> Iterator[Record]:
    for monitor in snapshot.monitors.monitors:
        yield Record("monitors", monitor.file, monitor.name, _values(monitor.json()), monitor)


def _config(snapshot: Snapshot) -> Iterator[Record]:
    for setting in snapshot.config.settings:
        text = f"{setting.section or ''}\n{setting.key}: {setting.value} {setting.remark or ''}"
        yield Record("config", "config.md", setting.key, text, setting)


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
