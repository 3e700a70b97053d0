"""What the typed pane does by key: promote, demote, prune an agent, lock and unlock a file."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .steps import ApplyEdit, Find, OpenDialog, Say, SayChange, Step

if TYPE_CHECKING:
    from memory.systems.acts import Act
    from memory.systems.typed import TypedMemory
    from memory.typed.prune import AgentPrune
    from memory.workspace import Outcome, Workspace
    from widgets.panes.typed import TypedRow
    from widgets.text.styled_text import Line

    from .context import Context

SHOWN = 200
"""The most files that the plan of a prune lists."""


def _row(context: Context) -> TypedRow | None:
    pane = context.pane
    row: TypedRow | None = None if pane is None or pane.pane_id != "typed" else pane.current()
    return row


def promote(context: Context) -> Step:
    """Move a file up to core; asks where to, and lists it in the Aidefile."""
    return _ask(context, "Promote", lambda row: f"memory/{row.file.name}", "add")


def demote(context: Context) -> Step:
    """Move a file down; asks where to, and takes it from the core files of the Aidefile."""

    def target(row: TypedRow) -> str:
        aidefile = row.status.look.aidefile
        down = "memory/episodic" if aidefile is None else aidefile.episodic_real
        up = down if aidefile is None else aidefile.procedural_real
        # What is procedural goes down to episodic; so does what is core.
        return f"{down if row.file.type != 'episodic' else up}/{row.file.name}"

    return _ask(context, "Demote", target, "remove")


def _ask(context: Context, verb: str, target: Any, core: str) -> Step:
    from widgets.dialogs.dialogs import Prompt

    row = _row(context)
    if row is None:
        return None
    agent, source = row.status.agent, row.file.path

    def answered(text: str | None) -> Step:
        if text is None or not text.strip():
            return None

        def do(system: TypedMemory, actor: str, now: datetime) -> Outcome:
            return system.move(agent, source, text.strip(), core=core, actor=actor, now=now)

        return ApplyEdit(f"typed.{verb.lower()}", _act(do))

    words = "its folder is made; core_files of the Aidefile follows"
    return OpenDialog(Prompt(f"{verb} {source} to", target(row), hint=lambda _: words), answered)


def lock(context: Context) -> Step:
    """Lock a file, or unlock one that this application locked."""
    row = _row(context)
    if row is None:
        return None
    agent, path = row.status.agent, row.file.path

    def do(system: TypedMemory, actor: str, now: datetime) -> Outcome:
        return system.lock(agent, path, now=now, actor=actor)

    def say(outcome: Outcome) -> Step:
        return Say(outcome.summary[:1].upper() + outcome.summary[1:] + ".")

    return ApplyEdit("typed.lock", _act(do), then=say)


def prune(context: Context) -> Step:
    """Prune the agent under the cursor; shows its plan first."""
    row = _row(context)
    workspace = context.workspace
    if row is None or workspace is None:
        return None
    agent, now = row.status.agent, context.clock()

    def work(*, dry_run: bool) -> AgentPrune:
        with context.writing():
            return _typed(workspace).prune(agent, now, actor="human", dry_run=dry_run)

    def show(plan: AgentPrune) -> Step:
        from widgets.dialogs.dialogs import Preview

        def answered(apply: bool | None) -> Step:
            if not apply:
                return None
            return Find(lambda: work(dry_run=False), lambda done: SayChange(_pruned(done, now), taken_back=False))

        summary = "" if plan.deleted else "Nothing is old enough." if plan.error is None else "Nothing is deleted."
        screen = Preview(f"Prune {agent.name}", plan_lines(plan), summary=summary, applicable=bool(plan.deleted))
        return OpenDialog(screen, answered, waited="The plan")

    return Find(lambda: work(dry_run=True), show)


def _pruned(done: AgentPrune, now: datetime) -> Outcome:
    """Return what a prune did, as a change is told."""
    from memory.storage import Change as Written
    from memory.storage import FileChange
    from memory.workspace import Outcome

    count = len(done.deleted)
    words = f"pruned {count:,} {'file' if count == 1 else 'files'} of {done.agent.name}"
    if done.error is not None:
        words += f": {done.error.message}"
    if done.errors:
        words += f", {len(done.errors):,} could not go"
    files = tuple(FileChange(file.path, b"", None) for file in done.deleted)
    return Outcome(Written(done.changes[-1] if done.changes else "", now, "human", "typed.prune", words, files), words)


def _typed(workspace: Workspace) -> TypedMemory:
    from memory.systems import system_of
    from memory.systems.typed import TypedMemory

    return system_of(workspace, "typed", TypedMemory)


def _act(do: Callable[[TypedMemory, str, datetime], Outcome]) -> Act:
    from memory.systems.acts import act
    from memory.systems.typed import TypedMemory

    return act("typed", TypedMemory, do)


def plan_lines(plan: AgentPrune) -> list[Line]:
    """What a prune would delete, what it passes over and why."""
    from memory.typed.sizes import bytes_text
    from widgets.text.styled_text import Piece, line

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
