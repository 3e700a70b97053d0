"""Commands of the state pane that check: compare, validate, repair, run the validation commands, ask a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.state.bundles import record_validation
from memory.state.checks.repair import plan_repair
from memory.state.commands import run_validation
from memory.state.files.model import plural, stamp
from widgets.dialogs.dialogs import Preview, Prompt
from widgets.panes.state.answers import answer_lines, answer_summary, repair_lines, repair_summary
from widgets.panes.state.detail import Findings
from widgets.panes.state.diff import diff_lines

from .context import ACTOR, Context, JobView, Step
from .state import apply_plan, go_on, shown_state, start, state_pane, system_of_state, written

if TYPE_CHECKING:
    from memory.state.bundles import StateChange
    from memory.state.checks.finding import Finding, RepairPlan
    from memory.state.diff import SectionDiff
    from memory.state.query import QueryAnswer


def compare(context: Context) -> Step:
    """Compare two selected checkpoints, or the one under the cursor with the latest."""
    pane, look = shown_state(context)
    points = [item for item in pane.selected() if hasattr(item, "point")]
    if len(points) > 2:
        return context.say("Select two checkpoints, or none.")
    if len(points) == 1:
        (one,) = points
        # The latest is compared with the one before it.
        before, after = (one.before, one.title) if one.latest else (one.title, look.checkpoints[0].id)
    else:
        # The newest is listed first.
        after, before = (item.title for item in points)
    if before is None:
        return context.say("There is one checkpoint only.")
    names = (before, after)
    return start(context, "comparing", lambda _: look.diff(*names), lambda found: _compared(context, *names, found))


def _compared(context: Context, before: str, after: str, found: tuple[SectionDiff, ...]) -> Step:
    changed = sum(one.changed for one in found)
    summary = f"{plural(changed, 'section')} changed." if changed else "Nothing is apart."
    title = f"{before} {context.glyphs.right} {after}"
    screen = Preview(title, diff_lines(found, context.glyphs), summary=summary, applicable=False)
    return context.ask(screen, waited="The comparison")


def validate(context: Context) -> Step:
    """Look at everything of the state, and list what is wrong by its code."""
    system, now = system_of_state(context), context.clock()

    def work(_: JobView) -> tuple[Finding, ...]:
        from memory.state.checks.check import validate

        return validate(system.store.memory(), now)

    def then(found: tuple[Finding, ...]) -> Step:
        pane = state_pane(context)
        findings = Findings(now, found)
        if pane is not None:
            pane.say_findings(findings)
        words = findings.text()
        bad = findings.of("fail")
        return context.say(words[:1].upper() + words[1:] + ".", severity="warning" if bad else "information")

    return start(context, "checking the state", work, then)


# Repair


def repair(context: Context) -> Step:
    """Mend what is damaged of the state; shows its plan first."""
    system, now = system_of_state(context), context.clock()

    def work(_: JobView) -> RepairPlan:
        return plan_repair(system.store.memory(), now)

    return start(context, "looking for damage", work, lambda found: _planned(context, found))


def _planned(context: Context, plan: RepairPlan) -> Step:
    screen = Preview("Repair", repair_lines(plan), summary=repair_summary(plan), applicable=bool(plan.steps))
    return context.ask(screen, lambda _: _mend(context, plan), waited="The repair")


def _mend(context: Context, plan: RepairPlan) -> Step:
    words = "Another program changed the state meanwhile, so nothing was written; this is the new plan."
    return apply_plan(
        context,
        "state.repair",
        lambda system, actor, now: system.repair(plan, actor=actor, now=now),
        words,
        lambda: repair(context),
    )


# Validation commands


def run_commands(context: Context) -> Step:
    """Run the approved validation commands of the bundle, and record their results."""
    system, now = system_of_state(context), context.clock()

    def work(job: JobView) -> StateChange:
        def progress(label: str) -> None:
            job.plan((label,))

        results = run_validation(
            system.store.memory(), context.trust(), context.environ, cancel=job.cancel, progress=progress
        )
        go_on(job)
        with context.writing():
            return record_validation(system.store, results, actor=ACTOR, now=now, validated_at=stamp(now))

    return start(context, "validating", work, lambda done: written(context, done))


# Questions


def ask(context: Context) -> Step:
    """Ask a question; it is answered from the state and its history, with citations."""

    def asked(question: str) -> Step:
        return _answer(context, question.strip()) if question.strip() else None

    screen = Prompt("Ask the project's state", placeholder="Why do we use SQLite? What changed? What is next?")
    return context.ask(screen, asked, waited="The question")


def _answer(context: Context, question: str) -> Step:
    system = system_of_state(context)
    return start(
        context, "looking for an answer", lambda _: system.ask(question), lambda done: _answered(context, done)
    )


def _answered(context: Context, found: QueryAnswer) -> Step:
    screen = Preview(found.question, answer_lines(found), summary=answer_summary(found), applicable=False)
    return context.ask(screen, waited="The answer")
