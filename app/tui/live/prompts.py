"""What hooks send, as the prompt pane asks for it; called in threads."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING

from memory.errors import MemdeckError

if TYPE_CHECKING:
    from app.tui.shell import Shell
    from memory.prompts import Prompt

PANE = "prompt"


class PromptSource:
    """The prompt at the start of a session, or the one for a message."""

    def __init__(self, app: Shell) -> None:
        """Nothing is read yet."""
        self._app = app
        self.message = ""

    def look(self, now: datetime) -> Prompt | str:
        """What the hook sends now, byte for byte; a sentence where it says nothing for an error."""
        from app.hooks.run import told_apart
        from memory.prompts import START_TOKENS, brief, for_message
        from memory.systems import searcher_of

        workspace, message = self._app.workspace, self.message
        if workspace is None:
            return ""
        try:
            if not message.strip():
                return brief(workspace, now, budget=START_TOKENS)
            with closing(searcher_of(workspace)) as searcher:
                return for_message(workspace, now, message, searcher=searcher, without=told_apart(workspace))
        except MemdeckError as error:
            return f"Agents are told nothing: {error.message}."
