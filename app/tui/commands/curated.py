"""Commands of the curated pane: search with every term of the score, revert a decision, dream."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from memory.curated.system import CuratedMemory
from memory.errors import MemdeckError
from memory.systems import system_of
from memory.systems.acts import Act, act
from memory.workspace import Outcome
from widgets.dialogs.dialogs import Confirm, Preview, Prompt
from widgets.panes.curated.detail import SHOWN, search_lines
from widgets.panes.curated.pane import CuratedPane
from widgets.panes.curated.rows import DecisionRow

from .context import Context, Step, open_pane

if TYPE_CHECKING:
    from memory.curated.recall.find import RecallFound


def search(context: Context) -> Step:
    """Show what a question finds among curated memories, with every term of the score."""
    pane, workspace = context.pane, context.workspace
    assert isinstance(pane, CuratedPane)

    def asked(question: str) -> Step:
        if not question.strip():
            return None

        pane.asked_question = question
        system, now = system_of(workspace, "curated", CuratedMemory), context.clock()
        return context.find(lambda: system.search(question, now), lambda found: _show(context, pane, question, found))

    return context.ask(
        Prompt("Search memories for", pane.asked_question, placeholder="what did we decide about …?"), asked
    )


def _show(context: Context, pane: CuratedPane, question: str, found: RecallFound) -> Step:
    lines = search_lines(found.ranked[:SHOWN], len(found.hidden), pane.seen, min(100, context.size.width) - 8)
    count = f"{found.candidates:,} {'candidate' if found.candidates == 1 else 'candidates'}"
    words = f"Looked for: {', '.join(found.terms)}; {count}."
    screen = Preview(f"Found for: {question[:200]}", lines, summary=words, applicable=False)
    return context.ask(screen, waited="What was found")


def revert(context: Context) -> Step:
    """Take back the decision under the cursor; asks first."""
    item = open_pane(context).current()
    assert isinstance(item, DecisionRow)
    number = item.title
    words = f"{item.decision['op']} of {item.decision['target_filename']}"
    do = _act(lambda system, actor, at: system.take_back(number, actor=actor, now=at))
    return context.ask(Confirm("Take this decision back?", words), lambda _: context.change("curated.revert", do))


def dream(context: Context) -> Step:
    """Gather what was recalled most into one memory, where the gates are open."""

    def attempt(force: bool, otherwise: Callable[[MemdeckError], Step] | None = None) -> Step:
        do = _act(lambda system, actor, now: system.dream(force=force, actor=actor, now=now))
        return context.change("curated.dream", do, otherwise=otherwise)

    def closed(error: MemdeckError) -> Step:

        if error.code != "memory.dream.closed":
            return context.fail(error)
        screen = Confirm("The gates of dreaming are closed. Dream anyway?", error.message, danger=True)
        return context.ask(screen, lambda _: attempt(True))

    return attempt(False, closed)


def _act(do: Callable[[CuratedMemory, str, datetime], Outcome]) -> Act:
    return act("curated", CuratedMemory, do)
