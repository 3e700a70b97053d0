"""What agents are told: enter a message, pin and mute blocks, show which facts fit a message."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from app.connect.clients import CLIENTS
from memory.errors import UsageError
from memory.prompts import EVERY, PromptChoices, change_choices, choice_of, read_choices
from memory.storage.changes import AGENT
from widgets.dialogs.dialogs import Prompt
from widgets.dialogs.pick import Pick, PickOption
from widgets.panes.prompt import PromptPane

from .context import ACTOR, Context, Step, open_pane, steps

if TYPE_CHECKING:
    from widgets.panes.prompt import PromptReader


_ALL = "all agents"
_WORDS = {"pin": "pinned", "mute": "muted"}


def _source(context: Context) -> PromptReader:
    pane = open_pane(context)
    assert isinstance(pane, PromptPane)
    assert pane.source is not None
    return pane.source


def message(context: Context) -> Step:
    """Show what an agent is told for a message; without one, at the start of a session."""
    source = _source(context)

    def answered(words: str) -> Step:
        source.message = words
        return context.read_again()

    return context.ask(
        Prompt("Message to the agent", source.message, placeholder="nothing: a session starts"), answered
    )


def agent(context: Context) -> Step:
    """Choose the agent whose prompt is shown, and for whom entries are pinned and muted."""
    workspace, source = context.workspace, _source(context)

    def chosen(words: str) -> Step:
        source.agent = "" if words == _ALL else words
        return context.read_again()

    def ask(own: dict[str, int]) -> Step:
        titles = {name: client.title for name, client in CLIENTS.items()}
        names = [*titles, *sorted(set(own) - set(titles))]
        options = [PickOption(_ALL, _ALL, "pins and mutes of every agent", key="0")]
        for at, name in enumerate(names, 1):
            said = f"{own[name]} of its own" if name in own else titles.get(name, "")
            options.append(PickOption(name, name, said, key=str(at) if at < 10 else ""))
        return context.ask(Pick("Whose prompt?", options), lambda answer: chosen(answer[1]))

    def look() -> dict[str, int]:
        every = read_choices(workspace.state).every
        return Counter(one.agent.removeprefix(AGENT) for one in every if one.agent != EVERY)

    return context.find(look, ask)


def balance(context: Context) -> Step:
    """Show what sending each entry cost and whether answers used it, or what is sent again."""
    source = _source(context)
    source.balance = not source.balance
    return context.read_again()


def pin(context: Context) -> Step:
    """Put the selected entries on top of what agents are told; again takes it back."""
    return _turn(context, "pin", "Pinned", "Not pinned any more")


def mute(context: Context) -> Step:
    """Tell agents nothing of the selected entries; again takes it back."""
    return _turn(context, "mute", "Muted", "Not muted any more")


def _turn(context: Context, kind: str, done: str, undone: str) -> Step:
    workspace, now = context.workspace, context.clock()
    items = [one.thing for one in open_pane(context).selected() if one.thing.ref]
    if not items:
        return context.say("This has no ref, so it cannot be chosen.")
    takes_back = all(one.choice == kind for one in items)
    whose = _source(context).agent
    chosen = [choice_of(one.ref, kind, whose) for one in items]

    def change(old: PromptChoices) -> PromptChoices:
        for choice in chosen:
            everybody = choice_of(choice.ref, kind)
            if takes_back and choice not in old.every and everybody in old.every:
                raise UsageError("prompt.for_all", f"it is {_WORDS[kind]} for all agents", "choose all agents first")
            old = old.without(choice) if takes_back else old.having(choice)
        return old

    def told(_: PromptChoices) -> Step:
        what = items[0].title if len(items) == 1 else f"{len(items)} entries"
        for_whom = f" (for {whose})" if whose else ""
        return steps((context.say(f"{undone if takes_back else done}{for_whom}: {what}"), context.read_again()))

    return context.find(lambda: change_choices(workspace.state, change, actor=ACTOR, now=now), told)
