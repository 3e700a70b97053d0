"""The monitors of monitors.md: what is watched, how often, and the last result.

Commands and addresses are text here; nothing is run or requested.
"""

from __future__ import annotations

from datetime import datetime, tzinfo
from functools import cached_property
from typing import Any

from memory.base.cron import missed_twice
from memory.base.values import is_absent, split_field
from memory.document import Document
from memory.document.nodes import Section
from memory.files.fields import dress
from memory.files.fields.dress import LineFinding, PlainFile, PlainSection
from memory.files.fields.values import Schema, Value, cron, moment, moment_or_none, one_of
from memory.files.refs import FieldText, FileView, PlacedEntry, identity_hex

FILE = "monitors.md"
KIND = "monitors"
SECTION = "Monitors"
PRIORITIES = ("low", "normal", "high")
FIELDS = {
    "type": Value(),
    "url": Value(words="endpoint, uri"),
    "command": Value(words="cmd"),
    "folder": Value(),
    "interval": Value(cron, "schedule, frequency, check interval, every", "monitor.interval"),
    "cronJobId": Value(),
    "threshold": Value(
        words="condition, alert if, alert when, expect, expects, expected, assert, contains, certificate"
    ),
    "alertPriority": Value(one_of(PRIORITIES, "monitor.priority"), "", "monitor.alertPriority", "warning"),
    "autoRemediate": Value(),
    "lastCheck": Value(moment, "", "monitor.lastCheck"),
    "lastStatus": Value(),
}
"""The fields that the format knows, in the order in which memdeck writes them."""
FIELD_KEYS = tuple(FIELDS)
_OF_TYPES = dict.fromkeys(("host", "port", "path", "timeout", "environment"), Value())
SCHEMA = Schema({**FIELDS, **_OF_TYPES}, understood=False)
"""A field in another dress is never read: it makes its monitor an error."""
HEALTHY = frozenset({"healthy", "ok", "up"})


class Monitor(PlacedEntry):
    """One monitor; texts are as in the file, without remarks, None where there is none.

    No other form of a field is read: the entry is the one as written.
    """

    @property
    def identity(self) -> str:
        """Ten hex digits made of the name."""
        return identity_hex(KIND, self.name)

    @property
    def name(self) -> str:
        """The heading."""
        return self.entry.title

    def text_of(self, key: str) -> str | None:
        """Return the text of a field without its remark; None where it is missing or means "none"."""
        value = split_field(key, self.entry.fields.get(key) or "")[0]
        return None if is_absent(value) else value

    def _remark(self, key: str) -> str | None:
        return split_field(key, self.entry.fields.get(key) or "")[1]

    type = FieldText("type")
    """`http` or `command`."""

    url = FieldText("url")
    """The address that is requested."""

    command = FieldText("command")
    """The command that is run, as text."""

    folder = FieldText("folder")
    """Where its commands run: a path in the workspace; None: in an empty private folder."""

    interval = FieldText("interval")
    """The cron expression by which it runs."""

    cron_job_id = FieldText("cronJobId")
    """The cron job that runs it."""

    threshold = FieldText("threshold")
    """The condition for a bad result: `status != 200`, `value > 90`."""

    alert_priority = FieldText("alertPriority")
    """How urgent an alert is: low, normal, high."""

    auto_remediate = FieldText("autoRemediate")
    """The command that repairs it, as text; None: there is none."""

    @property
    def auto_remediate_remark(self) -> str | None:
        """The remark after a `null`, such as `notify only`."""
        return self._remark("autoRemediate")

    last_check = FieldText("lastCheck")
    """When it ran last, as text."""

    last_status = FieldText("lastStatus")
    """The result of the last check: `healthy` or something else."""

    @property
    def last_status_remark(self) -> str | None:
        """The text in parentheses after the status."""
        return self._remark("lastStatus")

    @property
    def healthy(self) -> bool | None:
        """Whether the last result was healthy; None where it never ran."""
        status = self.last_status
        return None if status is None else status.casefold() in HEALTHY

    def checked_at(self, zone: tzinfo) -> datetime | None:
        """Return the moment of the last check; None where there is none, or no usable one."""
        moment = moment_or_none(self.last_check, zone)
        return None if moment is None else moment.instant

    def stale(self, now: datetime, zone: tzinfo, recorded: datetime | None = None) -> bool:
        """Return whether it runs by itself and has no result, or none of its last two intervals; `recorded` is a known
        check that the file may not show.
        """
        if not self.interval:
            return False
        known = [one for one in (recorded, self.checked_at(zone)) if one is not None]
        return not known or missed_twice(self.interval, max(known), now, zone)

    def status_at(self, now: datetime, zone: tzinfo) -> tuple[str, ...]:
        """Return the last result in words, and before it that it is stale: ("stale", "was healthy", "72% used")."""
        words = [one for one in (self.last_status, self.last_status_remark) if one]
        if not self.stale(now, zone):
            return tuple(words)
        return ("stale", f"was {words[0]}", *words[1:]) if words else ("stale", "never measured")

    @property
    def unread(self) -> LineFinding | None:
        """The first line that looks like a field and is none; a monitor with one does not run."""
        return next((one.moved(-1) for one in dress.plain_entry(self.entry, SCHEMA)[1] if one.level == "error"), None)

    @property
    def extra(self) -> dict[str, str]:
        """The fields that the format does not know."""
        return {key: value for key, value in self.entry.fields.items() if key not in FIELD_KEYS}

    def json(self) -> dict[str, Any]:
        """Return the monitor with the keys of the JSON interface; absent values are None, lines count from 1."""
        return {
            "ref": self.ref,
            "name": self.name,
            **{key: self.text_of(key) for key in FIELD_KEYS},
            "intervalRemark": self._remark("interval"),
            "autoRemediateRemark": self.auto_remediate_remark,
            "lastStatusRemark": self.last_status_remark,
            "healthy": self.healthy,
            "extra": self.extra,
            "line": self.line + 1,
        }


class Monitors(FileView[Monitor]):
    """The monitors of one file in file order: the entries of its section Monitors."""

    kind = KIND

    def __init__(self, file: str, document: Document) -> None:
        """Wrap the entries; their fields are read on first use."""
        super().__init__(file, document)
        self.items = tuple(
            Monitor(self, (index, number), entry)
            for index in document.find(SECTION)
            for number, entry in enumerate(document.sections[index].entries)
        )

    @cached_property
    def intervals(self) -> tuple[tuple[str, Monitor], ...]:
        """The monitors that run by themselves, each with its interval."""
        return tuple([(interval, monitor) for monitor in self.items if (interval := monitor.interval)])


def plain_section(section: Section) -> PlainSection[str]:
    """Return a section of monitors.md in the plain form."""
    name = SECTION if section.level == 2 and section.name == SECTION.casefold() else None
    return dress.entry_section(section, name, SCHEMA, "a monitor is `### name` with its fields below")


def plain_monitors(document: Document) -> PlainFile:
    """Return monitors.md as it is; lines that look like a field of a monitor and are none are told, and so are the
    monitors in other sections, which are not run.
    """
    why = "is not run: it is in no section of this file that is read"
    found = dress.plain_file(document, plain_section, lambda _, entry: dress.plain_entry(entry, SCHEMA))
    others = dress.unread_entries(document, document.find(SECTION), "error", "monitor.unknown_section", why)
    return PlainFile(document, (*others, *found.findings))
