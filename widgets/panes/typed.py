"""The typed pane: agents, their core, procedural and episodic files, the age of each, what the next prune deletes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from memory.files.snapshot import Snapshot
from widgets.detail import Caption, DetailLine, Labelled, Lines, Link, Prose, Spacer, Title
from widgets.list.rows import Heading
from widgets.pane.base import Badge, Pane
from widgets.panes.titled_row import TitledRow
from widgets.text.styled_text import Column, Columns, Line, Piece, Tone, clip_line, line

if TYPE_CHECKING:
    from memory.typed import AgentStatus, MemoryFile
    from memory.typed.failures import Failure
    from memory.typed.system import TypedLook

ROW = Columns(
    Column("sign", 1, importance=9),
    Column("path", minimum=20),
    Column("size", 8, "right", importance=1),
    Column("bar", 10, importance=2),
    Column("age", 7, "right", importance=3),
)
BAR, FILL = 10, 30
"""Cells of the bar of an age, and of the bar of an agent's tokens."""
WEEKS = 12
"""The most weeks of a failure log that are shown."""
NEARLY = 0.8
"""The share of its time, or of an agent's limit, from which a warning is shown."""


@dataclass(frozen=True, slots=True)
class AgentRow(TitledRow):
    """A row of an agent."""

    status: AgentStatus

    @property
    def agent(self) -> str:
        """The agent's name, for the filter."""
        return self.status.agent.name


@dataclass(frozen=True, slots=True)
class TypedRow(AgentRow):
    """One file of an agent as it is now, titled by its path; `taken`: the next prune deletes it."""

    file: MemoryFile
    taken: bool

    @property
    def type(self) -> str:
        """The type, for the filter."""
        return self.file.type

    @property
    def share(self) -> float | None:
        """The share of its time that has passed; None for a core file, which never expires."""
        from memory.typed.files import MAX_AGE

        limit = MAX_AGE.get(self.file.type)
        return None if limit is None else max(0.0, self.seconds / limit.total_seconds())

    @property
    def seconds(self) -> float:
        """Its age in seconds."""
        return self.file.age_ns(self.status.now_ns) / 1e9


@dataclass(frozen=True, slots=True)
class Trouble(AgentRow):
    """An agent that cannot be read, in place of its files, titled by what is wrong."""

    type = ""


class TypedPane(Pane):
    """The files of each agent by type; files that the next prune deletes are marked."""

    pane_id: ClassVar[str] = "typed"
    title: ClassVar[str] = "Typed memory"
    empty: ClassVar[str] = (
        "The files of agents: core is always loaded, procedural is kept for 90 days, episodic for 7.\n\n"
        "No agent of this workspace has any yet. A folder becomes an agent with a file `Aidefile` in it, which may be "
        "empty, or with its name and path in ~/.aide/config.toml."
    )
    sorts: ClassVar[tuple[str, ...]] = ("path", "age", "size")
    filter_fields: ClassVar[tuple[str, ...]] = ("agent", "type")
    item_name: ClassVar[str] = "file"

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:
        """A heading per agent and type, and a row per file; an agent that cannot be read shows why."""
        from memory.typed.files import TYPES
        from memory.typed.sizes import bytes_text

        found: list[Any] = []
        for status in _agents(snapshot, now):
            name = status.agent.name
            if status.look.error is not None:
                found += [Heading(name), Trouble(f"{name}:", status.look.error.message, status)]
                continue
            taken = {file.path for file in status.prune.deleted}
            for kind in TYPES:
                files = status.found.of(kind)
                if files:
                    note = f"{len(files):,}, {bytes_text(sum(file.size for file in files))}"
                    found.append(Heading(f"{name}: {kind}", note))
                    found += [
                        TypedRow(f"{name}:{file.path}", file.path, status, file, file.path in taken) for file in files
                    ]
        return found

    def remark(self, snapshot: Snapshot, now: datetime) -> str:
        """How many files the next prune deletes."""
        count = sum(len(status.prune.deleted) for status in _agents(snapshot, now))
        return f"next prune: {count:,}" if count else ""

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:
        """How many files there are; an agent over its limit or with a broken Aidefile needs attention."""
        agents = _agents(snapshot, now)
        if not agents:
            return Badge()
        alert = any(status.look.error is not None or (status.fill or 0) > 1 for status in agents)
        return Badge(sum(len(status.found.files) for status in agents), alert)

    def mark(self, item: TypedRow | Trouble) -> Hashable:
        """What its row depends on: a written, moved or locked file flashes; one that only grew older does not."""
        if isinstance(item, Trouble):
            return item.title
        return (item.file, item.taken)

    def text(self, item: TypedRow | Trouble) -> str:
        """Agent, type and path."""
        if isinstance(item, Trouble):
            return f"{item.agent} {item.title}"
        return f"{item.agent} {item.type} {item.file.path}"

    def sort_key(self, item: TypedRow | Trouble, name: str) -> Any:
        """The sort key: the oldest first, or the largest."""
        if isinstance(item, Trouble):
            return 0
        return -item.seconds if name == "age" else -item.file.size

    def place(self, item: TypedRow | Trouble) -> str:
        """The path, as the command line accepts it."""
        return "" if isinstance(item, Trouble) else item.file.path

    def links(self, item: TypedRow | Trouble) -> Sequence[Link]:  # noqa: ARG002
        """A file of an agent links to nothing."""
        return ()

    def draw_row(self, item: TypedRow | Trouble, width: int) -> Line:
        """Draw sign (locked, or deleted by the next prune), path, size, the share of its time that has passed, age."""
        if isinstance(item, Trouble):
            return clip_line(line(Piece(self.glyphs.alert, "alert"), " ", Piece(item.title, "alert")), width)
        from memory.typed.sizes import age_text, bytes_text

        tone: Tone = "alert" if item.taken else "warn" if (item.share or 0) >= NEARLY else "muted"
        sign = Piece("L", "warn") if item.file.locked else Piece(self.glyphs.alert if item.taken else " ", "alert")
        return ROW.line(
            width,
            {
                "sign": sign,
                "path": item.file.path,
                "size": Piece(bytes_text(item.file.size), "muted"),
                "bar": Piece(self._bar(item.share, BAR), tone),
                "age": Piece(age_text(item.seconds), tone),
            },
        )

    def _bar(self, share: float | None, cells: int) -> str:
        if share is None:
            return ""
        full = min(cells, int(share * cells))
        return self.glyphs.bar_full * full + self.glyphs.bar_empty * (cells - full)

    def detail(self, item: TypedRow | Trouble) -> Sequence[DetailLine]:
        """The file's properties and when it is pruned, how full the agent is, and a preview of the file."""
        if isinstance(item, Trouble):
            folder = Labelled("folder", str(item.status.agent.folder))
            return [Title(item.agent), folder, Spacer(), Prose(item.title, tone="alert")]
        from memory.typed.files import MAX_AGE
        from memory.typed.sizes import age_text, bytes_text

        file, status = item.file, item.status
        limit = MAX_AGE.get(file.type)
        lines: list[DetailLine] = [
            Title(file.path),
            Labelled("agent", status.agent.name),
            Labelled("type", file.type),
            Labelled("size", bytes_text(file.size)),
            Labelled("changed", f"{age_text(item.seconds)} ago" if item.seconds >= 60 else "just now"),
        ]
        if limit is None:
            lines.append(Labelled("pruned", "never"))
        else:
            left = limit.total_seconds() - item.seconds
            words = "by the next prune" if item.taken else "is due" if left < 0 else f"in {age_text(max(left, 60))}"
            lines.append(Labelled("pruned", words, "alert" if item.taken else "plain"))
        held = next((holder for holder in status.look.locks if holder.path == file.path), None)
        if held is not None:
            lines.append(Labelled("locked by", held.text(), "warn"))
        lines += [Spacer(), *self._agent_lines(status)]
        look = None if self.snapshot is None else _look(self.snapshot)
        if look is not None:
            lines += [*self._weeks(look.failures_in(status.agent, file)), Spacer(), Caption("PREVIEW")]
            lines.append(Prose(look.preview(status.agent, file), markdown=file.path.endswith(".md")))
        return lines

    def _agent_lines(self, status: AgentStatus) -> list[DetailLine]:
        tokens = f"{status.found.tokens:,}"
        if status.limit is None or status.fill is None:
            return [Caption("AGENT"), Labelled("tokens", tokens)]
        tone: Tone = "alert" if status.fill > 1 else "warn" if status.fill >= NEARLY else "good"
        bar = line(Piece(self._bar(status.fill, FILL), tone), Piece(f" {status.fill:.0%}", tone))
        return [Caption("AGENT"), Labelled("tokens", f"{tokens} of {status.limit:,}"), Lines((bar,))]

    def _weeks(self, failures: Sequence[Failure]) -> list[DetailLine]:
        """Failures by reason and by week, where the file is a failure log."""
        if not failures:
            return []
        from memory.typed.failures import summarise

        found = summarise(failures)
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in found.by_reason.items())
        weeks = list(found.by_week.items())[-WEEKS:]
        most = max(count for _, count in weeks)
        bars = tuple(
            line(
                Piece(f"{week}  ", "muted"), f"{count:>5,} ", Piece(self.glyphs.bar_full * max(1, BAR * count // most))
            )
            for week, count in weeks
        )
        return [Spacer(), Caption("FAILURES"), Labelled("reasons", reasons), Lines(bars)]

    def source_text(self, item: TypedRow | Trouble) -> str | None:
        """The beginning of the file, for copying."""
        if isinstance(item, Trouble):
            return None
        look = None if self.snapshot is None else _look(self.snapshot)
        return None if look is None else str(look.preview(item.status.agent, item.file))


def _look(snapshot: Snapshot) -> TypedLook | None:
    from memory.typed.system import TypedLook

    return snapshot.of("typed", TypedLook)


def _agents(snapshot: Snapshot, now: datetime) -> Sequence[AgentStatus]:
    look = _look(snapshot)
    return () if look is None else look.at(now)
