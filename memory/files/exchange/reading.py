"""The entries of the memory files as items, archives included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from memory.base.clock import BadMoment, read_moment
from memory.base.items import Item

if TYPE_CHECKING:
    from memory.files.contacts.model import Contact
    from memory.files.journal.model import JournalEntry
    from memory.files.knowledge.model import KnowledgeItem
    from memory.files.snapshot import Snapshot
    from memory.files.tasks.model import Task


_ABOUT = ("ref", "line", "kind", "name", "extra", "text")


def items_of(snapshot: Snapshot) -> Iterator[Item]:
    """Yield every task, journal entry, piece of knowledge, contact, plan, monitor and setting."""
    for tasks in (snapshot.tasks, *snapshot.archived_tasks()):
        yield from (_task(one, snapshot) for one in tasks.tasks)
    for journal in (snapshot.journal, *snapshot.archived_journals()):
        yield from (_entry(one, snapshot) for one in journal.entries())
    yield from map(_knowledge, snapshot.knowledge.items)
    yield from map(_contact, snapshot.contacts.all())
    for plans in (snapshot.plans, *snapshot.archived_plans()):
        for plan in plans.plans:
            yield _whole("plan", plan)
    for monitor in snapshot.monitors.monitors:
        yield _whole("monitor", monitor)
    for setting in snapshot.config.settings:
        yield Item("setting", setting.key, "", f"config.md:{setting.line + 1}", fields={"value": setting.value or ""})


def _where(one: Any) -> str:
    return f"{one.file}:{one.line + 1}"


def _task(task: Task, snapshot: Snapshot) -> Item:
    fields: dict[str, str] = {"section": task.section}
    if task.heading is not None:
        fields["heading"] = task.heading
    if task.priority:
        fields["priority"] = task.priority
    fields.update(task.fields)
    created = _instant(task.created, snapshot)
    return Item("task", task.title, "", _where(task), created, task.tags, fields)


def _instant(text: str | None, snapshot: Snapshot) -> str:
    """Return a time of the files with its offset, a day as it is; empty for none, or what is no time."""
    try:
        moment = None if text is None else read_moment(text, snapshot.zone)
    except BadMoment:
        return ""
    if moment is None:
        return ""
    return moment.date.isoformat() if moment.instant is None else moment.instant.isoformat()


def _entry(entry: JournalEntry, snapshot: Snapshot) -> Item:
    when = " ".join(part for part in (entry.date, entry.time) if part)
    fields = {key: value for key, value in (("date", entry.date), ("time", entry.time)) if value}
    return Item(
        "journal", entry.title, "\n".join(_bullet(line) for line in entry.lines), _where(entry),
        _instant(when or None, snapshot), (), fields,
    )  # fmt: skip


def _bullet(line: str) -> str:
    """Return a line of an entry as a bullet, further lines below it indented."""
    first, *rest = line.split("\n")
    return "\n".join([f"- {first}", *(f"  {one}" if one else "" for one in rest)])


def _knowledge(item: KnowledgeItem) -> Item:
    named = (("section", item.section), ("topic", item.topic), ("date", item.date), ("reason", item.reason))
    title, _, text = item.text.partition("\n")
    return Item(
        item.kind, title, text, _where(item), item.date or "", (), {key: value for key, value in named if value}
    )


def _contact(contact: Contact) -> Item:
    values = contact.json()
    kept = {key: str(value) for key, value in values.items() if value and key not in _ABOUT}
    kept["contact"] = contact.kind
    extra: Mapping[str, str] = values.get("extra") or {}
    text = values.get("text") or ""
    return Item("contact", contact.title, text, _where(contact), "", (), {**kept, **extra})


def _whole(kind: str, one: Any) -> Item:
    """Return an entry that only its own file can hold, with its source as the text."""
    return Item(kind, one.title, one.entry.body.strip("\r\n"), _where(one))
