"""Frame: a box with its name at the left of the top line and a short note at the right."""

from __future__ import annotations

from typing import ClassVar, Self

from rich.cells import cell_len
from rich.segment import Segment
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip

from memory.base.safe_text import cell_width, clip, visible
from widgets.text.drawing import Repaint

CORNERS = 6
"""Cells of the top line taken by the corners and the blanks around the title."""


REMARKS = "  "
"""The separator between two notes."""


TITLE = ("name", "rule", "notes")
"""The parts of a title that has notes."""


class Frame(Repaint, Vertical):
    """Holds the list or the detail of a pane; its border shows whether it has the focus."""

    ALLOW_SELECT = False

    _only_top = False
    """Whether only the top line is being redrawn."""

    DEFAULT_CSS: ClassVar[str] = """
    Frame {
        border: round $border-blurred;
        border-title-color: $foreground-muted;
        border-title-style: none;
        background: $background;
        &.-within { border: round $border; border-title-color: $foreground; }
        &.-within:nocolor { border: heavy $border; }
    }
    """

    def __init__(self, *children: object, name: str = "", classes: str | None = None) -> None:
        super().__init__(*children, classes=classes)  # type: ignore[arg-type]
        self._label = name
        self._remarks: tuple[str, ...] = ()
        self._parts: tuple[str, ...] = ()
        self._edges: list[Segment] = []
        """The top line as Textual drew it last: corner, edge, name, rule, notes, edge and corner."""

    @property
    def label(self) -> str:
        """The name in the top line."""
        return self._label

    @property
    def remark(self) -> str:
        """The notes at the right of the top line, including those that do not fit."""
        return REMARKS.join(self._remarks)

    def has_room_for(self, label: str) -> bool:
        """Whether a name can be shown as a whole."""
        return len(label) < 1024 and cell_width(visible(label)) <= self.outer_size.width - CORNERS

    def say(self, label: str, *remarks: str) -> None:
        """Set the name, and the notes in order of importance: if there is too little room, the last are dropped first.

        All of them may contain text from files.
        """
        notes = tuple(filter(None, remarks))
        if (label, notes) != (self._label, self._remarks):
            self._label, self._remarks = label, notes
            self._show_title()

    def on_mount(self) -> None:
        """Show the title."""
        self._show_title()

    def on_resize(self) -> None:
        """Fill the top line again."""
        self._show_title()

    def _show_title(self, again: bool = True) -> None:
        room = self.outer_size.width - CORNERS
        if room <= 0:
            self.border_title = None
            if again and self.is_attached:
                # Not laid out yet, and the first size is not always reported by a resize.
                self.call_after_refresh(self._show_title, again=False)
            return
        # Cut before making control characters visible: a title may be a megabyte long.
        label = clip(visible(self._label[:1024]), room)
        notes = [clip(visible(note[:256]), room) for note in self._remarks]
        remark = REMARKS.join(notes)
        while (left := room - cell_width(label) - cell_width(remark) - 2) < 1 and len(notes) > 1:
            del notes[-1]
            remark = REMARKS.join(notes)
        if not remark or left < 1:
            self._entitle(Content(label) if label else None, (f" {label} ",) if label else ())
            return
        rule = self.app.glyphs.rule if hasattr(self.app, "glyphs") else "─"
        if self.app.no_color and self.has_class("-within"):
            rule = "━"
        colour = "$border" if self.has_class("-within") else "$border-blurred"
        title = Content.assemble(label, " ", (rule * left, colour), " ", remark)
        self._entitle(title, (f" {label} ", rule * left, f" {remark} "))

    def _entitle(self, title: Content | None, parts: tuple[str, ...]) -> None:
        """Set the title, and its parts as they are drawn; only the top line is redrawn, not the frame's content."""
        self._parts = parts
        self._only_top = True
        try:
            self.border_title = title
        finally:
            self._only_top = False

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Redraw regions, or the whole frame if there are none; for a new title only the top line."""
        if self._only_top:
            x, y = self.content_offset
            regions = (Region(-x, -y, self.outer_size.width, 1),)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw the border; the lines between first and last look alike, so only one of them is drawn."""
        width, height = self.outer_size
        if crop == Region(0, 0, width, 1) and len(self._parts) == len(TITLE) and height > 1:
            return [self._top_line(width)]
        if height < 4:
            return super().render_lines(crop)
        drawn: dict[int, Strip] = {}
        strips = []
        for y in crop.line_range:
            alike = min(y, 1) if y < height - 1 else y
            if alike not in drawn:
                drawn[alike] = super().render_lines(Region(crop.x, alike, crop.width, 1))[0]
            strips.append(drawn[alike])
        return strips

    def _top_line(self, width: int) -> Strip:
        """Draw the corners and the title, reusing the styles that Textual computed for an earlier title.

        Textual computes them again for each title, and the title of the detail changes with each key.
        """
        edge = cell_len(self._edges[1].text) if self._edges else 1
        if self._edges and sum(map(cell_len, self._parts)) + 2 + 2 * edge == width:
            left, first, *styles, last, right = self._edges
            texts = [Segment(text, style.style) for text, style in zip(self._parts, styles, strict=True)]
            return Strip([left, first, *texts, last, right], width)
        drawn = super().render_lines(Region(0, 0, width, 1))[0]
        segments = [*drawn]
        # A frame that was just widened still has the title of its old width, and a longer edge after it.
        as_said = [segment.text for segment in segments[2:-2]] == [*self._parts]
        self._edges = segments if as_said and segments[1].text == segments[-2].text else []
        return drawn

    def notify_style_update(self) -> None:
        """Drop the cached top line after a change of theme, focus or class."""
        self._edges = []
        super().notify_style_update()

    def on_descendant_focus(self) -> None:
        """Give the border, and the rule between name and notes, the colour of the focus."""
        self._say_focus()

    def on_descendant_blur(self) -> None:
        """Give the border and the rule their usual colour again."""
        self._say_focus()

    def _say_focus(self) -> None:
        # With `:focus-within`, every move of the focus would look up the styles of all widgets in the frames.
        within = self.has_focus_within
        if within != self.has_class("-within"):
            self.set_class(within, "-within", update=False)
            self.app.stylesheet.update_nodes([self])
            self._show_title()
