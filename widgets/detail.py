"""Detail: one entry in full, drawn from plain data: labelled values, texts and links that can be followed."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from memory.base.safe_text import cell_width, visible

from .text.line_view import LineView
from .text.markdown import Flow, plain_text, render_markdown
from .text.styled_text import EMPTY, Line, Piece, Tone, clip_line, line, line_width, pad_line, wrap_line

LABEL_WIDTH = 14
"""The most cells that the column of labels takes."""

LONGEST = 20_000
"""The most characters of one text that are laid out; nobody reads more here, and laying out takes its time."""


LEAST_LINK = 8
"""The least cells of a link's words beside its date."""


class Title(NamedTuple):
    """The name of the whole entry."""

    text: str


class Caption(NamedTuple):
    """A heading inside the entry."""

    text: str


class Labelled(NamedTuple):
    """A label and its value; a value of several lines keeps them. A line of pieces is taken as it is."""

    label: str
    value: str | Line
    tone: Tone = "plain"


class Prose(NamedTuple):
    """A text; as Markdown if so said, else as it is written."""

    text: str
    markdown: bool = False
    tone: Tone = "plain"


class Lines(NamedTuple):
    """Lines of pieces that the caller laid out, for example a bar or a strip; clipped, or (with `hang`, the cells
    before what goes on below) wrapped at spaces.
    """

    lines: tuple[Line, ...]
    hang: int | None = None


class Link(NamedTuple):
    """A way to another entry; `target` is what `Detail.Followed` carries."""

    label: str
    text: str
    target: Hashable
    tone: Tone = "link"
    when: str = ""
    """Its date, which keeps its cells where the text has to be cut."""


@dataclass(frozen=True, slots=True)
class Spacer:
    """An empty line."""


DetailLine: TypeAlias = Title | Caption | Labelled | Prose | Lines | Link | Spacer


class Detail(LineView):
    """Shows one entry. Links are walked with `n`, `N` and the right arrow, and followed with Enter, `o` or the mouse.

    | Component class | Styles |
    | :- | :- |
    | `detail--link` | the link that Enter follows, while the detail has the focus |
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"detail--link"}

    DEFAULT_CSS = """
    Detail {
        padding: 0 0 0 1;
        & > .detail--link { background: $block-cursor-background; color: $block-cursor-foreground; }
        &:nocolor > .detail--link { text-style: reverse; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,o", "follow", "follow", id="detail.follow", tooltip="Follow the link", show=False),
        Binding("n,right,l", "link(1)", "next link", id="detail.next_link", tooltip="Mark the next link", show=False),
        Binding(
            "N",
            "link(-1)",
            "link before",
            id="detail.previous_link",
            tooltip="Mark the link before",
            show=False,
        ),
        Binding("left,h", "leave", "list", id="detail.leave", tooltip="Go back to the list", show=False),
    ]

    @dataclass
    class Followed(Message):
        """A link was followed."""

        detail: Detail
        target: Hashable

        @property
        def control(self) -> Detail:
            """The detail that sent this."""
            return self.detail

    @dataclass
    class Left(Message):
        """The keys are to go back to what the entry is from."""

        detail: Detail

        @property
        def control(self) -> Detail:
            """The detail that sent this."""
            return self.detail

    def __init__(
        self,
        lines: Sequence[DetailLine] = (),
        *,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._entry: Hashable = None
        self._lines: tuple[DetailLine, ...] = tuple(lines)
        self._link_rows: dict[int, int] = {}
        self._current = 0

    @property
    def links(self) -> tuple[Link, ...]:
        """The links of the entry, in order."""
        return tuple(part for part in self._lines if isinstance(part, Link))

    def show(self, lines: Sequence[DetailLine], *, entry: Hashable = None) -> None:
        """Replace what is shown; the same `entry` (not None) as before keeps the view and the link."""
        same = entry is not None and entry == self._entry
        self._entry = entry
        self._lines = tuple(lines)
        self._current = min(self._current, max(0, len(self.links) - 1)) if same else 0
        self.lay_out_again(top=not same)

    def lay_out(self, width: int) -> Sequence[Line]:
        """Labels in one column, texts wrapped, one blank cell at the right."""
        width = max(1, width - 1)
        labels = [cell_width(visible(part.label)) for part in self._lines if isinstance(part, Labelled | Link)]
        column = min(max(labels, default=0), LABEL_WIDTH, max(0, width // 3))
        rows: list[Line] = []
        self._link_rows = {}
        for part in self._lines:
            if isinstance(part, Link):
                self._link_rows[len(rows)] = len(self._link_rows)
            rows.extend(self._rows_of(part, column, width))
        return rows

    def _rows_of(self, part: DetailLine, column: int, width: int) -> Iterator[Line]:
        match part:
            case Title(text):
                yield from wrap_line(line(Piece(_shortened(text), "strong")), width)
            case Caption(text):
                yield from wrap_line(line(Piece(_shortened(text), "heading")), width)
            case Labelled(label, value, tone):
                if isinstance(value, str):
                    parts = [line(Piece(text, tone)) for text in visible(_shortened(value), newlines=True).split("\n")]
                else:
                    parts = [value]
                inner = max(1, width - column - 2)
                wrapped = [row for content in parts for row in wrap_line(content, inner)]
                for number, row in enumerate(wrapped):
                    yield line(self._label(label if number == 0 else "", column), row)
            case Prose(text, markdown, tone):
                text = _shortened(text)
                flows = render_markdown(text, self.glyphs) if markdown else plain_text(text, tone)
                for flow in flows:
                    yield from _wrap(flow, width)
            case Lines(lines, hang):
                for content in lines:
                    if hang is None:
                        yield clip_line(content, width)
                    else:
                        yield from wrap_line(content, width, indent=hang)
            case Link(label, text, _, tone, when):
                inner = max(0, width - column - 2)
                date = line(Piece(f"  {when}", "muted")) if when else ()
                room = inner - line_width(date)
                if room < LEAST_LINK:
                    date, room = (), inner
                yield line(self._label(label, column), clip_line(line(Piece(text, tone)), room), date)
            case Spacer():
                yield EMPTY

    @staticmethod
    def _label(text: str, column: int) -> Line:
        return line(pad_line(line(Piece(text, "muted")), column), "  ")

    def states_of(self, row: int) -> tuple[str, ...]:
        """Mark the link that Enter follows."""
        if self.has_focus and self._link_rows.get(row) == self._current:
            return ("detail--link",)
        return ()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Keys of links mean nothing here while there are none."""
        return action not in ("follow", "link") or bool(self.links)

    def action_link(self, step: int) -> None:
        """Mark the next link or (-1) the one before, and bring it into view."""
        self._current = (self._current + step) % len(self.links)
        row = next((row for row, number in self._link_rows.items() if number == self._current), 0)
        top, height = round(self.scroll_y), max(1, self.scrollable_content_region.height)
        if not top <= row < top + height:
            self.scroll_to(y=max(0, row - height // 2), animate=False, force=True)
        self.refresh()

    @property
    def current_link(self) -> int:
        """Which link is marked, from 0."""
        return self._current

    def enter(self, step: int) -> None:
        """Mark the first link, or (-1) the last one."""
        self._current = 0 if step > 0 else max(0, len(self.links) - 1)

    def step(self, step: int) -> bool:
        """Mark the next link or (-1) the one before; False: there is no further one."""
        if not 0 <= self._current + step < len(self.links):
            return False
        self.action_link(step)
        return True

    def action_leave(self) -> None:
        """Give the keys back."""
        self.post_message(self.Left(self))

    def action_follow(self) -> None:
        """Follow the marked link."""
        self.post_message(self.Followed(self, self.links[self._current].target))

    @property
    def link_rows(self) -> Mapping[int, int]:
        """The laid-out rows that are links, and which link each is, from 0."""
        return self._link_rows

    def follow_link(self, number: int) -> None:
        """Mark a link and follow it."""
        self._current = number
        self.refresh()
        self.action_follow()

    def on_click(self, event: events.Click) -> None:
        """Follow the link under the mouse."""
        number = self._link_rows.get(event.get_content_offset_capture(self).y + round(self.scroll_y))
        if number is not None:
            self.follow_link(number)


def _shortened(text: str) -> str:
    """A text of which only the beginning is shown, and how much is left out."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n\n… {len(text) - LONGEST:,} characters more"


def _wrap(flow: Flow, width: int) -> Iterator[Line]:
    if flow.wrap:
        yield from wrap_line(flow.content, width, indent=flow.hang)
    else:
        yield clip_line(flow.content, width)
