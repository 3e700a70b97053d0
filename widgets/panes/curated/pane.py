"""The curated pane: memories by scope and type, hidden memories, the inbox, dreams and their gates, decisions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from memory.files.snapshot import Snapshot
from widgets.chrome.keys import with_keys
from widgets.detail import DetailLine, Link
from widgets.list.outline import OutlinePane
from widgets.pane.base import Badge, FormPlan, Removal
from widgets.text.styled_text import Line

from .detail import detail_lines
from .lines import LineContext, row_line
from .rows import DecisionRow, MemoryRow, RecordRow, ShadowRow, memory_ref, rows_of

if TYPE_CHECKING:
    from memory.curated.system import CuratedLook


def _look(snapshot: Snapshot) -> CuratedLook | None:
    from memory.curated.system import CuratedLook

    return snapshot.of("curated", CuratedLook)


class CuratedPane(OutlinePane):
    """Memories, each above those it hides; every change goes through the controller, which records its rule."""

    pane_id: ClassVar[str] = "curated"
    title: ClassVar[str] = "Curated"
    files: ClassVar[tuple[str, ...]] = (".agh/workspace.toml",)
    empty: ClassVar[str] = (
        "Memories of agents, one file each: yours, the workspace's, those of one agent. A controller decides on "
        "each write, and every decision can be taken back.\n\n"
        "Press {entry.add|a} to write the first one, and {curated.search|,} to see what a question finds. "
        "An agent writes one with `memdeck curated write`."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("part", "type", "scope", "agent", "op")
    filter_values: ClassVar[dict[str, tuple[str, ...]]] = {
        "part": ("health", "memories", "invalid", "inbox", "dreams", "decisions"),
        "type": ("user", "feedback", "project", "reference"),
        "scope": ("global", "workspace", "agent"),
        "op": ("add", "update", "delete", "noop", "reject"),
    }
    item_name: ClassVar[str] = "memory"
    asked_question = ""
    """The question that was searched last."""

    @property
    def seen(self) -> LineContext:
        """The time, zone and glyphs to draw with."""
        return LineContext(self.now, self.zone, self.glyphs, lambda text: with_keys(text, self.app))

    # What is shown

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:
        """The health row, memories, unreadable files, the inbox, dreams, decisions."""
        look = _look(snapshot)
        return () if look is None else tuple(rows_of(look.overview(now)))

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """How many files of the workspace are not memories."""
        look = _look(snapshot)
        return f"{len(look.invalid):,} not read" if look is not None and look.invalid else ""

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """How many memories the workspace has; files that are not memories, or an error, need attention."""
        look = _look(snapshot)
        if look is None:
            return Badge()
        return Badge(len(look.memories) or None, bool(look.invalid) or look.error is not None)

    def depth(self, item: Any) -> int:
        """Hidden memories are below the one that hides them."""
        return int(isinstance(item, ShadowRow))

    def folds(self, item: Any) -> bool:
        """Memories that hide others."""
        return isinstance(item, MemoryRow) and bool(item.hides)

    def counts(self, item: Any) -> bool:
        """Whether an item is counted: memories that are not hidden."""
        return isinstance(item, MemoryRow)

    def mark(self, item: Any) -> Hashable:
        """A memory changes with its bytes, a decision when it is carried out, a record with its values."""
        match item:
            case MemoryRow() | ShadowRow():
                return (item.ref, item.memory.hash)
            case DecisionRow():
                return (item.ref, item.decision["applied_at"])
            case _:
                return (item.ref, item.lead, item.text)

    def place(self, item: Any) -> str:
        """The file of a memory; the id of a decision."""
        if isinstance(item, MemoryRow | ShadowRow):
            return item.memory.filename
        return item.title if isinstance(item, DecisionRow) else ""

    def text(self, item: Any) -> str:
        """Words are searched in what a row shows, and in the texts of memories."""
        match item:
            case MemoryRow() | ShadowRow():
                memory = item.memory
                return f"{memory.header.name} {memory.header.description} {memory.filename} {memory.body}"
            case DecisionRow():
                made = item.decision
                return f"{made['op']} {made['target_filename']} {item.rule} {made['reason']} {item.title}"
            case _:
                return f"{item.title} {item.lead} {item.text}"

    def field_text(self, item: Any, name: str) -> str:
        """The part that a row belongs to; type, scope and agent of memories; scope, agent and outcome of decisions."""
        if name == "part":
            return str(item.part)
        if isinstance(item, MemoryRow | ShadowRow):
            root = item.memory.root
            return {"type": item.memory.header.type, "scope": root.scope, "agent": root.agent or ""}.get(name, "")
        if isinstance(item, DecisionRow):
            keys = {"scope": "scope", "agent": "agent_name", "op": "op"}
            return str(item.decision.get(keys.get(name, ""), "") or "")
        return ""

    def draw_row(self, item: Any, width: int) -> Line:
        """One line for each kind of row."""
        return row_line(item, self.seen, width)

    def detail(self, item: Any) -> Sequence[DetailLine]:
        """Everything in full."""
        decisions = [row.decision for row in self._all() if isinstance(row, DecisionRow)]
        return list(detail_lines(item, self.seen, decisions))

    def _all(self) -> Sequence[Any]:
        return () if self.contents is None else self.contents.rows.values

    def links(self, item: Any) -> Sequence[Link]:
        """Link a hidden memory to the one that hides it, a decision or a dream to its memory."""
        if isinstance(item, ShadowRow):
            winner = item.winner
            return [Link("hidden by", winner.filename, (self.files[0], memory_ref(winner)))]
        name = item.decision["target_filename"] if isinstance(item, DecisionRow) else ""
        name = item.record.get("target_filename") if isinstance(item, RecordRow) else name
        for row in self._all() if name else ():
            if isinstance(row, MemoryRow) and row.memory.filename == name:
                return [Link("memory", row.title, (self.files[0], row.ref))]
        return ()

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """The form of a new memory."""
        from .forms import new_memory

        agents = {row.memory.root.agent or "" for row in self._all() if isinstance(row, MemoryRow)}
        return new_memory(sorted(agents - {""}))

    def editing(self, item: Any, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """The form of a memory."""
        from .forms import edit_memory

        return edit_memory(item) if isinstance(item, MemoryRow) else None

    def removing(self, items: Sequence[Any]) -> Removal | None:
        """Forget memories."""
        from .forms import removal

        return removal([item for item in items if isinstance(item, MemoryRow)])

    def source_text(self, item: Any) -> str | None:
        """The text of a memory, for copying."""
        return item.memory.body if isinstance(item, MemoryRow | ShadowRow) else None
