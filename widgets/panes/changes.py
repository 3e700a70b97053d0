"""The changes pane: who changed what since memdeck was opened, newest first, with the lines that differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from widgets.columns import Column, Columns
from widgets.detail import Caption, DetailLine, Labelled, Lines, Link, Spacer, Title
from widgets.pane import Badge, Pane
from widgets.pieces import Line, Piece, Tone, line

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot

ROW = Columns(
    Column("time", 5, importance=3),
    Column("actor", 8, importance=1),
    Column("summary"),
    Column("state", 6, importance=2),
)
"""When, who, what, and whether it was undone."""

SHOWN_LINES = 200
"""The most lines of one file that the detail shows."""


@dataclass(frozen=True, slots=True)
class FileLines:
    """How one file differs: removed lines begin with `-`, added ones with `+`, others with a space."""

    file: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SeenChange:
    """One change as this pane lists it; `files` is asked only for the one that is looked at.

    `actor` is `human`, `cli`, `maintain`, `agent:<name>` or `outside`; `undone` says that it was taken back.
    """

    ref: str
    time: datetime
    actor: str
    summary: str
    operation: str = ""
    undone: bool = False
    titles: tuple[str, ...] = ()
    files: Callable[[], Sequence[FileLines]] = tuple

    @property
    def title(self) -> str:
        """What happened."""
        return self.summary

    def json(self) -> dict[str, Any]:
        """What a filter looks at."""
        return {"actor": self.actor, "summary": self.summary, "operation": self.operation, "titles": self.titles}


class ChangesPane(Pane):
    """Changes of this session, our own and those from outside."""

    pane_id: ClassVar[str] = "changes"
    number: ClassVar[str] = "0"
    title: ClassVar[str] = "Changes"
    empty: ClassVar[str] = (
        "What changed since memdeck was opened: by you, and from outside.\n\n"
        "Nothing changed yet. u takes your last change back, U brings it again."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("actor", "operation")
    item_name: ClassVar[str] = "change"

    def __init__(self, source: Callable[[], Sequence[SeenChange]] = tuple) -> None:
        """`source` gives the changes, newest first; the application owns them."""
        super().__init__()
        self.source = source

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:  # noqa: ARG002
        """All changes, newest first."""
        return tuple(self.source())

    def mark(self, item: SeenChange) -> Any:
        """A change looks different once it is undone."""
        return (item.ref, item.undone)

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """Since when."""
        return "this session"

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """The application counts them, for it owns them."""
        return Badge()

    def draw_row(self, item: SeenChange, width: int) -> Line:
        """When, who, what."""
        tone: Tone = "muted" if item.undone else "plain"
        return ROW.line(
            width,
            {
                "time": Piece(f"{item.time.astimezone(self.zone):%H:%M}", "muted"),
                "actor": Piece(item.actor, "accent" if item.actor == "outside" else "muted"),
                "summary": Piece(item.summary, tone),
                "state": Piece("undone" if item.undone else "", "muted"),
            },
        )

    def detail_title(self, item: SeenChange) -> str:
        """What was done."""
        return item.operation or item.actor

    def detail(self, item: SeenChange) -> Sequence[DetailLine]:
        """Who and when, then the lines that differ."""
        parts: list[DetailLine] = [
            Title(item.summary),
            Spacer(),
            Labelled("by", item.actor),
            Labelled("at", f"{item.time.astimezone(self.zone):%Y-%m-%d %H:%M:%S}"),
        ]
        if item.undone:
            parts.append(Labelled("state", "undone"))
        parts += [Labelled("entry" if number == 0 else "", title) for number, title in enumerate(item.titles[:20])]
        for file in item.files():
            parts += [Spacer(), Caption(file.file), Lines(tuple(_lines(file.lines)))]
        return parts

    def links(self, item: SeenChange) -> Sequence[Link]:  # noqa: ARG002
        """None; the entry may be gone."""
        return ()

    def source_text(self, item: SeenChange) -> str | None:  # noqa: ARG002
        """A change has no source."""
        return None


def _lines(lines: Sequence[str]) -> list[Line]:
    shown = []
    for text in lines[:SHOWN_LINES]:
        tone: Tone = "good" if text.startswith("+") else "warn" if text.startswith("-") else "muted"
        shown.append(line(Piece(text.rstrip("\r\n"), tone)))
    if len(lines) > SHOWN_LINES:
        shown.append(line(Piece(f"{len(lines) - SHOWN_LINES} more lines", "muted")))
    return shown
