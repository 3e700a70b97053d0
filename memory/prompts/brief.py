"""The brief of a workspace: what is late, what is going on, what fits a message, from all systems."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from memory.errors import MemdeckError

from .model import Block, Prompt, composed

if TYPE_CHECKING:
    from memory.files.status import Brief
    from memory.files.tasks.model import Task
    from memory.search import Query
    from memory.search.searcher import Searcher
    from memory.workspace import Workspace

DEFAULT_BUDGET = 1_000
"""Tokens of a brief where nobody says how many."""
_FOUND = 6


def brief(
    workspace: Workspace,
    now: datetime,
    message: str = "",
    budget: int = DEFAULT_BUDGET,
    searcher: Searcher | None = None,
) -> Prompt:
    """Return what an agent should know at the aware time `now`; with a message also what fits it.

    The order: what is late and due, what is in progress, alerts, what the systems offer for the message (facts, the
    focus of the project state), what a search for it finds (where a searcher is given), the newest journal entries,
    what is due this week. A system that cannot be read is left out.
    """
    blocks: list[Block] = []
    later: list[Block] = []
    present = workspace.system_names()
    if "files" in present:
        blocks += _readable(lambda: _files(workspace, now, later))
    blocks += _readable(lambda: list(_offered(workspace, now, message)))
    if message.strip() and searcher is not None:
        known = {block.ref for block in blocks}
        blocks += _readable(lambda: [one for one in _found(searcher, message, now) if one.ref not in known])
    known = {block.ref for block in blocks}
    blocks += [block for block in later if block.ref not in known]
    zone = workspace.snapshot(zone_refused=_nobody).zone
    return composed(blocks, budget, now.astimezone(zone).strftime("%Y-%m-%d %H:%M"))


def for_message(
    workspace: Workspace,
    now: datetime,
    message: str,
    budget: int,
    searcher: Searcher | None = None,
    without: Collection[str] = (),
) -> Prompt:
    """Return what fits a message at the aware time `now`, and nothing else: what systems offer for its sake, and what
    a search finds where a searcher is given. The prompt is empty where nothing fits; the systems named in `without`
    are left out.
    """
    always = {(one.system, one.ref, one.text, one.score) for one in _offered(workspace, now, "", without)}
    blocks = [
        one
        for one in _offered(workspace, now, message, without)
        if (one.system, one.ref, one.text, one.score) not in always
    ]
    if searcher is not None:
        known = {block.ref for block in blocks}
        blocks += _readable(lambda: [one for one in _found(searcher, message, now, without) if one.ref not in known])
    zone = workspace.snapshot(zone_refused=_nobody).zone
    return composed(blocks, budget, now.astimezone(zone).strftime("%Y-%m-%d %H:%M"))


def _readable(read: Callable[[], list[Block]]) -> list[Block]:
    try:
        return read()
    except MemdeckError:
        return []


def _nobody(_: MemdeckError) -> None:
    """Leave it to `check` to say why config.md cannot be read."""


def _files(workspace: Workspace, now: datetime, later: list[Block]) -> list[Block]:
    """Return what is urgent in the memory files, and put what may wait into `later`."""
    from memory.files.status import brief as brief_of

    found = brief_of(workspace.snapshot().readable(), now)
    later += _news(found)
    return list(_urgent(found))


def _urgent(found: Brief) -> Iterator[Block]:
    for section, tasks, reason in (
        ("Overdue", found.overdue, "it is overdue"),
        ("Due today", found.due_today, "it is due today"),
        ("In progress", found.in_progress, "it is in progress"),
    ):
        for task in tasks:
            yield _task(section, task, reason)
    for monitor in found.alerts:
        yield Block.of("files", "Alerts", monitor.ref, monitor.name, "it is not healthy", monitor.last_status or "")


def _news(found: Brief) -> Iterator[Block]:
    for entry in found.last_entries:
        when = f"{entry.date or ''} {entry.time or ''}".strip()
        yield Block.of("files", "Journal", entry.ref, entry.title, "it is new", when, 0.4)
    for task in found.due_week:
        yield _task("Due this week", task, "it is due this week", 0.3)


def _task(section: str, task: Task, reason: str, score: float = 1.0) -> Block:
    due = task.due_parts.date
    progress = None if task.progress is None else f"{task.progress}%"
    parts = (task.priority, f"due {due}" if due else None, progress, task.assigned)
    return Block.of("files", section, task.ref, task.title, reason, ", ".join(part for part in parts if part), score)


def _offered(workspace: Workspace, now: datetime, message: str, without: Collection[str] = ()) -> Iterator[Block]:
    """Yield what the systems offer for the message, below their titles."""
    from memory.registry import system_name
    from memory.systems import contributions_of

    for one in contributions_of(workspace, message, now, without):
        title = one.title if one.text.split() == one.title.split() else f"{one.title}: {' '.join(one.text.split())}"
        section = system_name(one.system).title.capitalize()
        yield Block.of(one.system, section, one.ref, title, one.reason, score=one.score)


def _found(searcher: Searcher, message: str, now: datetime, without: Collection[str] = ()) -> Iterator[Block]:
    from memory.registry import system_name
    from memory.search import read_day, read_query

    query: Query = read_query(message[:500], lambda day: read_day(day, now.date()))
    hidden = {"facts", *(kind for name in without for kind in system_name(name).kinds)}
    for hit in searcher.search(query, _FOUND).every:
        entry = hit.entry
        if entry.kind not in hidden:
            more = entry.file if hit.snippet == entry.title else f"{entry.file}: {hit.snippet}"
            yield Block.of(
                "search", "Found for the message", entry.ref, entry.title, "it fits the message", more, hit.score
            )
