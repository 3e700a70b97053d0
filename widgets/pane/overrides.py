"""What a pane says about itself and what it offers; see `widgets.pane.base` for how to write one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, ClassVar

from textual.widget import Widget

from widgets.detail import DetailLine, Link
from widgets.text.styled_text import Line, line

from .filter import haystack_of
from .offers import Badge, Build, FormPlan, Removal

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot


class PaneSays(Widget):
    """The part of `Pane` that its subclasses override; every method has an answer that fits most panes."""

    pane_id: ClassVar[str] = ""
    number: ClassVar[str] = ""
    title: ClassVar[str] = ""
    files: ClassVar[tuple[str, ...]] = ()
    empty: ClassVar[str] = "Nothing here yet."
    sorts: ClassVar[tuple[str, ...]] = ("file order",)
    filter_fields: ClassVar[tuple[str, ...]] = ()
    filter_words: ClassVar[tuple[str, ...]] = ()
    """What a filter by field is completed to, such as `is:stale`: the values of fields that have only a few."""
    filter_values: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """All values there are of the fields that have only a few, in lower case."""
    judged_fields: ClassVar[tuple[str, ...]] = ()
    """Fields of the filter about which `field_fits` decides."""
    item_name: ClassVar[str] = "entry"
    """What one item is called in sentences."""
    enter_words: ClassVar[str] = ""
    """What the footer says that Enter does to an item; empty where it shows the entry, as everywhere."""

    draws_alone: ClassVar[bool] = False
    """Whether every row is one of an `entry`, and looks as that and the minute say, whatever else is in the files."""

    snapshot: Snapshot | None = None
    """The files as they were last read."""

    # What a subclass says

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:
        """All rows in order; runs in a thread."""
        raise NotImplementedError

    def draw_row(self, item: Any, width: int) -> Line:  # noqa: ARG002
        """The line of an item in `width` cells."""
        return line(str(item))

    def draw_more(self, item: Any, number: int, width: int) -> Line:  # noqa: ARG002
        """A further line of an item, counted from 1."""
        return ()

    def detail(self, item: Any) -> Sequence[DetailLine]:  # noqa: ARG002
        """What the detail shows of an item, without its links."""
        return ()

    def detail_title(self, item: Any) -> str:
        """What stands in the frame of the detail."""
        return str(getattr(item, "title", ""))

    def overview(self) -> Sequence[DetailLine]:
        """What the detail shows while no item is under the cursor."""
        return ()

    def mark(self, item: Any) -> Hashable:
        """Equal as long as an item's content is; else its row flashes. Hashable, cheap, called for every item."""
        entry = getattr(item, "entry", None)
        # A neighbour that came or went changes only the blank lines after an entry.
        return hash(entry.raw.rstrip()) if entry is not None else (item.ref, repr(item))

    def ref(self, item: Any) -> str:
        """What stays the same when an item's content changes."""
        return str(item.ref)

    def with_ref(self, items: Sequence[Any], ref: str) -> Sequence[Any]:  # noqa: ARG002
        """The items among which `ref` looks for one; a pane of very many tells them without the ref of each."""
        return items

    def place(self, item: Any) -> str:
        """What stands at the right of the detail's frame: how the item is called elsewhere."""
        return self.ref(item)

    def copied_ref(self, item: Any) -> str:
        """What verbs of the command line call an item by; empty: nothing."""
        return self.place(item)

    def text(self, item: Any) -> str:
        """What the filter looks at; called once per item and content."""
        entry = getattr(item, "entry", None)
        return entry.text if entry is not None else " ".join(map(str, item.json().values()))

    def haystack(self, item: Any) -> str:
        """The same as words are looked for in it; a hundred thousand of them stand between a key and its answer."""
        return haystack_of(self.text(item))

    def field_text(self, item: Any, name: str) -> str:
        """The value that `name:value` in the filter looks at; `name` is one of `filter_fields`."""
        value = getattr(item, name, None)
        return " ".join(value) if isinstance(value, tuple) else str(value or "")

    def field_fits(self, item: Any, name: str, value: str) -> bool | None:  # noqa: ARG002
        """Whether `name:value` fits, for fields that are compared otherwise than by their words; None: by words."""
        return None

    def value_words(self, name: str, value: str) -> str:
        """What to say of a value in the filter that no item can have: which ones there are; empty for any other."""
        known = self.filter_values.get(name, ())
        if not known or any(value in one for one in known):
            return ""
        return f"{name}: is {', '.join(known[:-1])} or {known[-1]}."

    def counts(self, item: Any) -> bool:  # noqa: ARG002
        """Whether an item is one of those that the filter's `12 of 318` counts."""
        return True

    def sort_key(self, item: Any, name: str) -> Any:  # noqa: ARG002
        """What items are sorted by inside each heading, for every name of `sorts` but the first."""
        return 0

    def lacks(self, value: Any, name: str) -> bool:  # noqa: ARG002
        """Whether what an item is sorted by says that it has no such value: it comes last in either order."""
        return False

    def sorting(self, name: str, now: datetime, zone: tzinfo) -> Callable[[Any], Any]:  # noqa: ARG002
        """The key that items are sorted by inside each heading; runs in a thread."""
        return lambda item: self.sort_key(item, name)

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """A few words at the right of the list's title, for example `3 pending`; runs in a thread."""
        return ""

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """What the sidebar says of this pane; runs in a thread, also before the pane is mounted."""
        return Badge()

    def links(self, item: Any) -> Sequence[Link]:
        """Links below the detail; each target is `(file, ref)`. Runs in a thread, when the cursor rests."""
        from memory.files.links.links import links_of
        from widgets.text.words import short_date

        def when(text: str) -> str:
            day, _, time = text.partition(" ")
            return f"{short_date(day)} {time}".strip()

        assert self.snapshot is not None
        return [
            Link(found.label, found.title, (found.file, found.ref or f"line:{found.line}"), when=when(found.when))
            for found in links_of(self.snapshot, item)
        ]

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """The form of a new entry (near the cursor, where that says something)."""
        return None

    def editing(self, item: Any, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """The form of an entry."""
        return None

    def removing(self, items: Sequence[Any]) -> Removal | None:  # noqa: ARG002
        """The question before entries are removed, and the edit that removes them."""
        return None

    def source_text(self, item: Any) -> str | None:
        """The source of an item for $EDITOR and for copying; None: it has none of its own."""
        entry = getattr(item, "entry", None)
        return None if entry is None else entry.text

    def from_source(self, item: Any, text: str, now: datetime) -> Build | None:  # noqa: ARG002
        """The edit that replaces an item's source; None: not here."""
        return None
