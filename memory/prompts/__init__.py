"""The memory in an agent's prompt: the contributions of all systems, in their order, within a budget."""

from __future__ import annotations

from .brief import DEFAULT_BUDGET, MESSAGE_TOKENS, START_TOKENS, brief, for_message
from .choices import DONE, PromptChoices, change_choices, read_choices
from .compose import AgentPrompt, PromptBlock, tokens_of
from .sheet import PromptPreview, Sheet, SheetRow

__all__ = [
    "DEFAULT_BUDGET",
    "DONE",
    "MESSAGE_TOKENS",
    "START_TOKENS",
    "AgentPrompt",
    "PromptBlock",
    "PromptChoices",
    "PromptPreview",
    "Sheet",
    "SheetRow",
    "brief",
    "change_choices",
    "for_message",
    "read_choices",
    "tokens_of",
]
