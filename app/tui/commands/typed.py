"""What the typed pane does by key: promote, demote, prune an agent, lock and unlock a file."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from app.tui.messages import Changed, ChangeFailed, Done
from app.tui.part import Part

if TYPE_CHECKING:
    from memory.systems.acts import Act
    from memory.systems.typed import TypedMemory
    from memory.typed.prune import AgentPrune
    from memory.workspace import Outcome, Workspace
    from widgets.panes.typed import TypedRow
    from widgets.text.styled_text import Line

SHOWN = 200
"""The most files that the plan of a prune lists."""


class TypedVerbs(Part):
    """Each is one change of an agent's files; one undo takes it back."""

    def _row(self) -> TypedRow | None:
        pane = self.app.navigation.pane
        row: TypedRow | None = None if pane is None or pane.pane_id != "typed" else pane.current()
        return row

    def promote(self) -> None:
        """Move a file up to core; asks where to, and lists it in the Aidefile."""
        self._ask("Promote", lambda row: f"memory/{row.file.name}", "add")

    def demote(self) -> None:
        """Move a file down; asks where to, and takes it from the core files of the Aidefile."""

        def target(row: TypedRow) -> str:
            aidefile = row.status.look.aidefile
            down = "memory/episodic" if aidefile is None else aidefile.episodic_real
            up = down if aidefile is None else aidefile.procedural_real
            # What is procedural goes down to episodic; so does what is core.
            return f"{down if row.file.type != 'episodic' else up}/{row.file.name}"

        self._ask("Demote", target, "remove")

    def _ask(self, verb: str, target: Any, core: str) -> None:
        from widgets.dialogs.dialogs import Prompt

        row = self._row()
        if row is None:
            return
        agent, source = row.status.agent, row.file.path

        def answered(text: str | None) -> None:
            if text is None or not text.strip():
                return

            def do(system: TypedMemory, actor: str, now: datetime) -> Outcome:
                return system.move(agent, source, text.strip(), core=core, actor=actor, now=now)

            self.app.changing.change(f"typed.{verb.lower()}", _act(do))

        words = "its folder is made; core_files of the Aidefile follows"
        self.app.push_screen(Prompt(f"{verb} {source} to", target(row), hint=lambda _: words), answered)

    def lock(self) -> None:
        """Lock a file, or unlock one that this application locked."""
        row = self._row()
        if row is None:
            return
        agent, path = row.status.agent, row.file.path

        def do(system: TypedMemory, actor: str, now: datetime) -> Outcome:
            return system.lock(agent, path, now=now, actor=actor)

        def say(outcome: Outcome) -> None:
            self.app.say(outcome.summary[:1].upper() + outcome.summary[1:] + ".")

        self.app.changing.change("typed.lock", _act(do), then=say)

    def prune(self) -> None:
        """Prune the agent under the cursor; shows its plan first."""
        row = self._row()
        workspace = self.app.workspace
        if row is None or workspace is None:
            return
        agent, now = row.status.agent, self.app.clock()

        def show(plan: AgentPrune) -> None:
            from widgets.dialogs.dialogs import Preview

            def answered(apply: bool | None) -> None:
                if apply:
                    self._run(lambda: self._pruned(_typed(workspace).prune(agent, now, actor="human"), now))

            summary = "" if plan.deleted else "Nothing is old enough." if plan.error is None else "Nothing is deleted."
            screen = Preview(f"Prune {agent.name}", plan_lines(plan), summary=summary, applicable=bool(plan.deleted))
            self.app.overlays.offer("The plan", screen, answered)

        plan = _typed(workspace).prune
        self._run(lambda: Done(plan(agent, now, actor="human", dry_run=True), show))

    def _run(self, work: Any) -> None:
        """Do something in a worker, one at a time with all changes; its message ends it."""
        from memory.errors import MemdeckError

        app = self.app
        app.changing.begin()

        def run() -> None:
            try:
                with app.changing.writing():
                    message = work()
            except MemdeckError as error:
                message = ChangeFailed(error)
            app.post_message(message)

        app.run_worker(run, group="change", thread=True, exit_on_error=False)

    def _pruned(self, done: AgentPrune, now: datetime) -> Changed:
        """Tell the application what a prune did."""
        from memory.storage import Change, FileChange
        from memory.workspace import Outcome

        count = len(done.deleted)
        words = f"pruned {count:,} {'file' if count == 1 else 'files'} of {done.agent.name}"
        if done.error is not None:
            words += f": {done.error.message}"
        if done.errors:
            words += f", {len(done.errors):,} could not go"
        files = tuple(FileChange(file.path, b"", None) for file in done.deleted)
        change = Change(done.changes[-1] if done.changes else "", now, "human", "typed.prune", words, files)
        return Changed(Outcome(change, words))


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
