"""The config pane: one key per row, what it means, and whether its value is valid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, ClassVar

from memory.base.cron import describe
from memory.base.safe_text import plural
from memory.base.values import split_field
from memory.files.config import BOOLEAN_KEYS, CRON_KEYS, SCHEMA, SETTINGS, UNUSED, Config, Declared, Setting
from memory.files.fields.values import Value
from memory.files.snapshot import Snapshot
from memory.files.verbs.config import set_setting, unset_setting
from widgets.detail import Labelled, Prose
from widgets.input.date_fields import next_run_words
from widgets.input.fields import FieldSpec
from widgets.list.rows import Heading
from widgets.pane.base import Badge, Build, FormPlan, Pane, Removal
from widgets.pane.offers import chain, question
from widgets.pane.records import Record, RecordPane, plain_label
from widgets.text.styled_text import Column, Columns, Line, Piece, line
from widgets.text.words import next_run

UNKNOWN = Declared("", "", Value(), "memdeck does not know this setting. It is kept unchanged.")
"""Every other setting."""
CHOICES: dict[str, tuple[str, ...]] = {"target": ("im", "off"), "priority": ("low", "normal", "high")}
CHOICES |= dict.fromkeys(BOOLEAN_KEYS, ("true", "false"))
"""The settings that have one of a few values."""

HEADINGS = {"": "Setup", "IM Configuration": "Messaging"}
"""The headings that differ from those in the file; "" is its front matter."""

ROW = Columns(Column("sign", 1, importance=9), Column("title", 22, importance=2), Column("value", minimum=12))
NARROW = 42
"""Below so many cells a value follows its name directly, without its own column."""


class ConfigPane(RecordPane):
    """Settings by section in file order, in words; the detail has the key of the file."""

    DEFAULT_CLASSES: ClassVar[str] = "-even"
    beside_from: ClassVar[int] = Pane.beside_from
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
                yield Heading(HEADINGS.get(section or "", section))
            yield _record(setting, problems.get(setting.line, ""))

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """Return how many settings have a problem."""
        count = len(bad_values(snapshot.config))
        return plural(count, "problem") if count else ""

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """Return whether a setting has a problem; there is nothing to count."""
        return Badge(None, bool(bad_values(snapshot.config)))

    def draw_row(self, item: Record, width: int) -> Line:
        """Draw the value in its own column, or right after the name where there is little room."""
        if width >= NARROW:
            return super().draw_row(item, width)
        return line(Piece(f"{item.title}  ", "muted"), item.cells["value"])

    def copied_ref(self, item: Record) -> str:
        """Return the key."""
        return item.ref

    def place(self, item: Record) -> str:
        """Return its file and line; empty where it is not set."""
        return f"config.md:{item.line + 1}" if item.line >= 0 else ""

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return the value, its problem or what it does, and what it may be."""
        setting, problem, declared = item.thing, item.values["problem"], SETTINGS.get(item.ref, UNKNOWN)
        sentence = f"{self.glyphs.alert} {self.place(item)}: {problem}" if problem else _does(item.ref, setting.value)
        run = None if problem or item.ref not in CRON_KEYS else next_run(setting.value, self.now, self.zone)
        return {
            "value": Piece(setting.value or "not set", "alert" if problem else "plain"),
            "remark": setting.remark,
            "does": Prose(sentence, tone="alert" if problem else "plain"),
            "next": run and Labelled("next", f"{run:%Y-%m-%d %H:%M}"),
            "default": declared.default and Piece(declared.default, "muted"),
            "takes": declared.value.takes and Piece(declared.value.takes, "muted"),
            "key": Piece(setting.key, "muted"),
            "section": Piece(setting.section or HEADINGS[""], "muted"),
        }

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """A key that is not there yet, in a section of the file."""
        assert self.snapshot is not None
        taken = {setting.key: setting.section for setting in self.snapshot.config.settings}
        free = [key for key in SETTINGS if key not in taken]
        item = self.current()

        def hint(key: str) -> str:
            if key in SETTINGS:
                return f"{SETTINGS[key].label}: {SETTINGS[key].value.takes}"
            known = ", ".join(one for one in free if one.casefold().startswith(key.casefold()))
            return f"memdeck uses {known}" if known else "memdeck ignores it"

        fields = [
            FieldSpec(
                "key", "key", required=True, suggestions=tuple(free),
                placeholder="a name, such as quietHours", hint=hint,
            ),
            FieldSpec("value", "value", placeholder="a word, a number, true or false"),
            FieldSpec(
                "section", "section", value="" if item is None else item.values["section"],
                suggestions=tuple(dict.fromkeys(filter(None, taken.values()))), placeholder="where it belongs",
            ),
        ]  # fmt: skip

        def check(values: dict[str, str]) -> dict[str, str]:
            key = values["key"].strip()
            error = value_error(key, values["value"])
            return {"key": f"{key} exists already"} if key in taken else {"value": error} if error else {}

        def build(_changed: dict[str, str], values: dict[str, str], now: datetime) -> Build:
            key, value, section = (values[name].strip() for name in ("key", "value", "section"))
            return lambda snapshot: set_setting(snapshot, key, value, section=section or None, now=now)

        return FormPlan("New setting", fields, build, "config.set", focus="key", check=check)

    def editing(self, item: Record, now: datetime) -> FormPlan | None:
        """The value alone: one of a few, or a text; below it what it does."""
        key, declared = item.ref, SETTINGS.get(item.ref, UNKNOWN)

        def hint(text: str) -> str:
            runs = next_run_words(text, now, self.zone) if key in CRON_KEYS else ""
            return "\n".join(filter(None, (_does(key, split_field(key, text)[0]), runs)))

        options = CHOICES.get(key, ())
        value = item.thing.value or (declared.default if options else "")
        field = FieldSpec(
            "value", "value", "choice" if options else "text", value, options,
            validate=lambda text: value_error(key, text), hint=hint,
            about=declared.value.takes and f"Takes {declared.value.takes}.",
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

        def build(now: datetime) -> Build:
            return chain([partial(unset_setting, key=key, now=now) for key in keys])

        return Removal(*question("setting", keys), build, "config.unset") if keys else None

    def source_text(self, item: Record) -> str | None:
        """The line of the key."""
        return f"- {item.ref}: {item.thing.raw}\n"


def _listed(config: Config) -> list[Setting]:
    """Return the settings of the file, and in their sections those that memdeck uses and the file does not have."""
    found = list(config.settings)
    for key, one in SETTINGS.items() if found else ():
        if one.effect != UNUSED and config.setting(key) is None:
            at = max(
                (place + 1 for place, other in enumerate(found) if other.section == one.section), default=len(found)
            )
            found.insert(at, Setting(key, "", None, one.section, -1, ""))
    return found


def _does(key: str, value: str) -> str:
    return SETTINGS.get(key, UNKNOWN).does(value, _cron_words(value) if key in CRON_KEYS else "")


def _record(setting: Setting, problem: str) -> Record:
    declared = SETTINGS.get(setting.key, UNKNOWN)
    words, value = setting.remark or "", setting.value or ("empty" if problem else "-")
    if setting.line < 0:
        shown = line(Piece("not set" + (f", default: {declared.default}" if declared.default else ""), "muted"))
    elif problem:
        shown = line(Piece(value, "alert"))
    elif words := words or (_cron_words(value) if setting.key in CRON_KEYS else ""):
        shown = line(words, Piece(f"  {value}", "muted"))
    else:
        shown = line(f"{value} days" if "days" in declared.value.takes else value)
    values = {"key": setting.key, "value": setting.value, "section": setting.section or "", "problem": problem}
    return Record(
        setting.key, declared.label or plain_label(setting.key), sign="alert" if problem else "",
        tone="alert" if problem else "muted", values=values, words=words, mark=(setting.section, setting.raw),
        thing=setting, columns=ROW, cells={"value": shown},
    )  # fmt: skip


def bad_values(config: Config) -> dict[int, str]:
    """The problems by line (from 0): invalid values, and keys that an earlier line already has."""
    found: dict[int, str] = {}
    for setting in config.settings:
        problem = SCHEMA.problem(setting.key, setting.value)
        first = config.setting(setting.key)
        if first is not None and first is not setting:
            problem = f"{setting.key} is already on line {first.line + 1}; only that one counts"
        if problem is not None:
            found[setting.line] = problem
    return found


def value_error(key: str, value: str) -> str | None:
    """The problem of a value typed for a key, None if it is valid; a remark after it is allowed."""
    return SCHEMA.problem(key, split_field(key, value.strip())[0])


def _cron_words(expression: str) -> str:
    words = describe(expression)
    return "" if words == expression.strip() else words
