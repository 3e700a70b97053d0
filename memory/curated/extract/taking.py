"""A turn of a session taken in: queued, and without a model its markers put into the inbox at once."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from memory.curated.providers.calls import call
from memory.errors import MemdeckError

from .markers import marked
from .turns import feed, queued, ready

if TYPE_CHECKING:
    from memory.curated.curated import Curated


def refuse_disabled(curated: Curated) -> None:
    """Raise MemdeckError `memory.disabled` or `memory.extractor.disabled` where the settings switch it off."""
    curated.refuse_disabled()
    if not curated.settings["extractor.enabled"]:
        raise MemdeckError(
            "memory.extractor.disabled", "the extractor is switched off", "set memory.extractor.enabled in config.toml"
        )


def take_turn(
    curated: Curated, session: str, role: str, text: str, turn: int | None, *, actor: str, now: datetime
) -> tuple[str, int]:
    """Queue a turn, tell the provider, and return what became of it and how many candidates its markers gave."""
    refuse_disabled(curated)
    if _says_nothing(curated, session, text):
        call(curated, "turn", now, session, role, text, turn)
        return "queued", 0
    state = feed(curated, session, role, text, turn, now)
    call(curated, "turn", now, session, role, text, turn)
    if "extractor" in curated.models or session not in ready(curated):
        return state, 0
    from .extraction import extract

    candidates = extract(curated, session, actor=actor, now=now)
    if not curated.settings["extractor.sandbox_inbox_only"]:
        from .consume import consume

        consume(curated, actor=actor, now=now, session=session)
    return state, candidates


def _says_nothing(curated: Curated, session: str, text: str) -> bool:
    """Tell whether a turn would be queued and let go of at once: no model is asked, no turn waits, nothing is marked.

    Neither is written then: a person waits for both.
    """
    from memory.curated.places.session_ids import check_session

    check_session(session)
    if not text.strip() or "extractor" in curated.models or curated.settings["extractor.throttle_turns"] > 1:
        return False
    return not queued(curated).get(session) and not marked([{"content": text}], "project")
