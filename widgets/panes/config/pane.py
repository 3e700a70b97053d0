"""The config pane: one key per row, what it means, and whether its value is valid."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, ClassVar

from memory.base.values import split_field
from memory.files.config import BOOLEAN_KEYS, CRON_KEYS, Config, Setting, set_setting, unset_setting, value_problem
from memory.files.snapshot import Snapshot
from widgets.detail import DetailLine, Labelled, Prose, Spacer, Title
from widgets.input.date_fields import cron_field
from widgets.input.fields import FieldSpec
from widgets.list.rows import Heading, Note
from widgets.pane.base import Badge, Build, Contents, FormPlan, Pane, Removal
from widgets.pane.removing import chain, question
from widgets.pane.unread import unread_rows
from widgets.text.styled_text import Column, Columns, Line, Piece, line
from widgets.text.words import next_run, until

HELP = {
    "timezone": "The time zone of times without one: an IANA name such as Europe/Berlin. Default: the machine's.",
    "journalTaskChanges": "Whether starting, finishing and reopening a task writes an entry into the journal.",
    "expression": "When the heartbeat looks at the tasks: a cron expression.",
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

ROW = Columns(Column("key", 25, importance=2), Column("value", minimum=12), gap=2)


NARROW = 40
"""Below so many cells a value follows its key directly, without its own column."""


class ConfigPane(Pane):
    """Settings by section in file order."""

    pane_id: ClassVar[str] = "config"
    title: ClassVar[str] = "Config"
    files: ClassVar[tuple[str, ...]] = ("config.md",)
    empty: ClassVar[str] = (
        "How agents and memdeck behave in this workspace: the heartbeat, channels, when maintenance runs and what it "
        "moves.\n\nPress {entry.add|a} to add the first setting."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("key", "value", "section")
    item_name: ClassVar[str] = "setting"

    DEFAULT_CSS: ClassVar[str] = """
    ConfigPane {
        & > .pane--list-frame { width: 13fr; }
        & > .pane--detail-frame { width: 7fr; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._problems: dict[int, str] = {}

    # Display

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:  # noqa: ARG002
        """A heading per section, then its keys."""
        rows: list[Any] = []
        section: str | None = None
        for setting in snapshot.config.settings:
            if setting.section != section:
                if rows:
                    rows.append(Note(number=len(rows)))
                section = setting.section
                rows.append(Heading(section or FRONT))
            rows.append(setting)
        return [*rows, *unread_rows("config.md", snapshot, "not a setting", first=len(rows))]

    def put(self, contents: Contents, *, flash: bool = True) -> None:
        """Check the values once, then show the rows."""
        self._problems = bad_values(contents.snapshot.config)
        super().put(contents, flash=flash)

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """How many settings have a problem."""
        count = len(bad_values(snapshot.config))
        return "" if not count else "1 problem" if count == 1 else f"{count} problems"

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """Nothing to count; a setting with a problem needs attention."""
        return Badge(None, bool(bad_values(snapshot.config)))

    def ref(self, item: Setting) -> str:
        """The key."""
        return item.key

    def copied_ref(self, item: Setting) -> str:
        """The key."""
        return item.key

    def mark(self, item: Setting) -> Hashable:
        """Section, key and value; moving to another line is no change."""
        return item.section, item.key, item.raw

    def text(self, item: Setting) -> str:
        """Key, value, remark and section."""
        return f"{item.key} {item.value} {item.remark or ''} {item.section or ''}"

    def draw_row(self, item: Setting, width: int) -> Line:
        """Draw the key and its value; a bad value is marked, a remark follows."""
        remark = f"  ({item.remark})" if item.remark else ""
        if item.line in self._problems:
            value: Line = line(Piece(f"{self.glyphs.alert} {item.value or 'empty'}", "alert"), Piece(remark, "muted"))
        else:
            words = remark or (f"  {_cron_words(item.value)}" if item.key in CRON_KEYS else "")
            value = line(item.value or Piece(self.glyphs.dot, "muted"), Piece(words, "muted"))
        if width < NARROW:
            return line(Piece(f"{item.key}  ", "muted"), value)
        return ROW.line(width, {"key": Piece(item.key, "muted"), "value": value})

    def detail_title(self, item: Setting) -> str:
        """The key."""
        return item.key

    def place(self, item: Setting) -> str:
        """Its file and line."""
        return f"config.md:{item.line + 1}"

    def detail(self, item: Setting) -> Sequence[DetailLine]:
        """The value, its section and problems, and what the key means."""
        problem = self._problems.get(item.line)
        lines: list[DetailLine] = [Title(item.key), Spacer()]
        lines.append(Labelled("value", item.value or "none", "alert" if problem else "plain"))
        if item.remark:
            lines.append(Labelled("remark", item.remark))
        if item.key in CRON_KEYS and problem is None:
            run = next_run(item.value, self.now, self.zone)
            words = _cron_words(item.value)
            lines += [Labelled("means", words)] if words else []
            if run is not None:
                lines.append(Labelled("next", f"{run:%Y-%m-%d %H:%M}, {until(run, self.now, self.zone)}"))
        lines.append(Labelled("section", item.section or FRONT))
        if problem:
            lines += [Spacer(), Prose(f"{self.glyphs.alert} config.md:{item.line + 1}: {problem}", tone="alert")]
        return [*lines, Spacer(), Prose(HELP.get(item.key, UNKNOWN), tone="muted")]

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """A key that is not there yet, in a section of the file."""
        assert self.snapshot is not None
        settings = self.snapshot.config.settings
        sections = tuple(dict.fromkeys(setting.section for setting in settings if setting.section))
        taken = {setting.key for setting in settings}
        known = tuple(key for key in HELP if key not in taken)
        here = getattr(self.current(), "section", "") or ""
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

    def editing(self, item: Setting, now: datetime) -> FormPlan | None:
        """The value alone: a cron expression with its next runs, a choice, or a text."""
        key, value, about = item.key, item.value or "", HELP.get(item.key, "")
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

    def removing(self, items: Sequence[Setting]) -> Removal | None:
        """Remove keys, all in one change."""
        keys = [item.key for item in items]

        def build(now: datetime) -> Build:
            return chain([partial(unset_setting, key=key, now=now) for key in keys])

        return Removal(*question("setting", keys), build, "config.unset")

    def source_text(self, item: Setting) -> str | None:
        """The line of the key."""
        return f"- {item.key}: {item.raw}\n"


def bad_values(config: Config) -> dict[int, str]:
    """The problems by line (from 0): invalid values, and keys that an earlier line already has."""
    found: dict[int, str] = {}
    for setting in config.settings:
        problem = value_problem(setting.key, setting.value)
        first = config.setting(setting.key)
        if first is not None and first is not setting:
            problem = f"{setting.key} is on line {first.line + 1} already; only that one counts"
        if problem is not None:
            found[setting.line] = problem
    return found


def value_error(key: str, value: str) -> str | None:
    """The problem of a value typed for a key, None if it is valid; a remark after it is allowed."""
    return value_problem(key, split_field(key, value.strip())[0])


def _cron_words(expression: str) -> str:
    from memory.base.cron import describe

    words = describe(expression)
    return "" if words == expression.strip() else words
