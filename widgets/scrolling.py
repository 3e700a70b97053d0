"""Scrolling: a view whose content grows and shrinks without a layout of the whole screen."""

from __future__ import annotations

from textual.geometry import Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.widget import Widget


class Scrolling(ScrollView):
    """A scroll view of the size that its place gives it, whatever is in it.

    Textual lays out all widgets again when a view gets other content, since any of them may depend on it. Each key in
    a list gives the detail beside it other content; only where a scrollbar comes or goes, or something is as large as
    its content, there is anything to lay out.
    """

    virtual_size: Reactive[Size] = Reactive(Size(0, 0))

    def set_extent(self, size: Size) -> None:
        """Take the size of other content; the view stays where it is, or goes to the new end."""
        if size == self.virtual_size:
            return
        self.virtual_size = size
        height = self.container_size.height
        shown = self.show_vertical_scrollbar
        if not height or (size.height > height) != shown or self._follows_content():
            self.refresh(layout=True)
            return
        if shown:
            self.vertical_scrollbar.window_virtual_size = size.height
        self.scroll_y = self.validate_scroll_y(self.scroll_y)
        self.scroll_target_y = self.validate_scroll_target_y(self.scroll_target_y)

    def _follows_content(self) -> bool:
        """Whether this or something around it is as large as its content."""
        return any(isinstance(node, Widget) and node.styles.auto_dimensions for node in self.ancestors_with_self)
