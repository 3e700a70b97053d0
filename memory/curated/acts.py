"""Changes of curated memory from the application; each goes through the controller, which names the deciding rule."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memory.errors import RefusedError
from memory.storage import Change, FileChange
from memory.workspace import Outcome

from .control.decide import changed_meanwhile
from .control.propose import Proposed
from .control.revert import revert
from .curated import Curated
from .dreaming.dream import trigger
from .model import OperationCall
from .operations import memories

_CANDIDATES = {
    "write": memories.candidate_to_write,
    "edit": memories.candidate_to_edit,
    "delete": memories.candidate_to_delete,
}
_DONE = {"add": "remembered", "update": "renewed", "delete": "forgot"}


def propose(
    curated: Curated, verb: str, values: Mapping[str, Any], seen: str | None, *, actor: str, now: datetime
) -> Outcome:
    """Write, edit or delete a memory; `verb` and `values` are those of the operation.

    `seen` is the hash of the file that the person saw; RefusedError `memory.changed` if the file has changed since.

    If no file changes, RefusedError `memory.noop` or `memory.rejected`, with the rule that decided and its reason.
    """
    arguments = dict(values)
    curated.finish_interrupted(now)
    if seen is not None:
        scope, agent, tier = (values.get(key) for key in ("scope", "agent_name", "agent_tier"))
        if curated.find(values["filename"], scope, agent, tier).hash != seen:
            raise changed_meanwhile(values["filename"])
    done = memories.proposed(_CANDIDATES[verb], curated, arguments, OperationCall(now, actor))
    _refuse_unchanged(done)
    root = done.decision.root
    words = f"{_DONE[done.decision.op]} {done.decision.target_filename} ({root.label})"
    found = curated.memories([root])
    ref = next((one.key for one in found if one.filename == done.decision.target_filename), None)
    return Outcome(_made(done.change, words, actor, now), words, None if ref is None else f"curated#{ref}")


def _refuse_unchanged(done: Proposed) -> None:
    """Raise an error with the rule and its reason if nothing was written."""
    decision = done.decision
    if decision.changes:
        return
    rule = decision.trace[-1].name  # the last one decided
    if decision.op == "reject":
        raise RefusedError("memory.rejected", f"rejected by {rule}: {decision.reason}", "nothing was written")
    raise RefusedError("memory.noop", f"nothing to write, by {rule}: {decision.reason}", "change more than that")


def take_back(curated: Curated, decision_id: str, *, actor: str, now: datetime) -> Outcome:
    """Revert a decision; errors as `revert`."""
    curated.finish_interrupted(now)
    done = revert(curated, decision_id, actor=actor, now=now)
    words = f"took back {done.decision.op} of {done.decision.target_filename}"
    return Outcome(_made(done.change, words, actor, now), words)


def dream(curated: Curated, *, force: bool, actor: str, now: datetime) -> Outcome:
    """Dream on each side whose gates are open; RefusedError `memory.dream.closed` with the gates if none is."""
    found = trigger(curated, {"force": force}, OperationCall(now, actor))
    if not found["triggered"]:
        raise RefusedError("memory.dream.closed", f"no dream: {found['reason']}", "nothing was written")
    words = f"dreamt: {found['dream']['promoted_count']} memories gathered"
    return Outcome(_made(None, words, actor, now), words)


def _made(change: Change | None, words: str, actor: str, now: datetime) -> Change:
    """Return the recorded change; for several changes, a placeholder that only has the summary."""
    return change or Change("", now, actor, "curated", words, (FileChange("", None, None),))
