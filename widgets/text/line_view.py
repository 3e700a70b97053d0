"""LineView: a block of lines that scrolls, laid out again when the width changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.selection import Selection
from textual.strip import Strip

from widgets.chrome.go_prefix import GoPrefix, go_binding
from widgets.list.scrolling import Scrolling

from .drawing import Drawing
from .styled_text import EMPTY, Line, line_text, wrap_line

MOST_DRAWN = 512
"""How many drawn lines are kept."""


def _binding(key: str, action: str, words: str, name: str, tooltip: str) -> Binding:
    return Binding(key, action, words, id=f"view.{name}", tooltip=tooltip, show=False)


def _hang(content: Line) -> int:
    """How far the second line of what wraps is indented: more than the first, so that it does not look like another."""
    text = line_text(content)
    own = len(text) - len(text.lstrip(" "))
    return own + 2 if own else 0


class LineView(GoPrefix, Drawing, Scrolling, can_focus=True, inherit_bindings=False):
    """Shows lines that somebody else made; the mouse can select their text.

    | Component class | Styles |
    | :- | :- |
    | `line-view--selection` | text selected with the mouse |
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"line-view--selection"}

    DEFAULT_CSS = """
    LineView {
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        & > .line-view--selection { background: $input-selection-background; color: $block-cursor-foreground; }
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

    def __init__(
        self,
        content: Sequence[Line] = (),
        *,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._source = tuple(content)
        self._laid_out: Sequence[Line] = ()
        self._laid_out_for = -1
        self._drawn: dict[tuple[object, ...], Strip] = {}

    def set_content(self, content: Sequence[Line]) -> None:
        """Replace the lines and show the first one."""
        self._source = tuple(content)
        self.lay_out_again(top=True)

    def lay_out(self, width: int) -> Sequence[Line]:
        """The lines as they stand in `width` cells; here each line wraps at spaces, what is indented hangs."""
        return [row for content in self._source for row in wrap_line(content, width, indent=_hang(content))]

    def lay_out_again(self, *, top: bool) -> None:
        """Forget the layout; `top` scrolls to the first line, else the view stays where it is."""
        before, start = self._laid_out, round(self.scroll_y)
        self._laid_out_for = -1
        if top:
            self.scroll_to(y=0, animate=False, force=True)
        self._ensure_layout()
        if start == round(self.scroll_y) and not self.has_focus:
            self._redraw_from(before)
        else:
            self.refresh()

    def _redraw_from(self, before: Sequence[Line]) -> None:
        """Draw the lines in view that are others than before, from the first to the last of them."""
        top = round(self.scroll_y)
        view = range(top, top + self.size.height)
        old, new = (dict(zip(view, lines[top : view.stop], strict=False)) for lines in (before, self._laid_out))
        changed = [row for row in view if old.get(row) != new.get(row)]
        if changed:
            self.refresh_lines(changed[0], changed[-1] - changed[0] + 1)

    def _ensure_layout(self) -> None:
        width = self.scrollable_content_region.width
        if width > 0 and width != self._laid_out_for:
            self._laid_out_for = width
            self._laid_out = self.lay_out(width)
            self.set_extent(Size(width, len(self._laid_out)))

    @property
    def shown_lines(self) -> Sequence[Line]:
        """The lines as they are laid out now; empty before the first layout."""
        return self._laid_out

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

    def states_of(self, row: int) -> tuple[str, ...]:  # noqa: ARG002
        """Component classes of a laid-out line; for subclasses that mark lines."""
        return ()

    def forget_strips(self) -> None:
        """Another theme: the colours of what was drawn go."""
        self._drawn.clear()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw what is in view, laid out for the width that there is now."""
        self._ensure_layout()
        self.settle_styles()
        return super().render_lines(crop)

    def draw_lines(self, places: range, width: int) -> list[Strip]:
        """Some lines of the view; those below the last one are all alike."""
        end = min(places.stop, max(places.start, len(self._laid_out) - round(self.scroll_y)))
        drawn = super().draw_lines(range(places.start, end), width)
        return drawn + [self.draw_line(end, width)] * (places.stop - end) if end < places.stop else drawn

    def draw_line(self, y: int, width: int) -> Strip:
        """One line of the view."""
        row = y + round(self.scroll_y)
        below = not 0 <= row < len(self._laid_out)
        content, states = (EMPTY, ()) if below else (self._laid_out[row], self.states_of(row))
        selection = self.text_selection
        if selection is None or below:
            row = -1 if below else row
            cached = (row, content, width, self.line_indent, states)
            drawn = self._drawn.get(cached)
            if drawn is None:
                if len(self._drawn) >= MOST_DRAWN:
                    self._drawn.clear()
                drawn = self._indented(self.draw(content, width, *states).apply_offsets(0, row))
                self._drawn[cached] = drawn
            return drawn
        strip = self.draw(content, width, *states)
        if (span := selection.get_span(row)) is not None:
            start, end = span
            text = line_text(content)
            strip = _highlight(strip, text, start, end, self)
        return self._indented(strip.apply_offsets(0, row))

    def _indented(self, strip: Strip) -> Strip:
        """The strip with the padding at its left, where `Scrolling.render_lines` does not leave that to Textual."""
        blank = Strip([Segment(" " * self.line_indent, self.tone_style("plain"))])
        return Strip.join([blank, strip]) if self.line_indent else strip

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text selected with the mouse, as it is shown."""
        return selection.extract("\n".join(line_text(content) for content in self._laid_out)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002
        """Draw the selection."""
        self.refresh()


def _highlight(strip: Strip, text: str, start: int, end: int, view: LineView) -> Strip:
    """The strip with characters `start` to `end` (-1: the line's end) marked as selected."""
    from memory.base.safe_text import cell_width

    left = cell_width(text[:start])
    right = strip.cell_length if end < 0 else cell_width(text[:end])
    if right <= left:
        return strip
    own = view.get_component_rich_style("line-view--selection")
    from rich.style import Style

    parts = list(strip.divide([left, right, strip.cell_length]))
    parts[1] = Strip(
        [
            type(segment)(segment.text, (segment.style or Style()) + Style(color=own.color, bgcolor=own.bgcolor))
            for segment in parts[1]
        ],
        parts[1].cell_length,
    )
    return Strip.join(parts)
