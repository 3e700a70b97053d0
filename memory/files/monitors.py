"""The monitors of monitors.md: what is watched, how often, and how it was the last time.

Commands and addresses are text here; nothing runs and nothing is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memory.base.remarks import is_absent, split_field
from memory.document import Document, Entry, Section
from memory.document.nodes import bare
from memory.errors import UsageError

from .edit import (
    Edit,
    changed_value,
    check_field_value,
    clean_values,
    entry_of_text,
    one_line,
    refuse_conflict,
    started_document,
)
from .refs.item_refs import NamedItem, name_all
from .refs.refs import look_up

if TYPE_CHECKING:
    from .reader import Files

FILE = "monitors.md"
KIND = "monitors"
SECTION = "Monitors"
FIELD_KEYS = (
    "type",
    "url",
    "command",
    "interval",
    "cronJobId",
    "threshold",
    "alertPriority",
    "autoRemediate",
    "lastCheck",
    "lastStatus",
)
"""The fields that the format knows, in the order in which memdeck writes them."""
HEALTHY = frozenset({"healthy", "ok", "up"})
PRIORITIES = frozenset({"low", "normal", "high"})


@dataclass(frozen=True, slots=True)
class Monitor(NamedItem):
    """One monitor; texts are as they stand in the file, without remarks, None where there is none.

    `at` is (section index, entry index) in the document.
    """

    entry: Entry
    at: tuple[int, int]

    @property
    def title(self) -> str:
        """The name, under which it is looked up."""
        return self.entry.title

    @property
    def name(self) -> str:
        """The heading."""
        return self.entry.title

    def _plain(self, key: str) -> str | None:
        value = split_field(key, self.entry.fields.get(key) or "")[0]
        return None if is_absent(value) else value

    def _remark(self, key: str) -> str | None:
        return split_field(key, self.entry.fields.get(key) or "")[1]

    @property
    def type(self) -> str | None:
        """`http` or `command`."""
        return self._plain("type")

    @property
    def url(self) -> str | None:
        """The address that is asked."""
        return self._plain("url")

    @property
    def command(self) -> str | None:
        """The command that is run, as text."""
        return self._plain("command")

    @property
    def interval(self) -> str | None:
        """The cron expression by which it runs."""
        return self._plain("interval")

    @property
    def interval_remark(self) -> str | None:
        """What stands in parentheses behind the interval."""
        return self._remark("interval")

    @property
    def cron_job_id(self) -> str | None:
        """The cron job that runs it."""
        return self._plain("cronJobId")

    @property
    def threshold(self) -> str | None:
        """When the outcome is bad: `status != 200`, `value > 90`."""
        return self._plain("threshold")

    @property
    def alert_priority(self) -> str | None:
        """How urgent an alert is: low, normal, high."""
        return self._plain("alertPriority")

    @property
    def auto_remediate(self) -> str | None:
        """The command that repairs it, as text; None: nobody repairs it."""
        return self._plain("autoRemediate")

    @property
    def auto_remediate_remark(self) -> str | None:
        """What stands behind a `null`, such as `notify only`."""
        return self._remark("autoRemediate")

    @property
    def last_check(self) -> str | None:
        """When it ran last, as text."""
        return self._plain("lastCheck")

    @property
    def last_status(self) -> str | None:
        """How it was then: `healthy` or something else."""
        return self._plain("lastStatus")

    @property
    def last_status_remark(self) -> str | None:
        """What stands in parentheses behind the status."""
        return self._remark("lastStatus")

    @property
    def healthy(self) -> bool | None:
        """Whether it was well the last time; None where it never ran."""
        status = self.last_status
        return None if status is None else status.casefold() in HEALTHY

    @property
    def extra(self) -> dict[str, str]:
        """The fields that the format does not know."""
        return {key: value for key, value in self.entry.fields.items() if key not in FIELD_KEYS}

    def json(self) -> dict[str, Any]:
        """Return the monitor under the keys of the interface; absent values are None, lines count from 1."""
        return {
            "ref": self.ref,
            "name": self.name,
            **{key: self._plain(key) for key in FIELD_KEYS},
            "intervalRemark": self.interval_remark,
            "autoRemediateRemark": self.auto_remediate_remark,
            "lastStatusRemark": self.last_status_remark,
            "healthy": self.healthy,
            "extra": self.extra,
            "line": self.line + 1,
        }


class Monitors:
    """The monitors of one file in file order: the entries of its section Monitors."""

    def __init__(self, file: str, document: Document) -> None:
        """Wrap the entries; their fields are read when asked for."""
        self.file = file
        self.document = document
        found = [
            ((index, number), entry)
            for index in document.find(SECTION)
            for number, entry in enumerate(document.sections[index].entries)
        ]
        names = name_all(KIND, [(entry.title,) for _, entry in found], [bare(entry) for _, entry in found])
        self.monitors: tuple[Monitor, ...] = tuple(
            Monitor(name, file, document.line_of(*at), entry, at)
            for name, (at, entry) in zip(names, found, strict=True)
        )


def read_monitors(file: str, document: Document) -> Monitors:
    """Return the monitors of monitors.md; never fails."""
    return Monitors(file, document)


def find_monitor(snapshot: Files, text: str) -> Monitor:
    """Return the monitor that a ref, its digits or a part of its name means.

    Raises NotFoundError `monitor.not_found`, AmbiguousError `monitor.ambiguous`.
    """
    return look_up(
        text, KIND, "monitor", [lambda: snapshot.view("monitors.md", read_monitors).monitors], past=snapshot.past
    )


def add_monitor(snapshot: Files, name: str, values: Mapping[str, str], *, now: datetime) -> Edit:
    """Add a monitor at the end of the section Monitors; a missing section or file is made.

    `values` are fields by their key in the file. Raises UsageError `monitor.name` for a name that is taken or
    empty, `field.value`, BadCron, BadMoment.
    """
    title = one_line("monitor.name", "the name of a monitor", name)
    if any(monitor.name == title for monitor in snapshot.view("monitors.md", read_monitors).monitors):
        raise UsageError("monitor.name", f"there is a monitor {title[:60]!r} already", "give it another name")
    document = started_document(snapshot, FILE, now)
    if not document.find(SECTION):
        new = Section.compose(SECTION, newline=document.newline)
        document = document.insert_section(len(document.sections), new)
    section = document.find(SECTION)[0]
    entry = Entry.compose(title, newline=document.newline)
    for key, value in clean_values(values, FIELD_KEYS).items():
        _check_value(key, value)
        entry = check_field_value(entry, key, value)
    place = len(document.sections[section])
    return _edit(document.insert_entry(section, place, entry), (section, place), f"added the monitor {title[:60]}")


def edit_monitor(
    snapshot: Files,
    ref: str,
    set: Mapping[str, str] | None = None,  # noqa: A002 - the name of the option
    unset: Iterable[str] = (),
    *,
    base: Entry | None = None,
    now: datetime,  # noqa: ARG001
) -> Edit:
    """Set and unset fields and `name`; an empty value takes a field away.

    A remark behind a value goes when the value changes; see `changed_value`. ConflictError `document.conflict`
    with `fields` where somebody else changed the same since `base`.
    """
    monitor = find_monitor(snapshot, ref)
    changes = {**(set or {}), **dict.fromkeys(unset, "")}
    if base is not None and base.raw != monitor.entry.raw:
        refuse_conflict(monitor.name, monitor.entry, base, changes)
    entry = monitor.entry
    for key, given in changes.items():
        value = given.strip()
        if key in ("name", "title"):
            entry = entry.with_title(one_line("monitor.name", "the name of a monitor", value))
        elif not value:
            entry = entry.unset_field(key)
        else:
            _check_value(key, value)
            entry = check_field_value(entry, key, changed_value(key, entry.fields.get(key), value))
    document = snapshot.document(FILE).replace_entry(*monitor.at, entry)
    return _edit(document, monitor.at, f"changed the monitor {monitor.name[:60]}")


def remove_monitor(snapshot: Files, ref: str, *, now: datetime) -> Edit:  # noqa: ARG001
    """Take a monitor out of the file."""
    monitor = find_monitor(snapshot, ref)
    document = snapshot.document(FILE).remove_entry(*monitor.at)
    return Edit({FILE: document}, f"removed the monitor {monitor.name[:60]}")


def replace_monitor_text(
    snapshot: Files,
    ref: str,
    text: str,
    *,
    base: Entry | None = None,
    now: datetime,  # noqa: ARG001
) -> Edit:
    """Replace the whole source of a monitor, as an editor returns it.

    What somebody else changed since `base` is merged by fields and lines. Raises UsageError `document.structure`
    unless the text is exactly one entry, ConflictError `document.conflict` where both changed the same.
    """
    monitor = find_monitor(snapshot, ref)
    new = entry_of_text(text, monitor.entry, base, monitor.name)
    if new is None:
        return Edit({}, "nothing changed", monitor.ref)
    document = snapshot.document(FILE).replace_entry(*monitor.at, new)
    return _edit(document, monitor.at, f"changed the monitor {monitor.name[:60]}")


def _edit(document: Document, at: tuple[int, int], summary: str) -> Edit:
    found = next((one for one in Monitors(FILE, document).monitors if one.at == at), None)
    return Edit({FILE: document}, summary, found.ref if found else None)


def value_problem(key: str, value: str) -> str | None:
    """Say what is wrong with the value (without remark) of a known field; None if nothing is."""
    if is_absent(value):
        return None
    try:
        _check_plain(key, value)
    except UsageError as error:
        return error.message
    return None


def _check_value(key: str, value: str) -> None:
    plain = split_field(key, value)[0]
    if not is_absent(plain):
        _check_plain(key, plain)


def _check_plain(key: str, plain: str) -> None:
    if key == "interval":
        from memory.base.cron import check_cron

        check_cron(plain)
    elif key == "lastCheck":
        from memory.base.clock import read_moment

        read_moment(plain, UTC)
    elif key == "alertPriority" and plain.casefold() not in PRIORITIES:
        raise UsageError("monitor.priority", f"alertPriority is {plain[:40]!r}", "write low, normal or high")
