"""The fleet pane: the workspaces of a person, or of many hosts, one row each with what needs attention."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Protocol

from textual.message import Message

from memory.base.clock import say_ago, say_span
from memory.files.snapshot import Snapshot
from memory.fleet.model import WorkspaceOverview
from widgets.detail import DetailLine, Labelled, Link, Prose, Spacer, Title
from widgets.list.line_list import LineList
from widgets.list.rows import Note
from widgets.pane.base import Pane
from widgets.text.styled_text import Column, Columns, Line, Piece, Tone

_NAME = Column("name", minimum=12)
_COUNTS = (
    Column("overdue", 10, importance=6),
    Column("alerts", 10, importance=5),
    Column("waiting", 10, importance=4),
    Column("kept", 8, align="right", importance=2),
    Column("size", 7, align="right", importance=1),
)
_HERE = Columns(_NAME, *_COUNTS)
_HOSTS = Columns(_NAME, Column("host", 10, importance=7), Column("heard", 9, importance=3), *_COUNTS)
_BROKEN = Columns(Column("name", 22, importance=1), Column("why", minimum=10))
_UNITS = ("B", "kB", "MB", "GB", "TB")
_THOUSAND = 1000


class Source(Protocol):
    """Where the workspaces come from; called in threads."""

    def rows(self, now: datetime) -> Sequence[WorkspaceOverview] | str:
        """Return the last known overview of each workspace; a sentence where they cannot be read."""

    def is_open(self, item: WorkspaceOverview) -> bool:
        """Return whether it is the workspace that the application shows."""


class FleetPane(Pane):
    """All workspaces; Enter opens one in place of the current one."""

    pane_id: ClassVar[str] = "fleet"
    title: ClassVar[str] = "Fleet"
    empty: ClassVar[str] = (
        "All your workspaces, with what is overdue, what alerts and what needs you.\n\n"
        "None is listed. `memdeck fleet scan ~/src` lists all beneath a folder; one that you open is listed by itself."
    )
    sorts: ClassVar[tuple[str, ...]] = ("place", "name", "overdue", "failing", "stale", "waiting", "maintained", "size")
    filter_fields: ClassVar[tuple[str, ...]] = ("host", "path", "system", "is")
    filter_words: ClassVar[tuple[str, ...]] = (
        "is:broken",
        "is:overdue",
        "is:failing",
        "is:stale",
        "is:waiting",
        "is:silent",
    )
    filter_values: ClassVar = {"is": ("broken", "overdue", "failing", "stale", "waiting", "silent")}
    item_name: ClassVar[str] = "workspace"
    enter_words: ClassVar[str] = "open"

    @dataclass
    class Chosen(Message):
        """A workspace is to be opened."""

        item: WorkspaceOverview

    def __init__(self, source: Source | None = None) -> None:
        """`source` provides the workspaces; without it there are none."""
        super().__init__()
        self.source = source
        self._hosts = False
        self._open = ""
        self._said = ""

    # What is shown

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:  # noqa: ARG002
        """One row per workspace, by host and path."""
        found = () if self.source is None else self.source.rows(now)
        self._said = ""
        if isinstance(found, str):
            self._said = "cannot be read"
            return [Note(found)]
        self._open = next((self.ref(one) for one in found if self.source and self.source.is_open(one)), "")
        left = sum(not one.looked for one in found)
        if left:
            self._said = f"{left:,} not looked at yet"
        self._hosts = any(one.age is not None for one in found) or len({one.host for one in found}) > 1
        return found

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """How many workspaces are not read yet, or that they cannot be read."""
        return self._said

    def mark(self, item: WorkspaceOverview) -> Hashable:
        """What its row depends on, without the silence of its host, which changes all the time and must not flash."""
        counts = (item.overdue, item.failing, item.stale, item.waiting, item.problems, item.size)
        error = None if item.error is None else tuple(item.error.items())
        return (*counts, item.systems, item.last_maintenance, error, item.silent, item.looked)

    def ref(self, item: WorkspaceOverview) -> str:
        """Its host and path."""
        return f"{item.host}:{item.path}"

    def place(self, item: WorkspaceOverview) -> str:
        """Its host, where there are several."""
        return item.host if self._hosts else ""

    def copied_ref(self, item: WorkspaceOverview) -> str:
        """Its path."""
        return str(item.path)

    def text(self, item: WorkspaceOverview) -> str:
        """A workspace is found by its path, its host, its systems and its error."""
        return " ".join((str(item.path), item.host, *item.systems, *(item.error or {}).values()))

    def field_text(self, item: WorkspaceOverview, name: str) -> str:
        """The value that `name:value` is compared with."""
        if name == "system":
            return " ".join(item.systems)
        if name == "is":
            found = {
                "broken": item.error is not None or bool(item.problems),
                "overdue": bool(item.overdue),
                "failing": bool(item.failing),
                "stale": bool(item.stale),
                "waiting": bool(item.waiting),
                "silent": item.silent,
            }
            return " ".join(word for word, holds in found.items() if holds)
        return str(getattr(item, name, ""))

    def sort_key(self, item: WorkspaceOverview, name: str) -> Any:
        """The sort key: names alphabetically, `maintained` by time, the longest ago first, counts the largest first."""
        if name == "name":
            return item.path.name.casefold()
        if name == "maintained":
            return 0.0 if item.last_maintenance is None else item.last_maintenance.timestamp()
        return -int(getattr(item, name, 0))

    def links(self, item: WorkspaceOverview) -> Sequence[Link]:  # noqa: ARG002
        """None: its content is shown when it is opened."""
        return ()

    # How it is drawn

    def draw_row(self, item: WorkspaceOverview, width: int) -> Line:
        """Draw name, what needs attention, the last maintenance and the size; or the error of the workspace."""
        name = item.path.name or str(item.path)
        if item.error is not None:
            why = f"{self.glyphs.alert} {item.error.get('message', '')}"
            return _BROKEN.line(width, {"name": Piece(name, "muted"), "why": Piece(why, "alert")})
        columns = _HOSTS if self._hosts else _HERE
        tone: Tone = "plain" if item.looked else "muted"
        if self.ref(item) == self._open:
            name, tone = f"{name} {self.glyphs.left}", "accent"
        cells: dict[str, Piece] = {
            "name": Piece(name, tone),
            "host": Piece(item.host, "muted"),
            "heard": Piece(*self._heard(item)),
        }
        if item.looked:
            cells |= {
                "overdue": _count(item.overdue, "overdue", "alert"),
                "alerts": self._wrong(item),
                "waiting": _count(item.waiting, "waiting", "accent"),
                "kept": Piece(self._kept(item), "muted"),
                "size": Piece(_size(item.size), "muted"),
            }
        return columns.line(width, cells)

    def _heard(self, item: WorkspaceOverview) -> tuple[str, Tone]:
        if item.age is None:
            return ("never" if item.silent else "here", "muted")
        return (f"{self.glyphs.alert} {say_span(item.age)}", "alert") if item.silent else ("now", "muted")

    def _wrong(self, item: WorkspaceOverview) -> Piece:
        """How many monitors are failing or stale; if none, how many problems the files have."""
        if item.alerts:
            return _count(item.alerts, "stale" if not item.failing else "alerts" if item.stale else "failing", "alert")
        return _count(item.problems, "problem" if item.problems == 1 else "problems", "alert")

    def _kept(self, item: WorkspaceOverview) -> str:
        if item.last_maintenance is None:
            return "never"
        return say_span(max(0, int((self.now - item.last_maintenance).total_seconds()))) or "now"

    # The detail

    def detail_title(self, item: WorkspaceOverview) -> str:
        """The name of its folder."""
        return item.path.name or str(item.path)

    def detail(self, item: WorkspaceOverview) -> Sequence[DetailLine]:
        """The place, errors, what needs attention, and the maintenance."""
        parts: list[DetailLine] = [Title(self.detail_title(item)), Spacer(), Labelled("path", self._written(item.path))]
        if self.ref(item) == self._open:
            parts.append(Labelled("open", "it is this one", "accent"))
        if self._hosts:
            parts.append(Labelled("host", item.host))
            heard = "never" if item.age is None else say_ago(item.age)
            if item.age is not None or item.silent:
                parts.append(Labelled("heard", heard, "alert" if item.silent else "plain"))
        if item.error is not None:
            message = item.error.get("message", "")
            return [*parts, Labelled("error", item.error.get("code", ""), "alert"), Spacer(), Prose(message)]
        if not item.looked:
            return [*parts, Spacer(), Prose("It was not looked at yet.", tone="muted")]
        parts += [
            Labelled("systems", ", ".join(item.systems) or "none"),
            Spacer(),
            Labelled("overdue", f"{item.overdue:,}", "alert" if item.overdue else "muted"),
            Labelled("failing", f"{item.failing:,}", "alert" if item.failing else "muted"),
            Labelled("stale", f"{item.stale:,}", "alert" if item.stale else "muted"),
            Labelled("waiting", f"{item.waiting:,}", "accent" if item.waiting else "muted"),
            Labelled("problems", f"{item.problems:,}", "alert" if item.problems else "muted"),
            Spacer(),
            Labelled("maintained", self._maintained(item)),
            Labelled("size", _size(item.size)),
        ]
        return parts

    def _written(self, path: os.PathLike[str]) -> str:
        """Return a path as a person writes it, with `~` for the home folder."""
        text, home = str(path), getattr(self.app, "environ", {}).get("HOME", "").rstrip("/")
        return f"~{text[len(home) :]}" if home and text.startswith(f"{home}/") else text

    def _maintained(self, item: WorkspaceOverview) -> str:
        if item.last_maintenance is None:
            return "never"
        age = (self.now - item.last_maintenance).total_seconds()
        return f"{item.last_maintenance.astimezone(self.zone):%Y-%m-%d %H:%M}, {say_ago(max(0, age))}"

    # What happens in it

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Open the workspace on Enter."""
        event.stop()
        event.prevent_default()
        item = self.current()
        if item is not None:
            self.post_message(self.Chosen(item))


def _count(number: int, word: str, tone: Tone) -> Piece:
    """A count with its word; empty for 0, so that only what needs attention is shown."""
    return Piece(f"{number:,} {word}" if number < _THOUSAND else f"{number:,}", tone) if number else Piece("")


def _size(size: int) -> str:
    value, unit = float(size), 0
    while value >= _THOUSAND and unit < len(_UNITS) - 1:
        value, unit = value / _THOUSAND, unit + 1
    return f"{value:.1f} {_UNITS[unit]}" if 0 < value < 10 and unit else f"{value:.0f} {_UNITS[unit]}"
