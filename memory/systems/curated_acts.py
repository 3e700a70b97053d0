"""What a person changes of curated memory from the application: each goes through the controller and says its rule."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.curated.control.apply import Proposed
from memory.curated.control.revert import revert
from memory.curated.interrupted import finish_interrupted
from memory.curated.operations import memories
from memory.curated.operations.memories import OperationCall
from memory.curated.operations.registry import BY_NAME
from memory.curated.operations.schema import check
from memory.errors import RefusedError
from memory.storage import Change, FileChange
from memory.workspace import Outcome

from .curated_overview import key_of

if TYPE_CHECKING:
    from memory.curated.control.decision import Decision
    from memory.curated.curated import Curated

_PROPOSALS = {"write": memories.proposed_write, "edit": memories.proposed_edit, "delete": memories.proposed_delete}
_DONE = {"add": "remembered", "update": "renewed", "delete": "forgot"}


def propose(
    curated: Curated, verb: str, values: Mapping[str, Any], seen: str | None, *, actor: str, now: datetime
) -> Outcome:
    """Write, edit or delete a memory; `verb` and `values` are those of the operation.

    `seen` is the hash of the file that a person looked at; RefusedError `memory.changed` where it is another by now.

    RefusedError `memory.noop` and `memory.rejected`, with the rule that decided and its reason, where no file changes.
    """
    arguments = check(BY_NAME[verb].input, values)
    finish_interrupted(curated, now)
    if seen is not None:
        scope, agent, tier = (values.get(key) for key in ("scope", "agent_name", "agent_tier"))
        if curated.find(values["filename"], scope, agent, tier).hash != seen:
            raise RefusedError(
                "memory.changed", f"{values['filename']} was changed meanwhile", "look at it and try again"
            )
    done = _PROPOSALS[verb](curated, arguments, OperationCall(now, actor))
    refuse_unchanged(done)
    root = done.decision.root
    words = f"{_DONE[done.decision.op]} {done.decision.target_filename} ({root.label})"
    found = curated.memories([root])
    ref = next((key_of(one) for one in found if one.filename == done.decision.target_filename), None)
    return Outcome(_made(done.change, words, actor, now), words, None if ref is None else f"curated#{ref}")


def refuse_unchanged(done: Proposed) -> None:
    """Raise what says why nothing was written: the rule and its reason."""
    decision = done.decision
    if decision.changes:
        return
    rule = deciding(decision)
    if decision.op == "reject":
        raise RefusedError("memory.rejected", f"rejected by {rule}: {decision.reason}", "nothing was written")
    raise RefusedError("memory.noop", f"nothing to write, by {rule}: {decision.reason}", "change more than that")


def deciding(decision: Decision) -> str:
    """Return the name of the rule that decided: the last one that said something."""
    return decision.trace[-1].name if decision.trace else "controller"


def take_back(curated: Curated, decision_id: str, *, actor: str, now: datetime) -> Outcome:
    """Revert a decision; what `revert` raises."""
    finish_interrupted(curated, now)
    done = revert(curated, decision_id, actor=actor, now=now)
    words = f"took back {done.decision.op} of {done.decision.target_filename}"
    return Outcome(_made(done.change, words, actor, now), words)


def dream(curated: Curated, *, force: bool, actor: str, now: datetime) -> Outcome:
    """Dream on each side whose gates are open; RefusedError `memory.dream.closed` with the gates where none is."""
    found = BY_NAME["dream trigger"].call(curated, {"force": force}, OperationCall(now, actor))
    if not found["triggered"]:
        raise RefusedError("memory.dream.closed", f"no dream: {found['reason']}", "nothing was written")
    words = f"dreamt: {found['dream']['promoted_count']} memories gathered"
    return Outcome(_made(None, words, actor, now), words)


def _made(change: Change | None, words: str, actor: str, now: datetime) -> Change:
    """Return a change as it was recorded; several of them are known by their words."""
    return change or Change("", now, actor, "curated", words, (FileChange("", None, None),))
