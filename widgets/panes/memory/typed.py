"""The tab of typed memory: the core, procedural and episodic files of each agent, and what the next prune deletes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from memory.files.snapshot import Snapshot
from memory.typed.failures import FILE as FAILURES
from memory.typed.failures import summarise
from memory.typed.files import MAX_AGE, TYPES
from memory.typed.reading import failures_of, preview
from memory.typed.sizes import age_text, bytes_text
from widgets.list.rows import Heading
from widgets.pane.base import Badge, FormPlan
from widgets.pane.operation_form import form_of
from widgets.pane.records import Record, RecordPane
from widgets.text.styled_text import Piece

if TYPE_CHECKING:
    from memory.typed.files import MemoryFile
    from memory.typed.pruning import AgentStatus

KEPT = {"core": "always loaded", "procedural": "deleted after 90 days", "episodic": "deleted after 7 days"}
"""What happens to the files of a type."""
NEARLY = 0.8
"""The share of its time from which a file's age is a warning."""
WEEKS = 12
"""The most weeks of a failure log that are shown."""


class TypedPane(RecordPane):
    """The files of each agent by type; files that the next prune deletes are marked."""

    pane_id: ClassVar[str] = "typed"
    title: ClassVar[str] = "Typed"
    purpose: ClassVar[str] = "Files of each agent; old ones are deleted by a prune."
    empty: ClassVar[str] = (
        "The files of agents: core is always loaded, procedural is kept for 90 days, episodic for 7.\n\n"
        "No agent of this workspace has any yet. A folder becomes an agent with a file `Aidefile` in it, which may be "
        "empty, or with its name and path in ~/.aide/config.toml."
    )
    sorts: ClassVar[tuple[str, ...]] = ("path", "age", "size")
    filter_fields: ClassVar[tuple[str, ...]] = ("agent", "type")
    item_name: ClassVar[str] = "file"

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:
        """Yield a heading for each agent and type, and a row for each file; an agent that cannot be read says why."""
        for status in _agents(snapshot, now):
            name = status.look.agent.name
            if status.look.error is not None:
                yield Heading(name)
                yield Record(f"{name}:", status.look.error.message, sign="alert", tone="alert", values={"agent": name})
                continue
            taken = {file.path for file in status.prune.deleted}
            for kind in TYPES:
                files = status.look.of(kind)
                if files:
                    yield Heading(f"{name}: {kind}", f"{len(files):,}, {KEPT[kind]}", "age")
                    yield from (_record(status, file, file.path in taken) for file in files)

    def remark(self, snapshot: Snapshot, now: datetime) -> str:
        """Return how many files the next prune deletes."""
        count = sum(len(status.prune.deleted) for status in _agents(snapshot, now))
        return f"next prune: {count:,}" if count else ""

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:
        """Return how many files there are; an agent over its limit or with a broken Aidefile needs attention."""
        agents = _agents(snapshot, now)
        alert = any(status.look.error is not None or (status.look.fill or 0) > 1 for status in agents)
        return Badge(sum(len(status.look.files) for status in agents), alert) if agents else Badge()

    def sort_key(self, item: Record, name: str) -> Any:
        """Return the sort key: the oldest first, or the largest."""
        if item.thing is None:
            return 0
        _, file = item.thing
        return file.changed.timestamp() if name == "age" else -file.size

    def place(self, item: Record) -> str:
        """Return the path, as the command line accepts it."""
        return item.values.get("path", "")

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return the file's properties, when it is pruned, how full the agent is, and a preview of the file."""
        if item.thing is None:
            return {"agent": item.values["agent"]}
        status, file = item.thing
        seconds = file.age(status.now).total_seconds()
        limit = MAX_AGE.get(file.type)
        left = 0.0 if limit is None else limit.total_seconds() - seconds
        held = next((holder for holder in status.look.locks if holder.path == file.path), None)
        tokens = f"{status.look.tokens:,}"
        tokens += f" of {status.look.limit:,} tokens, {status.look.fill:.0%}" if status.look.limit else " tokens"
        failures = failures_of(status.look).notes if (file.type, file.name) == ("procedural", FAILURES) else ()
        return {
            "agent": status.look.agent.name,
            "type": f"{file.type}, {KEPT[file.type]}",
            "size": bytes_text(file.size),
            "changed": f"{age_text(seconds)} ago" if seconds >= 60 else "just now",
            "pruned": Piece("by the next prune", "alert") if item.tone == "alert" else
            "never" if limit is None else f"in {age_text(max(left, 60))}" if left > 0 else "is due",
            "locked by": held and Piece(held.text(), "warn"),
            "agent uses": Piece(tokens, "alert" if (status.look.fill or 0) > 1 else "plain"),
            "failures by week": dict(list(summarise(failures)["by_week"].items())[-WEEKS:]),
            "": preview(status.look.agent.folder, file),
        }  # fmt: skip

    def source_text(self, item: Record) -> str | None:
        """Return the beginning of the file, for copying."""
        return None if item.thing is None else str(self.told(item)[""])

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """Return the form that appends a text to a file of an agent, which may be new."""
        item = self.current()
        return form_of("typed merge", "Add to a file of an agent", {} if item is None else item.values, focus="text")


def _record(status: AgentStatus, file: MemoryFile, taken: bool) -> Record:
    seconds = file.age(status.now).total_seconds()
    limit = MAX_AGE.get(file.type)
    old = limit is not None and seconds / limit.total_seconds() >= NEARLY
    name = status.look.agent.name
    return Record(
        f"{name}:{file.path}", file.path, about=bytes_text(file.size), when=age_text(seconds),
        sign="alert" if taken else "diamond" if file.locked else "",
        tone="alert" if taken else "warn" if old else "plain",
        values={"agent": str(status.look.agent.folder), "type": file.type, "path": file.path, "source": file.path},
        mark=(file, taken),
        source=f"{status.look.agent.folder}/{file.path}",
        thing=(status, file),
    )  # fmt: skip


def _agents(snapshot: Snapshot, now: datetime) -> Sequence[AgentStatus]:
    from memory.typed.system import TypedLook

    look = snapshot.of("typed", TypedLook)
    return () if look is None else look.at(now)
