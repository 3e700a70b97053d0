"""The kinds of the memory files as entries: a change is one edit under the lock, checked against the file.

What programs send becomes the values of the operation that adds or edits such an entry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from memory.base.recurrence import read_recurrence
from memory.document.tables import compose_table
from memory.errors import NotFoundError, RefusedError, UsageError
from memory.files.contacts import KINDS as CONTACT_KINDS
from memory.files.find import CONTACTS, ENTRIES, KNOWLEDGE, MONITORS, PLANS, TASKS, Lookup
from memory.files.journal.edits import journal
from memory.files.operations import Call
from memory.files.plans.edits import orchestration
from memory.files.refs import identity_hex
from memory.files.tasks.operations import OPEN, SECTIONS, tasks
from memory.files.tasks.order import due_when
from memory.files.verbs.config import config, set_setting, unset_setting
from memory.files.verbs.contacts import contacts
from memory.files.verbs.knowledge import knowledge
from memory.monitoring.operations import monitors
from memory.operations import Day, Group, Operation
from memory.search.records import RECORDS, Record
from memory.systems import entry_kinds as sent
from memory.systems.entry_kinds import Changes, Check, EntryCall, EntryKind, Made, item_of
from memory.systems.placing import SECTIONS as PLAIN_SECTIONS
from memory.workspace import Outcome

from .edit import Edit
from .snapshot import Snapshot

Values = dict[str, Any]
Fields = Mapping[str, Any]
Test = Callable[[Any], bool]
Filter = Callable[[str, Snapshot, datetime], Test]
"""Returns what an entry must be for a value of a filter; "" is a filter that is not given."""
_STEP = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(?=\S)")
"""The mark of an item of a list."""


class FileEntries:
    """The entries of one memory file.

    `tests` are the filters that need more than a comparison; `more` the names of filters that are none of an entry's
    fields.
    """

    compact = True
    tests: Mapping[str, Filter] = {}
    more: tuple[str, ...] = ()

    def __init__(self, name: str, group: Group, lookup: Lookup[Any]) -> None:
        """Store the name of the kind, its operations, and how its entries are found."""
        self.name, self.group, self.lookup = name, group, lookup

    # -- what a kind of entries says for itself

    def adds(self, snapshot: Snapshot, title: str, fields: Fields, text: str) -> Values:
        """Return the values of the operation that adds an entry."""
        raise NotImplementedError

    def edits(self, record: Record, changes: Changes) -> Values:
        """Return the values of the operation that edits an entry: fields that it sets and unsets, or its source."""
        values, source = sent.texts_of(changes.set), sent.sent_source(record, changes)
        return {"changes": values, "unset": changes.unset, "text": source}

    def grows(self, record: Record, more: str) -> Changes:
        """Return the changes that add to what an entry says."""
        return Changes(text=f"{record.text.rstrip()}\n{more}")

    def source(self, item: Any) -> str:
        """Return the source of an entry."""
        return str(item.entry.text)

    # -- what is the same for all

    @property
    def filters(self) -> tuple[str, ...]:
        """The filters beside the fields."""
        return tuple(dict.fromkeys((*self.more, *self.tests)))

    def find(self, call: EntryCall, ref: str) -> Record:
        """Return the record of a ref, archives included."""
        return self._found(call.workspace.snapshot(), ref)

    def list(self, call: EntryCall, filter: Fields) -> Iterator[Record]:  # noqa: A002
        """Yield the records of the file that pass the filter; archived ones if the filter selects them."""
        snapshot, rest = call.workspace.snapshot(), dict(filter)
        archived = str(rest.get("section", "")).casefold() in ("archived", "all")
        tests = [make(str(rest.pop(key, "")), snapshot, call.now) for key, make in self.tests.items()]
        for item in (*self.lookup.items(snapshot), *(self.lookup.archive(snapshot) if archived else ())):
            if all(test(item) for test in tests) and sent.passes(record := self._record(item), rest):
                yield record

    def add(self, call: EntryCall, title: str, fields: Fields, text: str | None) -> Made:
        """Add an entry, in one change."""

        def build(snapshot: Snapshot) -> Edit:
            return self._edit("add", snapshot, call.now, self.adds(snapshot, title, fields, text or ""))

        return self._made(call, self._change(call, "add", build), self.ref_of(title))

    def edit(self, call: EntryCall, ref: str, changes: Changes, check: Check) -> Made:
        """Change an entry, in one change; it is compared under the lock with the version that was read."""

        def build(snapshot: Snapshot) -> Edit:
            record = self._checked(snapshot, ref, check)
            grown = changes if changes.append is None else self.grows(record, changes.append)
            return self._edit("edit", snapshot, call.now, {"ref": ref, **self.edits(record, grown)})

        return self._made(call, self._change(call, "edit", build), ref)

    def remove(self, call: EntryCall, ref: str, check: Check) -> Made:
        """Remove an entry, in one change."""

        def build(snapshot: Snapshot) -> Edit:
            self._checked(snapshot, ref, check)
            edit = self._edit("remove", snapshot, call.now, {"ref": ref})
            return edit._replace(summary=call.because(edit.summary))

        outcome = self._change(call, "remove", build)
        return Made(None, outcome.change.id if outcome.change.files else None, outcome.summary)

    def ref_of(self, title: str) -> str:
        """Return the ref of an entry that its title alone names; empty where a change tells it."""
        return ""

    def _found(self, snapshot: Snapshot, ref: str) -> Record:
        return self._record(self.lookup.find(snapshot, ref, archived=True))

    def _record(self, item: Any) -> Record:
        return RECORDS[self.name](item)._replace(text=self.source(item))

    def _change(self, call: EntryCall, name: str, build: Callable[[Snapshot], Edit]) -> Outcome:
        return call.workspace.change(f"{self.group.name}.{name}", build, actor=call.actor, now=call.now)

    def _edit(self, name: str, snapshot: Snapshot, now: datetime, values: Values) -> Edit:
        """Return the edit that an operation of the noun makes."""
        operation = self.group.operations[name]
        assert isinstance(operation, Operation)
        assert operation.edit is not None
        made: Edit = operation.edit(Call(snapshot, now), **values)
        return made

    def _checked(self, snapshot: Snapshot, ref: str, check: Check) -> Record:
        record = self._found(snapshot, ref)
        check(item_of(record))
        if record.file.startswith("archive/"):
            words = f"{ref} is in {record.file}, and the archive is read-only"
            raise RefusedError("entry.archived", words, "a person can restore it")
        return record

    def _made(self, call: EntryCall, outcome: Outcome, ref: str = "") -> Made:
        # The change is made: a later write by another program must not turn it into a failure.
        snapshot = outcome.snapshot or call.workspace.snapshot()
        record = self._found(snapshot, ref) if outcome.item is None else self._record(outcome.item)
        return Made(item_of(record), outcome.change.id if outcome.change.files else None, outcome.summary)


def _no_text(record: Record) -> UsageError:
    return UsageError("entry.append", f"{record.title[:60]!r} has no text to add to", "set a field")


def _task_section(value: str, _: Snapshot, __: datetime) -> Test:
    section = value.casefold().replace(" ", "-")
    sections = SECTIONS if section == "all" else (section,) if section else OPEN
    if not set(sections) <= set(SECTIONS):
        known = "use pending, in-progress, completed, archived or all"
        raise UsageError("task.section", f"{section[:40]!r} is not a section", known)
    return lambda task: task.section in sections


def _task_due(value: str, snapshot: Snapshot, now: datetime) -> Test:
    return due_when(value, now, snapshot.zone) if value else lambda _: True


class Tasks(FileEntries):
    """The tasks: a text is the notes if the fields have none."""

    tests = {"section": _task_section, "due": _task_due}

    def adds(self, _: Snapshot, title: str, fields: Fields, text: str) -> Values:
        """Return the values of `tasks add`; a new task is pending."""
        values = {key: value for key, value in fields.items() if value is not None}
        if text:
            values.setdefault("notes", text)
        if str(values.pop("section", "pending")).casefold() != "pending":
            raise UsageError("task.section", "a new task is pending", "add it, then edit its section")
        return {"title": title, "extra": sent.texts_of(_with_tags(values))}

    def edits(self, record: Record, changes: Changes) -> Values:
        """Return the values of `tasks edit`."""
        return super().edits(record, changes._replace(set=_with_tags(changes.set)))

    def grows(self, record: Record, more: str) -> Changes:
        """Return the changes that add to the notes."""
        before = record.item.notes
        return Changes({"notes": f"{before}\n{more}" if before else more})


def _with_tags(values: Fields) -> Fields:
    """Return the fields of a task with its tags as a text."""
    return {**values, "tags": ", ".join(sent.list_of("tags", values["tags"]))} if "tags" in values else values


def _entry_date(value: str, snapshot: Snapshot, now: datetime) -> Test:
    day = Day().written(value, now, snapshot.zone) if value else ""
    return lambda entry: not day or entry.date == day


class Journal(FileEntries):
    """The journal: `time` is when it was (default: now); each line of the text is a bullet."""

    tests = {"date": _entry_date}
    more = ("section",)

    def adds(self, _: Snapshot, title: str, fields: Fields, text: str) -> Values:
        """Return the values of `journal add`; a field that an entry lacks is a bullet, too."""
        lines = _lines(fields.get("lines"))
        lines += [f"{key}: {sent.text_of(key, value)}" for key, value in fields.items() if key not in ("time", "lines")]
        time = fields.get("time")
        return {"title": title, "lines": [*lines, *sent.lines_of(text)], "at": None if time is None else str(time)}

    def edits(self, record: Record, changes: Changes) -> Values:
        """Return the values of `journal edit`."""
        source, values = sent.sent_source(record, changes), changes.values
        sent.refuse_unknown(values, ("title", "time", "lines"), "a journal entry")
        lines = _lines(values["lines"]) if "lines" in values else None
        title = sent.text_of("title", values["title"]) if "title" in values else None
        return {"title": title, "lines": lines, "at": sent.texts_of(values).get("time"), "text": source}

    def grows(self, record: Record, more: str) -> Changes:
        """Return the changes that add lines."""
        return Changes({"lines": [*record.item.lines, *sent.lines_of(more)]})


def _lines(given: Any) -> list[str]:
    return sent.lines_of(given) if isinstance(given, str) else sent.list_of("lines", given or [])


def _is_section(name: str, asked: str) -> bool:
    """Return whether a section is meant by its name, or by a plain word for it such as `preferences`."""
    name, asked = name.casefold(), asked.casefold()
    return name == asked or (asked in PLAIN_SECTIONS and asked.removesuffix("s") in name)


def _fact_section(value: str, snapshot: Snapshot, _: datetime) -> Test:
    if value in ("", "all"):
        return lambda _: True
    names = {item.section: None for item in snapshot.knowledge.items}
    chosen = [name for name in names if _is_section(name, value)]
    if names and not chosen:
        raise UsageError("knowledge.section", f"there is no section {value[:40]!r}", f"use one of {', '.join(names)}")
    return lambda item: item.section in chosen


class Knowledge(FileEntries):
    """Knowledge: a decision if a date, a reason or `kind: decision` is given; sections have plain names, too."""

    tests = {"section": _fact_section}

    def source(self, item: Any) -> str:
        """Return the text of a bullet, with its date and reason."""
        return str(item.raw)

    def adds(self, snapshot: Snapshot, title: str, fields: Fields, text: str) -> Values:
        """Return the values of `knowledge add`.

        A line of text is the reason of a decision without one; any other text goes below the title.
        """
        sent.refuse_unknown(fields, ("section", "topic", "date", "reason", "kind"), "knowledge")
        values: Values = {key: value for key, value in sent.texts_of(fields).items() if key != "date" or value}
        if section := values.get("section"):
            known = (item.section for item in snapshot.knowledge.items if _is_section(item.section, section))
            values["section"] = next(known, PLAIN_SECTIONS.get(section.casefold(), section))
        decision = values.pop("kind", "") == "decision" or "date" in fields or "reason" in values
        if decision and text and "reason" not in values and "\n" not in text.strip():
            values["reason"], text = text.strip(), ""
        return {"text": f"{title}\n{text}" if text.strip() else title, "decision": decision, **values}

    def edits(self, record: Record, changes: Changes) -> Values:
        """Return the values of `knowledge edit`."""
        values = changes.values
        sent.refuse_unknown(values, ("text", "title", "date", "reason"), "knowledge")
        given = [one for one in (changes.text, values.pop("text", None), values.pop("title", None)) if one is not None]
        if len(given) > 1:
            raise UsageError("entry.arguments", "text is given twice", "send one")
        texts = sent.texts_of({key: value for key, value in values.items() if key != "date" or value is not None})
        return {"text": sent.text_of("text", given[0]) if given else record.item.text, **texts}

    def grows(self, record: Record, more: str) -> Changes:
        """Return the changes that add lines."""
        return Changes(text=f"{record.item.text}\n{more}")


class Contacts(FileEntries):
    """Contacts: a person, or what the field `kind` names; the title is the name, for a route its channel."""

    tests = {"kind": lambda value, _, __: lambda contact: value.casefold() in ("", contact.kind)}

    def source(self, item: Any) -> str:
        """Return the text about a person."""
        return str(item.text)

    def adds(self, _: Snapshot, title: str, fields: Fields, text: str) -> Values:
        """Return the values of `contacts add`; what a person has no field for is part of the text about them."""
        values = sent.texts_of(fields)
        kind = values.pop("kind", "channel" if {"id", "type"} & set(values) else "person")
        if text.strip():
            if kind != "person":
                raise UsageError("entry.field", f"a {kind} has no text", "use fields")
            values.setdefault("text", text.strip())
        if kind == "person":
            more = [f"{key}: {values.pop(key)}" for key in [*values] if key not in CONTACT_KINDS[kind].columns]
            values |= {"text": "; ".join(filter(None, (values.get("text"), *more)))} if more else {}
        return {"kind": kind, "name": title, "changes": values}

    def edits(self, _: Record, changes: Changes) -> Values:
        """Return the values of `contacts edit`."""
        more = {} if changes.text is None else {"text": changes.text}
        return {"changes": {**more, **sent.texts_of(changes.values)}}

    def grows(self, record: Record, more: str) -> Changes:
        """Return the changes that add to the text about a person."""
        if record.item.kind != "person":
            raise _no_text(record)
        return Changes({"text": f"{record.item.text or ''} {more}".strip()})


class Plans(FileEntries):
    """Plans: a text is what goes below the fields, such as the table of tasks, made of `steps` or of a list."""

    compact = False
    more = ("section",)

    def adds(self, _: Snapshot, title: str, fields: Fields, text: str) -> Values:
        """Return the values of `orchestration add`."""
        values = dict(fields)
        steps = sent.list_of("steps", values.pop("steps", []))
        lines = text.strip().splitlines()
        if lines and all(_STEP.match(line) for line in lines):
            steps, text = [*steps, *(_STEP.sub("", line) for line in lines)], ""
        if steps:
            rows = [(f"T{number}", step, "planning") for number, step in enumerate(steps, 1)]
            text = "\n".join((compose_table(("ID", "Title", "Status"), rows), text))
        return {"title": title, "changes": sent.texts_of(values), "text": text}


class Monitors(FileEntries):
    """Monitors: a text is its address or its command; an interval may be in words."""

    def adds(self, _: Snapshot, title: str, fields: Fields, text: str) -> Values:
        """Return the values of `monitors add`."""
        values = _timed(fields)
        if text.strip():
            values.setdefault("url" if "://" in text else "command", text.strip())
        return {"name": title, "changes": values}

    def edits(self, record: Record, changes: Changes) -> Values:
        """Return the values of `monitors edit`."""
        return {**super().edits(record, changes), "changes": _timed(changes.set)}

    def grows(self, record: Record, more: str) -> Changes:
        """Refuse: a monitor has no text."""
        raise _no_text(record)


def _timed(fields: Fields) -> dict[str, str]:
    """Return the fields of a monitor, with an interval in words as cron."""
    values = sent.texts_of(fields)
    if values.get("interval"):
        values["interval"] = read_recurrence(values["interval"]).cron
    return values


class Settings(FileEntries):
    """The settings of config.md; of a duplicate key, the one that is in effect."""

    more = ("section",)

    def source(self, item: Any) -> str:
        """Return no text: the value says it all."""
        return ""

    def ref_of(self, title: str) -> str:
        """Return the ref of a setting of that name."""
        return f"config#{identity_hex('config', 'config.md', title)}"

    def adds(self, snapshot: Snapshot, title: str, fields: Fields, text: str) -> Values:
        """Return the key, the value and the section of a new setting."""
        sent.refuse_unknown(fields, ("value", "section"), "a setting")
        values = sent.texts_of(fields)
        value = values.get("value") or text
        if not value.strip():
            raise UsageError("config.value", "a setting needs a value", "send it as the field value")
        if snapshot.config.setting(title) is not None:
            raise UsageError("config.exists", f"config.md has {title[:60]!r} already", "edit it by its ref")
        return {"key": title, "value": value, "section": values.get("section")}

    def edits(self, record: Record, changes: Changes) -> Values:
        """Return the key and the other value of a setting."""
        sent.refuse_unknown(changes.values, ("value",), "a setting")
        value = changes.text if changes.text is not None else changes.set.get("value")
        if value is None:
            raise UsageError("config.value", "a setting needs a value", "remove the entry instead")
        return {"key": record.title, "value": sent.text_of("value", value)}

    def grows(self, record: Record, more: str) -> Changes:
        """Refuse: a setting has no text."""
        raise _no_text(record)

    def _found(self, snapshot: Snapshot, ref: str) -> Record:
        found = next((one for one in snapshot.config.settings if self.ref_of(one.key) == ref), None)
        if found is None:
            raise NotFoundError(
                "config.not_found", f"no setting has the ref {ref[:60]!r}", "list them to see their refs"
            )
        return self._record(snapshot.config.setting(found.key))

    def _edit(self, name: str, snapshot: Snapshot, now: datetime, values: Values) -> Edit:
        if name == "remove":
            return unset_setting(snapshot, self._found(snapshot, values["ref"]).title, now=now)
        return set_setting(snapshot, values["key"], values["value"], section=values.get("section"), now=now)


KINDS: dict[str, EntryKind] = {
    "tasks": Tasks("tasks", tasks, TASKS),
    "journal": Journal("journal", journal, ENTRIES),
    "knowledge": Knowledge("knowledge", knowledge, KNOWLEDGE),
    "contacts": Contacts("contacts", contacts, CONTACTS),
    "plans": Plans("plans", orchestration, PLANS),
    "monitors": Monitors("monitors", monitors, MONITORS),
    "config": Settings("config", config, Lookup("config", "config")),
}
"""The kinds of entries of the memory files."""
