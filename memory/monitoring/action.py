"""Running a task's action: only on an explicit call, only if a person approved it; its output becomes the outcome."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from memory.base.safe_text import visible
from memory.errors import BlockedError, NotFoundError
from memory.files.edit import Edit
from memory.files.find import find_task
from memory.files.snapshot import Snapshot
from memory.files.tasks.edits import edit_task
from memory.files.tasks.operations import done_task
from memory.monitoring.command import Finished, run_placed
from memory.trust.asks import action_of, asks_of
from memory.trust.consent import Trust, blocked_json
from memory.workspace import Outcome, Workspace

TIMEOUT = 600.0
"""Seconds that an action may take."""
MOST_LINES, MOST = 20, 2000
"""Maximum lines and characters that are kept of its output, from the end."""


@dataclass(frozen=True, slots=True)
class ActionRun:
    """The result of an action: how the command ended, the outcome that was written, and the change."""

    finished: Finished
    outcome: str
    change: Outcome

    @property
    def good(self) -> bool:
        """Whether the command ended with exit code 0."""
        return self.finished.exit_code == 0


def run_action(
    workspace: Workspace,
    trust: Trust,
    ref: str,
    now: datetime,
    *,
    actor: str,
    environ: Mapping[str, str],
    finish: bool = False,
    cancel: threading.Event | None = None,
) -> ActionRun:
    """Run the approved action of an open task and write a summary of its output into `outcome`.

    `finish` also completes the task if the command ended with exit code 0. Raises NotFoundError `task.not_found`,
    `task.no_action`, BlockedError `trust.blocked` for an action that no person approved; nothing ran then.
    """
    snapshot = workspace.snapshot()
    task = find_task(snapshot, ref)
    ask = action_of(asks_of(snapshot), task.title)
    if ask is None or task.section not in ("pending", "in-progress"):
        raise NotFoundError("task.no_action", f"{task.title[:60]!r} has no action to run", "see its field `action`")
    decision = trust.decide(ask)
    if decision.text is None:
        raise BlockedError(
            "trust.blocked",
            f"the action of {task.title[:60]!r} may not run: {decision.why}",
            "`memdeck trust list` shows what waits for an approval",
            blocked=[blocked_json(ask, decision)],
        )
    finished = run_placed(
        decision.text,
        ask.folder,
        root=workspace.root,
        state=trust.state,
        environ=environ,
        timeout=TIMEOUT,
        cancel=cancel,
    )
    outcome = outcome_text(finished)
    entry = task.long_hex

    def build(current: Snapshot) -> Edit:
        # The task may have been completed while its action ran.
        if finish and finished.exit_code == 0 and find_task(current, entry).section != "completed":
            return done_task(current, entry, outcome=outcome, now=now)
        return edit_task(current, entry, set={"outcome": outcome}, now=now)

    return ActionRun(finished, outcome, workspace.change("tasks.action", build, actor=actor, now=now))


def outcome_text(finished: Finished) -> str:
    """Return how a command ended and its last output, as the value of a field: safe, and not too long."""
    head = f"not run: {finished.failure}" if finished.failure else finished.trouble or "exit code 0"
    printed = visible(finished.printed, newlines=True)[-MOST:]
    lines = [line.strip() for line in printed.splitlines() if line.strip()][-MOST_LINES:]
    if not lines:
        return visible(head)
    if len(lines) == 1:
        return f"{visible(head)}: {lines[0]}"
    # A line of a field must not look like the start of another element.
    return "\n".join([f"{visible(head)}:", *(f"| {line}" for line in lines)])
