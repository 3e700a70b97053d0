"""The settings of config.md: `key: value` fields in sections, read from any of them; the first of a key counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

from memory.base.patterns import late
from memory.base.remarks import CONFIG_NUMBERS, is_absent, split_field
from memory.document import Document, Entry, Section
from memory.document.fields import hidden_lines, split_lines
from memory.errors import ConfigError, NotFoundError, UsageError
from memory.named_tuple import NamedTuple

if TYPE_CHECKING:
    from .edit import Edit
    from .reader import Files

FILE = "config.md"
FRONT_KEYS = ("setupComplete", "setupDate")
"""The settings that live in the front matter."""
HOME_SECTIONS = {
    "timezone": "Workspace",
    "knowledgeStaleAfterDays": "Workspace",
    "journalTaskChanges": "Workspace",
    "reapplyUndone": "Workspace",
    "expression": "Heartbeat",
    "cronJobId": "Heartbeat",
    "projectId": "Heartbeat",
    "driftAfterBeats": "Heartbeat",
    "target": "Default Notification",
    "channelId": "Default Notification",
    "priority": "Default Notification",
    "quietHours": "Default Notification",
    "primaryChannel": "IM Configuration",
    "secondaryChannel": "IM Configuration",
    "archiveCompletedAfterDays": "Memory Maintenance",
    "pruneJournalAfterDays": "Memory Maintenance",
    "maxJournalEntries": "Memory Maintenance",
    "maintenanceSchedule": "Memory Maintenance",
}
"""Where `set_setting` adds a key that is not there yet."""
KNOWN_KEYS = (*HOME_SECTIONS, *FRONT_KEYS)
"""The settings that mean something to memdeck; a file may hold others, which are kept as they are."""
CRON_KEYS = frozenset({"expression", "maintenanceSchedule"})
BOOLEAN_KEYS = frozenset({"journalTaskChanges", "reapplyUndone", "setupComplete"})
PRIORITIES = frozenset({"low", "normal", "high"})
_LIMITS = {"archiveCompletedAfterDays": 36_500, "pruneJournalAfterDays": 36_500, "maxJournalEntries": 100_000_000}
MAINTENANCE_KEYS = (*_LIMITS, "timezone", "maintenanceSchedule")
"""The settings that decide what maintenance moves and when."""
_ALIKE = 0.85
"""An unknown key that agrees so far with one that maintenance goes by was meant to be it."""
_NUMBER = late(r"[0-9]{1,9}", re.ASCII)
_LIKE_FIELD = late(rf"\s*(?:[-*+•–—]\s*)?[*_`]{{0,3}}({'|'.join(MAINTENANCE_KEYS)})[*_`]{{0,3}}\s*[:=]", re.IGNORECASE)
_YES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class Setting(NamedTuple):
    """One field of config.md: `value` without its remark, `raw` as it stands; `line` from 0.

    `section` is the heading above it, empty for the front matter and for what stands before any section.
    """

    key: str
    value: str
    remark: str | None
    section: str
    line: int
    raw: str

    def json(self) -> dict[str, Any]:
        """Return the setting for programs; `line` counts from 1."""
        return {
            "key": self.key,
            "value": self.value,
            "remark": self.remark,
            "section": self.section,
            "line": self.line + 1,
        }


class MaintenanceSettings(NamedTuple):
    """What the maintenance rules go by: two ages in days and a number of entries."""

    archive_days: int = 7
    prune_days: int = 30
    max_entries: int = 500


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
        self._zone: tzinfo | None = None
        self._zone_read = False
        self._doubtful: tuple[tuple[int, str, str], ...] | None = None

    def setting(self, key: str) -> Setting | None:
        """Return the setting that counts for a key, None where there is none."""
        return self._first.get(key)

    def get(self, key: str) -> str | None:
        """Return the value of a key without its remark; None where it is missing or says that there is none."""
        found = self._first.get(key)
        return None if found is None or is_absent(found.value) else found.value

    def truth(self, key: str) -> bool:
        """Return whether a key says yes (`true`, `yes`, `on`); anything else, or nothing, is no."""
        return _YES.get((self.get(key) or "").lower(), False)

    @property
    def duplicates(self) -> tuple[Setting, ...]:
        """Settings whose key stood in the file before: they do not count."""
        return tuple(setting for setting in self.settings if self._first[setting.key] is not setting)

    def doubtful(self) -> tuple[tuple[int, str, str], ...]:
        """Return the lines that look like a setting of maintenance and are none: line from 0, the key, a sentence.

        Where the key is set nowhere else its default would count although somebody wrote another value. Where it is,
        the line counts among these only if it gives another value that could be used: of the two nobody knows which was
        meant. Lines of code and of comments are no settings.
        """
        if self._doubtful is None:
            self._doubtful = tuple(sorted(self._find_doubtful().values()))
        return self._doubtful

    def _find_doubtful(self) -> dict[str, tuple[int, str, str]]:
        found: dict[str, tuple[int, str, str]] = {}
        for setting in self.settings:
            meant = meant_key(setting.key, _ALIKE)
            if meant in MAINTENANCE_KEYS and self._contradicts(meant, setting.value):
                words = f"{unknown_key_words(setting.key, meant)}{self._set_elsewhere(meant)}"
                found.setdefault(meant, (setting.line, meant, words))
        missing = {key.lower(): key for key in MAINTENANCE_KEYS if key not in found}
        # The lines of settings are none of these, and it takes long to tell them from code and comments.
        taken = {setting.line for setting in self.settings}
        # Nor are the further lines of a value, unless nothing else sets their key.
        values = {at for one in self.settings for at in range(one.line, one.line + len(one.raw.splitlines()))}
        for line, text in _lines_of_text(self.document) if missing else ():
            match = _LIKE_FIELD.match(text) if line not in taken else None
            key = missing.get(match[1].lower()) if match else None
            if match is None or key is None or (line in values and key in self._first):
                continue
            value, _ = split_field(key, text[match.end() :].strip(" \t*_`"))
            if self._contradicts(key, value):
                sentence = f"{text.strip()[:60]!r} is text and sets nothing; a setting is a line like `- {key}: value`"
                found.setdefault(key, (line, key, sentence + self._set_elsewhere(key)))
        return found

    def _contradicts(self, key: str, value: str) -> bool:
        """Tell whether a line that is no setting of a key gives it another value than what counts."""
        counts = self._first.get(key)
        return counts is None or (counts.value != value and value_problem(key, value) is None)

    def _set_elsewhere(self, key: str) -> str:
        counts = self._first.get(key)
        return f"; line {counts.line + 1} sets {key} to {counts.value[:40]!r}" if counts else ""

    def zone(self, fallback: Callable[[], tzinfo]) -> tzinfo:
        """Return the zone that `timezone` names; `fallback()` where it is missing or unknown."""
        if not self._zone_read:
            name = self.get("timezone")
            if name is not None:
                from memory.base.clock import UnknownZone, find_zone

                try:
                    self._zone = find_zone(name)
                except UnknownZone:
                    self._zone = None
            self._zone_read = True
        return fallback() if self._zone is None else self._zone

    def require_zone(self, fallback: Callable[[], tzinfo]) -> tzinfo:
        """Return the zone; unlike `zone` raises ConfigError `config.value` where `timezone` names an unknown one, and
        `config.malformed` where a line looks like it and sets nothing.
        """
        self._require("timezone")
        return self.zone(fallback)

    def maintenance(self) -> MaintenanceSettings:
        """Return the numbers of the maintenance rules; where the line is missing the default counts.

        Raises ConfigError `config.value` that names file and line where a value is no usable number, an empty one too,
        and `config.malformed` where a line looks like one of them and sets nothing.
        """
        usual = MaintenanceSettings()
        return MaintenanceSettings(
            self._number("archiveCompletedAfterDays", usual.archive_days),
            self._number("pruneJournalAfterDays", usual.prune_days),
            self._number("maxJournalEntries", usual.max_entries),
        )

    def schedule(self) -> str | None:
        """Return the cron expression of `maintenanceSchedule`, None if maintenance is off; ConfigError if it is bad."""
        self._require("maintenanceSchedule")
        return self.get("maintenanceSchedule")

    def _number(self, key: str, usual: int) -> int:
        found = self._require(key)
        return usual if found is None else int(found.value)

    def _require(self, key: str) -> Setting | None:
        """Return the setting of a key once its value is known to be usable and the only one; None where none is."""
        found = self.setting(key)
        if found is not None:
            self._check(found)
        for line, meant, sentence in self.doubtful():
            if meant == key:
                raise ConfigError(
                    "config.malformed",
                    f"{self.file}:{line + 1}: {sentence}",
                    "correct the line or take it out",
                    file=self.file,
                    line=line + 1,
                    key=key,
                )
        return found

    def _check(self, setting: Setting) -> None:
        sentence = value_problem(setting.key, setting.value)
        if sentence is not None:
            line = setting.line + 1
            raise ConfigError(
                "config.value",
                f"{self.file}:{line}: {sentence}",
                "correct the line or take it out",
                file=self.file,
                line=line,
                key=setting.key,
            )

    def json(self) -> dict[str, Any]:
        """Return key → value without remarks, the first of each key; values that say there is none are None."""
        return {key: self.get(key) for key in self._first if key not in ("type", "updated")}


def _lines_of_text(document: Document) -> Iterator[tuple[int, str]]:
    """Yield the lines of all bodies that are neither code nor comments, each with its number from 0."""
    for index, section in document.all_sections():
        above = document.line_of(index, None) + (1 if section.heading else 0)
        bodies = [(section.body, above)]
        bodies += [(entry.body, document.line_of(index, number) + 1) for number, entry in enumerate(section.entries)]
        for body, first in bodies:
            hidden = hidden_lines(body)
            for number, (text, _) in enumerate(split_lines(body)):
                if not (number < len(hidden) and hidden[number]):
                    yield first + number, text


def _read_settings(document: Document) -> list[Setting]:
    found: list[Setting] = []
    if document.front_raw:
        from memory.document.lines_and_headings import count_line_ends

        above = count_line_ends(document.bom)
        found.extend(
            Setting(item.key, item.value, None, "", above + item.line, item.value)
            for item in document.meta.items
            if isinstance(item.value, str) and item.key not in ("type", "updated")
        )
    for index, section in document.all_sections():
        blocks = [(section.fields, None if section.heading else -1)]
        blocks += [(entry.fields, number) for number, entry in enumerate(section.entries)]
        for fields, number in blocks:
            if not len(fields):
                continue
            top = document.line_of(index, number if number is not None and number >= 0 else None)
            top += 0 if number == -1 else 1
            for node in fields.nodes:
                value, remark = split_field(node.key, node.value)
                found.append(Setting(node.key, value, remark, section.title, top + node.line, node.value))
    return found


def read_config(file: str, document: Document) -> Config:
    """Return the settings of config.md; never fails."""
    return Config(file, document)


def value_problem(key: str, value: str) -> str | None:
    """Say what is wrong with the value (without remark) of a known key; None if nothing is, or nobody knows it."""
    if key in CONFIG_NUMBERS:
        # A line that names a limit and says none could mean "no limit"; the default in its place would be a guess.
        if not (_NUMBER.fullmatch(value) and int(value) <= _LIMITS[key]):
            return f"{key} is {value[:40]!r}, not a whole number from 0 to {_LIMITS[key]}"
        return None
    if is_absent(value):
        return None
    if key == "timezone":
        from memory.base.clock import UnknownZone, find_zone

        try:
            find_zone(value)
        except UnknownZone as error:
            return error.message
    elif key in CRON_KEYS:
        from memory.base.cron import BadCron, check_cron

        try:
            check_cron(value)
        except BadCron as error:
            return error.message
    elif key in BOOLEAN_KEYS:
        if value.lower() not in _YES:
            return f"{key} is {value[:40]!r}, not true or false"
    elif key == "setupDate":
        from datetime import UTC

        from memory.base.clock import BadMoment, read_moment

        try:
            read_moment(value, UTC)
        except BadMoment as error:
            return error.message
    elif key == "driftAfterBeats" and not (_NUMBER.fullmatch(value) and int(value) > 0):
        return f"driftAfterBeats is {value[:40]!r}, not a whole number above 0"
    elif key == "knowledgeStaleAfterDays" and not (_NUMBER.fullmatch(value) and int(value) <= 36_500):
        return f"knowledgeStaleAfterDays is {value[:40]!r}, not a whole number from 0 to 36500"
    elif key == "priority" and value.lower() not in PRIORITIES:
        return f"priority is {value[:40]!r}, not low, normal or high"
    return None


def meant_key(key: str, likeness: float = 0.6) -> str | None:
    """Return the known setting that an unknown key was probably meant to be, None where none is alike or it is known.

    `likeness` is how much of the two agrees at least, from 0 to 1; at 0.9 one of ten letters may differ.
    """
    if key in KNOWN_KEYS:
        return None
    from difflib import get_close_matches

    wanted = key.casefold()
    # A key that is longer than this much can agree with no shorter one that far: 2 * shorter / (both together).
    longest = (2 - likeness) / likeness
    names = {
        name.casefold(): name
        for name in KNOWN_KEYS
        if len(wanted) <= longest * len(name) and len(name) <= longest * len(wanted)
    }
    near = get_close_matches(wanted, names, 1, likeness) if names else []
    return names[near[0]] if near else None


def unknown_key_words(key: str, meant: str | None) -> str:
    """Say that a key is no known setting, and which one was `meant`; else that it is kept."""
    instead = f"did you mean {meant}?" if meant else "it is kept for whoever reads it"
    return f"{key[:60]} is no setting that memdeck knows; {instead}"


def get_setting(snapshot: Files, key: str) -> Setting:
    """Return the setting that counts for a key; raises NotFoundError `config.not_found`."""
    found = snapshot.view("config.md", read_config).setting(key)
    if found is None:
        raise NotFoundError(
            "config.not_found", f"config.md has no {key[:60]!r}", "`memdeck config list` shows the keys"
        )
    return found


def set_setting(snapshot: Files, key: str, value: str, *, section: str | None = None, now: datetime) -> Edit:
    """Set a key: the first field of that name changes, else one is added to `section`, or to the key's home.

    With `section` only that section counts. A key that memdeck does not know goes to Workspace. The remark
    behind a value stays where it is still true. Raises UsageError `config.value` for a value that the key
    cannot have, `field.key`, `field.value`.
    """
    from .edit import Edit, changed_value, check_field_value, started_document, with_end

    value = value.strip()
    document = started_document(snapshot, FILE, now)
    plain, _ = split_field(key, value)
    sentence = value_problem(key, plain)
    if sentence is not None:
        raise UsageError("config.value", sentence, "give another value", key=key)
    summary = f"set {key} to {value[:60]}"
    in_front = isinstance(document.meta.get(key), str) if document.front_raw else False
    if section is None and document.front_raw and (key in FRONT_KEYS or (in_front and key not in ("type", "updated"))):
        return Edit({FILE: document.set_meta(key, value)}, summary)
    document, index, number = _place(document, key, section)
    part = document.section(index)
    block: Section | Entry = part if number is None else part.entries[number]
    new = check_field_value(block, key, changed_value(key, block.fields.get(key), value))
    if isinstance(new, Entry):
        return Edit({FILE: document.replace_entry(index, number or 0, new)}, summary)
    if not part.body.strip():
        new = part.with_body(with_end(part.body, new.body[: len(new.body) - len(part.body)], document, index))
    return Edit({FILE: document.with_section(index, new)}, summary)


def _place(document: Document, key: str, section: str | None) -> tuple[Document, int, int | None]:
    """Return the document and the block (section, entry) that a key is set in; a missing section is made."""
    found = None if section is None else document.find(section)
    for index, part in document.all_sections():
        if found is not None and index not in found:
            continue
        if key in part.fields:
            return document, index, None
        for number, entry in enumerate(part.entries):
            if key in entry.fields:
                return document, index, number
    title = section or HOME_SECTIONS.get(key, "Workspace")
    places = document.find(title)
    if places:
        return document, places[0], None
    new = Section.compose(title, newline=document.newline)
    # Workspace says what all others go by, so it stands first.
    at = 0 if title == "Workspace" else len(document.sections)
    return document.insert_section(at, new), at, None


def unset_setting(snapshot: Files, key: str, *, now: datetime) -> Edit:  # noqa: ARG001 - as the other edits
    """Take a key out, wherever it stands; raises NotFoundError `config.not_found`, UsageError in the front matter."""
    from .edit import Edit

    get_setting(snapshot, key)
    document = snapshot.document(FILE)
    if document.front_raw and document.meta.get(key) is not None:
        raise UsageError("config.front", f"{key} stands in the front matter", "take it out with an editor")
    for index, part in document.all_sections():
        if key in part.fields:
            document = document.with_section(index, part.unset_field(key))
        for number, entry in enumerate(document.section(index).entries):
            if key in entry.fields:
                document = document.replace_entry(index, number, entry.unset_field(key))
    return Edit({FILE: document}, f"took out {key}")
