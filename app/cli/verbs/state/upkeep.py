"""`memdeck state validate`, `prune`, `automate` and `config`: keeping the state valid and small."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from app.cli.session import Session
from memory.operations import argument, option, under
from memory.operations.result import PROBLEMS, first
from memory.state.automate import Cycle
from memory.state.checks.finding import Finding, RepairPlan
from memory.state.checks.repair import plan_repair
from memory.state.files.config import KEYS, setting
from memory.state.operations import set_config
from memory.state.retention import Pruned

from .group import confirmed, dry_run, state, store_of, system_of, yes


@under(
    state,
    "validate",
    serves="change",
    examples=("memdeck state validate", "memdeck state validate --run", "memdeck state validate --repair"),
)
@option("--run", "runs", is_flag=True, help="Run the validation commands first, each after approval, and note it.")
@option("--repair", is_flag=True, help="Show what can be mended, ask, and mend it.")
@yes
def validate(session: Session, runs: bool, repair: bool, yes: bool) -> int:
    """Look at everything: each finding with its code, and pass, warn or fail; exit code 4 when anything fails.

    A repair keeps what was damaged in the archive, and `memdeck undo` takes it back.
    """
    from memory.state.checks.check import validate as look

    system = system_of(session)
    if repair:
        return _repair(session, yes)
    if runs:
        from memory.base.clock import aware
        from memory.state.commands import run_validation
        from memory.state.files.model import stamp
        from memory.state.operations import record_validation

        results = run_validation(store_of(session).memory(), system.trust, os.environ)
        now = aware(session.now)
        record_validation(system.store, results, actor=session.actor, now=now, validated_at=stamp(now))
        session.warn()
    found = look(system.store.memory(), session.now)
    failed = sum(one.level == "fail" for one in found)
    warned = sum(one.level == "warn" for one in found)
    document = {
        "healthy": not failed,
        "passed": len(found) - failed - warned,
        "warned": warned,
        "failed": failed,
        "findings": [one.json() for one in found],
    }
    session.answer(
        lambda: document,
        lambda: _finding_lines(session, found, failed, warned),
        lambda: (one.json() for one in found),
    )
    return PROBLEMS if failed else 0


def _finding_lines(session: Session, found: Sequence[Finding], failed: int, warned: int) -> Iterator[str]:
    paint = session.paint
    for one in found:
        where = f"{one.file}:{one.line}" if one.line else one.file
        line = paint.line(f"{one.level.upper()} {one.code}: {one.message} ({where})")
        yield paint.alert(line) if one.level == "fail" else paint.notice(line) if one.level == "warn" else line
    yield f"{len(found) - failed - warned} passed, {warned} warned, {failed} failed"


def _repair(session: Session, yes: bool) -> int:
    from memory.state.checks.repair import repair as run

    store = system_of(session).store
    plan = plan_repair(store.memory(), session.now)
    if session.output == "human":
        session.writer.lines(_plan_lines(session, plan))
    done = None
    if plan.steps and confirmed(session, yes, "Repair it?", "nothing is written; `--yes` does it"):
        _, done = run(store, plan, actor=session.actor, now=session.now)
        session.warn()
    if session.output != "human":
        session.writer.document({**plan.json(), "change": None if done is None else done.id})
    elif done is not None:
        session.writer.lines([session.paint.line(done.summary), "`memdeck undo` takes it back"])
    return PROBLEMS if plan.left or (plan.steps and done is None) else 0


def _plan_lines(session: Session, plan: RepairPlan) -> Iterator[str]:
    paint = session.paint
    if not plan.steps:
        yield "nothing to repair"
    for step in plan.steps[:200]:
        yield paint.line(f"{step.file}: {step.action} ({step.why})")
    if plan.aside:
        count = len(plan.aside)
        yield f"{count} damaged {'file is' if count == 1 else 'files are'} kept in the archive"
    yield from first(
        plan.left,
        lambda one: paint.notice(paint.line(f"not to be repaired: {one.code}: {one.message} ({one.file})")),
    )


@under(state, "prune", serves="change", examples=("memdeck state prune --dry-run", "memdeck state prune"))
@dry_run
def prune(session: Session, dry_run: bool) -> None:
    """Put old events that were recalled, and old checkpoints, into the archive; remove what expired there."""
    from memory.state.retention import prune as run

    done = run(store_of(session), actor=session.actor, now=session.now, dry_run=dry_run)
    session.answer_change(lambda: {"dry_run": dry_run, **done.json()}, lambda: _prune_lines(session, done, dry_run))


def _prune_lines(session: Session, done: Pruned, dry_run: bool) -> Iterator[str]:
    paint = session.paint
    for words in done.taken.warnings:
        yield paint.notice(paint.line(f"warning: {words}"))
    yield paint.line(("would take " if dry_run and done.taken.any else "") + done.taken.text())
    if dry_run:
        names = [*(event["id"] for event in done.taken.events), *done.taken.checkpoints, *done.taken.batches]
        yield from first(names, lambda name: paint.line(name, "    "))
    for batch in done.archived:
        yield paint.line(f"in {batch}", "    ")


@under(state, "automate", serves="change", examples=("memdeck state automate --dry-run", "memdeck state automate"))
@dry_run
def automate(session: Session, dry_run: bool) -> int:
    """Do one cycle of the automation by the settings now: sync, recall, prune; `memdeck --maintain` does it by itself.

    Exit code 1 when a step failed and nothing was recalled.
    """
    store_of(session)
    done = system_of(session).automate(session.now, actor=session.actor, dry_run=dry_run)
    session.answer_change(lambda: {"dry_run": dry_run, **done.json()}, lambda: _cycle_lines(session, done))
    return 1 if done.status == "failed" else 0


def _cycle_lines(session: Session, done: Cycle) -> Iterator[str]:
    paint = session.paint
    for words in done.warnings:
        yield paint.notice(paint.line(f"warning: {words}"))
    for step in done.steps:
        line = paint.line(step.text())
        yield paint.alert(line) if step.state == "failed" else line


@under(
    state,
    "config",
    serves="change",
    examples=(
        "memdeck state config",
        "memdeck state config recall.policy",
        "memdeck state config retention.enabled false",
    ),
)
@argument("key", required=False)
@argument("value", required=False)
def config(session: Session, key: str | None, value: str | None) -> None:
    """List the settings of config.json, show one, or set one; what is not written there has its default."""

    store = store_of(session)
    if key is not None and value is not None:
        change = set_config(store, key, value, actor=session.actor, now=session.now)
        session.answer_change(
            lambda: {"key": key, "value": setting(store.memory().config, key), "change": change.id},
            lambda: [session.paint.line(change.summary)],
        )
        return
    settings = store.memory().config
    chosen = {one: setting(settings, one) for one in ([key] if key is not None else KEYS)}
    session.answer(
        lambda: {"config": chosen},
        lambda: session.paint.columns((name, _shown(found)) for name, found in chosen.items()),
    )


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
