"""The memory files on their way from and to other memories: every entry as an item, and items as entries.

Text that is no entry is yielded as skipped; of an item it is said what it becomes, and what of it has no home.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain
from textwrap import dedent
from typing import Any

from memory.base.clock import format_local, read_moment
from memory.base.items import Item, Loss, Skipped, comma_losses, losses_of, skipped_text
from memory.document import Document, Entry, parse
from memory.document.lines import count_line_ends, decode, encode, split_lines, with_line_end
from memory.document.nodes import bare
from memory.errors import MemdeckError, UsageError
from memory.files.config import Setting
from memory.files.contacts import KINDS, Contact, Contacts, places_of, tables_of
from memory.files.edit import bullet_source, started_document, with_text
from memory.files.fields.values import moment_or_none
from memory.files.journal.edits import FILE as JOURNAL
from memory.files.journal.edits import JOURNAL_EDITS
from memory.files.journal.model import JournalEntry, read_lines, split_heading, write_line, write_lines
from memory.files.knowledge import DECISIONS, KnowledgeItem
from memory.files.knowledge import FILE as KNOWLEDGE
from memory.files.monitors import Monitor
from memory.files.plans.model import Plan
from memory.files.snapshot import Snapshot, WrittenFiles
from memory.files.tasks.edits import FILE as TASKS
from memory.files.tasks.edits import TASK_EDITS, heading
from memory.files.tasks.model import SECTIONS, Task
from memory.files.tasks.reading import PRIORITIES, SCHEMA, DueValue, Head, is_run, read_due, write_tags
from memory.files.verbs.contacts import add_contact
from memory.files.verbs.knowledge import compose, with_knowledge

_ABOUT = ("ref", "line", "kind", "name", "extra", "text")


def items_of(snapshot: Snapshot) -> Iterator[Item | Skipped]:
    """Yield every task, journal entry, piece of knowledge, contact, plan, monitor and setting, and the text between."""
    knowledge, contacts, monitors, config = snapshot.knowledge, snapshot.contacts, snapshot.monitors, snapshot.config
    tasks, plans = (snapshot.tasks, *snapshot.archived_tasks()), (snapshot.plans, *snapshot.archived_plans())
    journals = (snapshot.journal, *snapshot.archived_journals())
    parts: list[tuple[Any, Sequence[Any], Callable[[Any, Snapshot], Item], int]] = [
        *((one, one.items, _task, 2) for one in tasks),
        *((one, list(one.entries()), _entry, 2) for one in journals),
        (knowledge, knowledge.items, _knowledge, 3),
        (contacts, contacts.items, _contact, 2),
        *((one, one.items, _whole, 2) for one in plans),
        (monitors, monitors.items, _whole, 2),
        (config, config.settings, _setting, 3),
    ]
    for view, found, item, levels in parts:
        yield from (item(one, snapshot) for one in found)
        yield from _between(view.file, view.document, set(_lines_of(view, found)), levels)


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
                why = f"it is text below {heading!r}, no entry" if heading else "it is text, not an entry"
                yield skipped_text(f"{file}:{start + 1}", "\n".join(run), why)
                run = []
            heading = headings.get(number, heading)
        elif line.strip():
            start = start if run else number
            run.append(line)


def _lines_of(view: Any, found: Sequence[Any]) -> Iterator[int]:
    """Yield the lines of the items of a file, and of the tables of contacts."""
    for one in found:
        if not isinstance(one, Contact):
            raw = one.entry.raw + b"\n" if hasattr(one, "entry") else encode(one.raw)
            yield from range(one.line, one.line + count_line_ends(raw) + 1)
        elif one.kind == "person":
            yield from range(one.line, one.line + one.text.count("\n") + 1)
    for kind in ("channel", "route") if isinstance(view, Contacts) else ():
        for index in places_of(view.document, kind):
            top = view.document.line_of(index) + 1
            for _, table in tables_of(view.document, index, kind):
                yield from range(top + table.line, top + table.line + len(table.rows) + 2)


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
    """Return the text of an entry beside its fields; of a repeated field the first is the field."""
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
    return "" if moment is None else (moment.instant or moment.date).isoformat()


def _entry(entry: JournalEntry, snapshot: Snapshot) -> Item:
    when = " ".join(part for part in (entry.date, entry.time) if part)
    day = entry.document.section(entry.at[0]).title
    named = (("date", entry.date), ("time", entry.time), ("heading", None if day == entry.date else day))
    fields = {key: value for key, value in named if value}
    text = "".join(write_line(line, "\n") for line in entry.lines).removesuffix("\n")
    created = _instant(when or None, snapshot)
    return Item("journal", entry.title, text, _where(entry), created, (), fields, entry.entry.raw)


def _knowledge(item: KnowledgeItem, snapshot: Snapshot) -> Item:
    named = (("section", item.section), ("topic", item.topic), ("date", item.date), ("reason", item.reason))
    title, _, text = item.text.partition("\n")
    fields = {key: value for key, value in named if value}
    first, *rest = [line for line, _ in split_lines(bullet_source(snapshot.document(item.file), item.at))]
    # The blanks at the end of a line are a line break of Markdown, which its text has no more.
    raw = "\n".join([first[1:].lstrip(" "), dedent("\n".join(rest))])
    return Item(item.kind, title, text, _where(item), item.date or "", (), fields, encode(raw.rstrip()))


def _contact(contact: Contact, snapshot: Snapshot) -> Item:
    document = snapshot.document(contact.file)
    values = contact.json()
    kept = {key: str(value) for key, value in values.items() if value and key not in _ABOUT}
    kept["contact"] = contact.kind
    index, table, number = contact.at
    if table is None:
        raw = bullet_source(document, contact.at)
    else:
        section = document.section(index)
        row = section.tables[table].rows[number]
        raw = section.body[row.start : row.end]
    raw = raw.rstrip("\r\n")
    return Item("contact", contact.title, contact.text, _where(contact), "", (), {**contact.extra, **kept}, encode(raw))


def _whole(one: Plan | Monitor, _: Snapshot) -> Item:
    """Return an entry that only its own file can hold, with its source as the text."""
    return Item(type(one).__name__.lower(), one.title, one.entry.body.strip("\r\n"), _where(one))


def _setting(setting: Setting, _: Snapshot) -> Item:
    return Item("setting", setting.key, "", f"config.md:{setting.line + 1}", fields={"value": setting.value or ""})


# -- items as entries -------------------------------------------------------------------------------------------------

_OWN = {"plan": "orchestration.md", "monitor": "monitors.md", "setting": "config.md"}
_THERE = "it already exists"
_ABOUT_TASK = ("section", "heading", "priority")
_TIMES = ("due", "created", "started", "completed")
_OFFSET = re.compile(r"(?:Z|[+-]\d\d:?\d\d)\s*\Z")


class DraftDocuments:
    """Documents with the entries that were added to them; `converted`, `skipped` and `losses` say what became of each.

    Times without an offset are in the zone of the workspace.
    """

    def __init__(self, snapshot: Snapshot, items: Iterable[Item], now: datetime) -> None:
        """Add each item to the files as they are, or say why it does not come along."""
        self._before, self._zone, self._now = snapshot, snapshot.zone, now
        self.documents: dict[str, Document] = {}
        self.converted: list[Item] = []
        self.skipped: list[Skipped] = []
        self.losses: list[Loss] = []
        self._tasks = _known_tasks(snapshot)
        self._there = set(_known_others(snapshot))
        self._bullets: dict[tuple[str, str | None], list[tuple[Item, str]]] = {}
        for item in items:
            losses: list[Loss] = []
            try:
                refused = self._put(item, losses)
            except MemdeckError as error:
                refused = error.message
            if refused is None:
                self.converted.append(item)
                self.losses += losses
            else:
                self.skipped.append(Skipped(item.what, refused))
        for place, waiting in self._bullets.items():
            # All at once: each bullet that is added reads the whole section.
            try:
                document, _ = with_knowledge(self._document(KNOWLEDGE), *place, [raw for _, raw in waiting])
                self.documents[KNOWLEDGE] = document
            except MemdeckError as error:
                self.skipped += [Skipped(item.what, error.message) for item, _ in waiting]
                gone = {item.what for item, _ in waiting}
                self.converted = [item for item in self.converted if item.what not in gone]
                self.losses = [loss for loss in self.losses if loss.what not in gone]

    def _put(self, item: Item, losses: list[Loss]) -> str | None:
        """Add an item to its document, and what is lost to the losses; return why it cannot be added, or None."""
        if item.kind in _OWN:
            return f"only {_OWN[item.kind]} has a {item.kind}, and a person writes it"
        if item.kind in ("task", "next-step"):
            return self._task(item, losses)
        if item.kind in ("journal", "event"):
            return self._entry(item, losses)
        return self._contact(item, losses) if item.kind == "contact" else self._knowledge(item, losses)

    def _document(self, name: str) -> Document:
        return self.documents.get(name) or started_document(self._before, name, self._now)

    def _is_new(self, *key: object) -> bool:
        """Return whether nothing with this key was in the files or added since."""
        new = key not in self._there
        self._there.add(key)
        return new

    def _task(self, item: Item, losses: list[Loss]) -> str | None:
        said = item.fields
        section = said.get("section", "pending")
        section = "completed" if section == "archived" else section if section in SECTIONS else "pending"
        document = self._document(TASKS)
        entry = _as_written(item.raw, document.newline) if item.raw else self._new_task(item, losses, document.newline)
        if "heading" in said:
            losses.append(Loss(item.what, "heading", "a task is under Pending, In Progress or Completed"))
        if _is_known(entry, self._tasks) or not self._is_new("task", section, bare(entry)):
            return _THERE
        document, place = TASK_EDITS.with_section(document, section)
        self.documents[TASKS] = document.insert_entry(place, len(document.sections[place]), entry)
        return None

    def _new_task(self, item: Item, losses: list[Loss], newline: str) -> Entry:
        """Return the entry of a task from another memory; a value that a task cannot have is a loss."""
        priority = item.fields.get("priority", "").upper() or None
        if priority is not None and priority not in PRIORITIES:
            words = f"{item.fields['priority'][:40]!r} is not one of {', '.join(PRIORITIES)}"
            losses.append(Loss(item.what, "priority", words))
            priority = None
        entry = Entry.compose(heading(priority, item.title), "", newline)
        values = {key: value for key, value in item.fields.items() if key not in _ABOUT_TASK and value.strip()}
        if item.created:
            values.setdefault("created", item.created)
        if item.tags and "tags" not in values:
            values["tags"] = write_tags(item.tags)
            losses += comma_losses(item)
        for key, value in values.items():
            try:
                entry = TASK_EDITS.with_value(entry, key, self._local(key, value), self._zone)
            except MemdeckError as error:
                losses.append(Loss(item.what, key, error.message))
        try:
            return _with_text(entry, item.text) if item.text else entry
        except MemdeckError as error:
            losses.append(Loss(item.what, "text", error.message))
            return entry

    def _local(self, key: str, value: str) -> str:
        """Return the value of a task's field, a time with an offset in the zone of the workspace."""
        parts = read_due(value) if key == "due" else DueValue(value)
        moment = moment_or_none(parts.date, self._zone) if key in _TIMES else None
        if moment is None or moment.instant is None or not _OFFSET.search(parts.date or ""):
            return value
        return str(parts._replace(date=format_local(moment.instant, self._zone)))

    def _entry(self, item: Item, losses: list[Loss]) -> str | None:
        date, time = item.fields.get("date"), item.fields.get("time")
        if date is None and (moment := read_moment(item.created, self._zone)) is not None:
            date = moment.date.isoformat()
            if moment.instant is not None:
                date, _, time = format_local(moment.instant, self._zone).partition(" ")
        if date is None:
            return "it has no date"
        document = self._document(JOURNAL)
        if item.raw:
            entry = _as_written(item.raw, document.newline)
        else:
            lines = [line.text for line in read_lines(item.text + "\n")] if item.text else []
            title = f"{time} — {item.title}" if time else item.title
            entry = Entry.compose(title, write_lines(lines, document.newline), document.newline)
            if split_heading(entry.title) != (time, item.title.strip()):
                return "its title would be read as a time"
        if not self._is_new("journal", date, bare(entry)):
            return _THERE
        self.documents[JOURNAL], _ = JOURNAL_EDITS.insert_by_time(document, date, entry)
        losses += _losses(item, ("date", "time", "created"), "journal entries have only a time, a title and lines")
        return None

    def _knowledge(self, item: Item, losses: list[Loss]) -> str | None:
        said = item.fields
        decision = item.kind == "decision" or "reason" in said
        date = (said.get("date") or item.created[:10] or None) if decision else None
        place = (said.get("section") or (DECISIONS if decision else "Technical Facts"), said.get("topic"))
        text = f"{item.title}\n{item.text}" if item.text else item.title
        raw = decode(item.raw) if item.raw else compose(text, date, said.get("reason"))
        if not self._is_new(*_bullet_key(*place, raw)):
            return _THERE
        with_knowledge(parse(b""), *place, [raw])  # An error says that it would not stay one bullet.
        self._bullets.setdefault(place, []).append((item, raw))
        known = ("section", "topic", "date", "reason", "created")
        losses += _losses(item, known, "knowledge has only text, and decisions a date and a reason")
        losses += [Loss(item.what, "created", "only a decision has a date")] if item.created and not decision else []
        return None

    def _contact(self, item: Item, losses: list[Loss]) -> str | None:
        values = {key: value for key, value in item.fields.items() if value.strip()}
        kind = values.pop("contact", "person")
        if kind == "person":
            losses += losses_of(item, ("contact", "role"), "a person has a name, a role and a text")
            values = {"role": values.get("role", ""), "text": item.text}
        elif item.text:
            losses.append(Loss(item.what, "text", f"a {kind} has no text"))
        values.setdefault("channel" if kind == "route" else "name", item.title)
        if ("contact", kind, item.title) in self._there or not self._is_new(kind, repr(sorted(values.items()))):
            return _THERE
        look = Snapshot(WrittenFiles(self._before, self.documents), lambda: self._zone)
        try:
            edit = add_contact(look, kind, values, source=decode(item.raw), now=self._now)
        except UsageError as error:
            if error.code != "contact.key":
                raise
            keys = KINDS[kind].columns
            losses += [Loss(item.what, key, f"a {kind} has no such column here") for key in values if key not in keys]
            known = {key: value for key, value in values.items() if key in keys}
            edit = add_contact(look, kind, known, now=self._now)
        self.documents.update(edit.documents)
        return None


def _losses(item: Item, known: Sequence[str], why: str) -> list[Loss]:
    """Return a loss for each field that is not known, and for the tags of an item."""
    return losses_of(item, known, why) + ([Loss(item.what, "tags", why)] if item.tags else [])


def _as_written(raw: bytes, newline: str) -> Entry:
    """Return an entry with the bytes of its source, which others may follow."""
    entry = Entry(raw)
    # A blank line ends an HTML block, which the end of the file did in the source.
    return Entry(with_line_end(raw, newline)) if entry.open_ended else entry


def _with_text(entry: Entry, text: str) -> Entry:
    """Return a task with a text below its fields; in `notes` where it would not stay text there. MemdeckError."""
    body = f"{entry.body}{entry.newline}" if entry.body else ""
    with suppress(MemdeckError):
        new = entry.with_body(body + text.replace("\n", entry.newline) + entry.newline)
        if new.fields == entry.fields:
            return new
    notes = entry.fields.get("notes")
    return with_text(entry, "notes", f"{notes}\n{text}" if notes else text, SCHEMA)


# -- what is there already -------------------------------------------------------------------------------------------


def _known_others(snapshot: Snapshot) -> Iterable[tuple[object, ...]]:
    """Yield the keys of the journal entries, the knowledge and the contacts of a workspace."""
    yield from (_bullet_key(one.section, one.topic, one.raw) for one in snapshot.knowledge.items)
    for file in (snapshot.journal, *snapshot.archived_journals()):
        yield from (("journal", one.date or "", bare(one.entry)) for one in file.entries())
    yield from (("contact", one.kind, one.title) for one in snapshot.contacts.items)


def _bullet_key(section: str, topic: str | None, raw: str) -> tuple[str, str, bytes]:
    return section.casefold(), (topic or "").casefold(), encode(" ".join(raw.split()))


_Tasks = dict[tuple[str, ...], list[Entry]]


def _known_tasks(snapshot: Snapshot) -> _Tasks:
    """Return the tasks of tasks.md and its archives by their names, whatever their section is now."""
    known: _Tasks = {}
    for task in chain(snapshot.tasks, *snapshot.archived_tasks()):
        for key in {_key(task.entry), _title(task.entry)}:
            known.setdefault(key, []).append(task.entry)
    return known


def _is_known(entry: Entry, known: _Tasks) -> bool:
    """Return whether a task is one of those that are known.

    Two are the same by their `uuid`; by their `id` if title or `created` are the same too, because other projects count
    from 1 as well; without either by their title, and by `created` if both have it. A completed run of a recurring task
    is another one than the task.
    """
    key, title, created = _key(entry), _title(entry), entry.memo(Head).created
    found = known.get(key, ())
    if key[0] == "uuid":
        return bool(found)
    if key[0] == "id":
        return any(_title(one) == title or created == (one.memo(Head).created or "") for one in found)
    return any(None in (created, date) or created == date for date in (one.memo(Head).created for one in found))


def _key(entry: Entry) -> tuple[str, ...]:
    name = next((name for name in ("uuid", "id") if entry.fields.get(name)), None)
    return _title(entry) if name is None else (name, entry.fields[name], *_run(entry))


def _title(entry: Entry) -> tuple[str, ...]:
    return ("title", entry.memo(Head).title, *_run(entry))


def _run(entry: Entry) -> tuple[str, ...]:
    return (entry.fields.get("completed") or "",) if is_run(entry) else ()
