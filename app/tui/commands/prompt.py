"""What agents are told: enter a message, pin and mute blocks, show which facts fit a message."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from app.connect.clients import CLIENTS
from app.tui.shell import ACTOR
from memory.errors import UsageError
from memory.prompts import EVERY, PromptChoices, change_choices, choice_of, read_choices
from memory.storage.changes import AGENT
from widgets.dialogs.dialogs import Prompt
from widgets.dialogs.pick import Pick, PickOption
from widgets.panes.prompt import PromptPane

if TYPE_CHECKING:
    from app.tui.app import MemdeckApp
    from widgets.panes.prompt import PromptReader


_ALL = "all agents"
_WORDS = {"pin": "pinned", "mute": "muted"}


def _source(app: MemdeckApp) -> PromptReader:
    pane = app.shown_pane
    assert isinstance(pane, PromptPane)
    assert pane.source is not None
    return pane.source


def message(app: MemdeckApp) -> None:
    """Show what an agent is told for a message; without one, at the start of a session."""
    source = _source(app)

    def answered(words: str) -> None:
        source.message = words
        return app.refresher.request()

    return app.overlays.ask(
        Prompt("Message to the agent", source.message, placeholder="nothing: a session starts"), answered
    )


def agent(app: MemdeckApp) -> None:
    """Choose the agent whose prompt is shown, and for whom entries are pinned and muted."""
    workspace, source = app.shown_workspace, _source(app)

    def chosen(words: str) -> None:
        source.agent = "" if words == _ALL else words
        return app.refresher.request()

    def ask(own: dict[str, int]) -> None:
        titles = {name: client.title for name, client in CLIENTS.items()}
        names = [*titles, *sorted(set(own) - set(titles))]
        options = [PickOption(_ALL, _ALL, "pins and mutes of every agent", key="0")]
        for at, name in enumerate(names, 1):
            said = f"{own[name]} of its own" if name in own else titles.get(name, "")
            options.append(PickOption(name, name, said, key=str(at) if at < 10 else ""))
        return app.overlays.ask(Pick("Whose prompt?", options), chosen)

    def look() -> dict[str, int]:
        every = read_choices(workspace.state).every
        return Counter(one.agent.removeprefix(AGENT) for one in every if one.agent != EVERY)

    return app.edits.ask(look, ask)


def balance(app: MemdeckApp) -> None:
    """Show what sending each entry cost and whether answers used it, or what is sent again."""
    source = _source(app)
    source.balance = not source.balance
    return app.refresher.request()


def pin(app: MemdeckApp) -> None:
    """Put the selected entries on top of what agents are told; again takes it back."""
    return _turn(app, "pin", "Pinned", "Not pinned any more")


def mute(app: MemdeckApp) -> None:
    """Tell agents nothing of the selected entries; again takes it back."""
    return _turn(app, "mute", "Muted", "Not muted any more")


def _turn(app: MemdeckApp, kind: str, done: str, undone: str) -> None:
    workspace, now = app.shown_workspace, app.clock()
    items = [one.thing for one in app.shown_pane.selected() if one.thing.ref]
    if not items:
        return app.say("This has no ref, so it cannot be chosen.")
    takes_back = all(one.choice == kind for one in items)
    whose = _source(app).agent
    chosen = [choice_of(one.ref, kind, whose) for one in items]

    def change(old: PromptChoices) -> PromptChoices:
        for choice in chosen:
            everybody = choice_of(choice.ref, kind)
            if takes_back and choice not in old.every and everybody in old.every:
                raise UsageError("prompt.for_all", f"it is {_WORDS[kind]} for all agents", "choose all agents first")
            old = old.without(choice) if takes_back else old.having(choice)
        return old

    def told(_: PromptChoices) -> None:
        what = items[0].title if len(items) == 1 else f"{len(items)} entries"
        for_whom = f" (for {whose})" if whose else ""
        app.say(f"{undone if takes_back else done}{for_whom}: {what}")
        return app.refresher.request()

    return app.edits.ask(lambda: change_choices(workspace.state, change, actor=ACTOR, now=now), told)
