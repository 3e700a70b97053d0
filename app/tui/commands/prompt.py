"""What agents are told: enter a message, pin and mute blocks, show which facts fit a message."""

from __future__ import annotations

from app.connect.clients import CLIENTS
from app.tui.spine import Spine
from memory.prompts.sheet import PromptChoices, change_choices
from widgets.dialogs.pick import Pick, PickOption
from widgets.input.form import Prompt
from widgets.panes.prompt import PromptPane, PromptReader


def _source(app: Spine) -> PromptReader:
    pane = app.shown_pane
    assert isinstance(pane, PromptPane)
    assert pane.source is not None
    return pane.source


def message(app: Spine) -> None:
    """Show what agents are told with a message."""
    source = _source(app)

    def answered(words: str) -> None:
        source.message = words
        return app.changed()

    return app.ask(
        Prompt("Message to the agent", source.message, placeholder="empty: the start of a session"),
        answered,
    )


def agent(app: Spine) -> None:
    """Choose the agent whose prompt is shown."""
    source = _source(app)

    def chosen(words: str) -> None:
        source.agent = words
        return app.changed()

    options = [PickOption("", "any agent", key="0")]
    for at, (name, client) in enumerate(CLIENTS.items(), 1):
        options.append(PickOption(name, name, client.title, key=str(at)))
    return app.ask(Pick("Which agent's prompt?", options), chosen)


def balance(app: Spine) -> None:
    """Show what entries cost and how they helped."""
    source = _source(app)
    source.balance = not source.balance
    return app.changed()


def leave(app: Spine) -> None:
    """Show again what agents are told at the start of a session."""
    source = _source(app)
    source.balance, source.message = False, ""
    return app.changed()


def pin(app: Spine) -> None:
    """Pin the entry to the top, or unpin it."""
    return _turn(app, "pin", "Pinned", "Unpinned")


def mute(app: Spine) -> None:
    """Hide the entry from agents, or show it."""
    return _turn(app, "mute", "Muted", "Unmuted")


def _turn(app: Spine, kind: str, done: str, undone: str) -> None:
    workspace, now = app.shown_workspace, app.clock()
    items = [one.thing for one in app.shown_pane.selected() if one.thing.ref]
    if not items:
        return app.say("This row has no ref, so it cannot be pinned or muted.")
    takes_back = all(one.choice == kind for one in items)

    def change(old: PromptChoices) -> PromptChoices:
        for one in items:
            old = old.without(one.ref, kind) if takes_back else old.having(one.ref, kind)
        return old

    def told(_: PromptChoices) -> None:
        what = items[0].title if len(items) == 1 else f"{len(items)} entries"
        app.say(f"{undone if takes_back else done}: {what}")
        return app.changed()

    return app.find(lambda: change_choices(workspace.state, change, now=now), told)
