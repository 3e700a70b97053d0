"""The monitors pane: every monitor, the result of the last check, and when the next one is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from memory.files.monitors import Monitor, replace_monitor_text
from memory.files.plain import unread_lines
from memory.files.snapshot import Snapshot
from memory.monitoring.history.charts import Picture
from memory.monitoring.problems import runnable
from widgets.detail import DetailLine
from widgets.pane.base import Badge, Build, FormPlan, Pane, Removal
from widgets.pane.operation_form import file_removal_of
from widgets.pane.unread import unread_rows
from widgets.text.styled_text import Column, Columns, Line, Piece, line
from widgets.text.words import from_when, next_run, since, until

from .detail import alerts, is_blocked, is_unknown, monitor_detail, state_pieces

ROW = Columns(
    Column("sign", 1, importance=9),
    Column("name", minimum=16),
    Column("status", 14, importance=3),
    Column("checked", 13, "right", importance=2),
    Column("next", 10, "right", importance=1),
)


class MonitorsPane(Pane):
    """Monitors, those that alert first; commands and addresses are text here, nothing is run or opened."""

    pane_id: ClassVar[str] = "monitors"
    title: ClassVar[str] = "Monitors"
    files: ClassVar[tuple[str, ...]] = ("monitors.md",)
    empty: ClassVar[str] = (
        "Services and machines that are checked from time to time, and what happens when they fail.\n\n"
        "Press {entry.add|a} to add the first monitor."
    )
    sorts: ClassVar[tuple[str, ...]] = ("alerts first", "unsorted", "status", "last check", "name")
    filter_fields: ClassVar[tuple[str, ...]] = ("name", "type", "status")
    item_name: ClassVar[str] = "monitor"

    DEFAULT_CSS: ClassVar[str] = """
    MonitorsPane {
        & > .pane--list-frame { width: 11fr; }
        & > .pane--detail-frame { width: 9fr; }
    }
    """

    def __init__(self, look: Callable[[Snapshot, datetime], Mapping[str, Picture]] | None = None) -> None:
        """`look` returns the recorded results of each monitor, by ref; without it only the files are shown."""
        super().__init__()
        self._look = look
        self._pictures: Mapping[str, Picture] = {}

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:
        """One row per monitor; those that alert first, else in file order."""
        if self._look is not None:
            self._pictures = self._look(snapshot, now)
        rows: list[Any] = sorted(
            snapshot.monitors.monitors, key=lambda monitor: not alerts(monitor, self._pictures.get(monitor.ref))
        )
        return [*rows, *unread_rows("monitors.md", snapshot, "not run: not a monitor section", first=len(rows))]

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """How many are not healthy, how many blocked, and how many not checked yet."""
        monitors = snapshot.monitors.monitors
        shown = [(one, self._pictures.get(one.ref)) for one in monitors]
        bad = sum(alerts(one, picture) for one, picture in shown)
        blocked = sum(is_blocked(picture) for _, picture in shown)
        unknown = sum(one.healthy is None and is_unknown(picture) for one, picture in shown)
        parts = ((bad, "not healthy"), (blocked, "blocked"), (unknown, "not checked yet"))
        found = ", ".join(f"{number} {words}" for number, words in parts if number)
        return found or ("all healthy" if monitors else "")

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:
        """How many there are; a monitor that is not healthy or is outside the section of monitors needs attention."""
        monitors = snapshot.monitors.monitors
        misplaced = bool(unread_lines("monitors.md", snapshot.document("monitors.md")))
        bad = any(monitor.healthy is False or monitor.stale(now, snapshot.zone) for monitor in monitors)
        return Badge(len(monitors), misplaced or bad)

    def sort_key(self, item: Monitor, name: str) -> Any:
        """The sort key: file order, not healthy first, longest unchecked first, or by name."""
        match name:
            case "unsorted":
                return item.line
            case "status":
                if alerts(item, self._pictures.get(item.ref)):
                    return 0
                return 1 if is_blocked(self._pictures.get(item.ref)) else (False, None, True).index(item.healthy) + 2
            case "last check":
                return item.last_check or ""
            case _:
                return item.name.casefold()

    def field_text(self, item: Monitor, name: str) -> str:
        """`status` is the result of the last check."""
        return (item.last_status or "unknown") if name == "status" else super().field_text(item, name)

    def draw_row(self, item: Monitor, width: int) -> Line:
        """Draw sign, name, status, and the times of the last and the next check."""
        picture = self._pictures.get(item.ref)
        sign, status = state_pieces(item, picture, self.glyphs)
        quiet = picture is not None and (picture.standing.muted is not None or picture.silenced)
        name = line(item.name, Piece("  silent" if picture is not None and picture.silenced else "  muted", "muted"))
        run = next_run(item.interval, self.now, self.zone)
        cells: dict[str, str | Piece | Line] = {
            "sign": sign,
            "name": name if quiet else item.name,
            "status": status,
            "checked": Piece(self._checked(item, picture), "muted"),
            "next": Piece("" if is_blocked(picture) else until(run, self.now, self.zone), "muted"),
        }
        return ROW.line(width, cells)

    def is_blocked(self, item: Monitor) -> bool:
        """Whether a monitor is blocked from running as it is."""
        return is_blocked(self._pictures.get(item.ref))

    def _checked(self, item: Monitor, picture: Picture | None) -> str:
        """When it was checked last; for a blocked monitor that does not alert, since when it is blocked, if known."""
        if picture is None or not is_blocked(picture) or alerts(item, picture):
            return since(item.last_check, self.now, self.zone)
        start = picture.blocked_since
        return "" if start is None else from_when(start, self.now, self.zone)

    def detail(self, item: Monitor) -> Sequence[DetailLine]:
        """The state and history, the check and its times, and what an alert does."""
        # A cell of padding at the left, one for the scrollbar at the right.
        room = max(8, (self.detail_view.scrollable_content_region.width or self.size.width) - 2)
        return monitor_detail(item, self._pictures.get(item.ref), self.now, self.zone, self.glyphs, room)

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:
        """The form of a new monitor."""
        from .forms import adding

        return adding(now, self.zone)

    def editing(self, item: Monitor, now: datetime) -> FormPlan | None:
        """The form of a monitor; unknown fields come below the known ones."""
        from .forms import editing

        return editing(item, now, self.zone)

    def removing(self, items: Sequence[Monitor]) -> Removal | None:
        """Remove monitors, all in one change."""
        return file_removal_of("monitors", "monitor", [item.name for item in items], [item.ref for item in items])

    def from_source(self, item: Monitor, text: str, now: datetime) -> Build | None:
        """Replace the source of a monitor."""
        ref, base = item.ref, item.entry
        return runnable(lambda snapshot: replace_monitor_text(snapshot, ref, text, base=base, now=now))
