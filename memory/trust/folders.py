"""The folders of an agent as something to consent to: what lies in them is deleted when it is old."""

from __future__ import annotations

from memory.typed.aidefile import Aidefile
from memory.typed.files import AgentFiles
from memory.typed.folders import USUAL, folder_refusal, folders_text
from memory.typed.registry import Agent

from .asks import Ask
from .suspicion import hidden_in, hidden_in_name

FOLDERS = "folders"
"""The role of such an ask."""


def folders_ask(agent: Agent, file: str, aidefile: Aidefile, found: AgentFiles) -> Ask:
    """Return what an agent's Aidefile asks for; `file` is that Aidefile as seen from the workspace."""
    text = folders_text(aidefile)
    refusal = folder_refusal(aidefile, found)
    hidden = hidden_in(text) or hidden_in_name(agent.name)
    why = refusal.message if refusal is not None else f"it holds the hidden character {hidden}" if hidden else ""
    return Ask(FOLDERS, "typed", text, agent.name, file, 0, ambiguous=why)


def is_usual(ask: Ask) -> bool:
    """Tell whether an ask is for the folders that an agent has when its Aidefile names none: nobody needs asking."""
    return ask.role == FOLDERS and ask.text == USUAL and not ask.ambiguous
