"""The marks by which a process knows that a client of agents started it: variables that clients set in their shells."""

from __future__ import annotations

from collections.abc import Mapping

_MARKS = {
    "CLAUDECODE": "claude-code",
    "CLAUDE_CODE": "claude-code",
    "CODEX_SANDBOX": "codex",
    "CODEX_SANDBOX_NETWORK_DISABLED": "codex",
    "CODEX_THREAD_ID": "codex",
    "CODEX_CI": "codex",
    "GEMINI_CLI": "gemini",
    "OPENCODE": "opencode",
    "OPENCODE_CLIENT": "opencode",
    "CURSOR_AGENT": "cursor",
    "COPILOT_CLI": "copilot",
    "COPILOT_AGENT": "copilot",
    "CLINE_ACTIVE": "cline",
    "QWEN_CODE": "qwen-code",
    "AUGMENT_AGENT": "augment",
    "AMP_CURRENT_THREAD_ID": "amp",
    "ANTIGRAVITY_AGENT": "antigravity",
    "GOOSE_TERMINAL": "goose",
    "CRUSH": "crush",
    "TRAE_AI_SHELL_ID": "trae",
}
"""Variables that a client sets for the commands of its agent, and the name that the agent gets."""
_EDITORS = {"CURSOR_TRACE_ID": "cursor"}
"""Variables that an editor also sets in the terminals in which a person types."""
_NAMES = ("AI_AGENT", "AGENT")
"""Variables whose value is the name of the agent."""
_OURS = "MEMDECK_ACTOR"
"""The variable that `connect` sets in the shells of clients: with the name of an agent it is a mark, too."""
MARKS = (*_MARKS, *_EDITORS, *_NAMES)
"""All variables that may name a client."""
_OFF = ("", "0", "false")


def client_of(environ: Mapping[str, str], *, typed: bool) -> str:
    """Return the name of the client whose agent started this process, empty if there is no mark of one.

    `typed` says that both ends of the process are a terminal: then the mark of an editor alone means a person.
    """
    marks = _MARKS if typed else _MARKS | _EDITORS
    for variable, name in marks.items():
        if environ.get(variable, "").lower() not in _OFF:
            return name
    kind, _, name = environ.get(_OURS, "").strip().casefold().partition(":")
    if kind == "agent":
        return _name_of(name)
    for variable in _NAMES:
        value = environ.get(variable, "").lower().partition("@")[0]
        # `AGENT` alone is a common word: only a name, such as goose, is a mark.
        if value not in _OFF and (variable == "AI_AGENT" or value in _MARKS.values()):
            return _name_of(value)
    return ""


def _name_of(value: str) -> str:
    return "".join(one if one.isascii() and one.isalnum() else "-" for one in value)[:40].strip("-") or "agent"
