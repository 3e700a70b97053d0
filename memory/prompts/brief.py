"""The brief of a workspace: what is overdue, what is in progress, what matches a message, from all systems."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime

from memory.base.told import why_not
from memory.errors import MemdeckError
from memory.files.status import Brief
from memory.files.status import brief as brief_of
from memory.files.tasks.model import Task
from memory.registry import system_name
from memory.search.hits import Hit
from memory.search.query import plain_query
from memory.search.searcher import Searcher
from memory.systems import contributions_of
from memory.systems.suspects import Suspect, suspects_of
from memory.workspace import Workspace

from .choices import Kind, read_choices
from .compose import AgentPrompt, PromptBlock, composed

DEFAULT_BUDGET = 1_000
"""The default budget of a brief, in tokens."""
START_TOKENS, MESSAGE_TOKENS = 1_500, 500
"""Tokens that hooks spend at the start of a session, and on a message."""
_SENTENCE_END = re.compile(r"[.?!;]+(?:\s|$)|[。？！；\n]")
_MOST_SENTENCES = 8
_FOUND = 6


def brief(
    workspace: Workspace,
    now: datetime,
    message: str = "",
    budget: int = DEFAULT_BUDGET,
    searcher: Searcher | None = None,
    agent: str = "",
) -> AgentPrompt:
    """Return what an agent should know at the aware time `now`; with a message also what matches it.

    The order: what is overdue and due, what is in progress, alerts, what the systems offer for the message (facts, the
    focus of the project state), what a search for it finds (if a searcher is given), the newest journal entries, what
    is due this week. A system that cannot be read is left out. Entries that the person pinned for the agent come first,
    and muted entries are not in the text; errors as `read_choices`.
    """
    choices = read_choices(workspace.state).for_agent(agent)
    blocks: list[PromptBlock] = []
    later: list[PromptBlock] = []
    present = workspace.system_names()
    if "files" in present:
        blocks += _readable(lambda: _files(workspace, now, later))
    blocks += _readable(lambda: list(_offered(workspace, now, message)))
    if message.strip() and searcher is not None:
        known = {block.ref for block in blocks}
        blocks += _readable(lambda: [one for one in _found(searcher, message) if one.ref not in known])
    known = {block.ref for block in blocks}
    blocks += [block for block in later if block.ref not in known]
    known = {block.ref for block in blocks}
    missing = {ref for ref, kind in choices.items() if kind == "pin" and ref not in known}
    blocks += _entries(workspace, missing)
    return _composed(workspace, _chosen(blocks, choices), budget)


def for_message(
    workspace: Workspace,
    now: datetime,
    message: str,
    budget: int = MESSAGE_TOKENS,
    searcher: Searcher | None = None,
    without: Collection[str] = (),
    agent: str = "",
) -> AgentPrompt:
    """Return only what matches a message at the aware time `now`: what systems offer because of it, and what a search
    finds if a searcher is given. The prompt is empty if nothing matches; the systems named in `without` are left out.
    Of the matches, pinned entries come first, and muted ones are not in the text; errors as `read_choices`.
    """
    choices = read_choices(workspace.state).for_agent(agent)
    always = {(one.system, one.ref, one.text, one.score) for one in _offered(workspace, now, "", without)}
    blocks = [
        one
        for one in _offered(workspace, now, message, without)
        if (one.system, one.ref, one.text, one.score) not in always
    ]
    if searcher is not None:
        known = {block.ref for block in blocks}
        blocks += _readable(lambda: [one for one in _found(searcher, message, without) if one.ref not in known])
    return _composed(workspace, _chosen(blocks, choices), budget)


def _composed(workspace: Workspace, blocks: list[PromptBlock], budget: int) -> AgentPrompt:
    """Return the prompt of blocks without those that look suspicious, unless a person approved their entries."""
    known: list[Suspect] = []

    def may_tell(block: PromptBlock) -> bool:

        if not known:
            known.extend(suspects_of(workspace))
        # Of entries with one name all must be approved: nobody knows from which of them the text comes.
        same = [one for one in known if (one.ref == block.ref if block.ref else one.title == block.title)]
        return bool(same) and all(one.approved for one in same)

    return composed(blocks, budget, "workspace", may_tell)


def is_searched(workspace: Workspace, without: Collection[str] = ()) -> bool:
    """Return whether a search may find what systems do not offer themselves; `for_message` drops all other hits."""
    hidden = _hidden(without)
    return any(not hidden.issuperset(system_name(name).kinds) for name in workspace.system_names())


def _hidden(without: Collection[str]) -> set[str]:
    """Return the kinds excluded from search hits: facts, which are offered anyway, and those of excluded systems."""
    return {"facts", *(kind for name in without for kind in system_name(name).kinds)}


def _chosen(blocks: list[PromptBlock], choices: Mapping[str, Kind]) -> list[PromptBlock]:
    """Return the blocks, each entry once, with pinned ones first in the order of the pins, and muted ones marked."""
    seen: set[str] = set()
    top: list[PromptBlock] = []
    rest: list[PromptBlock] = []
    for block in blocks:
        if block.ref in seen:
            continue
        seen |= {block.ref} if block.ref else set()
        kind = choices.get(block.ref or "")
        if kind == "pin":
            reason = "; ".join(filter(None, ("you pinned it", block.reason)))
            top.append(block._replace(section="Pinned", reason=reason, choice=kind))
        elif kind == "mute":
            rest.append(block._replace(reason="you muted it", choice=kind))
        else:
            rest.append(block)
    order = {ref: number for number, ref in enumerate(choices)}
    return sorted(top, key=lambda block: order[block.ref or ""]) + rest


def _entries(workspace: Workspace, refs: set[str]) -> Iterator[PromptBlock]:
    """Yield blocks for entries that are not in the prompt otherwise; none for entries that no longer exist."""
    left = set(refs)
    for system in workspace.systems() if left else ():
        for record in system.records(None, {}):
            ref = record.ref
            if ref in left:
                left.discard(ref)
                yield PromptBlock.of(system.name, "Pinned", ref, record.title, "", record.file)
            if not left:
                return


def _readable(read: Callable[[], list[PromptBlock]]) -> list[PromptBlock]:
    try:
        return read()
    except MemdeckError:
        return []


def _files(workspace: Workspace, now: datetime, later: list[PromptBlock]) -> list[PromptBlock]:
    """Return what is urgent in the memory files, and add the rest to `later`."""
    found = brief_of(workspace.snapshot().readable(), now)
    later += _news(found)
    return list(_urgent(found))


def _urgent(found: Brief) -> Iterator[PromptBlock]:
    for section, tasks, reason in (
        ("Overdue", found.overdue, "it is overdue"),
        ("Due today", found.due_today, "it is due today"),
        ("In progress", found.in_progress, "it is in progress"),
    ):
        for task in tasks:
            yield _task(section, task, reason)
    for monitor in found.alerts:
        yield PromptBlock.of(
            "files",
            "Alerts",
            monitor.ref,
            monitor.name,
            "it is not healthy",
            next(iter(monitor.status_at(found.now, found.snapshot.zone)), ""),
        )


def _news(found: Brief) -> Iterator[PromptBlock]:
    for entry in found.last_entries:
        when = f"{entry.date or ''} {entry.time or ''}".strip()
        yield PromptBlock.of("files", "Journal", entry.ref, entry.title, "it is new", when, 0.4)
    for task in found.due_week:
        yield _task("Due this week", task, "it is due this week", 0.3)


def _task(section: str, task: Task, reason: str, score: float = 1.0) -> PromptBlock:
    due = task.due_parts.date
    progress = None if task.progress is None else f"{task.progress}%"
    parts = (task.priority, f"due {due}" if due else None, progress, task.assigned)
    return PromptBlock.of(
        "files", section, task.ref, task.title, reason, ", ".join(part for part in parts if part), score
    )


def _offered(workspace: Workspace, now: datetime, message: str, without: Collection[str] = ()) -> Iterator[PromptBlock]:
    """Yield what the systems offer for the message, under their titles."""
    for one in contributions_of(workspace, message, now, without):
        title = one.title if one.text.split() == one.title.split() else f"{one.title}: {' '.join(one.text.split())}"
        section = system_name(one.system).title.capitalize()
        block = PromptBlock.of(one.system, section, one.ref, title, one.reason, score=one.score)
        yield block._replace(title=one.title) if block.suspicion else block


def _found(searcher: Searcher, message: str, without: Collection[str] = ()) -> Iterator[PromptBlock]:
    """Yield what is found for each sentence of a message: it may ask for several things."""
    hidden = _hidden(without)
    found: dict[tuple[str, int], Hit] = {}
    for sentence in _sentences(message):
        for hit in searcher.search(plain_query(sentence), _FOUND).every:
            place = (hit.entry.file, hit.entry.line)
            if hit.is_about and (place not in found or hit.score > found[place].score):
                found[place] = hit
    for hit in sorted(found.values(), key=lambda one: -one.score)[:_FOUND]:
        entry = hit.entry
        if entry.kind not in hidden:
            more = entry.file if hit.snippet == entry.title else f"{entry.file}: {hit.snippet}"
            block = PromptBlock.of(
                "search", "Found for the message", entry.ref, entry.title, "it fits the message", more, hit.score
            )
            # A line of an entry may be sound where the entry is not.
            yield block._replace(suspicion=block.suspicion or why_not(entry.kind, entry.title, entry.text))


def _sentences(message: str) -> list[str]:
    """Return the first and the last sentences of a message, each once."""
    parts = list(dict.fromkeys(part for part in _SENTENCE_END.split(message) if part.strip()))
    if len(parts) > _MOST_SENTENCES:
        parts = parts[: _MOST_SENTENCES // 2] + parts[-(_MOST_SENTENCES // 2) :]
    return parts
