"""What a message would put into a prompt, shown with its budget; nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .steps import OpenDialog, Step

if TYPE_CHECKING:
    from widgets.panes.facts import FactsPane

    from .context import Context


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
