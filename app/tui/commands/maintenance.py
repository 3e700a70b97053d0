"""Archive, prune and maintain; each shows its plan before anything moves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from datetime import datetime
from itertools import islice

from memory.maintenance.report import Report, summary
from memory.maintenance.rules import ARCHIVE_TASKS, CAP_JOURNAL, PRUNE_JOURNAL
from widgets.dialogs.dialogs import Preview
from widgets.text.styled_text import Line, Piece, line

from .context import ACTOR, Context, Step, steps

TITLES = {
    "archive-completed-tasks": "Completed tasks",
    "prune-old-journal": "Old journal entries",
    "cap-journal": "Journal entries over the limit",
    "clear-completed-orchestration": "Completed plans",
    "prune-facts": "Facts over the limit",
    "prune-typed-memory": "Old files of agents",
    "automate-project-state": "The project's state",
    "sync-project-state": "Sessions for the project's state",
    "recall-project-state": "Recall into the project's state",
    "prune-project-state": "Old history of the project's state",
}
"""The rules in words."""

SHOWN = 200
"""The most entries of one rule that a plan lists."""


def archive(context: Context) -> Step:
    """Archive tasks that were completed a while ago; shows its plan first."""
    return _plan(context, "Archive", (ARCHIVE_TASKS,))


def prune(context: Context) -> Step:
    """Move old journal entries to the archive; shows its plan first."""
    return _plan(context, "Prune the journal", (PRUNE_JOURNAL, CAP_JOURNAL))


def maintain(context: Context) -> Step:
    """All maintenance rules at once, those of facts, agents and the project's state too; shows its plan first."""
    return _plan(context, "Maintenance", None)


def _plan(context: Context, title: str, rules: Collection[str] | None) -> Step:
    now = context.clock()
    return _run(context, now, rules, lambda done: _show(context, title, done, now, rules), dry_run=True)


def _show(context: Context, title: str, done: Sequence[Report], now: datetime, rules: Collection[str] | None) -> Step:
    """Show the plan: Enter applies it, Escape changes nothing."""

    def apply(_: bool) -> Step:
        return _run(context, now, rules, lambda done: _applied(context, done), dry_run=False)

    report = Report.joined(done)
    due = bool(report.moved or report.acted)
    summary = "" if due else "Nothing has to move."
    # A run that refused its plan cannot be applied; a file or a source that stays where it is does not stop the rest.
    applicable = due and not any(one.warnings for one in done if not _goes_on(one))
    screen = Preview(title, plan_lines(report), summary=summary, applicable=applicable)
    return context.ask(screen, apply, waited="The plan")


def _applied(context: Context, done: Sequence[Report]) -> Step:
    report = Report.joined(done)
    acted = [f"{TITLES.get(rule.rule, rule.rule)}: {rule.said}" for rule in report.acted]
    words = [summary(report.rules)] if report.moved or not acted else []
    changed = sum(_changes(one) for one in done)
    back = f" {context.key_of('change.undo')} takes it back" if changed else ""
    back += f" in {changed} steps." if changed > 1 else "." if changed else ""
    return steps(
        (
            context.say("\n".join(f"{one[:1].upper()}{one[1:]}." for one in (*words, *acted)) + back),
            context.read_again(),
        )
    )


def _run(
    context: Context,
    now: datetime,
    rules: Collection[str] | None,
    then: Callable[[Sequence[Report]], Step],
    *,
    dry_run: bool,
) -> Step:
    """Apply some rules of the memory files, or (None) all rules of all existing systems; `then` gets their reports."""
    workspace = context.workspace

    def work() -> Sequence[Report]:
        from memory.maintenance.run import maintain

        with nullcontext() if dry_run else context.writing():
            if rules is not None:
                return (maintain(workspace, now, actor=ACTOR, dry_run=dry_run, rules=rules),)
            # A cycle of the project's state requested by the user does not wait for its interval.
            return tuple(
                system.maintain(now, actor=ACTOR, dry_run=dry_run, force=system.name == "state")
                for system in workspace.systems()
            )

    return context.find(work, then)


def _goes_on(report: Report) -> bool:
    """Return whether the rest of the plan is applied despite the warnings of a report."""
    return any(rule.rule == "prune-typed-memory" or rule.rule.endswith("-project-state") for rule in report.rules)


def _changes(report: Report) -> int:
    """Return how many changes a run made: a cycle of the project's state makes one for each step that did something."""
    steps = sum(rule.acts or bool(rule.archived) for rule in report.rules if rule.rule.endswith("-project-state"))
    return max(steps, int(report.change is not None))


def plan_lines(report: Report) -> list[Line]:
    """Return a report as lines: per rule the count before and after, what moves where, what stays and why."""
    lines: list[Line] = [line(Piece(warning, "warn")) for warning in report.warnings]
    for rule in report.rules:
        if lines:
            lines.append(())
        if rule.said:
            lines.append(line(Piece(TITLES.get(rule.rule, rule.rule), "heading"), Piece(f"  {rule.file}", "muted")))
            lines.append(line(Piece(f"  {rule.said}", "muted")))
            continue
        leaves = rule.archived + rule.cleared
        lines.append(
            line(
                Piece(TITLES.get(rule.rule, rule.rule), "heading"),
                Piece(f"  {rule.file}: {rule.before:,} before, {rule.kept:,} after", "muted"),
            )
        )
        if not leaves and not rule.skipped:
            lines.append(line(Piece("  nothing to move", "muted")))
        if leaves and rule.why:
            lines.append(line(Piece(f"  {rule.why}", "muted")))
        target = ""
        for move in islice(rule.moves, SHOWN):
            if move.to != target:
                target = move.to
                lines.append(line(Piece("  to ", "muted"), Piece(target, "accent")))
            lines.append(line(Piece(f"    {move.date}  " if move.date else "    ", "muted"), move.title))
        if leaves > SHOWN:
            lines.append(line(Piece(f"    and {leaves - SHOWN:,} more", "muted")))
        if rule.skipped:
            lines.append(line(Piece(f"  stays ({len(rule.skipped):,})", "muted")))
        for skip in rule.skipped[:20]:
            lines.append(line(f"    {skip.title} ", Piece(f"({skip.reason})", "muted")))
    return lines
