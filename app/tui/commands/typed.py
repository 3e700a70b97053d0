"""Commands of the typed pane: promote, demote, prune an agent, lock and unlock a file."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.storage import Change as Written
from memory.storage import FileChange
from memory.systems import system_of
from memory.systems.acts import Act, act
from memory.typed.sizes import bytes_text
from memory.typed.system import TypedMemory
from memory.workspace import Outcome
from widgets.dialogs.dialogs import Preview, Prompt
from widgets.text.styled_text import Line, Piece, line

from .context import Context, Step, open_pane

if TYPE_CHECKING:
    from memory.typed.status import AgentPrune
    from widgets.panes.typed import TypedRow


SHOWN = 200
"""The most files that the plan of a prune lists."""


def _row(context: Context) -> TypedRow:
    row: TypedRow | None = open_pane(context).current()
    assert row is not None
    return row


def promote(context: Context) -> Step:
    """Move the file up to core, and list it in the Aidefile; asks where to."""
    return _ask(context, "Promote", lambda row: f"memory/{row.file.name}", "add")


def demote(context: Context) -> Step:
    """Move the file down, and take it from the core files of the Aidefile; asks where to."""

    def target(row: TypedRow) -> str:
        aidefile = row.status.look.aidefile
        down = "memory/episodic" if aidefile is None else aidefile.episodic_real
        up = down if aidefile is None else aidefile.procedural_real
        # Procedural files go down to episodic; so do core files.
        return f"{down if row.file.type != 'episodic' else up}/{row.file.name}"

    return _ask(context, "Demote", target, "remove")


def _ask(context: Context, verb: str, target: Any, core: str) -> Step:
    row = _row(context)
    agent, source = row.status.agent, row.file.path

    def answered(text: str) -> Step:
        if not text.strip():
            return None

        def do(system: TypedMemory, actor: str, now: datetime) -> Outcome:
            return system.move(agent, source, text.strip(), core=core, actor=actor, now=now)

        return context.change(f"typed.{verb.lower()}", _act(do))

    words = "its folder is made; core_files of the Aidefile follows"
    return context.ask(Prompt(f"{verb} {source} to", target(row), hint=lambda _: words), answered)


def lock(context: Context) -> Step:
    """Lock the file for other programs, or unlock what you locked."""
    row = _row(context)
    agent, path = row.status.agent, row.file.path

    def do(system: TypedMemory, actor: str, now: datetime) -> Outcome:
        return system.lock(agent, path, now=now, actor=actor)

    def say(outcome: Outcome) -> Step:
        return context.say(outcome.summary[:1].upper() + outcome.summary[1:] + ".")

    return context.change("typed.lock", _act(do), then=say)


def prune(context: Context) -> Step:
    """Delete what is too old of the agent's files; shows its plan first."""
    workspace = context.workspace
    agent, now = _row(context).status.agent, context.clock()

    def work(*, dry_run: bool) -> AgentPrune:
        with context.writing():
            return system_of(workspace, "typed", TypedMemory).prune(agent, now, actor="human", dry_run=dry_run)

    def show(plan: AgentPrune) -> Step:
        def apply(_: bool) -> Step:
            return context.find(
                lambda: work(dry_run=False), lambda done: context.tell(_pruned(done, now), taken_back=False)
            )

        summary = "" if plan.deleted else "Nothing is old enough." if plan.error is None else "Nothing is deleted."
        screen = Preview(f"Prune {agent.name}", plan_lines(plan), summary=summary, applicable=bool(plan.deleted))
        return context.ask(screen, apply, waited="The plan")

    return context.find(lambda: work(dry_run=True), show)


def _pruned(done: AgentPrune, now: datetime) -> Outcome:
    """Return what a prune did, in the form of a change."""
    count = len(done.deleted)
    words = f"pruned {count:,} {'file' if count == 1 else 'files'} of {done.agent.name}"
    if done.error is not None:
        words += f": {done.error.message}"
    if done.errors:
        words += f", {len(done.errors):,} could not go"
    files = tuple(FileChange(file.path, b"", None) for file in done.deleted)
    return Outcome(Written(done.changes[-1] if done.changes else "", now, "human", "typed.prune", words, files), words)


def _act(do: Callable[[TypedMemory, str, datetime], Outcome]) -> Act:
    return act("typed", TypedMemory, do)


def plan_lines(plan: AgentPrune) -> list[Line]:
    """Return what a prune would delete, and what it skips and why."""
    count = len(plan.deleted)
    lines: list[Line] = [] if plan.error is None else [line(Piece(plan.error.message, "warn")), ()]
    lines += [
        line(Piece(f"{count:,} {'file' if count == 1 else 'files'} would go, {bytes_text(plan.freed)}", "heading")),
        line(Piece(f"{plan.kept:,} are kept, {len(plan.skipped):,} skipped, {len(plan.errors):,} cannot go", "muted")),
        (),
    ]
    lines += [line(Piece(f"{file.type:<11}", "muted"), file.path) for file in plan.deleted[:SHOWN]]
    if count > SHOWN:
        lines.append(line(Piece(f"and {count - SHOWN:,} more", "muted")))
    for heading, left in (("Skipped", plan.skipped), ("Cannot go", plan.errors)):
        if left:
            lines += [(), line(Piece(heading, "heading"))]
            lines += [line(one.path, Piece(f"  {one.reason}", "muted")) for one in left[:SHOWN]]
    return lines
