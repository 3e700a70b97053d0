"""One maintenance run: look, count twice, write in one transaction, remember when it was."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from memory.base.clock import format_utc
from memory.errors import MemdeckError
from memory.workspace import stamped

from . import conserve
from .plan import MaintenancePlan, plan_maintenance
from .report import Report, summary
from .returned import restored_in
from .rules import ALL_RULES

if TYPE_CHECKING:
    from memory.document import Document
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot
    from memory.workspace import Workspace

    from .returned import LeftBy

OPERATION = "maintain"
ACTOR = "maintain"
JUMP = timedelta(days=1)
"""How far the time may lie before the last recorded run or change without being called a jump."""


def maintain(
    workspace: Workspace,
    now: datetime,
    *,
    actor: str = ACTOR,
    dry_run: bool = False,
    force: bool = False,
    rules: Collection[str] = ALL_RULES,
    timer: Callable[[], float] = time.perf_counter,
) -> Report:
    """Apply the rules to a workspace at the aware time `now` and report what moved; nothing happens twice.

    `dry_run` writes nothing and reports the same. A clock that jumped back turns the run into a dry run with a
    warning, unless `force`. What other programs did is noted in the history, and what they wrote late is merged.
    `timer` returns seconds and is asked for the duration only.

    Raises ConfigError for a bad setting, MemdeckError `maintenance.unbalanced` when the second count is off, and what
    reading and writing raise; in all these cases nothing was written.
    """
    begun = timer()
    warnings: tuple[str, ...] = ()
    jump = _jump(workspace, now)
    if jump and not force:
        warnings = (jump,)
        dry_run = True
    if not dry_run:
        warnings += _look_around(workspace, now, dry_run=dry_run)
    plan = plan_maintenance(workspace.snapshot(), now, rules, _left_by(workspace), restored_in(workspace))
    documents = checked(plan, now)
    change = None
    if not dry_run:
        if documents:
            plan, change = _write(workspace, plan, documents, now, actor, rules)
        if set(rules) == set(ALL_RULES):
            with suppress(MemoryError):  # What was moved is moved.
                _remember(workspace, now, actor)
    return Report(
        dry_run=dry_run,
        now=now,
        rules=plan.rules,
        warnings=warnings + plan.warnings,
        duration_ms=round((timer() - begun) * 1000, 1),
        change=change,
    )


def _look_around(workspace: Workspace, now: datetime, *, dry_run: bool) -> tuple[str, ...]:
    """Note what other programs did since anybody looked, bring back what they undid where a person chose that, and
    merge what they wrote late; return what to say of that.
    """
    from memory.history.late_bytes import merge_late

    workspace.notice(now)
    back: tuple[str, ...] = ()
    if not dry_run and workspace.store.history.taken_back():
        from memory.history.taken_back import bring_back_chosen

        back = tuple(one.summary for one in bring_back_chosen(workspace, now))
    return back + tuple(
        f"{late.file}: what another program wrote in the moment of a change was "
        + (f"not merged ({late.why}); it is kept in .aiter/.memdeck/stage/{late.name}" if late.why else "merged")
        for late in merge_late(workspace, now)
    )


def checked(plan: MaintenancePlan, now: datetime) -> Mapping[str, Document]:
    """Return the plan's documents with `updated` set, after the second reader agreed with their bytes.

    Raises MemdeckError `maintenance.unbalanced`.
    """
    documents = {name: stamped(document, now) for name, document in plan.documents.items()}
    before = {name: document for name in documents if (document := plan.before[name]) is not None}
    conserve.verify(
        {name: document.dump() for name, document in before.items()},
        {name: document.dump() for name, document in documents.items()},
        plan.rules,
        {name: document.outline() for name, document in before.items()},
    )
    return documents


def _write(
    workspace: Workspace,
    plan: MaintenancePlan,
    documents: Mapping[str, Document],
    now: datetime,
    actor: str,
    rules: Collection[str],
) -> tuple[MaintenancePlan, str]:
    """Write the plan, or under the lock a new one if a file changed since; return the plan that was written."""
    from memory.files.edit import Edit

    written = plan

    def build(snapshot: Snapshot) -> Edit:
        nonlocal written
        if written.fits(snapshot):
            return Edit(documents, summary(written.rules), moves=True)
        written = plan_maintenance(snapshot, now, rules, _left_by(workspace), restored_in(workspace))
        return Edit(checked(written, now), summary(written.rules), moves=True)

    outcome = workspace.change(OPERATION, build, actor=actor, now=now)
    return written, outcome.change.id


def _left_by(workspace: Workspace) -> LeftBy:
    """Return what tells in which bytes the last maintenance left a memory file."""
    shown = workspace.store.shown
    return lambda name: workspace.store.history.left_by(OPERATION, shown(f"memory/{name}"))


def _jump(workspace: Workspace, now: datetime) -> str | None:
    """Say so if the time lies more than a day before what is recorded."""
    latest = workspace.state.read().latest if workspace.state is not None else None
    if latest is None or latest - now <= JUMP:
        return None
    return (
        f"the clock says {format_utc(now)}, but the last run or change was at {format_utc(latest)}; "
        "nothing is written, --force does it all the same"
    )


def _remember(workspace: Workspace, now: datetime, actor: str) -> None:
    """Record when the last whole run was; a workspace that cannot be locked at once is none the worse for it."""
    if workspace.state is None:
        return
    with suppress(MemdeckError), workspace.store.at_once().transaction(OPERATION, actor=actor, now=now):
        workspace.state.record(last_maintenance=now, owner=workspace.store.system)
