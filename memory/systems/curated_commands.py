"""The tiebreaker of curated memory as a command: of the person's own settings, and only after an approval."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from memory.curated.control.tiebreak import Tiebreaker, TiebreakError
from memory.curated.model import Json
from memory.curated.places.settings import FILE, Settings
from memory.errors import MemdeckError
from memory.storage.private.record import PrivateRecord
from memory.trust.wants import command_ask

from .model_command import NotUsed, ask_command

if TYPE_CHECKING:
    from memory.curated.curated import Curated
    from memory.storage.private.places import StateFolder
    from memory.trust.consent import Ask, Trust

ROLE = "tiebreaker"
_SPARE = 1
"""One byte more than an answer may have is read, so that a longer one is known for one."""


def tiebreaker_ask(settings: Settings) -> Ask | None:
    """Return the command of the settings as an ask; None where there is none, or nobody is to be asked."""
    text = settings["controller.llm.command"].strip()
    if not text or settings["controller.mode"] == "rules" or not settings["controller.llm.enabled"]:
        return None
    line = settings.lines.get("controller.llm.command", 1) - 1
    return command_ask(
        ROLE,
        text,
        "tiebreaker of curated memory",
        f"$AGH_HOME/{FILE}",
        line,
        timeout=settings["controller.llm.timeout"],
    )


def tiebreaker_of(
    curated: Curated, trust: Trust | None, folder: StateFolder | None, environ: Mapping[str, str]
) -> Tiebreaker | None:
    """Return the tiebreaker of the settings; None where there is none, or nothing to keep approvals in."""
    try:
        ask = tiebreaker_ask(curated.settings)
    except MemdeckError:
        return None  # whoever uses memory is told
    return None if ask is None or trust is None or folder is None else _Command(ask, trust, folder, environ)


class _Command:
    """A tiebreaker that runs a command for each question."""

    def __init__(self, ask: Ask, trust: Trust, folder: StateFolder, environ: Mapping[str, str]) -> None:
        self._ask, self._trust, self._folder, self._environ = ask, trust, folder, environ

    def ask(self, question: Json, *, seconds: float, limit: int, now: datetime) -> str:
        """Return what the command prints; TiebreakError where it is not approved, fails or takes too long."""
        decision = self._trust.decide(self._ask)
        if not decision.allowed:
            raise TiebreakError(f"the command is not approved: {decision.why}")
        try:
            return ask_command(
                decision.text or "",
                question,
                PrivateRecord(self._folder, "curated", "question.json"),
                folder=self._trust.workspace,
                environ=self._environ,
                seconds=seconds,
                limit=limit + _SPARE,
                now=now,
            )
        except NotUsed as error:
            raise TiebreakError(str(error)) from error
        except MemdeckError as error:
            raise TiebreakError(error.message) from error
