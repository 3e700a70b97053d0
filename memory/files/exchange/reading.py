"""The entries of the memory files as items, archives included; text that is no entry is yielded as skipped."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import dedent
from typing import Any

from memory.base.items import Item, Skipped, skipped_text
from memory.document import Document, Entry
from memory.document.lines import count_line_ends, decode, encode, read_bullets, split_lines
from memory.document.tables import find_tables
from memory.files.contacts.model import Contact, places_of, tables_of
from memory.files.dress import plain_bullets
from memory.files.journal.model import JournalEntry
from memory.files.knowledge.model import KnowledgeItem
from memory.files.snapshot import Snapshot
from memory.files.tasks.model import Task
from memory.files.values import moment_or_none

_ABOUT = ("ref", "line", "kind", "name", "extra", "text")


def items_of(snapshot: Snapshot) -> Iterator[Item | Skipped]:
    """Yield every task, journal entry, piece of knowledge, contact, plan, monitor and setting, and the text between."""
    for tasks in (snapshot.tasks, *snapshot.archived_tasks()):
        yield from (_task(one, snapshot) for one in tasks.tasks)
        yield from _between(tasks.file, tasks.document, _entry_lines(tasks.tasks))
    for journal in (snapshot.journal, *snapshot.archived_journals()):
        entries = list(journal.entries())
        yield from (_entry(one, snapshot) for one in entries)
        yield from _between(journal.file, journal.document, _entry_lines(entries))
    knowledge = snapshot.knowledge
    yield from (_knowledge(one, knowledge.document) for one in knowledge.items)
    yield from _between(knowledge.file, knowledge.document, _bullet_lines(knowledge.document), 3)
    contacts = snapshot.contacts
    yield from (_contact(one, contacts.document) for one in contacts.all())
    yield from _between(contacts.file, contacts.document, _contact_lines(contacts.document))
    for plans in (snapshot.plans, *snapshot.archived_plans()):
        yield from (_whole("plan", plan) for plan in plans.plans)
        yield from _between(plans.file, plans.document, _entry_lines(plans.plans))
    monitors = snapshot.monitors
    yield from (_whole("monitor", monitor) for monitor in monitors.monitors)
    yield from _between(monitors.file, monitors.document, _entry_lines(monitors.monitors))
    config = snapshot.config
    for setting in config.settings:
        yield Item("setting", setting.key, "", f"config.md:{setting.line + 1}", fields={"value": setting.value or ""})
    lines = {at for one in config.settings for at in range(one.line, one.line + len(split_lines(one.raw)))}
    yield from _between(config.file, config.document, lines, 3)


# -- the text between entries ---------------------------------------------------------------------------------------


def _between(file: str, document: Document, taken: set[int], levels: int = 2) -> Iterator[Skipped]:
    """Yield each run of lines that are in no entry (`taken`, from 0), nor headings of these levels or front matter."""
    headings = {line: title for line, level, title in document.headings() if level <= levels}
    top = count_line_ends(document.bom + document.front_raw)
    run: list[str] = []
    start, heading = 0, ""
    lines = [line for line, _ in split_lines(decode(document.dump()))]
    for number, line in enumerate([*lines, ""]):
        if number < top or number == len(lines) or number in taken or number in headings:
            if run:
                why = f"it is text below {heading!r}, no entry" if heading else "it is text, no entry"
                yield skipped_text(f"{file}:{start + 1}", "\n".join(run), why)
                run = []
            heading = headings.get(number, heading)
        elif line.strip():
            start = start if run else number
            run.append(line)


def _entry_lines(entries: Any) -> set[int]:
    return {at for one in entries for at in range(one.line, one.line + count_line_ends(one.entry.raw) + 1)}


def _bullet_lines(document: Document) -> set[int]:
    return {
        first + bullet.line + at
        for _, _, block, first in document.blocks()
        for bullet in block.bullets
        for at in range(len(split_lines(block.body[bullet.start : bullet.end])))
    }


def _contact_lines(document: Document) -> set[int]:
    """Return the lines of the bullets of people, and of the tables of channels and routes."""
    found: set[int] = set()
    people = places_of(document, "person")
    for index, section in enumerate(document.sections):
        top = document.line_of(index) + 1
        if index in people:
            for bullet in section.bullets:
                first = top + bullet.line
                found.update(range(first, first + len(split_lines(section.body[bullet.start : bullet.end]))))
        for kind in ("channel", "route"):
            for _, table in tables_of(document, index, kind) if index in places_of(document, kind) else ():
                found.update(range(top + table.line, top + table.line + len(table.rows) + 2))
    return found


# -- entries --------------------------------------------------------------------------------------------------------


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
    return Item("task", task.title, _text(task.entry), _where(task), created, task.tags, fields, task.entry.raw)


def _text(entry: Entry) -> str:
    """Return what stands in an entry beside its fields; of a repeated field the first is the field."""
    body, parts, end = entry.body, [], 0
    known: set[str] = set()
    for node in entry.fields.nodes:
        if node.key not in known:
            known.add(node.key)
            parts.append(body[end : node.start])
            end = node.end
    return "\n".join(line for line, _ in split_lines("".join([*parts, body[end:]]))).strip("\n")


def _instant(text: str | None, snapshot: Snapshot) -> str:
    """Return a time of the files with its offset, a day as it is; empty for none, or what is no time."""
    moment = moment_or_none(text, snapshot.zone)
    if moment is None:
        return ""
    return moment.date.isoformat() if moment.instant is None else moment.instant.isoformat()


def _entry(entry: JournalEntry, snapshot: Snapshot) -> Item:
    when = " ".join(part for part in (entry.date, entry.time) if part)
    day = entry.document.section(entry.at[0]).title
    named = (("date", entry.date), ("time", entry.time), ("heading", None if day == entry.date else day))
    fields = {key: value for key, value in named if value}
    return Item(
        "journal", entry.title, "\n".join(_bullet(line) for line in entry.lines), _where(entry),
        _instant(when or None, snapshot), (), fields, entry.entry.raw,
    )  # fmt: skip


def _bullet(line: str) -> str:
    """Return a line of an entry as a bullet, further lines below it indented."""
    first, *rest = line.split("\n")
    return "\n".join([f"- {first}", *(f"  {one}" if one else "" for one in rest)])


def _knowledge(item: KnowledgeItem, document: Document) -> Item:
    named = (("section", item.section), ("topic", item.topic), ("date", item.date), ("reason", item.reason))
    title, _, text = item.text.partition("\n")
    fields = {key: value for key, value in named if value}
    block, bullet = document.block(*item.at[:2]), item.at[2]
    first, *rest = [
        line for line, _ in split_lines(block.body[block.bullets[bullet].start : block.bullets[bullet].end])
    ]
    # The blanks at the end of a line are a line break of Markdown, which its text has no more.
    raw = "\n".join([first[1:].lstrip(" "), dedent("\n".join(rest))])
    return Item(item.kind, title, text, _where(item), item.date or "", (), fields, encode(raw.rstrip()))


def _contact(contact: Contact, document: Document) -> Item:
    values = contact.json()
    kept = {key: str(value) for key, value in values.items() if value and key not in _ABOUT}
    kept["contact"] = contact.kind
    index, table, number = contact.at
    body = document.section(index).body
    body = plain_bullets(body).body if table is None else body
    one = read_bullets(body)[number] if table is None else find_tables(body)[table].rows[number]
    raw = body[one.start : one.end].rstrip("\r\n")
    return Item("contact", contact.title, contact.text, _where(contact), "", (), {**contact.extra, **kept}, encode(raw))


def _whole(kind: str, one: Any) -> Item:
    """Return an entry that only its own file can hold, with its source as the text."""
    return Item(kind, one.title, one.entry.body.strip("\r\n"), _where(one))
