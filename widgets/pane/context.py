"""What the parts of a pane need from it, so that none of them has to know the whole pane."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from .filter import Filtered

if TYPE_CHECKING:
    from widgets.list.line_list import LineList
    from widgets.text.styled_text import Line

    from .filter import Needles


class PaneContext(Filtered, Protocol):
    """What the list, the filter bar and the row order need from their pane; `Pane` is one."""

    sorts: ClassVar[tuple[str, ...]]
    filter_fields: ClassVar[tuple[str, ...]]
    judged_fields: ClassVar[tuple[str, ...]]
    now: datetime
    zone: tzinfo

    @property
    def line_list(self) -> LineList:
        """The list."""

    @property
    def row_count(self) -> int:
        """How many items there are, shown or not."""

    @property
    def rows_of_picture(self) -> int | None:
        """How many filtered rows fill the view; None: all are needed."""

    @property
    def shown_keys(self) -> Sequence[Hashable]:
        """All rows that are shown."""

    @property
    def is_attached(self) -> bool:
        """Whether it is on a screen."""

    @property
    def keeps_by_words(self) -> bool:
        """Whether a filter keeps exactly the matching rows; False where the pane overrides `kept`."""

    @property
    def counts_all(self) -> bool:
        """Whether the filter counts every item."""

    # What is shown

    def draw_row(self, item: Any, width: int) -> Line:
        """Return the line of an item."""

    def draw_more(self, item: Any, number: int, width: int) -> Line:
        """Return a further line of an item."""

    def ref(self, item: Any) -> str:
        """Return what stays the same when an item's content changes."""

    def with_ref(self, items: Sequence[Any], ref: str) -> Sequence[Any]:
        """Return the items that may have a ref."""

    def counts(self, item: Any) -> bool:
        """Return whether the filter counts an item."""

    def sorting(self, name: str, now: datetime, zone: tzinfo) -> Callable[[Any], Any]:
        """Return the key that items are sorted by."""

    def lacks(self, value: Any, name: str) -> bool:
        """Return whether a sort key means that there is no value."""

    def unfolded(self, keys: Sequence[Hashable]) -> Sequence[Hashable]:
        """Return the rows that are visible without a filter."""

    def kept(self, keys: Sequence[Hashable], needles: Needles) -> Sequence[Hashable]:
        """Return the rows that a filter keeps."""

    # What happens

    def set_filter(self, text: str, *, typed: bool = False) -> None:
        """Show only matching rows."""

    def show_keys(self, keys: Sequence[Hashable], *, redraw: bool = False, to_top: bool = False) -> None:
        """Show the sorted and filtered rows."""

    def moved(self) -> None:
        """Record that the person moved to another place in the pane."""

    def follow_cursor(self) -> None:
        """Show the entry under the cursor."""

    def say_title(self) -> None:
        """Set the title: the name and the counts."""

    def call_after_refresh(self, callback: Callable[[], object]) -> bool:
        """Call a function when everything is drawn."""
