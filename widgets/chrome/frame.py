"""Frame: a box with its name at the left of the top line and a short note at the right."""

from __future__ import annotations

from typing import ClassVar, Self

from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Region

from memory.base.safe_text import cell_width, clip, visible

CORNERS = 6
"""Cells of the top line taken by the corners and the blanks around the title."""


REMARKS = "  "
"""The separator between two notes."""


TITLE = ("name", "rule", "notes")
"""The parts of a title that has notes."""


class Frame(Vertical):
    """Holds the list or the detail of a pane; its border shows whether it has the focus."""

    ALLOW_SELECT = False
    _only_top = False

    DEFAULT_CSS: ClassVar[str] = """
    Frame {
        border: round $border-blurred;
        border-title-color: $foreground-muted;
        border-title-style: none;
        background: $background;
        &.-within { border: round $border; }
        &.-within:nocolor { border: heavy $border; }
    }
    """

    def __init__(self, *children: object, name: str = "", classes: str | None = None) -> None:
        super().__init__(*children, classes=classes)  # type: ignore[arg-type]
        self._label = name
        self._remarks: tuple[str, ...] = ()

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
        # Another colour of titles in the styles would draw everything in the frame again.
        words = "$foreground" if self.has_class("-within") else "$foreground-muted"
        if not remark or left < 1:
            self._entitle(Content.assemble((label, words)) if label else None)
            return
        rule = self.app.glyphs.rule if hasattr(self.app, "glyphs") else "─"
        if self.app.no_color and self.has_class("-within"):
            rule = "━"
        colour = "$border" if self.has_class("-within") else "$border-blurred"
        title = Content.assemble((label, words), " ", (rule * left, colour), " ", (remark, words))
        self._entitle(title)

    def _entitle(self, title: Content | None) -> None:
        """Set the title; only the top line is drawn again, not the content."""
        self._only_top = True
        self.border_title = title
        self._only_top = False

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Draw the border again, not the content; while the title is set, the top line alone."""
        width, height = self.outer_size
        if not (regions or layout or recompose) and width and height:
            left, top = (-cells for cells in self.content_offset)
            line = Region(left, top, width, 1)
            side = Region(left, top, 1, height)
            others = (line.translate((0, height - 1)), side, side.translate((width - 1, 0)))
            regions = (line,) if self._only_top else (line, *others)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

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
