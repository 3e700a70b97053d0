"""The monitors pane: every monitor, the result of its last check, its history, and the forms of its fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Any, ClassVar

from memory.base.cron import describe
from memory.files.check import unread_lines
from memory.files.monitors import Monitor
from memory.files.snapshot import Snapshot
from memory.files.verbs.monitors import MONITOR_EDITS
from memory.monitoring.ledger import Past
from memory.monitoring.overview import LAST, MonitorStanding
from memory.monitoring.settings import kind_of, runnable
from memory.monitoring.threshold import DEFAULTS, say_time
from widgets.detail import Lines, Spacer
from widgets.input.date_fields import cron_field
from widgets.input.fields import FieldSpec
from widgets.pane.base import Badge, Build, FormPlan, Pane
from widgets.pane.operation_form import add_form_of, edit_form_of
from widgets.pane.records import Record, RecordPane
from widgets.text.glyphs import Glyphs, sparkline
from widgets.text.styled_text import Column, Columns, Content, Line, Piece, Tone, line
from widgets.text.words import dated, next_run, since, until

TYPES = tuple(DEFAULTS)
"""The types of monitors."""

ALERTS = ("high", "normal", "low")
"""The priorities of an alert."""


def _of(name: str, placeholder: str, *kinds: str, needed: bool = True) -> FieldSpec:
    """Return a field that only monitors of some types have."""
    return FieldSpec(name, name, placeholder=placeholder, follows="type", required=needed,
                     shown=lambda kind: kind in kinds or kind not in TYPES)  # fmt: skip


_FIELDS = (
    FieldSpec("name", "name", placeholder="what it watches", required=True),
    FieldSpec("type", "type", "choice", options=TYPES),
    _of("url", "https://…", "http"),
    _of("command", "runs only after approval", "command"),
    _of("host", "db.example.com:5432", "tcp"),
    _of("path", "relative to the workspace", "file"),
    _of("timeout", "such as 10s", "http", "command", "tcp", needed=False),
    FieldSpec("interval", "interval"),
    FieldSpec("threshold", "alert when", placeholder="status != 200, exit code != 0, value > 90"),
    FieldSpec("alertPriority", "alert", "choice", options=ALERTS),
    FieldSpec("autoRemediate", "fix", placeholder="a command that may fix it"),
    FieldSpec("folder", "folder", placeholder=". to run in the workspace; else an empty folder"),
)
"""The fields of monitors."""

ROW = Columns(
    Column("sign", 1, importance=9),
    Column("title", minimum=16),
    Column("watched", 36),
    Column("status", 14, importance=3),
    Column("checked", 12, "right", importance=2),
    Column("next", 10, "right", importance=1),
)


class MonitorsPane(RecordPane):
    """Monitors, those that alert first; commands and addresses are text here, nothing is run or opened."""

    DEFAULT_CLASSES: ClassVar[str] = "-even"
    beside_from: ClassVar[int] = Pane.beside_from
    pane_id: ClassVar[str] = "monitors"
    title: ClassVar[str] = "Monitors"
    files: ClassVar[tuple[str, ...]] = ("monitors.md",)
    unread: ClassVar[str] = "not run: not a monitor section"
    empty: ClassVar[str] = (
        "Services and machines that are checked at set times, and what happens when they fail.\n\n"
        "Press {entry.add|a} to add the first monitor."
    )
    sorts: ClassVar[tuple[str, ...]] = ("alerts first", "name", "type", "status")
    filter_fields: ClassVar[tuple[str, ...]] = ("name", "type", "status")
    item_name: ClassVar[str] = "monitor"
    removes: ClassVar[str] = "monitors remove"

    def __init__(self, look: Callable[[Snapshot, datetime], Mapping[str, MonitorStanding]] | None = None) -> None:
        """`look` returns the recorded results of each monitor, by ref; without it only the files are shown."""
        super().__init__()
        self._look = look
        self._pictures: Mapping[str, MonitorStanding] = {}

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Record]:
        """Yield one row per monitor; those that alert first, else in file order."""
        if self._look is not None:
            self._pictures = self._look(snapshot, now)
        for one in sorted(snapshot.monitors.items, key=lambda one: not alerts(one, self._pictures.get(one.ref))):
            values = {"name": one.name, "type": one.type or "", "status": one.last_status or "unknown"}
            yield Record(one.ref, one.name, values=values, words=one.entry.text, mark=one.entry.raw.rstrip(), thing=one,
                         columns=ROW)  # fmt: skip

    def remark(self, snapshot: Snapshot, now: datetime) -> str:
        """How many fail, are stale and need approval."""
        standing = [(one, self._pictures.get(one.ref)) for one in snapshot.monitors.items]
        bad = [picture is not None and picture.state == "stale" for one, picture in standing if alerts(one, picture)]
        blocked = sum(picture is not None and bool(picture.blocked) for _, picture in standing)
        count = {"failing": bad.count(False), "stale": bad.count(True), "need approval": blocked}
        found = ", ".join(f"{number} {words}" for words, number in count.items() if number)
        return found or super().remark(snapshot, now)

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """How many there are; a monitor that is not healthy or is outside the section of monitors needs attention."""
        monitors = snapshot.monitors.items
        misplaced = bool(unread_lines("monitors.md", snapshot.document("monitors.md")))
        return Badge(len(monitors), misplaced or any(monitor.healthy is False for monitor in monitors))

    def cells(self, item: Record) -> Mapping[str, Content]:
        """Return sign, name, status, and the times of the last and the next check."""
        one, picture = item.thing, self._pictures.get(item.ref)
        sign, status = state_pieces(one, picture, self.glyphs)
        silenced = picture is not None and bool(picture.silenced)
        quiet = silenced or (picture is not None and picture.muted is not None)
        watched = one.url or one.command or one.text_of("host") or one.text_of("path") or ""
        run = None if self.is_blocked(item) else next_run(one.interval, self.now, self.zone)
        return {
            "sign": sign,
            "title": line(one.name, Piece(f"  {'silent' if silenced else 'muted'}" if quiet else "", "muted")),
            "watched": Piece(watched, "muted"),
            "status": status,
            "checked": Piece(since(one.last_check, self.now, self.zone), "muted"),
            "next": Piece(until(run, self.now, self.zone), "muted"),
        }

    def is_blocked(self, item: Record) -> bool:
        """Return whether a monitor is blocked from running as it is."""
        picture = self._pictures.get(item.ref)
        return picture is not None and bool(picture.blocked)

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return the state and history, the check and its times, and what an alert does."""
        monitor: Monitor = item.thing
        picture, zone = self._pictures.get(item.ref), self.zone
        expression, run = monitor.interval or "", next_run(monitor.interval, self.now, zone)
        words = describe(expression)
        following: Any = "" if run is None else f"{run:%Y-%m-%d %H:%M}, {until(run, self.now, zone)}"
        if run is not None and self.is_blocked(item):
            following = Piece("after the approval", "muted")
        elif run is None and expression:
            following = Piece("not a cron expression", "warn")
        remedy = "" if picture is None else picture.remedy
        return {
            **self._state(monitor, picture),
            " ": Spacer(),
            "last check": dated(monitor.last_check, self.now, zone) or "never",
            "interval": words if words == expression else f"{words}  ({expression})",
            "next run": following,
            **({} if picture is None else self._charts(picture)),
            "  ": Spacer(),
            "type": monitor.type,
            "url": monitor.url,
            "command": monitor.command,
            "folder": monitor.folder,
            "alert when": monitor.threshold or Piece(DEFAULTS.get(kind_of(monitor), ""), "muted"),
            "priority": monitor.alert_priority,
            "fix": monitor.auto_remediate or monitor.auto_remediate_remark,
            "fix allowed": Piece(remedy, "muted" if remedy == "approved" else "warn") if remedy else "",
            "cron job": monitor.cron_job_id,
            "other fields": {key: str(value) for key, value in monitor.extra.items() if value},
        }

    def _state(self, monitor: Monitor, picture: MonitorStanding | None) -> Mapping[str, Any]:
        """Return the state, since when, and why no message may be sent."""
        sign, word = state_pieces(monitor, picture, self.glyphs)
        alert = None if picture is None else picture.alert
        summary = monitor.last_status_remark if picture is None or not picture.results else picture.summary
        if picture is not None and (picture.blocked or picture.stale):
            # The record's summary is now the reason for the block; the file has what was measured last.
            known = word.text != "failing" and (picture.before or word.text == "stale")
            summary = picture.was if known else monitor.last_status_remark or ""
        told: dict[str, Any] = {
            "state": Lines((line(sign, " ", word, Piece(f", {summary}" if summary else "", word.tone)),))
        }
        if picture is None or alert is None:
            return told
        if alert.known and alert.since is not None and (alert.alerting or not (picture.blocked or picture.stale)):
            told["alert since" if alert.alerting else "since"] = dated(alert.since.isoformat(), self.now, self.zone)
        if alert.alerting:
            sent = {"yes": "a message was sent", "held": "the message waits"}.get(alert.told, "no message was sent yet")
            told["told"] = sent if alert.failures < 2 else f"{sent}; {alert.failures} failures in a row"
        elif alert.failures:
            told["failures"] = f"{alert.failures} in a row, no alert yet"
        told["cannot run"] = Piece(picture.broken, "alert") if picture.broken else ""
        if picture.blocked:
            told["needs"] = Piece(f"your approval (T): {picture.blocked}", "warn")
        told["muted"] = picture.muted and f"until {dated(picture.muted.isoformat(), self.now, self.zone)}"
        return {**told, "silenced": picture.silenced}

    def _charts(self, picture: MonitorStanding) -> Mapping[str, Any]:
        """Return latency and the last results; parts that were never measured are left out."""
        # A cell of padding at the left, one for the scrollbar at the right.
        room = max(8, (self.detail_view.scrollable_content_region.width or self.size.width) - 2)
        told: dict[str, Any] = {"   ": Spacer()}
        if len(picture.latencies) > 1:
            shown = picture.latencies[-room:]
            low, high = say_time(min(shown)), say_time(max(shown))
            words = f"{say_time(shown[-1])} now" + (f", {low} to {high}" if low != high else "")
            told["latency"] = [Lines((line(Piece(words, "muted")), line(sparkline(shown, self.glyphs))))]
        if picture.results:
            newest = picture.results[:LAST]
            told["last results"] = [Lines(tuple(self._result(past) for past in newest), 9)]
        return told

    def _result(self, past: Past) -> Line:
        at = datetime.fromisoformat(past.at).astimezone(self.zone)
        when = f"{at:%H:%M}" if at.date() == self.now.astimezone(self.zone).date() else f"{at.day} {at:%b}"
        glyphs = self.glyphs
        sign = {"healthy": glyphs.check, "blocked": glyphs.half, "skipped": glyphs.circle}.get(past.state, glyphs.alert)
        tone: Tone = "alert" if past.state in ("failing", "error") else "muted"
        took = f"  {say_time(past.seconds):>7}" if past.seconds is not None else ""
        return line(
            Piece(f"{sign} ", "good" if past.state == "healthy" else tone), f"{when:<6} ",
            Piece(f"{past.state:<8}", tone), Piece(took, "muted"), f"  {past.summary}",
        )  # fmt: skip

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:
        """Return the form of a new monitor."""
        values = {"type": TYPES[0], "interval": "*/5 * * * *", "alertPriority": "normal"}
        return add_form_of("monitors add", "New monitor", [*_fields(values, now, self.zone)])

    def editing(self, item: Record, now: datetime) -> FormPlan | None:
        """Return the form of every field of a monitor; unknown ones come below the known ones and are kept."""
        monitor: Monitor = item.thing
        fields = {"cronJobId": monitor.cron_job_id or "", **{key: value or "" for key, value in monitor.extra.items()}}
        values = {key: monitor.text_of(key) or fields.pop(key, "") for key in (one.name for one in _FIELDS)}
        shown = [*_fields({**values, "name": monitor.name}, now, self.zone)]
        shown.append(FieldSpec("cronJobId", "cron job", value=fields.pop("cronJobId")))
        shown += [FieldSpec(key, key, value=str(value), known=False) for key, value in fields.items()]
        return edit_form_of("monitors edit", "Edit monitor", monitor, shown, "name")

    def from_source(self, item: Record, text: str, now: datetime) -> Build | None:  # noqa: ARG002
        """Replace the source of a monitor."""
        ref, base = item.ref, item.thing.entry
        return lambda seen: runnable(MONITOR_EDITS.rewrite(seen, ref, text, base=base), seen)


def alerts(monitor: Monitor, picture: MonitorStanding | None) -> bool:
    """Whether a monitor was not well at its last check, is stale, or cannot run; what needs approval is not stale."""
    if picture is None or (picture.state == "blocked" and not picture.alert.known):
        return monitor.healthy is False
    if picture.state == "blocked":
        return picture.alert.alerting or picture.alert.failures > 0
    return picture.bad


def state_pieces(monitor: Monitor, picture: MonitorStanding | None, glyphs: Glyphs) -> tuple[Piece, Piece]:
    """The sign and the word of a monitor's state; warning colours only where it needs attention.

    The record is preferred to the file, if it has a result.
    """
    state = picture.state if picture is not None else "unknown"
    if state == "blocked":
        if alerts(monitor, picture):
            return Piece(glyphs.alert, "alert"), Piece("failing", "alert")
        return Piece(glyphs.half, "warn"), Piece("needs approval", "warn")
    if state in ("unknown", "skipped"):
        if monitor.last_status is None:
            return Piece(glyphs.circle, "muted"), Piece("unknown", "muted")
        state = monitor.last_status
    if state == "healthy" or (state == monitor.last_status and monitor.healthy):
        return Piece(glyphs.check, "good"), Piece(state)
    return Piece(glyphs.alert, "alert"), Piece("failing" if state == "alert" else state, "alert")


def _fields(values: Mapping[str, str], now: datetime, zone: tzinfo) -> Iterator[FieldSpec]:
    """Yield the fields of a monitor with their values; those that depend on the type follow it."""
    for one in _FIELDS:
        value = values.get(one.name, "")
        if one.name == "interval":
            yield cron_field(one.name, one.label, value, now, zone)
        else:
            needed = one.required and not (one.name == "host" and values.get("url"))
            options = ("", *TYPES) if one.name == "type" and not value else one.options
            yield replace(one, value=value, required=needed, options=options)
