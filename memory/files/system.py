"""The memory files of `.aiter/memory` as a system."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import replace
from datetime import datetime
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

from memory.base.items import Committed, Item, Skipped, Taken
from memory.base.problems import Problem
from memory.base.safe_text import plural
from memory.base.word_lists import sounds_like_rule
from memory.errors import MemdeckError
from memory.search.records import FILE_KINDS, RECORDS, FileRecords, Record, records, records_of_memory_files
from memory.system import Contribution, System
from memory.workspace import Workspace

from . import MEMORY_FILES, MEMORY_FOLDER
from .edit import Edit
from .knowledge import KnowledgeItem
from .monitors import FILE
from .snapshot import Snapshot
from .status import Brief, brief
from .tasks.model import Task
from .tasks.order import URGENCY, sort_key

if TYPE_CHECKING:
    from memory.maintenance.report import Report
    from memory.trust.asks import Ask

_RULES = ("preference", "rule", "convention", "guideline", "polic", "standing", "style")
"""Parts of the names of sections that hold rules."""
_MOST_NEWS = 40
_MOST_OPEN = 30


class WorkspaceMemory(System):
    """The memory files of `.aiter/memory` as a system."""

    name = "files"

    def __init__(self, workspace: Workspace) -> None:
        """Keep the workspace."""
        self._workspace = workspace

    def present(self) -> bool:
        """Return whether the folder `.aiter/memory` exists."""
        return self._workspace.memory.is_dir()

    def files(self) -> Iterable[str]:
        """Return the memory files and the archive files."""
        return [f"{MEMORY_FOLDER}/{name}" for name in (*MEMORY_FILES, *self._workspace.snapshot().archive_names)]

    def owns(self, name: str) -> bool:
        """Return whether a name is that of a file in the memory folder."""
        return name.endswith(".md") and name.count("/") == name.startswith("archive/")

    def look(self) -> Snapshot:
        """Return a snapshot of the memory files."""
        return self._workspace.snapshot()

    def check(self, names: Sequence[str] | None = None) -> tuple[Problem, ...]:
        """Return the problems in the memory files."""
        from memory.monitoring.settings import monitor_problems

        from .check import check_files

        snapshot = self._workspace.snapshot()
        found = check_files(snapshot, names)
        more = monitor_problems(snapshot) if names is None or FILE in names else ()
        return tuple(sorted({*found, *more}, key=lambda one: (one.file, one.line, one.code, one.message)))

    def maintain(self, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False) -> Report:
        """Apply the four rules; see `memory.maintenance.run.maintain`."""
        from memory.maintenance.run import maintain

        return maintain(self._workspace, now, actor=actor, dry_run=dry_run, force=force)

    def items(self) -> Iterator[Item | Skipped]:
        """Yield every entry, archives included."""
        from .exchange import items_of

        return items_of(self._workspace.snapshot())

    def take(self, items: Sequence[Item], *, place: str = "", actor: str, now: datetime) -> Taken:  # noqa: ARG002
        """Convert items to tasks, journal entries, contacts, and the rest to knowledge; in one change."""
        from .exchange import DraftDocuments

        drafts = DraftDocuments(self._workspace.snapshot(), items, now)

        def commit() -> Committed:
            def build(snapshot: Snapshot) -> Edit:
                made = DraftDocuments(snapshot, items, now)
                return Edit(made.documents, f"converted {plural(len(made.converted), 'entry')}")

            change = self._workspace.change("files.convert", build, actor=actor, now=now).change
            return Committed((change.id,) if change.files else ())

        return Taken(drafts.converted, drafts.skipped, drafts.losses, commit)

    def records(
        self, kinds: Collection[str] | None = None, refused: MutableMapping[str, MemdeckError] | None = None
    ) -> Iterator[Record]:
        """Yield tasks, journal entries, knowledge, contacts, plans, monitors and settings."""
        snapshot = self._workspace.snapshot()
        if refused is not None:
            snapshot = snapshot.readable()
        yield from records(snapshot, FILE_KINDS if kinds is None else kinds)
        if refused is not None:
            refused.update(snapshot.refusals)

    def contributions(self, message: str, now: datetime) -> Iterable[Contribution]:
        """Return what an agent should know when a session begins; for a message a search finds the entries."""
        return () if message.strip() else _offered(self._workspace.snapshot().readable(), now)

    def wants(self) -> Iterable[Ask]:
        """Return the commands and addresses of monitors, and the actions of open tasks."""
        from memory.trust.asks import task_asks

        snapshot = self._workspace.snapshot()
        return (*monitors_want(snapshot), *task_asks(snapshot.tasks))

    def records_by_file(self, refused: MutableMapping[str, MemdeckError]) -> Iterator[FileRecords]:  # noqa: ARG002
        """Yield the records of each file, for the index; an unreadable file raises when its records are requested."""
        return records_of_memory_files(self._workspace.snapshot(), self._workspace.memory)

    def status(self, now: datetime) -> Mapping[str, object]:
        """Return counts by file, tasks that are due, overdue and in progress, and monitors that fail or are stale."""
        found = brief(self._workspace.snapshot().readable(), now)
        parts = ("overdue", "due_today", "in_progress", "failing", "stale")
        return {"counts": dict(found.counts), **{part: len(getattr(found, part)) for part in parts}}


def monitors_want(snapshot: Snapshot) -> tuple[Ask, ...]:
    """Return the commands and addresses of monitors as asks.

    The ask of a monitor that could not run cannot be approved, because that would have no effect.
    """
    from memory.monitoring.settings import broken
    from memory.trust.asks import monitor_asks

    monitors = snapshot.monitors.items
    why = {monitor.name: broken(monitor, snapshot.root) for monitor in monitors}
    return tuple(
        replace(ask, ambiguous=why[ask.name]) if not ask.ambiguous and why.get(ask.name) else ask
        for ask in monitor_asks(monitors)
    )


def _offered(snapshot: Snapshot, now: datetime) -> Iterator[Contribution]:
    """Yield what an agent should know of the files at `now`; each part is in its own order, the most useful first."""
    known = list(snapshot.knowledge.items)
    for item in known:
        if _is_rule(item):
            yield _of("knowledge", item, "rules", "a standing rule")
        elif _is_gotcha(item):
            yield _of("knowledge", item, "gotchas", "a gotcha")
    for item in sorted(known, key=lambda one: one.date or "", reverse=True):
        if item.kind == "decision" and not _is_rule(item):
            yield _of("knowledge", item, "decisions", "it was decided", date=item.date or "")
    found = brief(snapshot, now)
    yield from _tasks(found)
    for plan in snapshot.plans.items:
        if plan.status == "running":
            yield _of("plans", plan, "running", "the plan is running")
    for monitor in (*found.failing, *found.stale):
        state = ", ".join(monitor.status_at(now, snapshot.zone))
        yield Contribution("files", monitor.ref, monitor.name, state, "it is not healthy", 1.0, "alerts")
    for entry in snapshot.journal.entries(limit=_MOST_NEWS):
        if entry.lines and not _is_routine(entry.title):
            when = f"{entry.date or ''} {entry.time or ''}".strip()
            yield _of("journal", entry, "news", "it is new", date=when)
    for item in reversed(known):
        if item.kind == "fact" and not _is_rule(item) and not _is_gotcha(item):
            yield _of("knowledge", item, "rest", "a fact")
    for person in snapshot.contacts.people:
        yield _of("contacts", person, "rest", "a contact")


def _is_rule(item: KnowledgeItem) -> bool:
    """Return whether an item tells people and agents how to act."""
    place = f"{item.section} {item.topic or ''}".casefold()
    return any(word in place for word in _RULES) or (item.kind == "fact" and sounds_like_rule(item.text))


def _is_gotcha(item: KnowledgeItem) -> bool:
    """Return whether an item is in a section of traps."""
    return "gotcha" in item.section.casefold()


def _tasks(found: Brief) -> Iterator[Contribution]:
    for part, tasks, reason in (
        ("overdue", found.overdue, "it is overdue"),
        ("today", found.due_today, "it is due today"),
        ("week", found.due_week, "it is due this week"),
        ("running", found.in_progress, "it is in progress"),
    ):
        for task in tasks:
            yield _of("tasks", task, part, reason, assigned=task.assigned or "")
    for task in _later(found):
        yield _of("tasks", task, "open", "it is open", assigned=task.assigned or "")


def _later(found: Brief) -> list[Task]:
    """Return the first pending tasks that are due later than in a week or have no due date, by priority and date."""
    soon = {task.at for task in (*found.overdue, *found.due_today, *found.due_week)}
    pending = (task for task in found.snapshot.tasks.in_section("pending") if task.at not in soon)
    return nsmallest(_MOST_OPEN, pending, key=sort_key(URGENCY, found.now, found.snapshot.zone))


def _is_routine(title: str) -> bool:
    """Return whether a journal entry is only a sign of life."""
    return "heartbeat" in title.casefold()


def _of(kind: str, item: Any, part: str, reason: str, *, assigned: str = "", date: str = "") -> Contribution:
    record = RECORDS[kind](item)
    return Contribution("files", record.ref, record.title, record.text, reason, 1.0, part, assigned, date)
