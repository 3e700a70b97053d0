"""What agents are told: at the beginning of a session what they should know, and for a message what belongs to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from memory.base.words import content_words
from memory.errors import MemdeckError
from memory.proof.findings import findings_of
from memory.registry import system_name
from memory.search.hits import Hit
from memory.search.query import plain_query
from memory.search.records import FoundEntry, derived_ref
from memory.search.searcher import Searcher
from memory.storage.changes import AGENT
from memory.system import Contribution, System
from memory.systems import contributions_of
from memory.workspace import Workspace

if TYPE_CHECKING:
    from memory.systems.suspects import Suspect

from .compose import (
    AgentPrompt,
    PromptBlock,
    composed,
    concerns,
    content_of,
    intents,
    parts_asked,
    safe_line,
    shortened,
)
from .sheet import read_choices

DEFAULT_BUDGET = 1_000
"""The default budget of a brief, in tokens."""
START_TOKENS, MESSAGE_TOKENS = 1_500, 500
"""Tokens that hooks spend at the start of a session, and on a message."""
SECTIONS = {
    "rules": "Rules and preferences",
    "gotchas": "Gotchas",
    "next": "Next steps",
    "decisions": "Decisions",
    "overdue": "Overdue",
    "today": "Due today",
    "alerts": "Alerts",
    "due": "Due",
    "week": "Due this week",
    "running": "In progress",
    "news": "News",
    "open": "Open tasks",
    "rest": "Also known",
}
"""The headings of a prompt by the part that they introduce, in their order."""
FOR_MESSAGE, RULES = "Matches the message", "Rules for this"
_MOST_RULES, _SEARCHED, _FOUND, _EACH = 3, 16, 8, 6
_LENGTH, _MESSAGE_LENGTH = 420, 360
"""Characters of the content of an entry in a brief, and for a message."""
_GIT_SECONDS = 2.0
"""Seconds for which the start of a session waits for what git knows of removed files; a message does not."""
_DOUBT = 160
"""Characters of what is in doubt about an entry."""
_LEAST_NEWS, _FROM_BEST = 5, 0.45
_LEAST_WORDS = 3
_ASSIGNED = ("overdue", "today", "week", "running", "open")


def brief(
    workspace: Workspace,
    now: datetime,
    message: str = "",
    budget: int = DEFAULT_BUDGET,
    searcher: Searcher | None = None,
    agent: str = "",
    since: str = "",
) -> AgentPrompt:
    """Return what an agent should know at the aware time `now`; with a message and a searcher first what belongs to it.

    The order is that of `SECTIONS`; of tasks, those of the agent come first. `since` is when its last session began
    (`YYYY-MM-DD HH:MM` in the workspace's zone): older news than that are left out, but the newest five. The text is
    the same as long as the memory is, and the day. A system that cannot be read is left out. Entries that the person
    pinned come first, and muted entries are not in the text; errors as `read_choices`.
    """
    choices = read_choices(workspace.state).chosen
    offered = _at_start(workspace, now, agent, since)
    blocks = _matching(workspace, now, message, searcher) if searcher is not None and message.strip() else []
    blocks += [_block(one, SECTIONS.get(one.part, SECTIONS["rest"]), _LENGTH) for one in offered]
    known = {block.ref for block in blocks}
    missing = {ref for ref, kind in choices.items() if kind == "pin" and ref not in known}
    blocks += _entries(workspace, missing)
    return _composed(workspace, blocks, choices, budget, tells_rest=True)


def for_message(
    workspace: Workspace,
    now: datetime,
    message: str,
    budget: int = MESSAGE_TOKENS,
    searcher: Searcher | None = None,
) -> AgentPrompt:
    """Return only what belongs to a message at the aware time `now`: the rules for what it asks to do, what systems
    offer because of it, and what a search finds for each thing that it asks, if a searcher is given.

    The prompt is empty if nothing fits. Of the matches, pinned entries come first, and muted ones are not in the text;
    errors as `read_choices`.
    """
    choices = read_choices(workspace.state).chosen
    blocks = _matching(workspace, now, message, searcher)
    return _composed(workspace, blocks, choices, budget)


# -- at the start --------------------------------------------------------------------------------------------------


def _at_start(workspace: Workspace, now: datetime, agent: str, since: str) -> list[Contribution]:
    """Return what all systems offer, in the order of use to the agent."""
    offered = list(contributions_of(workspace.systems(), "", now))
    with suppress(MemdeckError):
        offered += _rejected(workspace, agent)
    name = agent.strip().removeprefix(AGENT).casefold() or "*"
    order = list(SECTIONS)
    turns: Counter[str] = Counter()

    def place(one: Contribution) -> tuple[int, bool, int]:
        part = one.part if one.part in SECTIONS else "rest"
        # The systems take turns in the last part, so that none of them fills the rest of the budget.
        turns[one.system] += part == "rest"
        of_another = part in _ASSIGNED and one.assigned.casefold() != name
        return order.index(part), of_another, turns[one.system] if part == "rest" else 0

    ordered = sorted(offered, key=place)
    news = sorted((one for one in ordered if one.part == "news"), key=lambda one: one.date, reverse=True)
    old = {id(one) for one in news[_LEAST_NEWS:] if one.date < since} if since else {id(one) for one in news[10:]}
    return [one for one in _once(ordered) if id(one) not in old]


def _once(offered: Iterable[Contribution]) -> Iterator[Contribution]:
    """Yield what no earlier block says: of two memories with the same words only the first is told."""
    said: list[frozenset[str]] = []
    for one in offered:
        words = frozenset(content_words(f"{one.title} {content_of(one.system, one.title, one.text)}"))
        if len(words) >= _LEAST_WORDS and any(words <= other for other in said):
            continue
        said.append(words)
        yield one


def _rejected(workspace: Workspace, agent: str) -> Iterator[Contribution]:
    """Yield the agent's newest proposals that a person rejected, with the person's note."""
    name = agent.strip().removeprefix(AGENT)
    if not name:
        return
    from memory.review.inbox import Inbox

    for one in Inbox(workspace.together).list(("rejected",), actor=AGENT + name, limit=3):
        date = f"{(one.decided_at or one.time).astimezone(workspace.zone):%Y-%m-%d %H:%M}"
        title = f"A person rejected your change: {one.summary}"
        yield Contribution("review", None, title, one.note, "it was rejected", 1.0, "news", date=date)


def _block(one: Contribution, section: str, most: int, snippet: str = "") -> PromptBlock:
    content = shortened(content_of(one.system, one.title, one.text), most, snippet)
    return PromptBlock.of(one.system, section, one.ref, one.title, one.reason, content, one.score, one.text)


# -- for a message -------------------------------------------------------------------------------------------------


def _matching(workspace: Workspace, now: datetime, message: str, searcher: Searcher | None) -> list[PromptBlock]:
    """Return the parts of the brief that a message asks for, the rules that concern it, and what answers the rest of
    it, the best of each intent first."""
    asking = {intent: parts_asked(intent) for intent in intents(message)}
    if not asking:
        return []
    asked = set().union(*asking.values())
    systems = workspace.systems()
    always = contributions_of(systems, "", now)
    answers = sorted((one for one in always if one.part in asked), key=lambda one: list(SECTIONS).index(one.part))
    rules = [one for one in always if one.part in ("rules", "gotchas")]
    ranked = sorted(((concerns(f"{one.title} {one.text}", message), one) for one in rules), key=lambda pair: -pair[0])
    found = [_block(one, SECTIONS[one.part], _MESSAGE_LENGTH) for one in answers[:_FOUND]]
    found += [_block(one, RULES, _MESSAGE_LENGTH) for score, one in ranked[:_MOST_RULES] if score >= 1]
    offered = (one for one in contributions_of(systems, message, now) if one not in always)
    found += [_block(one, FOR_MESSAGE, _MESSAGE_LENGTH) for one in offered]
    if searcher is not None:
        with suppress(MemdeckError):
            found += _found(systems, searcher, [intent for intent, parts in asking.items() if not parts])
    return found


def _is_copy(entry: FoundEntry) -> bool:
    """Return whether an entry is the event of an edit of the project state, which repeats what the state says."""
    return (entry.ref or "").startswith("state#evt-") and entry.title.startswith("edited ")


def _found(systems: Iterable[System], searcher: Searcher, intents: Iterable[str]) -> Iterator[PromptBlock]:
    """Yield what a search finds for each of the things that a message asks, in turns."""
    hidden = {kind for one in systems if not one.may_be_told() for kind in system_name(one.name).kinds}
    searcher.update()
    answers = [_hits(searcher, intent, hidden) for intent in intents]
    turns = [hits[turn] for turn in range(_EACH) for hits in answers if turn < len(hits)]
    for hit in turns[:_FOUND]:
        entry = hit.entry
        one = Contribution(
            entry.kind, entry.ref or derived_ref(entry), entry.title, entry.text, "it matches the message", hit.score
        )
        yield _block(one, FOR_MESSAGE, _MESSAGE_LENGTH, hit.snippet)._replace(system="search")


def _hits(searcher: Searcher, intent: str, hidden: Collection[str]) -> list[Hit]:
    """Return the hits that are about one thing that is asked, without those far behind the best."""
    answer = searcher.ask(plain_query(intent), _SEARCHED)
    found = () if answer is None else answer.every
    hits = [hit for hit in found if hit.is_about and hit.entry.kind not in hidden and not _is_copy(hit.entry)]
    return [hit for hit in hits if hit.score >= _FROM_BEST * hits[0].score][:_EACH]


# -- together ------------------------------------------------------------------------------------------------------


def _composed(
    workspace: Workspace,
    blocks: list[PromptBlock],
    choices: Mapping[str, str],
    budget: int,
    *,
    tells_rest: bool = False,
) -> AgentPrompt:
    """Return the prompt of blocks, each entry once, pinned ones first, and behind each what is in doubt about it."""
    suspects: Sequence[Suspect] = ()
    if any(block.suspicion for block in blocks):
        from memory.systems.suspects import suspects_of

        suspects = suspects_of(workspace)
    doubts: dict[str | None, str] = {}
    with suppress(MemdeckError, OSError):
        for one in findings_of(workspace, _GIT_SECONDS if tells_rest else 0):
            doubts.setdefault(one.ref, f" [{safe_line(one.told)[:_DOUBT]}]")
    once: dict[str | int, PromptBlock] = {}
    for at, block in enumerate(blocks):
        once.setdefault(block.ref or at, block._replace(text=block.text + doubts.get(block.ref, "")))
    judged = [_judged(block, choices.get(block.ref or "", ""), suspects) for block in once.values()]
    places = {ref: at for at, ref in enumerate(choices)}
    judged.sort(key=lambda block: places[block.ref or ""] if block.choice == "pin" else len(places))
    return composed(judged, budget, tells_rest=tells_rest)


def _judged(block: PromptBlock, kind: str, suspects: Sequence[Suspect]) -> PromptBlock:
    """Return a block with the person's choice for it; withheld where it looks suspicious and is not approved."""
    if kind == "mute":
        return block._replace(reason="you muted it", choice=kind, included=False)
    # Of entries with one name all must be approved: it is unknown from which of them the text comes.
    same = [one for one in suspects if block.ref in (one.ref, one.derived) or block.title == one.title]
    if block.suspicion and not (same and all(one.approved for one in same)):
        return block.withheld()
    if kind == "pin":
        reason = "; ".join(filter(None, ("you pinned it", block.reason)))
        return block._replace(section="Pinned", reason=reason, choice=kind)
    return block


def _entries(workspace: Workspace, refs: set[str]) -> Iterator[PromptBlock]:
    """Yield blocks for pinned entries that are not in the prompt otherwise; none for entries that no longer exist."""
    for system in workspace.systems() if refs else ():
        for record in system.records(None, {}):
            ref = record.ref or derived_ref(record)
            if ref in refs:
                one = Contribution(record.kind, ref, record.title, record.text, "", 1.0)
                yield _block(one, "Pinned", _LENGTH)._replace(system=system.name)
