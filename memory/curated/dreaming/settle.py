"""Runs that a crash interrupted: finished where their proposal was decided, else noted as failed."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from memory.curated.control.decision import Decision, select
from memory.curated.model import Json, Root
from memory.curated.places.roots import global_root, workspace_root

from .lock import holder
from .runs import DreamRun, complete, fail, runs

if TYPE_CHECKING:
    from memory.curated.sides import Side


def settle(side: Side, now: datetime) -> int:
    """Bring the runs to an end whose process is gone, and return how many these were.

    A proposal that was decided before the crash counts: its memories are marked as promoted. All others stay as they
    were, so that the next run gathers them again.
    """
    left = runs(side, "status = 'running'")
    if not left:
        return 0
    live = holder(side, now)
    root = global_root() if side.name == "global" else workspace_root()
    ended = 0
    for run in left:
        if live is None or live.get("run_id") != run.id:
            finish(side, run, root, now)
            ended += 1
    return ended


def finish(side: Side, run: DreamRun, root: Root, now: datetime) -> None:
    """End a run by what was decided on its proposal."""
    found = side.records.look(
        lambda db: select(db, "idempotency_key = ?", [f"caller:{run.key}"]), list[Decision]()
    )  # fmt: skip
    if not found:
        fail(side, run, "it was interrupted before its proposal was decided", {}, root, now)
        return
    decision = found[0]
    if decision.abandoned or (decision.changes and decision.applied_at is None):
        fail(side, run, decision.abandoned or "its proposal was not carried out", {}, root, now)
        return
    facts: Json = {"decision_id": decision.id, "reason": decision.reason}
    ids = run.facts.get("promotes", []) if decision.op in ("add", "update") else []
    complete(side, run, ids, facts, root, now)
