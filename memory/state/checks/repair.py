"""Repair of damaged files: planned first, then done in one transaction; damaged bytes are kept aside."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from memory.base.safe_text import plural
from memory.errors import RefusedError
from memory.state.files.config import DEFAULTS
from memory.state.files.reading import StateFiles
from memory.state.files.store import StateStore, StateWriting
from memory.state.retention import put_batch

from .check import Examination, RepairPlan

if TYPE_CHECKING:
    from memory.storage import Change


def plan_repair(memory: StateFiles, now: datetime) -> RepairPlan:
    """Return what a repair would do with the present files; nothing is written."""
    return Examination(memory, now).plan


def repair(store: StateStore, shown: RepairPlan, *, actor: str, now: datetime) -> Change:
    """Carry out a plan in one transaction; `memdeck undo` reverts it.

    RefusedError `state.repair.stale` where the plan would no longer be the same.
    """

    def build(writing: StateWriting) -> Change:
        plan = plan_repair(writing.memory, writing.now)
        if plan != shown:
            raise RefusedError("state.repair.stale", "the files changed since the plan was shown", "look at it again")
        for path, data in plan.files.items():
            writing.put(path, data)
        if plan.aside or plan.lost:
            put_batch(writing, "repair", DEFAULTS, files=plan.aside, lost=plan.lost)
        return writing.commit(f"repaired {plural(len(plan.files), 'file')}")

    return store.change("state.repair", build, actor=actor, now=now)
