"""The monitors pane: every monitor, the result of the last check, and when the next one is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from memory.base.safe_text import plural
from memory.files.check import unread_lines
from memory.files.monitors.edits import MONITOR_EDITS
from memory.files.monitors.model import Monitor
from memory.files.snapshot import Snapshot
from memory.monitoring.overview import MonitorStanding
from memory.monitoring.settings import runnable
from widgets.pane.base import Badge, Build, FormPlan, Removal
from widgets.pane.operation_form import file_removal_of
from widgets.pane.records import Record, RecordPane
from widgets.text.styled_text import Column, Columns, Content, Piece, line
from widgets.text.words import next_run, since, until

from .detail import alerts, is_blocked, is_unknown, monitor_told, state_pieces

ROW = Columns(
    Column("sign", 1, importance=9),
    Column("title", minimum=16),
    Column("status", 14, importance=3),
    Column("checked", 12, "right", importance=2),
    Column("next", 10, "right", importance=1),
)


class MonitorsPane(RecordPane):
    """Monitors, those that alert first; commands and addresses are text here, nothing is run or opened."""

    DEFAULT_CLASSES: ClassVar[str] = "-even"
    pane_id: ClassVar[str] = "monitors"
    title: ClassVar[str] = "Monitors"
    files: ClassVar[tuple[str, ...]] = ("monitors.md",)
    unread: ClassVar[str] = "not run: not a monitor section"
    empty: ClassVar[str] = (
        "Services and machines that are checked from time to time, and what happens when they fail.\n\n"
        "Press {entry.add|a} to add the first monitor."
    )
    sorts: ClassVar[tuple[str, ...]] = ("alerts first", "unsorted", "status", "last check", "name")
    filter_fields: ClassVar[tuple[str, ...]] = ("name", "type", "status")
    item_name: ClassVar[str] = "monitor"

    def __init__(self, look: Callable[[Snapshot, datetime], Mapping[str, MonitorStanding]] | None = None) -> None:
        """`look` returns the recorded results of each monitor, by ref; without it only the files are shown."""
        super().__init__()
        self._look = look
        self._pictures: Mapping[str, MonitorStanding] = {}

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Record]:
        """Yield one row per monitor; those that alert first, else in file order."""
        if self._look is not None:
            self._pictures = self._look(snapshot, now)
        for one in sorted(snapshot.monitors.monitors, key=lambda one: not alerts(one, self._pictures.get(one.ref))):
            values = {"name": one.name, "type": one.type or "", "status": one.last_status or "unknown"}
            yield Record(one.ref, one.name, values=values, words=one.entry.text, mark=one.entry.raw.rstrip(), thing=one,
                         columns=ROW)  # fmt: skip

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """How many alert, how many need approval, and how many were not checked yet."""
        monitors = snapshot.monitors.monitors
        shown = [(one, self._pictures.get(one.ref)) for one in monitors]
        bad = sum(alerts(one, picture) for one, picture in shown)
        blocked = sum(is_blocked(picture) for _, picture in shown)
        unknown = sum(one.healthy is None and is_unknown(picture) for one, picture in shown)
        parts = (
            plural(bad, "alert") if bad else "",
            f"{blocked} {'needs' if blocked == 1 else 'need'} approval" if blocked else "",
            f"{unknown} not checked yet" if unknown else "",
        )
        found = ", ".join(filter(None, parts))
        return found or ("all healthy" if monitors else "")

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:
        """How many there are; a monitor that is not healthy or is outside the section of monitors needs attention."""
        monitors = snapshot.monitors.monitors
        misplaced = bool(unread_lines("monitors.md", snapshot.document("monitors.md")))
        bad = any(monitor.healthy is False or monitor.stale(now, snapshot.zone) for monitor in monitors)
        return Badge(len(monitors), misplaced or bad)

    def sort_key(self, item: Record, name: str) -> Any:
        """Return the sort key: file order, not healthy first, longest unchecked first, or by name."""
        one: Monitor = item.thing
        match name:
            case "unsorted":
                return one.line
            case "status":
                if alerts(one, self._pictures.get(item.ref)):
                    return 0
                return 1 if self.is_blocked(item) else (False, None, True).index(one.healthy) + 2
            case "last check":
                return one.last_check or ""
            case _:
                return one.name.casefold()

    def cells(self, item: Record) -> Mapping[str, Content]:
        """Return sign, name, status, and the times of the last and the next check."""
        one, picture = item.thing, self._pictures.get(item.ref)
        sign, status = state_pieces(one, picture, self.glyphs)
        silenced = picture is not None and bool(picture.silenced)
        quiet = silenced or (picture is not None and picture.muted is not None)
        run = None if is_blocked(picture) else next_run(one.interval, self.now, self.zone)
        return {
            "sign": sign,
            "title": line(one.name, Piece(f"  {'silent' if silenced else 'muted'}" if quiet else "", "muted")),
            "status": status,
            "checked": Piece(since(one.last_check, self.now, self.zone), "muted"),
            "next": Piece(until(run, self.now, self.zone), "muted"),
        }

    def is_blocked(self, item: Record) -> bool:
        """Return whether a monitor is blocked from running as it is."""
        return is_blocked(self._pictures.get(item.ref))

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return the state and history, the check and its times, and what an alert does."""
        # A cell of padding at the left, one for the scrollbar at the right.
        room = max(8, (self.detail_view.scrollable_content_region.width or self.size.width) - 2)
        return monitor_told(item.thing, self._pictures.get(item.ref), self.now, self.zone, self.glyphs, room)

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:
        """The form of a new monitor."""
        from .forms import adding

        return adding(now, self.zone)

    def editing(self, item: Record, now: datetime) -> FormPlan | None:
        """The form of a monitor; unknown fields come below the known ones."""
        from .forms import editing

        return editing(item.thing, now, self.zone)

    def removing(self, items: Sequence[Record]) -> Removal | None:
        """Remove monitors, all in one change."""
        return file_removal_of("monitors", "monitor", [item.title for item in items], [item.ref for item in items])

    def from_source(self, item: Record, text: str, now: datetime) -> Build | None:  # noqa: ARG002
        """Replace the source of a monitor."""
        ref, base = item.ref, item.thing.entry
        return lambda seen: runnable(MONITOR_EDITS.rewrite(seen, ref, text, base=base), seen)
