"""The models of curated memory as commands: only from the person's own settings, and only after an approval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

from memory.errors import MemdeckError
from memory.monitoring.process.model_command import NotInTime, NotUsed, ask_command
from memory.trust.asks import command_ask
from memory.trust.consent import Ask, Trust

from .curated import Curated
from .model import Json
from .models import Model, ModelError, ModelTimeoutError
from .settings import FILE, CuratedSettings

_SPARE = 1
"""One byte more than the limit is read, so that an answer that is too long is recognised."""


class CommandRole(NamedTuple):
    """What a command of the settings is for: the keys of the command and of its time limit, and when it is used."""

    name: str
    command: str
    timeout: str
    called: str
    wanted: Callable[[CuratedSettings], bool]


ROLES = (
    CommandRole(
        "tiebreaker", "controller.llm.command", "controller.llm.timeout", "tiebreaker of curated memory",
        lambda settings: settings["controller.mode"] != "rules" and settings["controller.llm.enabled"],
    ),
    CommandRole(
        "dream", "dream.command", "dream.timeout", "dreams of curated memory",
        lambda settings: settings["dream.enabled"],
    ),
    CommandRole(
        "extractor", "extractor.command", "extractor.deadline", "extractor of curated memory",
        lambda settings: settings["extractor.enabled"],
    ),
)  # fmt: skip
"""The commands that the settings may name."""


def model_asks(settings: CuratedSettings) -> dict[str, Ask]:
    """Return the commands of the settings as asks, by role; roles that are not in use are left out."""
    found = {}
    for role in ROLES:
        text = settings[role.command].strip()
        if text and role.wanted(settings):
            line = settings.lines.get(role.command, 1) - 1
            found[role.name] = command_ask(
                role.name, text, role.called, f"$AGH_HOME/{FILE}", line, timeout=settings[role.timeout]
            )
    return found


def models_of(curated: Curated, trust: Trust | None, environ: Mapping[str, str]) -> dict[str, Model]:
    """Return the models of the settings by role; empty if there is nowhere to keep approvals."""
    try:
        asks = model_asks(curated.settings)
    except MemdeckError:
        return {}  # the error is reported where the memory is used
    if trust is None:
        return {}
    return {name: _Command(ask, trust, environ) for name, ask in asks.items()}


class _Command:
    """A model that runs a command for each question."""

    def __init__(self, ask: Ask, trust: Trust, environ: Mapping[str, str]) -> None:
        self._ask, self._trust, self._environ = ask, trust, environ

    def ask(self, question: Json, *, seconds: float, limit: int, now: datetime) -> str:  # noqa: ARG002
        """Return what the command prints; ModelError if there is no valid answer, ModelTimeoutError if none in time."""
        decision = self._trust.decide(self._ask)
        if not decision.allowed:
            raise ModelError(f"the command is not approved: {decision.why}")
        try:
            return ask_command(
                decision.text or "",
                question,
                trust=self._trust,
                environ=self._environ,
                seconds=seconds,
                limit=limit + _SPARE,
            )
        except NotInTime as error:
            raise ModelTimeoutError(str(error)) from error
        except NotUsed as error:
            raise ModelError(str(error)) from error
