"""The config pane: one key per row, what it means, and whether its value is valid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, NamedTuple

from memory.base.cron import describe
from memory.base.values import is_absent, split_field
from memory.files.config import (
    BOOLEAN_KEYS,
    CRON_KEYS,
    HOMES,
    Config,
    MaintenanceSettings,
    Setting,
    set_setting,
    unset_setting,
    value_problem,
)
from memory.files.fields.values import read_truth
from memory.files.snapshot import Snapshot
from widgets.detail import Labelled, Prose
from widgets.input.date_fields import next_run_words
from widgets.input.fields import FieldSpec
from widgets.list.rows import Heading
from widgets.pane.base import Badge, Build, FormPlan, Removal
from widgets.pane.offers import chain, question
from widgets.pane.records import Record, RecordPane, plain_label
from widgets.text.styled_text import Column, Columns, Line, Piece, line
from widgets.text.words import next_run

NONE = "none"
"""The default of a setting that has none."""


class About(NamedTuple):
    """What a setting does: its name in words, a sentence about its present value `{}`, what it takes, its default.

    `absent` is the sentence where it has no value; empty: the one about the default.
    """

    label: str
    effect: str
    takes: str
    default: str = NONE
    absent: str = ""


_KEPT = "Kept for agents; memdeck does not use it."
_CRON = "a cron expression such as 0 2 * * *"
_CHANNEL = "the ID or name of a channel in Contacts"
_DAYS = "a whole number of days from 0 to 36500"
_LIMITS = MaintenanceSettings()
ABOUT = {
    "timezone": About(
        "time zone", "Times without a zone are in {}.", "a name such as Europe/Berlin", "the machine's zone"
    ),
    "journalTaskChanges": About(
        "journal task changes", "Starting, finishing or reopening a task adds a journal entry.",
        "true or false", "false", "Starting, finishing or reopening a task adds no journal entry.",
    ),
    "expression": About("heartbeat schedule", "The heartbeat checks tasks {}.", _CRON, absent="There is no heartbeat."),
    "cronJobId": About("heartbeat job", _KEPT, "any text"),
    "projectId": About("heartbeat project", _KEPT, "any text"),
    "target": About("send alerts", "Alerts are sent to channels.", "im or off", "im", "Alerts are sent to no channel."),
    "channelId": About("channel for alerts", "Alerts go to {}.", _CHANNEL, absent="Alerts go to the primary channel."),
    "priority": About("priority", "Alerts have the priority {} unless one is set.", "low, normal or high", "normal"),
    "quietHours": About(
        "quiet hours", "Alerts wait during {}, unless their priority is high.",
        "times such as 22:00-07:00 or SUN 02:00-04:00", absent="Alerts are sent at any time.",
    ),
    "primaryChannel": About("primary channel", "Alerts go to {} if the one above fails.", _CHANNEL),
    "secondaryChannel": About("secondary channel", "Alerts go to {} if the others fail.", _CHANNEL),
    "archiveCompletedAfterDays": About(
        "archive tasks after", "Maintenance archives tasks {} days after they are completed.", _DAYS,
        str(_LIMITS.archive_days),
    ),
    "pruneJournalAfterDays": About(
        "archive journal after", "Maintenance archives journal entries older than {} days.", _DAYS,
        str(_LIMITS.prune_days),
    ),
    "maxJournalEntries": About(
        "most journal entries", "Maintenance archives all but the newest {} journal entries.",
        "a whole number from 0 to 100000000", str(_LIMITS.max_entries),
    ),
    "maintenanceSchedule": About(
        "maintenance schedule", "An open memdeck runs maintenance {}.", _CRON,
        absent="Maintenance runs only when you ask (M) or cron does.",
    ),
    "setupComplete": About("setup complete", _KEPT, "true or false"),
    "setupDate": About("setup date", _KEPT, "a date or time"),
}  # fmt: skip
"""The settings that memdeck knows."""
CHOICES = {
    **dict.fromkeys(BOOLEAN_KEYS, ("true", "false")),
    "target": ("im", "off"),
    "priority": ("low", "normal", "high"),
}
"""The settings that have one of a few values."""
UNKNOWN = About("", "memdeck does not know this setting. It is kept unchanged.", "")


FRONT = "Setup"
"""The heading of the settings in the front matter."""

ROW = Columns(Column("sign", 1, importance=9), Column("title", 22, importance=2), Column("value", minimum=12))
NARROW = 42
"""Below so many cells a value follows its name directly, without its own column."""


class ConfigPane(RecordPane):
    """Settings by section in file order, in words; the detail has the key of the file."""

    DEFAULT_CLASSES: ClassVar[str] = "-even"
    pane_id: ClassVar[str] = "config"
    title: ClassVar[str] = "Config"
    files: ClassVar[tuple[str, ...]] = ("config.md",)
    unread: ClassVar[str] = "not a setting"
    empty: ClassVar[str] = (
        "How agents and memdeck behave in this workspace: the heartbeat, channels, when maintenance runs and what it "
        "moves.\n\nPress {entry.add|a} to add the first setting."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("key", "value", "section")
    item_name: ClassVar[str] = "setting"

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:  # noqa: ARG002
        """Yield a heading per section, then its settings, with those that are not set."""
        problems, section = bad_values(snapshot.config), None
        for setting in _listed(snapshot.config):
            if setting.section != section:
                section = setting.section
                yield Heading(section or FRONT)
            yield _record(setting, problems.get(setting.line, ""))

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """Return how many settings have a problem."""
        count = len(bad_values(snapshot.config))
        return "" if not count else "1 problem" if count == 1 else f"{count} problems"

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """Return whether a setting has a problem; there is nothing to count."""
        return Badge(None, bool(bad_values(snapshot.config)))

    def draw_row(self, item: Record, width: int) -> Line:
        """Draw the value in its own column, or right after the key where there is little room."""
        if width >= NARROW:
            return super().draw_row(item, width)
        return line(Piece(f"{item.title}  ", "muted"), item.cells["value"])

    def copied_ref(self, item: Record) -> str:
        """Return the key."""
        return item.ref

    def place(self, item: Record) -> str:
        """Return its file and line."""
        return f"config.md:{item.line + 1}" if item.line >= 0 else ""

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return the value, its problem, what it does now, and what it takes."""
        setting, problem, about = item.thing, item.values["problem"], ABOUT.get(item.ref, UNKNOWN)
        told: dict[str, Any] = {
            "value": Piece(setting.value or "not set", "alert" if problem else "plain"),
            "remark": setting.remark,
        }
        about_problem = Prose(f"{self.glyphs.alert} {self.place(item)}: {problem}", tone="alert")
        told["effect"] = about_problem if problem else Prose(effect(setting.key, setting.value))
        if setting.key in CRON_KEYS and not problem:
            run = next_run(setting.value, self.now, self.zone)
            told["next"] = run and Labelled("next", f"{run:%Y-%m-%d %H:%M}")
        told["default"] = "" if about.default == NONE else Piece(about.default, "muted")
        told["takes"] = about.takes and Piece(about.takes, "muted")
        return {**told, "key": Piece(setting.key, "muted"), "section": Piece(setting.section or FRONT, "muted")}

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """A key that is not there yet, in a section of the file."""
        assert self.snapshot is not None
        settings = self.snapshot.config.settings
        sections = tuple(dict.fromkeys(setting.section for setting in settings if setting.section))
        taken = {setting.key for setting in settings}
        known = tuple(key for key in ABOUT if key not in taken)
        item = self.current()
        here = "" if item is None else item.values["section"]
        fields = [
            FieldSpec("section", "section", value=here, suggestions=sections, placeholder="none: the front matter"),
            FieldSpec(
                "key",
                "key",
                suggestions=known,
                validate=lambda text: f"{text.strip()} exists already" if text.strip() in taken else None,
                hint=lambda text: effect(text.strip(), "") if text.strip() else "",
                placeholder=", ".join(known[:3]),
                required=True,
            ),
            FieldSpec("value", "value"),
        ]

        def check(values: dict[str, str]) -> dict[str, str]:
            error = value_error(values["key"].strip(), values["value"])
            return {"value": error} if error else {}

        def build(_changed: dict[str, str], values: dict[str, str], now: datetime) -> Build:
            key, value, section = (values[name].strip() for name in ("key", "value", "section"))
            return lambda snapshot: set_setting(snapshot, key, value, section=section or None, now=now)

        return FormPlan("New setting", fields, build, "config.set", focus="key", check=check)

    def editing(self, item: Record, now: datetime) -> FormPlan | None:
        """The value alone: one of a few, or a text; below it what it does."""
        key, value, about = item.ref, item.thing.value or "", ABOUT.get(item.ref, UNKNOWN)

        def hint(text: str) -> str:
            runs = next_run_words(text, now, self.zone) if key in CRON_KEYS else ""
            return "\n".join(filter(None, (effect(key, split_field(key, text)[0]), runs)))

        field = FieldSpec(
            "value", "value", "choice" if key in CHOICES else "text", value or about.default * (key in CHOICES),
            CHOICES.get(key, ()), validate=lambda text: value_error(key, text), hint=hint,
            about=about.takes and f"Takes {about.takes}.",
        )  # fmt: skip

        def build(_changed: dict[str, str], values: dict[str, str], now: datetime) -> Build:
            return lambda snapshot: set_setting(snapshot, key, values["value"].strip(), now=now)

        def current(snapshot: Snapshot) -> dict[str, str] | None:
            setting = snapshot.config.setting(key)
            return {"value": field.value if setting is None else setting.value or ""}

        return FormPlan(f"Edit setting: {item.title}", (field,), build, "config.set", current=current)

    def removing(self, items: Sequence[Record]) -> Removal | None:
        """Remove keys, all in one change."""
        keys = [item.ref for item in items if item.line >= 0]
        if not keys:
            return None

        def build(now: datetime) -> Build:
            return chain([partial(unset_setting, key=key, now=now) for key in keys])

        return Removal(*question("setting", keys), build, "config.unset")

    def source_text(self, item: Record) -> str | None:
        """The line of the key."""
        return f"- {item.ref}: {item.thing.raw}\n"


def _listed(config: Config) -> list[Setting]:
    """Return the settings of the file, and in their sections those that memdeck uses and the file does not have."""
    found = list(config.settings)
    for key, about in ABOUT.items():
        if found and about.effect != _KEPT and config.setting(key) is None:
            home = HOMES[key]
            at = max((place + 1 for place, one in enumerate(found) if one.section == home), default=len(found))
            found.insert(at, Setting(key, "", None, home, -1, ""))
    return found


def effect(key: str, value: str) -> str:
    """Return a sentence about what a setting does with this value."""
    about = ABOUT.get(key, UNKNOWN)
    off = read_truth(value) is False and bool(about.absent)
    if off or (is_absent(value) and about.absent):
        return about.absent
    words = _cron_words(value) or value if key in CRON_KEYS else value
    return about.effect.format(about.default if is_absent(value) else words)


def _record(setting: Setting, problem: str) -> Record:
    remark = f"  ({setting.remark})" if setting.remark else ""
    words = remark or (f"  {_cron_words(setting.value)}" if setting.key in CRON_KEYS and not problem else "")
    value = Piece(setting.value or ("empty" if problem else "-"), "alert" if problem else "plain")
    about = ABOUT.get(setting.key, UNKNOWN)
    words = words or ("  days" if about.takes is _DAYS else "")
    if setting.line < 0:
        value, words = Piece("not set", "muted"), f"  default: {about.default}" if about.default != NONE else ""
    values = {"key": setting.key, "value": setting.value, "section": setting.section or "", "problem": problem}
    return Record(
        setting.key, about.label or plain_label(setting.key), sign="alert" if problem else "",
        tone="alert" if problem else "muted", values=values, words=remark, mark=(setting.section, setting.raw),
        thing=setting, columns=ROW, cells={"value": line(value, Piece(words, "muted"))},
    )  # fmt: skip


def bad_values(config: Config) -> dict[int, str]:
    """The problems by line (from 0): invalid values, and keys that an earlier line already has."""
    found: dict[int, str] = {}
    for setting in config.settings:
        problem = value_problem(setting.key, setting.value)
        first = config.setting(setting.key)
        if first is not None and first is not setting:
            problem = f"{setting.key} is already on line {first.line + 1}; only that one counts"
        if problem is not None:
            found[setting.line] = problem
    return found


def value_error(key: str, value: str) -> str | None:
    """The problem of a value typed for a key, None if it is valid; a remark after it is allowed."""
    return value_problem(key, split_field(key, value.strip())[0])


def _cron_words(expression: str) -> str:
    words = describe(expression)
    return "" if words == expression.strip() else words
