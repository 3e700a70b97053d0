"""The kinds of the memory files as entries: a change is one edit under the lock, checked against the file."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from memory.base.recurrence_words import read_recurrence
from memory.document.tables import compose_table
from memory.errors import NotFoundError, RefusedError, UsageError
from memory.files import config
from memory.files.contacts.model import PERSON_KEYS
from memory.files.contacts.operations import contacts
from memory.files.journal.operations import journal
from memory.files.knowledge.operations import knowledge
from memory.files.monitors import replace_monitor_text
from memory.files.operations import Call, EntryGroup
from memory.files.plans.operations import orchestration
from memory.files.refs import identity_hex
from memory.files.tasks import operations as tasks
from memory.files.tasks.due_filter import due_when
from memory.monitoring.operations import monitors
from memory.monitoring.problems import runnable
from memory.operations import Day, Operation
from memory.search.entries import (
    Changes,
    Check,
    EntryCall,
    EntryKind,
    Made,
    item_of,
    lines_of,
    list_of,
    passes,
    refuse_unknown,
    sent_source,
    text_of,
    texts_of,
)
from memory.search.records import (
    Record,
    UnreadText,
    contact_record,
    derived_ref,
    journal_record,
    knowledge_record,
    monitor_record,
    plan_record,
    records,
    task_record,
)
from memory.systems.placing import SECTIONS
from memory.workspace import Outcome

from .edit import Edit
from .snapshot import Snapshot

_STEP = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(?=\S)")
"""The mark of an item of a list."""
_OWN = ("priority", "due", "recurring", "assigned", "notes", "action")


class InFiles:
    """The entries of one memory file; each kind defines how one is found, added, edited and removed."""

    name = ""
    verb = ""
    group: EntryGroup
    record: Callable[[Any], Record]
    compact = True
    filters: tuple[str, ...] = ("section",)

    def located(self, snapshot: Snapshot, ref: str) -> Record:
        """Return the record of a ref, archives included."""
        return self.record(self.group.find(snapshot, ref, None))

    def source(self, record: Record) -> str:
        """Return the text of an entry for `read`, which an edit may send back: its source."""
        return str(record.item.entry.text)

    def added(self, snapshot: Snapshot, title: str, fields: Mapping[str, Any], text: str | None, now: datetime) -> Edit:
        """Return the edit that adds an entry."""
        raise NotImplementedError

    def edited(self, snapshot: Snapshot, record: Record, ref: str, changes: Changes, now: datetime) -> Edit:
        """Return the edit that changes an entry."""
        raise NotImplementedError

    def grown(self, record: Record, more: str) -> Changes:
        """Return the changes that add to what an entry says; UsageError `entry.append` where it has no text."""
        if not self.source(record):
            raise UsageError("entry.append", f"{self.name} have no text to add to", "set a field")
        return Changes(text=f"{self.source(record).rstrip()}\n{more}")

    def removed(self, snapshot: Snapshot, ref: str, now: datetime) -> Edit:
        """Return the edit that removes an entry."""
        return self.makes("remove", snapshot, now, ref)

    def makes(self, name: str, snapshot: Snapshot, now: datetime, *values: Any, **more: Any) -> Edit:
        """Return the edit that an operation of the noun makes."""
        operation = self.group.operations[name]
        assert isinstance(operation, Operation)
        assert operation.edit is not None
        made: Edit = operation.edit(Call(snapshot, now), *values, **more)
        return made

    # -- the protocol -------------------------------------------------------------------------------------------

    def find(self, call: EntryCall, ref: str) -> Record:
        """Return the record of a ref."""
        return self._told(self.located(call.workspace.snapshot(), ref))

    def _told(self, record: Record) -> Record:
        return record._replace(text=self.source(record))

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002
        """Yield the records of the file that pass the filter; archived ones if the filter selects them."""
        wanted = str(filter.get("section", "")).casefold() in ("archived", "all")
        for record in records(call.workspace.snapshot(), (self.name,)):
            if isinstance(record.item, UnreadText):
                continue  # A line that nothing reads is no entry.
            if (wanted or not record.file.startswith("archive/")) and passes(record, filter):
                yield self._told(record)

    def add(self, call: EntryCall, title: str, fields: Mapping[str, Any], text: str | None) -> Made:
        """Add an entry, in one change."""

        def build(snapshot: Snapshot) -> Edit:
            return self.added(snapshot, title, fields, text, call.now)

        return self._made(call, call.workspace.change(f"{self.verb}.add", build, actor=call.actor, now=call.now))

    def edit(self, call: EntryCall, ref: str, changes: Changes, check: Check) -> Made:
        """Change an entry, in one change; it is compared under the lock with the version that was read."""

        def build(snapshot: Snapshot) -> Edit:
            record = self._checked(snapshot, ref, check)
            grown = changes if changes.append is None else self.grown(record, changes.append)
            return self.edited(snapshot, record, ref, grown, call.now)

        outcome = call.workspace.change(f"{self.verb}.edit", build, actor=call.actor, now=call.now)
        return self._made(call, outcome, ref)

    def remove(self, call: EntryCall, ref: str, check: Check) -> Made:
        """Remove an entry, in one change."""

        def build(snapshot: Snapshot) -> Edit:
            self._checked(snapshot, ref, check)
            edit = self.removed(snapshot, ref, call.now)
            return edit._replace(summary=call.because(edit.summary))

        outcome = call.workspace.change(f"{self.verb}.remove", build, actor=call.actor, now=call.now)
        return Made(None, outcome.change.id if outcome.change.files else None, outcome.summary)

    def _checked(self, snapshot: Snapshot, ref: str, check: Check) -> Record:
        record = self._told(self.located(snapshot, ref))
        check(item_of(record))
        if record.file.startswith("archive/"):
            raise RefusedError(
                "entry.archived", f"{ref} is in {record.file}, and the archive is only read", "a person can restore it"
            )
        return record

    def _made(self, call: EntryCall, outcome: Outcome, ref: str = "") -> Made:
        # The change is made: a later write by another program must not turn it into a failure.
        snapshot = outcome.snapshot or call.workspace.snapshot()
        item = item_of(self._told(self.located(snapshot, outcome.ref or ref)))
        return Made(item, outcome.change.id if outcome.change.files else None, outcome.summary)


class Tasks(InFiles):
    """The tasks of tasks.md and its archive."""

    name = verb = "tasks"
    group = tasks.tasks
    record = staticmethod(task_record)
    filters = ("section", "due")

    def grown(self, record: Record, more: str) -> Changes:
        """Return the changes that add to the notes."""
        before = record.item.notes
        return Changes({"notes": f"{before}\n{more}" if before else more})

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002
        """Yield the tasks of a section (default: pending, then in progress) that pass the rest of the filter."""
        snapshot = call.workspace.snapshot()
        rest = dict(filter)
        section = str(rest.pop("section", "")).casefold().replace(" ", "-")
        due = rest.pop("due", None)
        sections = tasks.SECTIONS if section == "all" else (section,) if section else tasks.OPEN
        if not set(sections) <= set(tasks.SECTIONS):
            raise UsageError(
                "task.section",
                f"{section[:40]!r} is not a section",
                "use pending, in-progress, completed, archived or all",
            )
        found = tasks.listed(snapshot, sections)
        if due is not None:
            found = builtins.filter(due_when(str(due), call.now, snapshot.zone), found)
        for record in map(task_record, found):
            if not rest or passes(record, rest):
                yield record

    def added(self, snapshot: Snapshot, title: str, fields: Mapping[str, Any], text: str | None, now: datetime) -> Edit:
        """Add a task to Pending; `text` are its notes if the fields have none."""
        values = {key: value for key, value in fields.items() if value is not None}
        if text and "notes" not in values:
            values["notes"] = text
        if str(values.pop("section", "pending")).casefold() != "pending":
            raise UsageError("task.section", "a new task is pending", "add it, then move it by an edit of its section")
        tags = list_of("tags", values.pop("tags", []))
        known = {key: text_of(key, values.pop(key)) for key in _OWN if key in values}
        return self.makes("add", snapshot, now, title, tags=tags, extra=texts_of(values), **known)

    def edited(self, snapshot: Snapshot, record: Record, ref: str, changes: Changes, now: datetime) -> Edit:
        """Set fields, which moves the task if `section` is one of them, or replace its source."""
        source = sent_source(record, changes)
        values = texts_of(
            {key: ", ".join(list_of(key, value)) if key == "tags" else value for key, value in changes.set.items()}
        )
        return self.makes("edit", snapshot, now, ref, values, changes.unset, text=source)


class JournalEntries(InFiles):
    """The entries of journal.md and its archive, the newest first."""

    name = verb = "journal"
    group = journal
    record = staticmethod(journal_record)
    filters = ("section", "date")

    def grown(self, record: Record, more: str) -> Changes:
        """Return the changes that add lines."""
        return Changes({"lines": [*record.item.lines, *lines_of(more)]})

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002
        """Yield the entries that pass the filter, the newest first; `date` also accepts words."""
        if "date" in filter:
            day = Day().written(str(filter["date"]), call.now, call.workspace.snapshot().zone)
            filter = {**filter, "date": day}  # noqa: A001
        return super().list(call, filter)

    def added(self, snapshot: Snapshot, title: str, fields: Mapping[str, Any], text: str | None, now: datetime) -> Edit:
        """Add an entry at the top of its day: `time` is when it was (default: now), each line of the text a bullet,
        and each field that an entry does not have.
        """
        said = fields.get("lines") or []
        lines = lines_of(said) if isinstance(said, str) else list_of("lines", said)
        lines += [f"{key}: {text_of(key, value)}" for key, value in fields.items() if key not in ("time", "lines")]
        time = fields.get("time")
        at = None if time is None else str(time)
        return self.makes("add", snapshot, now, title, [*lines, *lines_of(text or "")], at)

    def edited(self, snapshot: Snapshot, record: Record, ref: str, changes: Changes, now: datetime) -> Edit:
        """Set title, time or lines, or replace the source."""
        source, values = sent_source(record, changes), changes.values
        refuse_unknown(values, ("title", "time", "lines"), "a journal entry")
        lines = None
        if "lines" in values:
            given = values["lines"]
            lines = lines_of(given) if isinstance(given, str) else list_of("lines", given or [])
        title = text_of("title", values["title"]) if "title" in values else None
        time = None if "time" not in values else "" if values["time"] is None else text_of("time", values["time"])
        return self.makes("edit", snapshot, now, ref, title, lines, time, source)


class KnowledgeItems(InFiles):
    """The bullets of knowledge.md."""

    name = verb = "knowledge"
    group = knowledge
    record = staticmethod(knowledge_record)

    def grown(self, record: Record, more: str) -> Changes:
        """Return the changes that add a line to the text."""
        return Changes(text=f"{record.item.text}\n{more}")

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002
        """Yield the bullets that pass the filter; a section may be named in plain words, such as `preferences`."""
        rest = dict(filter)
        section = rest.pop("section", None)
        names = {item.section: None for item in call.workspace.snapshot().knowledge.items}
        chosen = [name for name in names if section in (None, "all") or _is_section(name, str(section))]
        if names and not chosen:
            known = f"there is {', '.join(names)}"
            raise UsageError("knowledge.section", f"there is no section {str(section)[:40]!r}", known)
        for record in super().list(call, rest):
            if record.item.section in chosen:
                yield record

    def source(self, record: Record) -> str:
        """Return the bullet as in the file, with date and reason."""
        return str(record.item.raw)

    def added(self, snapshot: Snapshot, title: str, fields: Mapping[str, Any], text: str | None, now: datetime) -> Edit:
        """Add a fact, or a decision if a date, a reason or `kind: decision` is given.

        A line of text is the reason of a decision without one; any other text goes below the title.
        """
        refuse_unknown(fields, ("section", "topic", "date", "reason", "kind"), "knowledge")
        values = texts_of(fields)
        if section := values.get("section"):
            known = (item.section for item in snapshot.knowledge.items if _is_section(item.section, section))
            values["section"] = next(known, SECTIONS.get(section.casefold(), section))
        decision = values.pop("kind", "") == "decision" or "date" in values or "reason" in values
        if not values.get("date"):
            values.pop("date", None)
        if decision and text and "reason" not in values and "\n" not in text.strip():
            values["reason"], text = text.strip(), None
        said = f"{title}\n{text}" if text and text.strip() else title
        return self.makes("add", snapshot, now, said, decision=decision, **values)

    def edited(self, snapshot: Snapshot, record: Record, ref: str, changes: Changes, now: datetime) -> Edit:
        """Set its text, date or reason."""
        values = changes.values
        refuse_unknown(values, ("text", "title", "date", "reason"), "knowledge")
        given = [one for one in (changes.text, values.get("text"), values.get("title")) if one is not None]
        if len(given) > 1:
            raise UsageError("entry.arguments", "two texts are given", "send one")
        text = text_of("text", given[0]) if given else record.item.text
        date = None if values.get("date") is None else text_of("date", values["date"])
        reason = None if "reason" not in values else text_of("reason", values["reason"] or "")
        return self.makes("edit", snapshot, now, ref, text, date, reason)


def _is_section(name: str, asked: str) -> bool:
    """Return whether a section is meant by its name, or by a plain word for it such as `preferences`."""
    name, asked = name.casefold(), asked.casefold()
    return name == asked or (asked in SECTIONS and asked.removesuffix("s") in name)


class ContactEntries(InFiles):
    """The rows and people of contacts.md; the field `kind` is channel, route or person."""

    filters = ("kind",)

    name = verb = "contacts"
    group = contacts
    record = staticmethod(contact_record)

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002
        """Yield the contacts that pass the filter; `kind` is channel, route or person."""
        rest = dict(filter)
        kind = str(rest.pop("kind", "")).casefold()
        return (record for record in super().list(call, rest) if kind in ("", record.item.kind))

    def source(self, record: Record) -> str:
        """Return the text about a person; rows have none."""
        return str(getattr(record.item, "text", None) or "")

    def grown(self, record: Record, more: str) -> Changes:
        """Return the changes that add to the text about a person."""
        if not hasattr(record.item, "text"):
            raise UsageError("entry.append", "only a person has a text", "set a field")
        return Changes({"text": f"{record.item.text or ''} {more}".strip()})

    def added(self, snapshot: Snapshot, title: str, fields: Mapping[str, Any], text: str | None, now: datetime) -> Edit:
        """Add a person, or what the field `kind` names; the title is the name, for a route its channel.

        What a person has no field for is part of the text about them.
        """
        values = texts_of(fields)
        kind = values.pop("kind", "channel" if {"id", "type"} & set(values) else "person")
        if text and text.strip():
            if kind != "person":
                raise UsageError("entry.field", f"a {kind} has no text", "use fields")
            values.setdefault("text", text.strip())
        if kind == "person":
            more = [f"{key}: {values.pop(key)}" for key in list(values) if key not in PERSON_KEYS]
            if more:
                values["text"] = "; ".join(filter(None, (values.get("text"), *more)))
        return self.makes("add", snapshot, now, kind, title, values)

    def edited(self, snapshot: Snapshot, record: Record, ref: str, changes: Changes, now: datetime) -> Edit:
        """Set values; an empty one clears it."""
        values = texts_of(changes.values)
        if changes.text is not None:
            values.setdefault("text", changes.text)
        return self.makes("edit", snapshot, now, ref, values)


class PlanEntries(InFiles):
    """The plans of orchestration.md and its archive."""

    name, verb = "plans", "orchestration"
    group = orchestration
    record = staticmethod(plan_record)
    compact = False

    def added(self, snapshot: Snapshot, title: str, fields: Mapping[str, Any], text: str | None, now: datetime) -> Edit:
        """Add a plan to Active Plans; text is what goes below its fields, such as its table of tasks, which is made of
        `steps`, or of a text that is a list.
        """
        values = dict(fields)
        steps = list_of("steps", values.pop("steps", []))
        lines = (text or "").strip().splitlines()
        if lines and all(_STEP.match(line) for line in lines):
            steps, text = [*steps, *(_STEP.sub("", line) for line in lines)], None
        if steps:
            rows = [(f"T{number}", step, "planning") for number, step in enumerate(steps, 1)]
            text = "\n".join((compose_table(("ID", "Title", "Status"), rows), text or ""))
        return self.makes("add", snapshot, now, title, texts_of(values), text)

    def edited(self, snapshot: Snapshot, record: Record, ref: str, changes: Changes, now: datetime) -> Edit:
        """Set and unset fields, which moves the plan if `section` is one of them, or replace its source."""
        source = sent_source(record, changes)
        return self.makes("edit", snapshot, now, ref, texts_of(changes.set), changes.unset, source)


class MonitorEntries(InFiles):
    """The monitors of monitors.md."""

    name = verb = "monitors"
    group = monitors
    record = staticmethod(monitor_record)
    filters = ()

    def grown(self, record: Record, more: str) -> Changes:
        """Refuse: a monitor has no text."""
        raise UsageError("entry.append", "a monitor has no text to add to", "set a field")

    def added(self, snapshot: Snapshot, title: str, fields: Mapping[str, Any], text: str | None, now: datetime) -> Edit:
        """Add a monitor with this name; a text is its address or its command."""
        values = _timed(fields)
        if text and text.strip():
            values.setdefault("url" if "://" in text else "command", text.strip())
        return self.makes("add", snapshot, now, title, changes=values)

    def edited(self, snapshot: Snapshot, record: Record, ref: str, changes: Changes, now: datetime) -> Edit:
        """Set and unset fields, or replace the source."""
        if (source := sent_source(record, changes)) is not None:
            return runnable(lambda looked: replace_monitor_text(looked, ref, source, now=now))(snapshot)
        return self.makes("edit", snapshot, now, ref, _timed(changes.set), changes.unset)


def _timed(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of a monitor, with an interval in words as cron."""
    values = texts_of(fields)
    if values.get("interval"):
        values["interval"] = read_recurrence(values["interval"]).cron
    return values


class ConfigEntries(InFiles):
    """The settings of config.md; of a duplicate key, the one that is in effect."""

    name = verb = "config"

    def located(self, snapshot: Snapshot, ref: str) -> Record:
        """Return the record of a setting."""
        found = [record for record in records(snapshot, (self.name,)) if derived_ref(record) == ref]
        if not found:
            raise NotFoundError(
                "config.not_found", f"no setting has the ref {ref[:60]!r}", "list them to see their refs"
            )
        counts = snapshot.config.setting(found[0].title)
        return next((record for record in found if record.item is counts), found[0])

    def source(self, record: Record) -> str:
        """Return nothing: the value is a field."""
        return ""

    def added(self, snapshot: Snapshot, title: str, fields: Mapping[str, Any], text: str | None, now: datetime) -> Edit:
        """Set a new key."""
        refuse_unknown(fields, ("value", "section"), "a setting")
        values = texts_of(fields)
        value = values.get("value") or (text or "")
        if not value.strip():
            raise UsageError("config.value", "a setting needs a value", "send it as the field value")
        if snapshot.config.setting(title) is not None:
            raise UsageError("config.exists", f"config.md has {title[:60]!r} already", "edit it by its ref")
        edit = config.set_setting(snapshot, title, value, section=values.get("section"), now=now)
        return _with_ref(edit, title)

    def edited(self, snapshot: Snapshot, record: Record, ref: str, changes: Changes, now: datetime) -> Edit:
        """Set its value."""
        refuse_unknown(changes.values, ("value",), "a setting")
        value = changes.text if changes.text is not None else changes.set.get("value")
        if value is None:
            raise UsageError("config.value", "a setting needs a value", "remove it to take it away")
        edit = config.set_setting(snapshot, record.title, text_of("value", value), now=now)
        return _with_ref(edit, record.title)

    def removed(self, snapshot: Snapshot, ref: str, now: datetime) -> Edit:
        """Remove the key."""
        return config.unset_setting(snapshot, self.located(snapshot, ref).title, now=now)


def _with_ref(edit: Edit, key: str) -> Edit:
    return edit._replace(ref=f"config#{identity_hex('config', config.FILE, key)}")


KINDS: dict[str, EntryKind] = {
    "tasks": Tasks(),
    "journal": JournalEntries(),
    "knowledge": KnowledgeItems(),
    "contacts": ContactEntries(),
    "plans": PlanEntries(),
    "monitors": MonitorEntries(),
    "config": ConfigEntries(),
}
"""The kinds of entries of the memory files."""
