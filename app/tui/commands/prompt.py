"""What agents are told: ask for a message, pin and mute blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .context import ACTOR
from .steps import Ask, Find, Look, Say, Step, Steps

if TYPE_CHECKING:
    from memory.prompts import Choices

    from .context import Context


def message(context: Context) -> Step:
    """Ask for the message that an agent gets; without one it is the start of a session."""
    from widgets.dialogs.dialogs import Prompt
    from widgets.panes.prompt import PromptPane

    pane = context.pane
    if not isinstance(pane, PromptPane) or pane.source is None:
        return None
    source = pane.source

    def answered(words: str | None) -> Step:
        if words is None:
            return None
        source.message = words
        return Look()

    return Ask(Prompt("What is the agent asked?", source.message, placeholder="nothing: a session starts"), answered)


def pin(context: Context) -> Step:
    """Put what is selected on top of what agents are told, or take that back."""
    return _turn(context, "pin", "Pinned", "Not pinned any more")


def mute(context: Context) -> Step:
    """Tell agents nothing of what is selected, or take that back."""
    return _turn(context, "mute", "Muted", "Not muted any more")


def _turn(context: Context, kind: str, done: str, undone: str) -> Step:
    from memory.prompts import change_choices, choice_of

    pane, workspace, now = context.pane, context.workspace, context.clock()
    if pane is None or workspace is None:
        return None
    items = [one for one in pane.selected() if one.ref]
    if not items:
        return Say("This has no ref, so it cannot be chosen.")
    takes_back = all(one.choice == kind for one in items)
    chosen = [choice_of(one.ref, kind) for one in items]

    def change(old: Choices) -> Choices:
        for choice in chosen:
            old = old.without(choice) if takes_back else old.having(choice)
        return old

    def told(_: Choices) -> Step:
        what = items[0].title if len(items) == 1 else f"{len(items)} entries"
        return Steps((Say(f"{undone if takes_back else done}: {what}"), Look()))

    return Find(lambda: change_choices(workspace.state, change, actor=ACTOR, now=now), told)
