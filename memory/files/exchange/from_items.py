"""The documents that items make: what each kind becomes, and what of it has no home."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from memory.base.clock import BadMoment, format_local, read_moment
from memory.base.items import Item, Loss, Skipped, comma_losses, losses_of
from memory.document import Document, Entry
from memory.document.lines import decode, encode, with_line_end
from memory.document.nodes import bare
from memory.errors import MemdeckError, UsageError
from memory.files.contacts import model as contacts
from memory.files.edit import started_document
from memory.files.journal import edits as journal
from memory.files.journal.model import read_lines, write_lines
from memory.files.journal.reading import split_heading
from memory.files.knowledge import model as knowledge
from memory.files.snapshot import Snapshot, WrittenFiles
from memory.files.tasks import edits as tasks
from memory.files.tasks.edits import check_due, heading, with_text, write_tags
from memory.files.tasks.values import PRIORITIES, SECTIONS, read_due, read_progress, with_section

from .known_tasks import KnownTasks

if TYPE_CHECKING:
    from collections.abc import Callable

_TASKS = frozenset({"task", "next-step"})
_JOURNAL = frozenset({"journal", "event"})
_OWN = {"plan": "orchestration.md", "monitor": "monitors.md", "setting": "config.md"}
_FACTS = "Technical Facts"
_ABOUT_TASK = ("section", "heading", "priority")
_ABOUT_KNOWLEDGE = ("section", "topic", "date", "reason", "created")
_OFFSET = re.compile(r"(?:Z|[+-]\d\d:?\d\d)\s*\Z")
_PERSON, _MOMENTS = ("contact", "role"), ("started", "completed")


class DraftDocuments:
    """Documents with the entries that were added to them; `converted`, `skipped` and `losses` say what became of each.

    Times without an offset are in the zone of the workspace.
    """

    def __init__(self, snapshot: Snapshot, now: datetime) -> None:
        """Begin with the files as they are."""
        self._before = snapshot
        self._zone = snapshot.zone
        self._now = now
        self._changed: dict[str, Document] = {}
        self._there: dict[str, frozenset[tuple[str, bytes]]] = {}
        self._added: set[tuple[str, tuple[str, bytes], str]] = set()
        self._bullets: dict[tuple[str, str | None], list[tuple[Item, str]]] = {}
        self.converted: list[Item] = []
        self.skipped: list[Skipped] = []
        self.losses: list[Loss] = []

    @classmethod
    def of(cls, snapshot: Snapshot, items: Iterable[Item], now: datetime) -> DraftDocuments:
        """Return the drafts of items, each added or skipped."""
        drafts = cls(snapshot, now)
        for item in items:
            drafts.add(item)
        drafts.documents()
        return drafts

    def add(self, item: Item) -> None:
        """Add an item, or say why it does not come along."""
        losses: list[Loss] = []
        if item.kind in _OWN:
            self._skip(item, f"only {_OWN[item.kind]} has a {item.kind}, and a person writes it")
            return
        put: Callable[[Item, list[Loss]], str | None] = (
            self._task if item.kind in _TASKS
            else self._entry if item.kind in _JOURNAL
            else self._contact if item.kind == "contact"
            else self._knowledge
        )  # fmt: skip
        try:
            refused = put(item, losses)
        except MemdeckError as error:
            refused = error.message
        if refused is not None:
            self._skip(item, refused)
            return
        self.losses += losses
        self.converted.append(item)

    def documents(self) -> Mapping[str, Document]:
        """Return the files that get entries, by name; what cannot stand in one is skipped only now."""
        for (section, topic), pairs in self._bullets.items():
            document = self._document(knowledge.FILE)
            try:
                document = knowledge.with_bullets(document, section, topic, [raw for _, raw in pairs])
            except MemdeckError:
                for item, raw in pairs:
                    try:
                        document = knowledge.with_bullets(document, section, topic, [raw])
                    except MemdeckError as error:
                        self.converted.remove(item)
                        self.losses = [loss for loss in self.losses if loss.what != item.what]
                        self._skip(item, error.message)
            if document is not self._document(knowledge.FILE):
                self._changed[knowledge.FILE] = document
        self._bullets.clear()
        return self._changed

    @cached_property
    def _tasks(self) -> KnownTasks:
        return KnownTasks(self._before)

    # -- inside -------------------------------------------------------------------------------------------------

    def _skip(self, item: Item, reason: str) -> None:
        self.skipped.append(Skipped(item.what, reason))

    def _document(self, name: str) -> Document:
        return self._changed.get(name) or started_document(self._before, name, self._now)

    def _is_new(self, name: str, key: tuple[str, bytes], more: str = "") -> bool:
        """Tell whether nothing that was in a file has this key, and nothing added since has this and `more`."""
        if name not in self._there:
            self._there[name] = frozenset(self._known(name))
        new = key not in self._there[name] and (name, key, more) not in self._added
        self._added.add((name, key, more))
        return new

    def _known(self, name: str) -> Iterable[tuple[str, bytes]]:
        """Return the keys of what is in a file for `_is_new`; none for tasks, which `KnownTasks` knows."""
        if name == knowledge.FILE:
            return (_bullet(one.section, one.topic, one.raw) for one in self._before.knowledge.items)
        if name == journal.FILE:
            files = (self._before.journal, *self._before.archived_journals())
            return ((one.date or "", bare(one.entry)) for file in files for one in file.entries())
        if name == contacts.FILE:
            return (_contact_key(one.kind, one.title) for one in self._before.contacts.all())
        return ()

    def _time(self, item: Item, key: str, value: str, losses: list[Loss]) -> str | None:
        """Return a time as the files have it, in the zone of the workspace; None, and a loss, for what is none."""
        try:
            moment = read_moment(value, self._zone)
        except BadMoment as error:
            losses.append(Loss(item.what, key, error.message))
            return None
        if moment is None or moment.instant is None:
            return value
        return format_local(moment.instant, self._zone) if _OFFSET.search(value) else value

    def _task(self, item: Item, losses: list[Loss]) -> str | None:
        said = item.fields
        section = said.get("section", "pending")
        section = "completed" if section == "archived" else section if section in SECTIONS else "pending"
        priority = said.get("priority", "").upper() or None
        if priority is not None and priority not in PRIORITIES:
            losses.append(Loss(item.what, "priority", f"{said['priority'][:40]!r} is none of {', '.join(PRIORITIES)}"))
            priority = None
        newline = self._document(tasks.FILE).newline
        if item.raw:
            entry, losses[:] = _as_written(item.raw, newline), []
        else:
            entry = Entry.compose(heading(priority, item.title), "", newline)
            for key, value in self._task_fields(item, losses).items():
                try:
                    entry = with_text(entry, key, value)
                except MemdeckError as error:
                    losses.append(Loss(item.what, key, error.message))
            if item.text:
                entry = _with_body(entry, item, losses)
        if "heading" in said:
            losses.append(Loss(item.what, "heading", "a task stands under Pending, In Progress or Completed"))
        if entry in self._tasks or not self._is_new(tasks.FILE, (section, bare(entry))):
            return "it is there already"
        document, place = with_section(self._document(tasks.FILE), section)
        self._changed[tasks.FILE] = document.insert_entry(place, len(document.sections[place]), entry)
        return None

    def _task_fields(self, item: Item, losses: list[Loss]) -> Mapping[str, str]:
        """Return the fields of a task as they are written: those of the format as it reads them, others as they are."""
        values: dict[str, str] = {}
        given = {key: value for key, value in item.fields.items() if key not in _ABOUT_TASK and value.strip()}
        for key, value in given.items():
            text: str | None = value
            if key == "due":
                text = self._due(item, value, losses)
            elif key in _MOMENTS:
                text = self._time(item, key, value, losses)
            elif key == "progress" and read_progress(value) is None:
                losses.append(Loss(item.what, key, f"{value[:40]!r} is no number from 0 to 100"))
                text = None
            if text is not None:
                values[key] = text
        if item.created and "created" not in values:
            values["created"] = self._time(item, "created", item.created, losses) or ""
        if item.tags and "tags" not in values:
            values["tags"] = write_tags(item.tags)
            losses += comma_losses(item)
        return {key: value for key, value in values.items() if value}

    def _due(self, item: Item, value: str, losses: list[Loss]) -> str | None:
        """Return a due date with its recurrence, the date in the zone of the workspace."""
        try:
            check_due(value, self._zone)
        except MemdeckError as error:
            losses.append(Loss(item.what, "due", error.message))
            return None
        parts = read_due(value)
        if not parts.date:
            return value
        date = self._time(item, "due", parts.date, losses)
        return value if date in (None, parts.date) else str(parts._replace(date=date))

    def _entry(self, item: Item, losses: list[Loss]) -> str | None:
        date, time = item.fields.get("date"), item.fields.get("time")
        if date is None and item.created:
            moment = read_moment(item.created, self._zone)
            if moment is not None:
                date = moment.date.isoformat()
                if moment.instant is not None:
                    date, _, time = format_local(moment.instant, self._zone).partition(" ")
        if date is None:
            return "it says no day"
        name = journal.FILE
        document = self._document(name)
        if item.raw:
            entry = _as_written(item.raw, document.newline)
        else:
            lines = [line.text for line in read_lines(item.text + "\n")] if item.text else []
            title = f"{time} — {item.title}" if time else item.title
            entry = Entry.compose(title, write_lines(lines, document.newline), document.newline)
            if split_heading(entry.title) != (time, item.title.strip()):
                return "its title would be read as a time"
        if not self._is_new(name, (date, bare(entry))):
            return "it is there already"
        document, section = journal.section_for(document, date)
        clocks = [split_heading(one.title)[0] for one in document.sections[section].entries]
        place = next((at for at, clock in enumerate(clocks) if time and clock and clock < time), len(clocks))
        self._changed[name] = document.insert_entry(section, place, entry)
        losses += losses_of(item, ("date", "time", "created"), "a journal entry has a time, a title and lines")
        if item.tags:
            losses.append(Loss(item.what, "tags", "a journal entry has a time, a title and lines"))
        return None

    def _knowledge(self, item: Item, losses: list[Loss]) -> str | None:
        said = item.fields
        decision = item.kind == "decision" or "reason" in said
        date = said.get("date") if decision else None
        if decision and date is None:
            date = item.created[:10] or None
        section = said.get("section") or (knowledge.DECISIONS if decision else _FACTS)
        text = f"{item.title}\n{item.text}" if item.text else item.title
        raw = decode(item.raw) if item.raw else knowledge.compose(text, date, said.get("reason"))
        if not self._is_new(knowledge.FILE, _bullet(section, said.get("topic"), raw)):
            return "it is there already"
        self._bullets.setdefault((section, said.get("topic")), []).append((item, raw))
        losses += losses_of(item, _ABOUT_KNOWLEDGE, "a piece of knowledge has a text, and a decision date and reason")
        if item.tags:
            losses.append(Loss(item.what, "tags", "a piece of knowledge has none"))
        if item.created and not decision:
            losses.append(Loss(item.what, "created", "only a decision has a date"))
        return None

    def _contact(self, item: Item, losses: list[Loss]) -> str | None:
        values = {key: value for key, value in item.fields.items() if value.strip()}
        kind = values.pop("contact", "person")
        if kind == "person":
            values = {key: value for key, value in values.items() if key in ("role",)}
            losses += losses_of(item, _PERSON, "a person has a name, a role and a text")
            values["text"] = item.text
        elif item.text:
            losses.append(Loss(item.what, "text", f"a {kind} has no text"))
        values.setdefault("channel" if kind == "route" else "name", item.title)
        keys = contacts.COLUMNS.get(kind, contacts.PERSON_KEYS)
        source = decode(item.raw)
        if not self._is_new(contacts.FILE, _contact_key(kind, item.title), repr(sorted(values.items()))):
            return "it is there already"
        look = Snapshot(WrittenFiles(self._before, self._changed), lambda: self._zone)
        try:
            edit = contacts.add_contact(look, kind, values, source=source, now=self._now)
        except UsageError as error:
            if error.code != "contact.key":
                raise
            losses += [Loss(item.what, key, f"a {kind} has no such column here") for key in values if key not in keys]
            known = {key: value for key, value in values.items() if key in keys}
            edit = contacts.add_contact(look, kind, known, now=self._now)
        self._changed.update(edit.documents)
        return None


def _as_written(raw: bytes, newline: str) -> Entry:
    """Return an entry with the bytes of its source, behind which others may stand."""
    entry = Entry(raw)
    # A blank line ends an HTML block, which the end of the file did in the source.
    return Entry(with_line_end(raw, newline)) if entry.open_ended else entry


def _with_body(entry: Entry, item: Item, losses: list[Loss]) -> Entry:
    """Return a task with the text of its item below the fields; in `notes` where it would not stay text there."""
    body = f"{entry.body}{entry.newline}" if entry.body else ""
    try:
        new = entry.with_body(body + item.text.replace("\n", entry.newline) + entry.newline)
        if new.fields == entry.fields:
            return new
    except MemdeckError:
        pass
    notes = entry.fields.get("notes")
    try:
        return with_text(entry, "notes", f"{notes}\n{item.text}" if notes else item.text)
    except MemdeckError as error:
        losses.append(Loss(item.what, "text", error.message))
        return entry


def _contact_key(kind: str, title: str) -> tuple[str, bytes]:
    return kind, encode(title)


def _bullet(section: str, topic: str | None, raw: str) -> tuple[str, bytes]:
    return f"{section}\n{topic or ''}".casefold(), encode(" ".join(raw.split()))
