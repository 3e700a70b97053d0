"""One maintenance run: plan, check independently, write in one transaction, record the time."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from memory.base.clock import format_utc
from memory.document import Document
from memory.document.match import units_of
from memory.document.nodes import bare
from memory.errors import MemdeckError
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot, ref_of
from memory.storage.records import OF_FILE, key
from memory.workspace import Workspace, stamped

from . import conservation
from .plan import MaintenancePlan, plan_maintenance
from .report import Report, summary
from .rules import ALL_RULES, Restored, RestoredIn

OPERATION = "maintain"
ACTOR = "maintain"
JUMP = timedelta(days=1)
"""How far the time may be before the last recorded run or change without counting as a jump."""


def maintain(
    workspace: Workspace,
    now: datetime,
    *,
    actor: str = ACTOR,
    dry_run: bool = False,
    force: bool = False,
    rules: Collection[str] = ALL_RULES,
) -> Report:
    """Apply the rules to a workspace at the aware time `now` and report what moved; a second run moves nothing more.

    `dry_run` writes nothing and reports the same. A clock that jumped back holds the run: it is a dry run with a
    warning, unless `force`. Changes by other programs are recorded in the history, and their late bytes merged.

    Raises ConfigError for a bad setting, MemdeckError `maintenance.unbalanced` when the independent check fails, and
    the errors of reading and writing; in all these cases nothing was written.
    """
    begun = time.perf_counter()
    warnings: tuple[str, ...] = ()
    latest = ahead_of(workspace, now)
    held = latest is not None and not force
    if latest is not None and held:
        warnings = (held_words(now, latest),)
    asked, dry_run = dry_run, dry_run or held
    if not dry_run:
        warnings += _look_around(workspace, now)
    plan = plan_maintenance(workspace.snapshot(), now, rules, restored_in(workspace))
    documents = checked(plan, now)
    change = None

    def build(snapshot: Snapshot) -> Edit:
        nonlocal plan, documents
        if any(snapshot.found(name) is not document for name, document in plan.before.items()):
            # Another program changed a file since.
            plan = plan_maintenance(snapshot, now, rules, restored_in(workspace))
            documents = checked(plan, now)
        return Edit(documents, summary(plan.rules), moves=True)

    if not dry_run:
        if documents:
            change = workspace.change(OPERATION, build, actor=actor, now=now).change.id
        if set(rules) == set(ALL_RULES):
            _remember(workspace, now, actor, forced=latest is not None)
    return Report(
        dry_run=dry_run,
        now=now,
        rules=plan.rules,
        warnings=warnings + plan.warnings,
        duration_ms=round((time.perf_counter() - begun) * 1000, 1),
        change=change,
        held=held and not asked,
    )


def _look_around(workspace: Workspace, now: datetime) -> tuple[str, ...]:
    """Record changes by other programs; return warnings about what reached a file after it was replaced."""
    workspace.notice(now)
    return tuple(
        f"{store.shown(late.path)}: what another program wrote while memdeck changed the file is kept in "
        f"{store.private}/stage/{late.name}; merge it, then remove that file"
        for store in dict.fromkeys((workspace.store, *workspace.stores()))
        for late in store.kept()
    )


def checked(plan: MaintenancePlan, now: datetime) -> Mapping[str, Document]:
    """Return the plan's documents with `updated` set, after the independent check passed.

    Raises MemdeckError `maintenance.unbalanced`.
    """
    if not plan.documents and not any(rule.archived or rule.cleared for rule in plan.rules):
        return {}  # Nothing moves, so there is nothing to check.

    documents = {name: stamped(document, now) for name, document in plan.documents.items()}
    before = {name: document for name in documents if (document := plan.before[name]) is not None}
    conservation.verify(
        {name: document.dump() for name, document in before.items()},
        {name: document.dump() for name, document in documents.items()},
        plan.rules,
    )
    return documents


def restored_in(workspace: Workspace) -> RestoredIn:
    """Return a function that returns the restored entries of a file from the change log; () where the log fails."""

    def found(name: str) -> Sequence[Restored]:
        path = workspace.store.shown(f"memory/{name}")
        history = workspace.store.history
        restored: list[Restored] = []
        try:
            done = f"operation = 'restore' AND undone_by IS NULL AND {OF_FILE}"
            for record in history.records(done, [key(path)], 0):
                file = next(one for one in record.files if one.path == path)
                for unit in units_of(history.regions(record, file)):
                    if unit.after is not None and unit.before is None:
                        ref = ref_of(name, unit.new_section, unit.after)
                        restored.append(Restored(record.time, bare(unit.after), ref))
        except MemdeckError:
            return ()  # `doctor` reports the problems of the log; without it, entries are judged by their own dates.
        return restored

    return found


def ahead_of(workspace: Workspace, now: datetime) -> datetime | None:
    """Return the time of the last recorded run or change if `now` is more than a day before it: no rule writes then."""
    times = [workspace.state.last_maintenance(), *(change.time for change in workspace.store.history.list(1))]
    latest = max((time for time in times if time is not None), default=now)
    return None if latest - now <= JUMP else latest


def held_words(now: datetime, latest: datetime) -> str:
    """Return in a sentence why maintenance writes nothing, and what to do."""
    return (
        f"the clock says {format_utc(now)}, but the last run or change was at {format_utc(latest)}, so maintenance "
        "writes nothing; if the clock is right, run `memdeck --maintain --force` once"
    )


def _remember(workspace: Workspace, now: datetime, actor: str, *, forced: bool) -> None:
    """Record the time of this whole run; skipped without harm where the workspace cannot be locked at once.

    A run that was forced says that the clock is right: the time of the last change was not.
    """
    with suppress(MemdeckError), workspace.store.transaction(OPERATION, actor=actor, now=now, wait=False):
        workspace.state.record_maintenance(now, workspace.store.system)
        if forced:
            workspace.store.history.note("trust", "the clock is right", actor=actor, now=now)
