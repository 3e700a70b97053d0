"""What a person has to approve in a workspace, over all its systems: one list, and so one number everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from . import entrust, systems_of

if TYPE_CHECKING:
    from memory.trust.consent import Ask, ConsentDecision, Trust
    from memory.workspace import Workspace


class Approval(NamedTuple):
    """One thing that a system may do only after a person approved it, and what was decided about it."""

    system: str
    ask: Ask
    decision: ConsentDecision


def approvals_of(workspace: Workspace, trust: Trust | None, environ: Mapping[str, str]) -> list[Approval]:
    """Return all that the systems of a workspace ask for, in their order; nothing without a place for decisions."""
    if trust is None:
        return []
    entrust(workspace, trust, environ)
    asks = [(system.name, ask) for system in systems_of(workspace) for ask in system.wants()]
    decided = trust.decide_all(ask for _, ask in asks)
    return [Approval(system, ask, decision) for (system, ask), decision in zip(asks, decided, strict=True)]


def waiting_in(approvals: Iterable[Approval]) -> tuple[Approval, ...]:
    """Return those that nobody decided about, or that are others than what was approved."""
    return tuple(one for one in approvals if one.decision.waits)
