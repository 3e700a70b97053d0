"""What hooks send, for the prompt pane; called in threads."""

from __future__ import annotations

from contextlib import ExitStack, closing
from datetime import datetime

from app.tui.spine import Part
from memory.errors import MemdeckError
from memory.prompts.sheet import PromptPreview
from memory.systems import searcher_of


class PromptSource(Part):
    """The prompt at the start of a session, or the one for a message; of all agents, or of one."""

    def set_up(self) -> None:
        """Nothing is read yet."""
        self.message = ""
        self.agent = ""
        self.balance = False

    def look(self, now: datetime) -> PromptPreview | str:
        """Return what the hook sends now, byte for byte, or what the agent gets on request; a sentence for an error."""
        from app.hooks.preview import told

        workspace = self.workspace
        try:
            with ExitStack() as opened:
                return told(
                    workspace,
                    now,
                    self.agent,
                    self.message,
                    searcher=lambda: opened.enter_context(closing(searcher_of(workspace))),
                )
        except MemdeckError as error:
            return f"Agents are not told anything: {error.message}."
