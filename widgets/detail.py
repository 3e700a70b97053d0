"""Detail: one entry in full, drawn from plain data: labelled values, texts and links that can be followed.

It is a `LineView`: a block of lines that scrolls, laid out again when the width changes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from memory.base.safe_text import cell_width, visible
from widgets.chrome.keys import GoPrefix, go_binding

from .text.drawing import Drawing, Scrolling
from .text.markdown import Flow, plain_text, render_markdown
from .text.styled_text import EMPTY, Line, Piece, Tone, clip_line, line_text, line_width, pad_line, wrap_line


def _binding(key: str, action: str, words: str, name: str, tooltip: str) -> Binding:
    return Binding(key, action, words, id=f"view.{name}", tooltip=tooltip, show=False)


def _hang(content: Line) -> int:
    """The indent of wrapped lines: more than the first line's own, so that they do not look like new lines."""
    text = line_text(content)
    own = len(text) - len(text.lstrip(" "))
    return own + 2 if own else 0


class LineView(GoPrefix, Drawing, Scrolling, can_focus=True, inherit_bindings=False):
    """Shows lines that the caller made."""

    ALLOW_SELECT = False

    DEFAULT_CSS = """
    LineView {
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        _binding("j,down", "scroll_by(1)", "down", "down", "Scroll a line down"),
        _binding("k,up", "scroll_by(-1)", "up", "up", "Scroll a line up"),
        _binding("ctrl+d", "scroll_page(0.5)", "half page down", "half_down", "Scroll half a page down"),
        _binding("ctrl+u", "scroll_page(-0.5)", "half page up", "half_up", "Scroll half a page up"),
        _binding("pagedown", "scroll_page(1)", "page down", "page_down", "Scroll a page down"),
        _binding("pageup", "scroll_page(-1)", "page up", "page_up", "Scroll a page up"),
        _binding("home", "first", "first", "first", "Scroll to the first line"),
        _binding("G,end", "last", "last", "last", "Scroll to the last line"),
        go_binding("view"),
    ]

    def __init__(self, content: Sequence[Line] = (), *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self._source = tuple(content)
        self._laid_out: Sequence[Line] = ()
        self._laid_out_for = -1

    def lay_out(self, width: int) -> Sequence[Line]:
        """Lay out the lines in `width` cells; here each line wraps at spaces, and indented lines hang."""
        return [row for content in self._source for row in wrap_line(content, width, indent=_hang(content))]

    def lay_out_again(self, *, top: bool) -> None:
        """Lay out again; `top` scrolls to the first line, else the scroll position stays."""
        self._laid_out_for = -1
        if top:
            self.scroll_to(y=0, animate=False, force=True)
        self._ensure_layout()
        self.refresh()

    def _ensure_layout(self) -> None:
        width = self.scrollable_content_region.width
        if width > 0 and width != self._laid_out_for:
            self._laid_out_for = width
            self._laid_out = self.lay_out(width)
            self.set_extent(Size(width, len(self._laid_out)))

    def on_resize(self) -> None:
        """Lay out for another width."""
        self._ensure_layout()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """As high as its lines, for `height: auto`."""
        return len(self.lay_out(max(1, width)))

    def action_scroll_by(self, rows: int) -> None:
        """Scroll by lines, down or (negative) up."""
        self.scroll_to(y=round(self.scroll_y) + rows, animate=False, force=True)

    def action_scroll_page(self, pages: float) -> None:
        """Scroll by pages, down or (negative) up."""
        rows = max(1, int(abs(pages) * self.scrollable_content_region.height))
        self.action_scroll_by(rows if pages > 0 else -rows)

    def action_first(self) -> None:
        """Scroll to the first line."""
        self.scroll_to(y=0, animate=False, force=True)

    def action_last(self) -> None:
        """Scroll to the last line."""
        self.scroll_to(y=self.virtual_size.height, animate=False, force=True)

    def marked_lines(self) -> tuple[range, str]:
        """The laid-out lines that are marked, and their component class; for subclasses that mark some."""
        return range(0), ""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw lines of the view, laid out for its width."""
        self._ensure_layout()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Return one line of the view."""
        row, width, lines = y + round(self.scroll_y), self.scrollable_content_region.width, self._laid_out
        if not 0 <= row < len(lines):
            return self.draw(EMPTY, width)
        marked, mark = self.marked_lines()
        return self.draw(lines[row], width, *((mark,) if row in marked else ()))


LABEL_WIDTH = 20
"""The most cells that the column of labels takes."""

LONGEST = 20_000
"""The most characters of one text that are laid out: more is not read here, and layout takes time."""


class Title(NamedTuple):
    """The name of the whole entry."""

    text: str


class Caption(NamedTuple):
    """A heading inside the entry."""

    text: str


class Labelled(NamedTuple):
    """A label and its value; a value of several lines keeps them. A `Line` of pieces is used unchanged."""

    label: str
    value: str | Line
    tone: Tone = "plain"


class Prose(NamedTuple):
    """A text, drawn as Markdown if `markdown`, else as it is written."""

    text: str
    markdown: bool = False
    tone: Tone = "plain"


class Lines(NamedTuple):
    """Lines of pieces that the caller laid out, for example a bar; clipped, or with `hang` wrapped at spaces.

    `hang` is the indent of the wrapped lines in cells.
    """

    lines: tuple[Line, ...]
    hang: int | None = None


class Link(NamedTuple):
    """A link to another entry; `target` is what `Detail.Followed` carries."""

    label: str
    text: str
    target: Hashable
    tone: Tone = "link"
    when: str = ""
    """Its date."""


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
        Binding("n,right,l", "link(1)", "next link", id="detail.next_link", tooltip="Select the next link", show=False),
        Binding(
            "N", "link(-1)", "previous link", id="detail.previous_link", tooltip="Select the previous link", show=False
        ),
        Binding("left,h", "leave", "list", id="detail.leave", tooltip="Go back to the list", show=False),
    ]

    @dataclass
    class Followed(Message):
        """A link was followed."""

        detail: Detail
        target: Hashable

    @dataclass
    class Left(Message):
        """The focus is to go back to where the entry is listed."""

        detail: Detail

    def __init__(self, lines: Sequence[DetailLine] = ()) -> None:
        super().__init__()
        self._entry: Hashable = None
        self._lines: tuple[DetailLine, ...] = tuple(lines)
        self.link_rows: dict[int, int] = {}
        """The laid-out rows that are links, and which link each is, from 0."""
        self._current = 0

    @property
    def links(self) -> tuple[Link, ...]:
        """The links of the entry, in order."""
        return tuple(part for part in self._lines if isinstance(part, Link))

    def show(self, lines: Sequence[DetailLine], *, entry: Hashable = None) -> None:
        """Replace the content; the same `entry` (not None) as before keeps the view and the link."""
        same = entry is not None and entry == self._entry
        self._entry = entry
        self._lines = tuple(lines)
        self._current = min(self._current, max(0, len(self.links) - 1)) if same else 0
        self.lay_out_again(top=not same)

    def lay_out(self, width: int) -> Sequence[Line]:
        """Labels in one column, texts wrapped, one blank cell at the right."""
        width = max(1, width - 1)
        labels = [cell_width(visible(part.label)) for part in self._lines if isinstance(part, Labelled | Link)]
        column = min(max(labels, default=0), LABEL_WIDTH, max(0, width * 2 // 5))
        rows: list[Line] = []
        self.link_rows = {}
        number = 0
        for part in self._lines:
            found = self._rows_of(part, column, width)
            if isinstance(part, Link):
                self.link_rows.update(dict.fromkeys(range(len(rows), len(rows) + len(found)), number))
                number += 1
            rows.extend(found)
        return rows

    def _rows_of(self, part: DetailLine, column: int, width: int) -> Sequence[Line]:
        match part:
            case Title(text):
                return wrap_line((Piece(_shortened(text), "strong"),), width)
            case Caption(text):
                return wrap_line((Piece(_shortened(text), "heading"),), width)
            case Labelled(label, value, tone):
                shown = visible(_shortened(value), newlines=True).split("\n") if isinstance(value, str) else [value]
                rows: list[Line] = []
                for content in shown:
                    pieces = (Piece(content, tone),) if isinstance(content, str) else content
                    for row in wrap_line(pieces, max(1, width - column - 2)):
                        rows.append(self._label("" if rows else label, column) + row)
                return rows
            case Prose(text, markdown, tone):
                text = _shortened(text)
                flows = render_markdown(text, self.glyphs) if markdown else plain_text(text, tone)
                return [row for flow in flows for row in _wrap(flow, width)]
            case Lines(lines, None):
                return [clip_line(content, width) for content in lines]
            case Lines(lines, hang):
                return [row for content in lines for row in wrap_line(content, width, indent=hang or 0)]
            case Link(label, text, _, tone, when):
                room, date = max(1, width - column - 2), (Piece(f"  {when}" if when else "", "muted"),)
                found = [*wrap_line((Piece(text, tone),), room)]
                if line_width(found[-1] + date) <= room:
                    found[-1] += date
                else:
                    found.append((Piece(when, "muted"),))
                return [self._label("" if place else label, column) + row for place, row in enumerate(found)]
            case Spacer():
                return [EMPTY]

    @staticmethod
    def _label(text: str, column: int) -> Line:
        return (*pad_line((Piece(text, "muted"),), column), Piece("  "))

    def rows_of_focus(self) -> range:
        """Return the rows of the marked link."""
        rows = [row for row, number in self.link_rows.items() if number == self._current]
        return range(rows[0], rows[-1] + 1) if rows else range(0)

    def marked_lines(self) -> tuple[range, str]:
        """Mark the link that Enter follows."""
        return (self.rows_of_focus(), "detail--link") if self.has_focus else (range(0), "")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Disable the keys of links while there are none."""
        return action not in ("follow", "link") or bool(self.links)

    def action_link(self, step: int) -> None:
        """Select the next link or (-1) the one before, and bring it into view."""
        self._current = (self._current + step) % len(self.links)
        row = next(iter(self.rows_of_focus()), 0)
        top, height = round(self.scroll_y), max(1, self.scrollable_content_region.height)
        if not top <= row < top + height:
            self.scroll_to(y=max(0, row - height // 2), animate=False, force=True)
        self.refresh()

    def enter(self, step: int) -> None:
        """Mark the first link, or (-1) the last one."""
        self._current = 0 if step > 0 else max(0, len(self.links) - 1)

    def step(self, step: int) -> bool:
        """Select the next link or (-1) the one before; False: there is no further one."""
        if not 0 <= self._current + step < len(self.links):
            return False
        self.action_link(step)
        return True

    def action_leave(self) -> None:
        """Give the focus back."""
        self.post_message(self.Left(self))

    def action_follow(self) -> None:
        """Follow the marked link."""
        self.post_message(self.Followed(self, self.links[self._current].target))

    def follow_link(self, number: int) -> None:
        """Mark a link and follow it."""
        self._current = number
        self.refresh()
        self.action_follow()

    def on_click(self, event: events.Click) -> None:
        """Follow the link under the mouse."""
        number = self.link_rows.get(event.get_content_offset_capture(self).y + round(self.scroll_y))
        if number is not None:
            self.follow_link(number)


def _shortened(text: str) -> str:
    """Return a text, cut to its first `LONGEST` characters with a note of how many were left out."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n\n… {len(text) - LONGEST:,} characters more"


def _wrap(flow: Flow, width: int) -> Sequence[Line]:
    if flow.wrap:
        return wrap_line(flow.content, width, indent=flow.hang)
    return [clip_line(flow.content, width)]
