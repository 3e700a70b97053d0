"""The config pane: one key per row, what it means, and whether its value is valid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, ClassVar

from memory.base.cron import describe
from memory.base.values import split_field
from memory.files.config import BOOLEAN_KEYS, CRON_KEYS, Config, Setting, set_setting, unset_setting, value_problem
from memory.files.snapshot import Snapshot
from widgets.detail import Labelled, Prose
from widgets.input.date_fields import cron_field
from widgets.input.fields import FieldSpec
from widgets.list.rows import Heading
from widgets.pane.base import Badge, Build, FormPlan, Removal
from widgets.pane.offers import chain, question
from widgets.pane.records import Record, RecordPane, plain_label
from widgets.text.styled_text import Column, Columns, Line, Piece, line
from widgets.text.words import next_run, until

HELP = {
    "timezone": "The time zone of times without one: an IANA name such as Europe/Berlin. Default: the machine's.",
    "journalTaskChanges": "Whether starting, finishing and reopening a task writes an entry into the journal.",
    "expression": "When the heartbeat looks at the tasks: a cron expression.",
    "quietHours": "From when to when notifications wait, unless their priority is high: 22:00-07:00.",
    "cronJobId": "The cron job that this belongs to.",
    "projectId": "The project that the heartbeat works in.",
    "target": "Where notifications go by default.",
    "channelId": "The channel that notifications go to: an ID from Contacts.",
    "priority": "The default priority of a notification: low, normal or high.",
    "primaryChannel": "The channel that agents try first: an ID from Contacts.",
    "secondaryChannel": "The channel that agents use when the first does not answer: an ID from Contacts.",
    "archiveCompletedAfterDays": "After how many days completed tasks move to the archive.",
    "pruneJournalAfterDays": "After how many days journal entries move to the archive.",
    "maxJournalEntries": "How many entries the journal keeps; the oldest ones beyond that move to the archive.",
    "maintenanceSchedule": "When an open memdeck runs the maintenance: a cron expression. Default: only when asked.",
    "setupComplete": "Whether the agents' first setup is done.",
    "setupDate": "When the agents' first setup was done.",
}
"""The help of each key that memdeck knows."""

UNKNOWN = "memdeck does not know this key. It is kept unchanged."
"""The help of every other key."""


FRONT = "Setup"
"""The heading of the settings in the front matter."""

ROW = Columns(Column("sign", 1, importance=9), Column("title", 28, importance=2), Column("value", minimum=12))
NARROW = 42
"""Below so many cells a value follows its key directly, without its own column."""


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
        """Yield a heading per section, then its keys."""
        problems, section = bad_values(snapshot.config), None
        for setting in snapshot.config.settings:
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
        return f"config.md:{item.line + 1}"

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return the value, its section and problems, and what the key means."""
        setting, problem = item.thing, item.values["problem"]
        told: dict[str, Any] = {
            "value": Piece(setting.value or "none", "alert" if problem else "plain"),
            "remark": setting.remark,
        }
        if setting.key in CRON_KEYS and not problem:
            run = next_run(setting.value, self.now, self.zone)
            told["means"] = _cron_words(setting.value)
            told["next"] = run and Labelled("next", f"{run:%Y-%m-%d %H:%M}, {until(run, self.now, self.zone)}")
        told["problem"] = problem and Prose(f"{self.glyphs.alert} {self.place(item)}: {problem}", tone="alert")
        told["help"] = Prose(HELP.get(setting.key, UNKNOWN), tone="muted")
        return {**told, "key": Piece(setting.key, "muted"), "section": Piece(setting.section or FRONT, "muted")}

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """A key that is not there yet, in a section of the file."""
        assert self.snapshot is not None
        settings = self.snapshot.config.settings
        sections = tuple(dict.fromkeys(setting.section for setting in settings if setting.section))
        taken = {setting.key for setting in settings}
        known = tuple(key for key in HELP if key not in taken)
        item = self.current()
        here = "" if item is None else item.values["section"]
        fields = [
            FieldSpec("section", "section", value=here, suggestions=sections, placeholder="none: the front matter"),
            FieldSpec(
                "key",
                "key",
                suggestions=known,
                validate=lambda text: f"{text.strip()} exists already" if text.strip() in taken else None,
                hint=lambda text: HELP.get(text.strip(), ""),
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
        """The value alone: a cron expression with its next runs, a choice, or a text."""
        key, value = item.ref, item.thing.value or ""
        about = HELP.get(key, "")
        field = FieldSpec(
            "value", "value", value=value, validate=lambda text: value_error(key, text), hint=lambda _: about
        )
        if key in CRON_KEYS:
            field = cron_field("value", "value", value, now, self.zone)
        elif key in BOOLEAN_KEYS:
            field = FieldSpec("value", "value", "choice", value, ("true", "false"), hint=lambda _: about)

        def build(_changed: dict[str, str], values: dict[str, str], now: datetime) -> Build:
            return lambda snapshot: set_setting(snapshot, key, values["value"].strip(), now=now)

        def current(snapshot: Snapshot) -> dict[str, str] | None:
            setting = snapshot.config.setting(key)
            return None if setting is None else {"value": setting.value or ""}

        return FormPlan(f"Edit setting {key}", (field,), build, "config.set", current=current)

    def removing(self, items: Sequence[Record]) -> Removal | None:
        """Remove keys, all in one change."""
        keys = [item.ref for item in items]

        def build(now: datetime) -> Build:
            return chain([partial(unset_setting, key=key, now=now) for key in keys])

        return Removal(*question("setting", keys), build, "config.unset")

    def source_text(self, item: Record) -> str | None:
        """The line of the key."""
        return f"- {item.ref}: {item.thing.raw}\n"


def _record(setting: Setting, problem: str) -> Record:
    remark = f"  ({setting.remark})" if setting.remark else ""
    words = remark or (f"  {_cron_words(setting.value)}" if setting.key in CRON_KEYS and not problem else "")
    value = Piece(setting.value or ("empty" if problem else "-"), "alert" if problem else "plain")
    values = {"key": setting.key, "value": setting.value, "section": setting.section or "", "problem": problem}
    return Record(
        setting.key, plain_label(setting.key), sign="alert" if problem else "", tone="alert" if problem else "muted",
        values=values, words=remark, mark=(setting.section, setting.raw), thing=setting, columns=ROW,
        cells={"value": line(value, Piece(words, "muted"))},
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
