"""What agents are told: ask for a message, pin and mute blocks, say which facts fit one."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from memory.errors import UsageError
from memory.storage.changes import AGENT

from .context import ACTOR
from .steps import Find, OpenDialog, ReadAgain, Say, Step, Steps

if TYPE_CHECKING:
    from memory.prompts import PromptChoices
    from widgets.panes.facts import FactsPane

    from .context import Context

_ALL = "all agents"
_WORDS = {"pin": "pinned", "mute": "muted"}


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
        return ReadAgain()

    return OpenDialog(
        Prompt("What is the agent asked?", source.message, placeholder="nothing: a session starts"), answered
    )


def agent(context: Context) -> Step:
    """Ask whose prompt is shown: that of all agents, or of one with its own pins and mutes."""
    from app.connect.clients import CLIENTS
    from memory.prompts import EVERY, read_choices
    from widgets.dialogs.choose import Choose
    from widgets.panes.prompt import PromptPane

    pane, workspace = context.pane, context.workspace
    if not isinstance(pane, PromptPane) or pane.source is None or workspace is None:
        return None
    source = pane.source

    def chosen(words: str | None) -> Step:
        if words is None:
            return None
        source.agent = "" if words == _ALL else words
        return ReadAgain()

    def ask(own: dict[str, int]) -> Step:
        titles = {name: client.title for name, client in CLIENTS.items()}
        names = [*titles, *sorted(set(own) - set(titles))]
        keys = "123456789"
        options = [("0", _ALL, "what counts for every agent")]
        for at, name in enumerate(names):
            said = f"{own[name]} of its own" if name in own else titles.get(name, "")
            options.append((keys[at] if at < len(keys) else "", name, said))
        return OpenDialog(Choose("Whose prompt?", options), chosen)

    def look() -> dict[str, int]:
        every = read_choices(workspace.state).every
        return Counter(one.agent.removeprefix(AGENT) for one in every if one.agent != EVERY)

    return Find(look, ask)


def pin(context: Context) -> Step:
    """Put what is selected on top of what agents are told, or take that back."""
    return _turn(context, "pin", "Pinned", "Not pinned any more")


def mute(context: Context) -> Step:
    """Tell agents nothing of what is selected, or take that back."""
    return _turn(context, "mute", "Muted", "Not muted any more")


def _turn(context: Context, kind: str, done: str, undone: str) -> Step:
    from memory.prompts import change_choices, choice_of
    from widgets.panes.prompt import PromptPane

    pane, workspace, now = context.pane, context.workspace, context.clock()
    if pane is None or workspace is None:
        return None
    items = [one for one in pane.selected() if one.ref]
    if not items:
        return Say("This has no ref, so it cannot be chosen.")
    takes_back = all(one.choice == kind for one in items)
    whose = pane.source.agent if isinstance(pane, PromptPane) and pane.source is not None else ""
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
        return Steps((Say(f"{undone if takes_back else done}{for_whom}: {what}"), ReadAgain()))

    return Find(lambda: change_choices(workspace.state, change, actor=ACTOR, now=now), told)


def inject(context: Context) -> Step:
    """Ask for the message; the one before stands there."""
    from widgets.dialogs.dialogs import Prompt
    from widgets.panes.facts import FactsPane

    pane = context.pane
    assert isinstance(pane, FactsPane)
    screen = Prompt("Inject for which message?", pane.asked_message, placeholder="a prompt")
    return OpenDialog(screen, lambda message: _answer(context, pane, message))


def _answer(context: Context, pane: FactsPane, message: str | None) -> Step:
    if message is None or pane.snapshot is None:
        return None
    from memory.facts import FactsLook
    from widgets.dialogs.dialogs import Preview
    from widgets.panes.facts import injection_lines

    look = pane.snapshot.of("facts", FactsLook)
    if look is None:
        return None
    pane.asked_message = message
    lines = injection_lines(look.inject(message, context.clock()))
    return OpenDialog(Preview("What a prompt gets", lines, summary=look.refusal, applicable=False))
