"""What the state pane looks at by key: compare, check, repair, run the validation commands, ask a question."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from .context import ACTOR
from .state import act, go_on, start, state_pane, system_of_state, wrote
from .steps import ApplyEdit, OpenDialog, Say, Step, Steps

if TYPE_CHECKING:
    from memory.errors import MemdeckError
    from memory.state.checks.finding import Finding
    from memory.state.diff import SectionDiff
    from memory.state.operations import StateChange
    from memory.state.query import QueryAnswer
    from memory.state.repair_plan import RepairPlan
    from memory.systems.state import ProjectState
    from memory.workspace import Outcome

    from .context import Context, JobView


def compare(context: Context) -> Step:
    """Compare two selected checkpoints, or the one under the cursor with the latest."""
    pane = state_pane(context)
    look = None if pane is None else pane.state()
    if pane is None or look is None:
        return None
    points = [item for item in pane.selected() if hasattr(item, "point")]
    if len(points) > 2:
        return Say("Select two checkpoints, or none.")
    if len(points) == 1:
        (one,) = points
        # The latest is compared with what came before it.
        before, after = (one.before, one.title) if one.latest else (one.title, look.checkpoints[0].id)
    else:
        # The newest stands first.
        after, before = (item.title for item in points)
    if before is None:
        return Say("There is one checkpoint only.")
    names = (before, after)
    return start("comparing", lambda _: look.diff(*names), lambda found: _compared(context, *names, found))


def _compared(context: Context, before: str, after: str, found: tuple[SectionDiff, ...]) -> Step:
    from widgets.dialogs.dialogs import Preview
    from widgets.panes.state.diff import counted, diff_lines

    changed = sum(one.changed for one in found)
    summary = f"{counted(changed, 'section')} changed." if changed else "Nothing is apart."
    title = f"{before} {context.glyphs.right} {after}"
    screen = Preview(title, diff_lines(found, context.glyphs), summary=summary, applicable=False)
    return OpenDialog(screen, lambda _: None, waited="The comparison")


def validate(context: Context) -> Step:
    """Look at everything; the findings stand in the detail of how the state stands."""
    system, now = system_of_state(context), context.clock()

    def work(_: JobView) -> tuple[Finding, ...]:
        from memory.state.checks.check import validate

        return validate(system.store.memory(), now)

    def then(found: tuple[Finding, ...]) -> Step:
        from widgets.panes.state.detail import Findings

        pane = state_pane(context)
        findings = Findings(now, found)
        if pane is not None:
            pane.say_findings(findings)
        words = findings.text()
        bad = findings.of("fail")
        return Say(words[:1].upper() + words[1:] + ".", severity="warning" if bad else "information")

    return start("checking the state", work, then)


# Repair


def repair(context: Context) -> Step:
    """Work out what can be mended, and show it; Enter does it in one change."""
    system, now = system_of_state(context), context.clock()

    def work(_: JobView) -> RepairPlan:
        from memory.state.checks.repair import plan_repair

        return plan_repair(system.store.memory(), now)

    return start("looking for damage", work, lambda found: _planned(context, found))


def _planned(context: Context, plan: RepairPlan) -> Step:
    from widgets.dialogs.dialogs import Preview
    from widgets.panes.state.answers import repair_lines, repair_summary

    def answered(apply: bool | None) -> Step:
        return _mend(context, plan) if apply else None

    screen = Preview("Repair", repair_lines(plan), summary=repair_summary(plan), applicable=bool(plan.steps))
    return OpenDialog(screen, answered, waited="The repair")


def _mend(context: Context, plan: RepairPlan) -> Step:
    def do(system: ProjectState, actor: str, now: datetime) -> Outcome:
        return system.repair(plan, actor=actor, now=now)

    def otherwise(error: MemdeckError) -> Step:
        if error.code != "state.repair.stale":
            return None
        said = Say("Another program changed the state meanwhile, so nothing was written; this is the new plan.")
        return Steps((said, repair(context)))

    return ApplyEdit("state.repair", act(do), otherwise=otherwise, taken_back=True)


# Validation commands


def run_commands(context: Context) -> Step:
    """Run the validation commands of the bundle, each approved, and note how they ended."""
    system, now = system_of_state(context), context.clock()

    def work(job: JobView) -> StateChange:
        from memory.state.files.model import stamp
        from memory.state.operations import record_validation
        from memory.systems.state_commands import run_validation

        def progress(label: str) -> None:
            job.plan((label,))

        results = run_validation(
            system.store.memory(),
            context.trust(),
            context.environ,
            cancel=job.cancel,
            progress=progress,
        )
        go_on(job)
        with context.writing():
            return record_validation(system.store, results, actor=ACTOR, now=now, validated_at=stamp(now))

    return start("validating", work, _noted)


def _noted(done: StateChange) -> Step:
    return wrote(done.change, done.summary)


# Questions


def ask(context: Context) -> Step:
    """Ask for a question, and answer it from the state and its history with citations; nothing is written."""
    from widgets.dialogs.dialogs import Prompt

    def asked(question: str | None) -> Step:
        return _answer(context, question.strip()) if question and question.strip() else None

    screen = Prompt("Ask the project's state", placeholder="Why do we use SQLite? What changed? What is next?")
    return OpenDialog(screen, asked, waited="The question")


def _answer(context: Context, question: str) -> Step:
    system, now = system_of_state(context), context.clock()

    def work(_: JobView) -> QueryAnswer:
        from memory.state.query import ask

        return ask(system.store.memory(), question, now)

    return start("looking for an answer", work, _answered)


def _answered(found: QueryAnswer) -> Step:
    from widgets.dialogs.dialogs import Preview
    from widgets.panes.state.answers import answer_lines, answer_summary

    screen = Preview(found.question, answer_lines(found), summary=answer_summary(found), applicable=False)
    return OpenDialog(screen, lambda _: None, waited="The answer")
