"""Injecting: what a message would put into a prompt, shown with its budget."""

from __future__ import annotations

from app.tui.part import Part


class Injecting(Part):
    """Asks for a message and shows what it would inject; nothing is written."""

    _message = ""

    def show(self) -> None:
        """Ask for the message; the one before stands there."""
        from widgets.dialogs.dialogs import Prompt

        self.app.push_screen(Prompt("Inject for which message?", self._message, placeholder="a prompt"), self._answer)

    def _answer(self, message: str | None) -> None:
        pane = self.app.navigation.pane
        if message is None or pane is None or pane.snapshot is None:
            return
        from memory.facts import Look
        from widgets.dialogs.dialogs import Preview
        from widgets.panes.facts import injection_lines

        look = pane.snapshot.of("facts", Look)
        if look is None:
            return
        self._message = message
        lines = injection_lines(look.inject(message, self.app.clock()))
        self.app.push_screen(Preview("What a prompt gets", lines, summary=look.refusal, applicable=False))
