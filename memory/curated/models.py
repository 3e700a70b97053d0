"""Models behind curated memory: one interface for all questions, and the commands of the settings that answer them.

A command comes from the person's own settings only, and runs only after an approval.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from memory.curated.model import Json
from memory.curated.settings import FILE, CuratedSettings
from memory.monitoring.result import NotInTime, NotUsed

if TYPE_CHECKING:
    from memory.trust.asks import Ask
    from memory.trust.consent import Trust


class Model(Protocol):
    """Answers questions; `ask` raises `ModelError` where there is no answer in time."""

    def ask(self, question: Json, *, seconds: float, limit: int, now: datetime) -> str:
        """Return the answer to a question as text: one JSON object of at most `limit` bytes."""


ModelError, ModelTimeoutError = NotUsed, NotInTime
"""Raised where there is no valid answer, and where none came in time; the text says why."""


def read_json(text: str, limit: int) -> Any:
    """Return the JSON value of an answer of at most `limit` bytes; ModelError for anything else."""
    if len(text.encode("utf-8", "surrogatepass")) > limit:
        raise ModelError("the answer is too long")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError("the answer is not one JSON object") from None


def read_value(text: str, key: str, limit: int) -> Any:
    """Return the value of an answer that is one JSON object with this key alone; ModelError for anything else."""
    values = read_json(text, limit)
    if not isinstance(values, dict) or set(values) != {key}:
        raise ModelError(f"the answer has not the keys {key} alone")
    return values[key]


_SPARE = 1
"""One byte more than the limit is read, so that an answer that is too long is recognised."""


_ROLES = {
    "tiebreaker": ("controller.llm.command", "controller.llm.timeout", "controller.llm.enabled"),
    "dream": ("dream.command", "dream.timeout", "dream.enabled"),
    "extractor": ("extractor.command", "extractor.deadline", "extractor.enabled"),
}
"""For each use of a model the settings of its command, its time limit, and whether it is in use."""


def model_asks(settings: CuratedSettings) -> dict[str, Ask]:
    """Return the commands of the settings as asks, by role; roles that are not in use are left out."""
    from memory.trust.asks import command_ask

    found = {}
    for role, (command, timeout, enabled) in _ROLES.items():
        text = settings[command].strip()
        if text and settings[enabled] and (role != "tiebreaker" or settings["controller.mode"] != "rules"):
            line, called = settings.lines.get(command, 1) - 1, f"{role} of curated memory"
            found[role] = command_ask(role, text, called, f"$AGH_HOME/{FILE}", line, timeout=settings[timeout])
    return found


def models_of(settings: CuratedSettings, trust: Trust, environ: Mapping[str, str]) -> dict[str, Model]:
    """Return the models of the settings by role."""
    return {name: _Command(ask, trust, environ) for name, ask in model_asks(settings).items()}


class _Command:
    """A model that runs a command for each question."""

    def __init__(self, ask: Ask, trust: Trust, environ: Mapping[str, str]) -> None:
        self._ask, self._trust, self._environ = ask, trust, environ

    def ask(self, question: Json, *, seconds: float, limit: int, now: datetime) -> str:  # noqa: ARG002
        """Return what the command prints; ModelError if there is no valid answer, ModelTimeoutError if none in time."""
        from memory.monitoring.command import ask_command

        decision = self._trust.decide(self._ask)
        if not decision.allowed:
            raise ModelError(f"the command is not approved: {decision.why}")
        text, limit = decision.text or "", limit + _SPARE
        return ask_command(text, question, trust=self._trust, environ=self._environ, seconds=seconds, limit=limit)
