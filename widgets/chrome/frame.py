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
"""Cells of the top line that the corners and the blanks around the title take."""


REMARKS = "  "
"""What stands between two notes."""


TITLE = ("name", "rule", "notes")
"""What a title consists of that has notes."""


class Frame(Repaint, Vertical):
    """Holds the list or the detail of a pane; its border says which of them has the focus."""

    ALLOW_SELECT = False

    _only_top = False
    """Whether what is drawn anew is the top line alone."""

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
        """The notes at the right of the top line, also those that have no room."""
        return REMARKS.join(self._remarks)

    def has_room_for(self, label: str) -> bool:
        """Whether a name can be shown as a whole."""
        return len(label) < 1024 and cell_width(visible(label)) <= self.outer_size.width - CORNERS

    def say(self, label: str, *remarks: str) -> None:
        """Set the name, and notes from the most important on: where there is no room for all, the last go first.

        Content of files may be in all of them.
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
                # Not laid out yet, and a first size is not always told.
                self.call_after_refresh(self._show_title, again=False)
            return
        # Cut before making visible: a title may be a megabyte long.
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
        """Set the title, and its parts as they are drawn: the top line is drawn anew, and nothing that stands in the
        frame.
        """
        self._parts = parts
        self._only_top = True
        try:
            self.border_title = title
        finally:
            self._only_top = False

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Draw regions anew, all of it without any; for another title the top line."""
        if self._only_top:
            x, y = self.content_offset
            regions = (Region(-x, -y, self.outer_size.width, 1),)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw the border; between its first and its last line all look alike, and one is drawn for them."""
        width, height = self.outer_size
        if crop == Region(0, 0, width, 1) and len(self._parts) == len(TITLE) and height > 1:
            return [self._top_line(width)]
        if height < 4:
            return super().render_lines(crop)
        alike = [min(y, 1) if y < height - 1 else y for y in crop.line_range]
        drawn = {y: super(Frame, self).render_lines(Region(crop.x, y, crop.width, 1))[0] for y in dict.fromkeys(alike)}
        return [drawn[y] for y in alike]

    def _top_line(self, width: int) -> Strip:
        """The corners and the title between them, with the styles that Textual gave to another title.

        It works all of them out anew with each title, and that of an entry is another one with each key.
        """
        edge = cell_len(self._edges[1].text) if self._edges else 1
        if self._edges and sum(map(cell_len, self._parts)) + 2 + 2 * edge == width:
            left, first, *styles, last, right = self._edges
            texts = [Segment(text, style.style) for text, style in zip(self._parts, styles, strict=True)]
            return Strip([left, first, *texts, last, right], width)
        drawn = super().render_lines(Region(0, 0, width, 1))[0]
        segments = [*drawn]
        # A frame that was just made wider has the title of its old width, and a longer edge behind it.
        as_said = [segment.text for segment in segments[2:-2]] == [*self._parts]
        self._edges = segments if as_said and segments[1].text == segments[-2].text else []
        return drawn

    def notify_style_update(self) -> None:
        """Another theme, focus or class."""
        self._edges = []
        super().notify_style_update()

    def on_descendant_focus(self) -> None:
        """The border, and the rule between name and note, take the colour of what has the focus."""
        self._say_focus()

    def on_descendant_blur(self) -> None:
        """And give it back."""
        self._say_focus()

    def _say_focus(self) -> None:
        # With `:focus-within`, every step of the focus looks for the styles of all that the frames hold.
        within = self.has_focus_within
        if within != self.has_class("-within"):
            self.set_class(within, "-within", update=False)
            self.app.stylesheet.update_nodes([self])
            self._show_title()
