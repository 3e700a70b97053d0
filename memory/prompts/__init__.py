"""What an agent will see: the contributions of all systems to a prompt, in their order, within a budget."""

from __future__ import annotations

from .brief import DEFAULT_BUDGET, brief, for_message
from .model import Block, Prompt, framed, tokens_of

__all__ = ["DEFAULT_BUDGET", "Block", "Prompt", "brief", "for_message", "framed", "tokens_of"]
