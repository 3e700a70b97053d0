"""The kinds of the memory files as entries: a change is one edit under the lock, checked against the file.

What programs send becomes the values of the operation that adds or edits such an entry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory.base.recurrence import read_recurrence
from memory.document.tables import compose_table
from memory.errors import NotFoundError, RefusedError, UsageError
from memory.files.config.edits import config as settings
from memory.files.config.edits import set_setting, unset_setting
from memory.files.contacts import KINDS as CONTACT_KINDS
from memory.files.contacts import contacts
from memory.files.find import CONTACTS, ENTRIES, KNOWLEDGE, MONITORS, PLANS, TASKS, Lookup
from memory.files.journal.edits import journal
from memory.files.knowledge import knowledge
from memory.files.operations import Call
from memory.files.plans.edits import orchestration
from memory.files.refs import identity_hex
from memory.files.tasks.operations import OPEN, SECTIONS, tasks
from memory.files.tasks.order import due_when
from memory.monitoring.operations import monitors
from memory.operations import Day, Group, Operation
from memory.search.records import (
    Record,
    contact_record,
    journal_record,
    knowledge_record,
    monitor_record,
    plan_record,
    setting_record,
    task_record,
)
from memory.systems.entry_kinds import (
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
from memory.systems.placing import SECTIONS as PLAIN_SECTIONS
from memory.workspace import Outcome

from .edit import Edit
from .snapshot import Snapshot

Values = dict[str, Any]
Test = Callable[[Any], bool]
Filter = Callable[[str, Snapshot, datetime], Test]
"""Returns what an entry must be for a value of a filter; "" is a filter that is not given."""
_STEP = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(?=\S)")
"""The mark of an item of a list."""


@dataclass(frozen=True)
class FileEntries:
    """The entries of one memory file.

    `adds` returns the values of the operation `add` for a title, fields and a text, `edits` those of `edit` for a
    record and changes. `grows` returns the changes that add to what an entry says. `tests` are the filters that need
    more than a comparison; `more` the names of filters that are none of an entry's fields.
    """

    name: str
    group: Group
    lookup: Lookup[Any]
    record: Callable[[Any], Record]
    adds: Callable[[Snapshot, str, Mapping[str, Any], str], Values]
    edits: Callable[[Record, Changes], Values]
    source: Callable[[Any], str] = lambda item: str(item.entry.text)
    grows: Callable[[Record, str], Changes] | None = None
    tests: Mapping[str, Filter] = field(default_factory=dict)
    more: tuple[str, ...] = ()
    compact: bool = True

    @property
    def filters(self) -> tuple[str, ...]:
        """The filters beside the fields."""
        return tuple(dict.fromkeys((*self.more, *self.tests)))

    def find(self, call: EntryCall, ref: str) -> Record:
        """Return the record of a ref, archives included."""
        return self._found(call.workspace.snapshot(), ref)

    def _found(self, snapshot: Snapshot, ref: str) -> Record:
        return self._record(self.lookup.find(snapshot, ref, archived=True))

    def _record(self, item: Any) -> Record:
        return self.record(item)._replace(text=self.source(item))

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002
        """Yield the records of the file that pass the filter; archived ones if the filter selects them."""
        snapshot, rest = call.workspace.snapshot(), dict(filter)
        archived = str(rest.get("section", "")).casefold() in ("archived", "all")
        tests = [make(str(rest.pop(key, "")), snapshot, call.now) for key, make in self.tests.items()]
        for item in (*self.lookup.items(snapshot), *(self.lookup.archive(snapshot) if archived else ())):
            if all(test(item) for test in tests) and passes(record := self._record(item), rest):
                yield record

    def add(self, call: EntryCall, title: str, fields: Mapping[str, Any], text: str | None) -> Made:
        """Add an entry, in one change."""

        def build(snapshot: Snapshot) -> Edit:
            return self._edit("add", snapshot, call.now, self.adds(snapshot, title, fields, text or ""))

        return self._made(call, self._change(call, "add", build), self.ref_of(title))

    def edit(self, call: EntryCall, ref: str, changes: Changes, check: Check) -> Made:
        """Change an entry, in one change; it is compared under the lock with the version that was read."""

        def build(snapshot: Snapshot) -> Edit:
            record = self._checked(snapshot, ref, check)
            grown = changes if changes.append is None else self._grown(record, changes.append)
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

    def _change(self, call: EntryCall, name: str, build: Callable[[Snapshot], Edit]) -> Outcome:
        return call.workspace.change(f"{self.group.name}.{name}", build, actor=call.actor, now=call.now)

    def _edit(self, name: str, snapshot: Snapshot, now: datetime, values: Values) -> Edit:
        """Return the edit that an operation of the noun makes."""
        operation = self.group.operations[name]
        assert isinstance(operation, Operation)
        assert operation.edit is not None
        made: Edit = operation.edit(Call(snapshot, now), **values)
        return made

    def _grown(self, record: Record, more: str) -> Changes:
        """Return the changes that add to what an entry says; UsageError `entry.append` where it has no text."""
        if self.grows is not None:
            return self.grows(record, more)
        if not record.text:
            raise UsageError("entry.append", f"{self.name} have no text to add to", "set a field")
        return Changes(text=f"{record.text.rstrip()}\n{more}")

    def _checked(self, snapshot: Snapshot, ref: str, check: Check) -> Record:
        record = self._found(snapshot, ref)
        check(item_of(record))
        if record.file.startswith("archive/"):
            raise RefusedError(
                "entry.archived", f"{ref} is in {record.file}, and the archive is read-only", "a person can restore it"
            )
        return record

    def _made(self, call: EntryCall, outcome: Outcome, ref: str = "") -> Made:
        # The change is made: a later write by another program must not turn it into a failure.
        snapshot = outcome.snapshot or call.workspace.snapshot()
        record = self._found(snapshot, ref) if outcome.item is None else self._record(outcome.item)
        return Made(item_of(record), outcome.change.id if outcome.change.files else None, outcome.summary)


def _rewritten(record: Record, changes: Changes) -> Values:
    """Return the values of an edit that sets and unsets fields, or replaces the source."""
    values = texts_of(changes.set)
    return {"changes": values, "unset": changes.unset, "text": sent_source(record, changes)}


# -- tasks ----------------------------------------------------------------------------------------------------------


def _task(_: Snapshot, title: str, fields: Mapping[str, Any], text: str) -> Values:
    """A text is the notes if the fields have none."""
    values = {key: value for key, value in fields.items() if value is not None}
    if text:
        values.setdefault("notes", text)
    if str(values.pop("section", "pending")).casefold() != "pending":
        raise UsageError("task.section", "a new task is pending", "add it, then edit its section")
    tags = list_of("tags", values.pop("tags", []))
    own = ("priority", "due", "recurring", "assigned", "notes", "action")
    known = {key: text_of(key, values.pop(key)) for key in own if key in values}
    return {"title": title, "tags": tags, "extra": texts_of(values), **known}


def _task_changes(record: Record, changes: Changes) -> Values:
    tags = {"tags": ", ".join(list_of("tags", changes.set["tags"]))} if "tags" in changes.set else {}
    return _rewritten(record, Changes({**changes.set, **tags}, changes.unset, changes.text))


def _more_notes(record: Record, more: str) -> Changes:
    before = record.item.notes
    return Changes({"notes": f"{before}\n{more}" if before else more})


def _task_section(value: str, _: Snapshot, __: datetime) -> Test:
    section = value.casefold().replace(" ", "-")
    sections = SECTIONS if section == "all" else (section,) if section else OPEN
    if not set(sections) <= set(SECTIONS):
        known = "use pending, in-progress, completed, archived or all"
        raise UsageError("task.section", f"{section[:40]!r} is not a section", known)
    return lambda task: task.section in sections


def _task_due(value: str, snapshot: Snapshot, now: datetime) -> Test:
    return due_when(value, now, snapshot.zone) if value else lambda _: True


# -- the journal ----------------------------------------------------------------------------------------------------


def _entry(_: Snapshot, title: str, fields: Mapping[str, Any], text: str) -> Values:
    """`time` is when it was (default: now); each line of the text is a bullet, and each field an entry lacks."""
    lines = _lines(fields.get("lines"))
    lines += [f"{key}: {text_of(key, value)}" for key, value in fields.items() if key not in ("time", "lines")]
    time = fields.get("time")
    return {"title": title, "lines": [*lines, *lines_of(text)], "at": None if time is None else str(time)}


def _entry_changes(record: Record, changes: Changes) -> Values:
    source, values = sent_source(record, changes), changes.values
    refuse_unknown(values, ("title", "time", "lines"), "a journal entry")
    lines = _lines(values["lines"]) if "lines" in values else None
    title = text_of("title", values["title"]) if "title" in values else None
    time = None if "time" not in values else "" if values["time"] is None else text_of("time", values["time"])
    return {"title": title, "lines": lines, "at": time, "text": source}


def _lines(given: Any) -> list[str]:
    return lines_of(given) if isinstance(given, str) else list_of("lines", given or [])


def _more_lines(record: Record, more: str) -> Changes:
    return Changes({"lines": [*record.item.lines, *lines_of(more)]})


def _entry_date(value: str, snapshot: Snapshot, now: datetime) -> Test:
    day = Day().written(value, now, snapshot.zone) if value else ""
    return lambda entry: not day or entry.date == day


# -- knowledge ------------------------------------------------------------------------------------------------------


def _fact(snapshot: Snapshot, title: str, fields: Mapping[str, Any], text: str) -> Values:
    """A decision if a date, a reason or `kind: decision` is given.

    A line of text is the reason of a decision without one; any other text goes below the title.
    """
    refuse_unknown(fields, ("section", "topic", "date", "reason", "kind"), "knowledge")
    values: Values = {key: value for key, value in texts_of(fields).items() if key != "date" or value}
    if section := values.get("section"):
        known = (item.section for item in snapshot.knowledge.items if _is_section(item.section, section))
        values["section"] = next(known, PLAIN_SECTIONS.get(section.casefold(), section))
    decision = values.pop("kind", "") == "decision" or "date" in fields or "reason" in values
    if decision and text and "reason" not in values and "\n" not in text.strip():
        values["reason"], text = text.strip(), ""
    return {"text": f"{title}\n{text}" if text.strip() else title, "decision": decision, **values}


def _fact_changes(record: Record, changes: Changes) -> Values:
    values = changes.values
    refuse_unknown(values, ("text", "title", "date", "reason"), "knowledge")
    given = [one for one in (changes.text, values.get("text"), values.get("title")) if one is not None]
    if len(given) > 1:
        raise UsageError("entry.arguments", "text is given twice", "send one")
    return {
        "text": text_of("text", given[0]) if given else record.item.text,
        "date": None if values.get("date") is None else text_of("date", values["date"]),
        "reason": None if "reason" not in values else text_of("reason", values["reason"] or ""),
    }


def _fact_section(value: str, snapshot: Snapshot, _: datetime) -> Test:
    """A section may be named in plain words, such as `preferences`."""
    if value in ("", "all"):
        return lambda _: True
    names = {item.section: None for item in snapshot.knowledge.items}
    chosen = [name for name in names if _is_section(name, value)]
    if names and not chosen:
        raise UsageError("knowledge.section", f"there is no section {value[:40]!r}", f"use one of {', '.join(names)}")
    return lambda item: item.section in chosen


def _is_section(name: str, asked: str) -> bool:
    """Return whether a section is meant by its name, or by a plain word for it such as `preferences`."""
    name, asked = name.casefold(), asked.casefold()
    return name == asked or (asked in PLAIN_SECTIONS and asked.removesuffix("s") in name)


# -- contacts, plans, monitors --------------------------------------------------------------------------------------


def _contact(_: Snapshot, title: str, fields: Mapping[str, Any], text: str) -> Values:
    """A person, or what the field `kind` names; the title is the name, for a route its channel.

    What a person has no field for is part of the text about them.
    """
    values = texts_of(fields)
    kind = values.pop("kind", "channel" if {"id", "type"} & set(values) else "person")
    if text.strip():
        if kind != "person":
            raise UsageError("entry.field", f"a {kind} has no text", "use fields")
        values.setdefault("text", text.strip())
    if kind == "person" and (
        more := [f"{key}: {values.pop(key)}" for key in [*values] if key not in CONTACT_KINDS[kind].columns]
    ):
        values["text"] = "; ".join(filter(None, (values.get("text"), *more)))
    return {"kind": kind, "name": title, "changes": values}


def _contact_changes(_: Record, changes: Changes) -> Values:
    more = {} if changes.text is None else {"text": changes.text}
    return {"changes": {**more, **texts_of(changes.values)}}


def _more_about(record: Record, more: str) -> Changes:
    if record.item.kind != "person":
        raise UsageError("entry.append", "only a person has a text", "set a field")
    return Changes({"text": f"{record.item.text or ''} {more}".strip()})


def _contact_kind(value: str, _: Snapshot, __: datetime) -> Test:
    return lambda contact: value.casefold() in ("", contact.kind)


def _plan(_: Snapshot, title: str, fields: Mapping[str, Any], text: str) -> Values:
    """Text is what goes below the fields, such as the table of tasks, which is made of `steps`, or of a list."""
    values = dict(fields)
    steps = list_of("steps", values.pop("steps", []))
    lines = text.strip().splitlines()
    if lines and all(_STEP.match(line) for line in lines):
        steps, text = [*steps, *(_STEP.sub("", line) for line in lines)], ""
    if steps:
        rows = [(f"T{number}", step, "planning") for number, step in enumerate(steps, 1)]
        text = "\n".join((compose_table(("ID", "Title", "Status"), rows), text))
    return {"title": title, "changes": texts_of(values), "text": text}


def _monitor(_: Snapshot, title: str, fields: Mapping[str, Any], text: str) -> Values:
    """A text is its address or its command."""
    values = _timed(fields)
    if text.strip():
        values.setdefault("url" if "://" in text else "command", text.strip())
    return {"name": title, "changes": values}


def _monitor_changes(record: Record, changes: Changes) -> Values:
    return {**_rewritten(record, changes), "changes": _timed(changes.set)}


def _timed(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of a monitor, with an interval in words as cron."""
    values = texts_of(fields)
    if values.get("interval"):
        values["interval"] = read_recurrence(values["interval"]).cron
    return values


def _no_more(record: Record, _: str) -> Changes:
    raise UsageError("entry.append", f"{record.title[:60]!r} has no text to add to", "set a field")


# -- settings -------------------------------------------------------------------------------------------------------


class Settings(FileEntries):
    """The settings of config.md; of a duplicate key, the one that is in effect."""

    def _found(self, snapshot: Snapshot, ref: str) -> Record:
        found = [one for one in snapshot.config.settings if _ref_of(one.key) == ref]
        if not found:
            raise NotFoundError(
                "config.not_found", f"no setting has the ref {ref[:60]!r}", "list them to see their refs"
            )
        return self._record(snapshot.config.setting(found[0].key) or found[0])

    def _edit(self, name: str, snapshot: Snapshot, now: datetime, values: Values) -> Edit:
        if name == "remove":
            return unset_setting(snapshot, self._found(snapshot, values["ref"]).title, now=now)
        key = values["key"]
        return set_setting(snapshot, key, values["value"], section=values.get("section"), now=now)

    def ref_of(self, title: str) -> str:
        """Return the ref of a setting of that name."""
        return _ref_of(title)


def _ref_of(key: str) -> str:
    return f"config#{identity_hex('config', 'config.md', key)}"


def _setting(snapshot: Snapshot, title: str, fields: Mapping[str, Any], text: str) -> Values:
    refuse_unknown(fields, ("value", "section"), "a setting")
    values = texts_of(fields)
    value = values.get("value") or text
    if not value.strip():
        raise UsageError("config.value", "a setting needs a value", "send it as the field value")
    if snapshot.config.setting(title) is not None:
        raise UsageError("config.exists", f"config.md has {title[:60]!r} already", "edit it by its ref")
    return {"key": title, "value": value, "section": values.get("section")}


def _setting_changes(record: Record, changes: Changes) -> Values:
    refuse_unknown(changes.values, ("value",), "a setting")
    value = changes.text if changes.text is not None else changes.set.get("value")
    if value is None:
        raise UsageError("config.value", "a setting needs a value", "remove the entry instead")
    return {"key": record.title, "value": text_of("value", value)}


KINDS: dict[str, EntryKind] = {
    "tasks": FileEntries(
        "tasks", tasks, TASKS, task_record, _task, _task_changes,
        grows=_more_notes, tests={"section": _task_section, "due": _task_due},
    ),
    "journal": FileEntries(
        "journal", journal, ENTRIES, journal_record, _entry, _entry_changes,
        grows=_more_lines, tests={"date": _entry_date}, more=("section",),
    ),
    "knowledge": FileEntries(
        "knowledge", knowledge, KNOWLEDGE, knowledge_record, _fact, _fact_changes,
        source=lambda item: str(item.raw), tests={"section": _fact_section},
        grows=lambda record, more: Changes(text=f"{record.item.text}\n{more}"),
    ),
    "contacts": FileEntries(
        "contacts", contacts, CONTACTS, contact_record, _contact, _contact_changes,
        source=lambda item: str(item.text), grows=_more_about, tests={"kind": _contact_kind},
    ),
    "plans": FileEntries(
        "plans", orchestration, PLANS, plan_record, _plan, _rewritten, more=("section",), compact=False
    ),
    "monitors": FileEntries(
        "monitors", monitors, MONITORS, monitor_record, _monitor, _monitor_changes, grows=_no_more
    ),
    "config": Settings(
        "config", settings, Lookup("config", "config"), setting_record, _setting, _setting_changes,
        source=lambda _: "", more=("section",),
    ),
}  # fmt: skip
"""The kinds of entries of the memory files."""
