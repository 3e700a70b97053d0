"""The settings of config.md: read, checked and explained."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from functools import cached_property
from typing import Any, NamedTuple

from memory.base.clock import UnknownZone, find_zone
from memory.base.values import is_absent, split_field
from memory.document import Document
from memory.document.lines import count_line_ends
from memory.errors import ConfigError
from memory.files.fields.dress import LineFinding, PlainFile, heading_findings, likely_field, plain_body, visible_lines
from memory.files.fields.values import Schema, Value, cron, moment, one_of, read_truth, truth, whole_number, zone_name

FILE = "config.md"


class Declared(NamedTuple):
    """A setting that memdeck knows: the section to which a missing one is added ("" is the front matter), its name in
    words, its values, a sentence about what a value `{}` does, the default, and the sentence where it is off.
    """

    section: str
    label: str
    value: Value
    effect: str
    default: str = ""
    off: str = ""

    def does(self, value: str, words: str = "") -> str:
        """Return what a value does, in a sentence; `words` are those for the value, if it is not one itself."""
        absent = is_absent(value)
        if self.off and (absent or read_truth(value) is False):
            return self.off
        return self.effect.format(self.default if absent else words or value)


class MaintenanceSettings(NamedTuple):
    """The limits of the maintenance rules: two ages in days and a number of entries."""

    archive_days: int = 7
    prune_days: int = 30
    max_entries: int = 500


_DAYS, _MANY = (whole_number(0, most, f"from 0 to {most}") for most in (36_500, 100_000_000))
_CRON = Value(cron, code="config.value", takes="a cron expression such as 0 2 * * *")
_TRUTH = Value(truth, takes="true or false")
_CHANNEL, _TEXT = Value(takes="the ID or name of a channel in Contacts"), Value(takes="any text")
_DAYS_WORDS = "a number of days from 0 to 36500"
_LIMITS = [str(one) for one in MaintenanceSettings()]
UNUSED = "For agents only; memdeck ignores it."
SETTINGS = {
    "timezone": Declared("Workspace", "time zone",
        Value(zone_name, code="config.value", takes="a name such as Europe/Berlin"),
        "Times without a zone are in {}.", "the machine's zone"),
    "journalTaskChanges": Declared("Workspace", "journal task changes", _TRUTH,
        "Starting, finishing or reopening a task adds a journal entry.", "false", "The journal has no task changes."),
    "expression": Declared("Heartbeat", "heartbeat schedule", _CRON,
        "The heartbeat checks tasks {}.", off="No heartbeat runs."),
    "cronJobId": Declared("Heartbeat", "heartbeat job", _TEXT, UNUSED),
    "projectId": Declared("Heartbeat", "heartbeat project", _TEXT, UNUSED),
    "target": Declared("Default Notification", "send alerts", Value(takes="im or off"),
        "Alerts are sent.", "im", "No alerts are sent."),
    "channelId": Declared("Default Notification", "channel for alerts", _CHANNEL,
        "Alerts go to {}.", off="Alerts go to the primary channel."),
    "priority": Declared("Default Notification", "priority",
        Value(one_of(("low", "normal", "high"), "config.value"), takes="low, normal or high"),
        "Alerts have the priority {} unless one is set.", "normal"),
    "quietHours": Declared("Default Notification", "quiet hours", Value(takes="times such as 22:00-07:00"),
        "Alerts wait during {}, unless their priority is high.", off="Alerts are sent at any time."),
    "primaryChannel": Declared("IM Configuration", "primary channel", _CHANNEL,
        "Alerts go to {} if the one above fails.", off="There is no primary channel."),
    "secondaryChannel": Declared("IM Configuration", "secondary channel", _CHANNEL,
        "Alerts go to {} if the others fail.", off="There is no secondary channel."),
    # A limit without a value could mean "no limit"; using the default would be a guess.
    "archiveCompletedAfterDays": Declared("Memory Maintenance", "archive tasks after",
        Value(_DAYS, "archive completed after, archive after, archive days", needed=True, takes=_DAYS_WORDS),
        "Maintenance archives tasks {} days after they are completed.", _LIMITS[0]),
    "pruneJournalAfterDays": Declared("Memory Maintenance", "archive journal after",
        Value(_DAYS, "prune journal after, prune after, journal days", needed=True, takes=_DAYS_WORDS),
        "Maintenance archives journal entries older than {} days.", _LIMITS[1]),
    "maxJournalEntries": Declared("Memory Maintenance", "journal entry limit",
        Value(_MANY, "max journal, journal entries", needed=True, takes="a whole number from 0 to 100000000"),
        "Maintenance archives all but the newest {} journal entries.", _LIMITS[2]),
    "maintenanceSchedule": Declared("Memory Maintenance", "maintenance schedule", _CRON,
        "An open memdeck runs maintenance {}.", off="Maintenance runs only when you ask (M) or cron does."),
    "setupComplete": Declared("", "setup complete", _TRUTH, UNUSED),
    "setupDate": Declared("", "setup date", Value(moment, takes="a date or time"), UNUSED),
}  # fmt: skip
"""The settings that memdeck knows. A file may have others, which are kept unchanged."""
SCHEMA = Schema({key: one.value for key, one in SETTINGS.items()}, understood=False)
"""A setting in another dress is never read: it is told."""
CRON_KEYS = frozenset(key for key, value in SCHEMA.fields.items() if value is _CRON)
BOOLEAN_KEYS = frozenset(key for key, value in SCHEMA.fields.items() if value is _TRUTH)
MAINTENANCE_KEYS = (*(key for key, one in SETTINGS.items() if one.section == "Memory Maintenance"), "timezone")
"""The settings that decide what maintenance moves and when."""
_ALIKE = 0.85
"""The likeness from which an unknown key counts as a misspelled maintenance setting."""


class Setting(NamedTuple):
    """One field of config.md: `value` without its remark, `raw` as written; `line` from 0.

    `section` is the heading above it, "" in the front matter and before any section.
    """

    key: str
    value: str
    remark: str | None
    section: str
    line: int
    raw: str

    def json(self) -> dict[str, Any]:
        """Return the setting for programs; `line` counts from 1."""
        return {**{key: getattr(self, key) for key in ("key", "value", "remark", "section")}, "line": self.line + 1}


class Config:
    """All settings of config.md in file order, those of the front matter first."""

    def __init__(self, file: str, document: Document) -> None:
        """Read the fields; never fails."""
        self.file = file
        self.document = document
        self.settings: tuple[Setting, ...] = tuple(_read_settings(document))
        self._first: dict[str, Setting] = {}
        for setting in self.settings:
            self._first.setdefault(setting.key, setting)

    def listed(self) -> tuple[Setting, ...]:
        """Return the settings in file order."""
        return self.settings

    def setting(self, key: str) -> Setting | None:
        """Return the setting that counts for a key, None where there is none."""
        return self._first.get(key)

    def get(self, key: str) -> str | None:
        """Return the value of a key without its remark; None where it is missing or its value means "none"."""
        found = self._first.get(key)
        return None if found is None or is_absent(found.value) else found.value

    def truth(self, key: str) -> bool:
        """Return whether the value of a key is `true`, `yes` or `on`; False for any other or a missing value."""
        return read_truth(self.get(key)) or False

    @cached_property
    def doubtful(self) -> tuple[tuple[int, str, str], ...]:
        """The lines that look like a maintenance setting but are none: line from 0, the key, a sentence.

        Where the key is not set elsewhere, its default would apply although the file has another value. Where it is,
        the line is returned only if it has another usable value: it is not known which of the two was meant. Lines of
        code and of comments do not count.
        """
        found: dict[str, tuple[int, str, str]] = {}
        for setting in self.settings:
            meant = meant_key(setting.key, _ALIKE)
            if meant in MAINTENANCE_KEYS and self._contradicts(meant, setting.value):
                words = f"{unknown_key_words(setting.key, meant)}{self._set_elsewhere(meant)}"
                found.setdefault(meant, (setting.line, meant, words))
        # The lines of settings do not count, nor do further lines of a value, unless nothing else sets their key.
        taken = {setting.line for setting in self.settings}
        values = {at for one in self.settings for at in range(one.line, one.line + len(one.raw.splitlines()))}
        blocks = self.document.blocks()
        lines = ((first + at, text) for _, _, block, first in blocks for at, text in visible_lines(block.body))
        for line, text in lines:
            key, value = (None if line in taken else likely_field(text, SCHEMA)) or ("", "")
            if key not in MAINTENANCE_KEYS or key in found or (line in values and key in self._first):
                continue
            if self._contradicts(key, split_field(key, value)[0]):
                said = f"{text.strip()[:60]!r} is text, not a setting; write it as `- {key}: {value}`"
                found[key] = (line, key, said + self._set_elsewhere(key))
        return tuple(sorted(found.values()))

    def _contradicts(self, key: str, value: str) -> bool:
        """Return whether a line gives a key another usable value than the setting that counts; True where none does."""
        counts = self._first.get(key)
        return counts is None or (counts.value != value and SCHEMA.problem(key, value) is None)

    def _set_elsewhere(self, key: str) -> str:
        counts = self._first.get(key)
        return f"; line {counts.line + 1} sets {key} to {counts.value[:40]!r}" if counts else ""

    def zone(self, fallback: Callable[[], tzinfo]) -> tzinfo:
        """Return the zone that `timezone` names; `fallback()` where it is missing or unknown."""
        return self._zone or fallback()

    @cached_property
    def _zone(self) -> tzinfo | None:
        name = self.get("timezone")
        try:
            return None if name is None else find_zone(name)
        except UnknownZone:
            return None

    def require_zone(self, fallback: Callable[[], tzinfo]) -> tzinfo:
        """Return the zone; unlike `zone`, raises ConfigError `config.value` where `timezone` names an unknown zone, and
        `config.malformed` where a line looks like the setting but is none.
        """
        self._require("timezone")
        return self.zone(fallback)

    def maintenance(self) -> MaintenanceSettings:
        """Return the numbers of the maintenance rules; for a missing setting its default.

        Raises ConfigError `config.value` with file and line where a value is not a usable number or is empty, and
        `config.malformed` where a line looks like one of the settings but is none.
        """
        keys = ("archiveCompletedAfterDays", "pruneJournalAfterDays", "maxJournalEntries")
        found = zip(map(self._require, keys), MaintenanceSettings(), strict=True)
        return MaintenanceSettings(*(usual if setting is None else int(setting.value) for setting, usual in found))

    def schedule(self) -> str | None:
        """Return the cron expression of `maintenanceSchedule`, None if maintenance is off; ConfigError if it is bad."""
        self._require("maintenanceSchedule")
        return self.get("maintenanceSchedule")

    def _require(self, key: str) -> Setting | None:
        """Return the setting of a key, None where it is not set; ConfigError where its value is bad or in doubt."""
        found = self.setting(key)
        told = [("config.malformed", line, words) for line, meant, words in self.doubtful if meant == key]
        if found is not None and (wrong := SCHEMA.problem(key, found.value)) is not None:
            told.insert(0, ("config.value", found.line, wrong))
        for code, line, words in told:
            at = f"{self.file}:{line + 1}: {words}"
            raise ConfigError(code, at, "correct or remove the line", file=self.file, line=line + 1, key=key)
        return found

    def json(self) -> dict[str, Any]:
        """Return key → value without remarks, the first of each key; values that mean "none" are None."""
        return {key: self.get(key) for key in self._first if key not in ("type", "updated")}


def _read_settings(document: Document) -> list[Setting]:
    found: list[Setting] = []
    if document.front_raw:
        above = count_line_ends(document.bom)
        found.extend(
            Setting(item.key, item.value, None, "", above + item.line, item.value)
            for item in document.meta.items
            if isinstance(item.value, str) and item.key not in ("type", "updated")
        )
    for index, _, block, first in document.blocks():
        for node in block.fields.nodes:
            value, remark = split_field(node.key, node.value)
            title = document.section(index).title
            found.append(Setting(node.key, value, remark, title, first + node.line, node.value))
    return found


def meant_key(key: str, likeness: float = 0.6) -> str | None:
    """Return the known setting that an unknown key probably meant, None if none is similar or the key is known.

    `likeness` is the least similarity, from 0 to 1; at 0.9 one of ten letters may differ.
    """
    if key in SETTINGS:
        return None
    if same := SCHEMA.meaning(key):
        return same
    from difflib import get_close_matches

    names = {name.casefold(): name for name in SETTINGS}
    near = get_close_matches(key.casefold(), names, 1, likeness)
    return names[near[0]] if near else None


def unknown_key_words(key: str, meant: str | None) -> str:
    """Return a sentence that a key is unknown, and which one was `meant`, else that it is kept."""
    instead = f"did you mean {meant}?" if meant else "it is kept unchanged"
    return f"{key[:60]} is not a setting that memdeck knows; {instead}"


def plain_config(document: Document) -> PlainFile:
    """Return config.md as it is; lines that look like a setting and are none are told, and entries that hold none."""
    doubtful = {line for line, _, _ in Config(FILE, document).doubtful}
    found: list[LineFinding] = []
    for index, section in document.all_sections():
        found += [one.moved(document.line_of(index)) for one in heading_findings(section, SCHEMA)]
    for _, number, block, first in document.blocks():
        if number is not None and not block.fields:
            found.append(LineFinding(first - 1, "note", "config.unread", f"{block.title[:60]!r} holds no setting"))
        found += [one.moved(first) for one in plain_body(block.body, SCHEMA, block.fields.nodes).findings]
    return PlainFile(document, tuple(one for one in found if one.line not in doubtful))
