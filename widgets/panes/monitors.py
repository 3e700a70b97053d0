"""The monitors pane: what is watched, how it was when it was last checked, and when it is checked next."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from widgets.columns import Column, Columns
from widgets.detail import Caption, DetailLine, Labelled, Lines, Spacer, Title
from widgets.fields import FieldSpec
from widgets.pane import Badge, Build, FormPlan, Pane, Removal
from widgets.pane_fields import cron_field
from widgets.pieces import Line, Piece, line

from .when import dated, next_run, since, until

if TYPE_CHECKING:
    from memory.files.monitors import Monitor
    from memory.files.snapshot import Snapshot

ROW = Columns(
    Column("sign", 1, importance=9),
    Column("name", minimum=20),
    Column("status", 10, importance=3),
    Column("checked", 13, "right", importance=2),
    Column("next", 10, "right", importance=1),
)

TYPES = ("http", "command")
"""How a monitor can look."""

ALERTS = ("high", "normal", "low")
"""How loud an alert can be."""


class MonitorsPane(Pane):
    """Monitors in the order of the file; commands and addresses are text here, nothing is run or opened."""

    pane_id: ClassVar[str] = "monitors"
    number: ClassVar[str] = "7"
    title: ClassVar[str] = "Monitors"
    files: ClassVar[tuple[str, ...]] = ("monitors.md",)
    empty: ClassVar[str] = (
        "Services and machines that are checked from time to time, and what happens when they fail.\n\n"
        "Press {entry.add|a} to add the first monitor."
    )
    sorts: ClassVar[tuple[str, ...]] = ("file order", "status", "last check", "name")
    filter_fields: ClassVar[tuple[str, ...]] = ("name", "type", "status")
    item_name: ClassVar[str] = "monitor"

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:  # noqa: ARG002
        """One row per monitor."""
        return snapshot.monitors.monitors

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """How many are not well."""
        bad = sum(monitor.healthy is False for monitor in snapshot.monitors.monitors)
        return f"{bad} not healthy" if bad else "all healthy" if snapshot.monitors.monitors else ""

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """How many there are; one that is not healthy needs a person."""
        monitors = snapshot.monitors.monitors
        return Badge(len(monitors), any(monitor.healthy is False for monitor in monitors))

    def sort_key(self, item: Monitor, name: str) -> Any:
        """Not healthy first, or the longest not checked first, or by name."""
        match name:
            case "status":
                return (False, None, True).index(item.healthy)
            case "last check":
                return item.last_check or ""
            case _:
                return item.name.casefold()

    def field_text(self, item: Monitor, name: str) -> str:
        """`status` is what the last check said."""
        return (item.last_status or "unknown") if name == "status" else super().field_text(item, name)

    def draw_row(self, item: Monitor, width: int) -> Line:
        """Sign, name, status, when it was checked and when it is next."""
        sign, status = status_pieces(item, self.glyphs)
        cells: dict[str, str | Piece | Line] = {
            "sign": sign,
            "name": item.name,
            "status": status,
            "checked": Piece(since(item.last_check, self.now, self.zone), "muted"),
            "next": Piece(until(next_run(item.interval, self.now, self.zone), self.now, self.zone), "muted"),
        }
        return ROW.line(width, cells)

    def detail(self, item: Monitor) -> Sequence[DetailLine]:
        """How it is, what is checked and when, and what an alert does."""
        from memory.schedule import describe

        sign, status = status_pieces(item, self.glyphs)
        remark = (Piece(f", {item.last_status_remark}", status.tone),) if item.last_status_remark else ()
        checked = dated(item.last_check, self.now, self.zone)
        expression = item.interval or ""
        words = describe(expression)
        interval = words if words == expression else f"{words}  ({expression})"
        run = next_run(item.interval, self.now, self.zone)
        if run is not None:
            planned = f"{run:%Y-%m-%d %H:%M}, {until(run, self.now, self.zone)}"
        else:
            planned = "" if not expression else "this is no cron expression"
        remedy = item.auto_remediate or item.auto_remediate_remark or ""
        lines: list[DetailLine] = [Title(item.name), Lines((line(sign, " ", status, remark),)), Spacer()]
        lines += _labelled(("last check", checked or "never"), ("interval", interval))
        if planned:
            lines.append(Labelled("next run", planned, "plain" if run else "warn"))
        lines += [
            Spacer(),
            *_labelled(
                ("type", item.type), ("url", item.url), ("command", item.command), ("alert when", item.threshold)
            ),
        ]
        lines += [
            Spacer(),
            *_labelled(("alert", item.alert_priority), ("remedy", remedy), ("cron job", item.cron_job_id)),
        ]
        extra = [Labelled(key, str(value)) for key, value in item.extra.items() if value]
        if extra:
            lines += [Spacer(), Caption("OTHER FIELDS"), *extra]
        return lines

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:
        """The form of a new monitor."""
        fields = [
            FieldSpec("name", "name", validate=_some),
            FieldSpec("type", "type", "choice", TYPES[0], TYPES),
            FieldSpec("url", "url", placeholder="https://… for http"),
            FieldSpec("command", "command", placeholder="for command; runs only after approval"),
            cron_field("interval", "interval", "*/5 * * * *", now, self.zone),
            FieldSpec("threshold", "alert when", placeholder="status != 200, exit code != 0, value > 90"),
            FieldSpec("alertPriority", "alert", "choice", "normal", ALERTS),
            FieldSpec("autoRemediate", "remedy", placeholder="a command that may mend it"),
        ]

        def build(_changed: dict[str, str], values: dict[str, str], now: datetime) -> Build:
            from memory.files.monitors import add_monitor

            given = {key: value.strip() for key, value in values.items() if key != "name" and value.strip()}
            return lambda snapshot: add_monitor(snapshot, values["name"].strip(), given, now=now)

        return FormPlan("New monitor", fields, build, "monitors.add", check=_check)

    def editing(self, item: Monitor, now: datetime) -> FormPlan | None:
        """The form of a monitor; unknown fields stand below the known ones."""
        fields = [
            FieldSpec("name", "name", value=item.name, validate=_some),
            FieldSpec("type", "type", "choice", item.type or "", TYPES),
            FieldSpec("url", "url", value=item.url or ""),
            FieldSpec("command", "command", value=item.command or ""),
            cron_field("interval", "interval", item.interval or "", now, self.zone),
            FieldSpec("threshold", "alert when", value=item.threshold or ""),
            FieldSpec("alertPriority", "alert", "choice", item.alert_priority or "", ALERTS),
            FieldSpec("autoRemediate", "remedy", value=item.auto_remediate or ""),
            FieldSpec("cronJobId", "cron job", value=item.cron_job_id or ""),
            *(FieldSpec(key, key, value=str(value or ""), known=False) for key, value in item.extra.items()),
        ]
        ref, base = item.ref, item.entry

        def build(changed: dict[str, str], _values: dict[str, str], now: datetime) -> Build:
            from memory.files.monitors import edit_monitor

            given = {key: value.strip() for key, value in changed.items() if value.strip()}
            gone = tuple(key for key, value in changed.items() if not value.strip())
            return lambda snapshot: edit_monitor(snapshot, ref, set=given, unset=gone, base=base, now=now)

        return FormPlan(item.name, fields, build, "monitors.edit", check=_check)

    def removing(self, items: Sequence[Monitor]) -> Removal | None:
        """Remove monitors, all in one change."""
        from memory.files.monitors import remove_monitor

        from .chain import chain, question

        refs = [item.ref for item in items]

        def build(now: datetime) -> Build:
            return chain([lambda snapshot, ref=ref: remove_monitor(snapshot, ref, now=now) for ref in refs])

        return Removal(*question("monitor", [item.name for item in items]), build, "monitors.remove")

    def from_source(self, item: Monitor, text: str, now: datetime) -> Build | None:
        """Replace the source of a monitor."""
        from memory.files.monitors import replace_monitor_text

        ref, base = item.ref, item.entry
        return lambda snapshot: replace_monitor_text(snapshot, ref, text, base=base, now=now)


def status_pieces(monitor: Monitor, glyphs: Any) -> tuple[Piece, Piece]:
    """The sign and the word of a monitor's state; coloured only when it is not healthy."""
    if monitor.healthy is None:
        return Piece(glyphs.circle, "muted"), Piece(monitor.last_status or "unknown", "muted")
    if monitor.healthy:
        return Piece(glyphs.check, "muted"), Piece(monitor.last_status or "healthy")
    return Piece(glyphs.alert, "alert"), Piece(monitor.last_status or "not healthy", "alert")


def _labelled(*pairs: tuple[str, str | None]) -> list[Labelled]:
    return [Labelled(label, value) for label, value in pairs if value]


def _some(value: str) -> str | None:
    return None if value.strip() else "a monitor needs a name"


def _check(values: dict[str, str]) -> dict[str, str]:
    """A monitor needs what its type looks at."""
    wanted = {"http": "url", "command": "command"}.get(values.get("type", ""))
    if wanted and not values.get(wanted, "").strip():
        return {wanted: f"a monitor of type {values['type']} needs a {wanted}"}
    return {}
