"""What the verbs of `memdeck state` share: their group, the system, and how they ask."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from app.cli.session import Session
from memory import systems
from memory.errors import MemdeckError, UsageError
from memory.operations import Group, option
from memory.state.diff import SectionDiff
from memory.state.files.model import plural
from memory.state.files.store import StateStore
from memory.state.recall.recall import SHOWN_GROUPS
from memory.state.system import ProjectState

SECTIONS = "project, project-map, current-focus, gotchas, next-steps, validation-commands"

state = Group(
    "state",
    """Project state: what a repository is, what is worked on, what happened, and what to do next.

    It is kept in .agent-memory/, shown as Markdown in docs/agent-memory/, and named in AGENTS.md, CLAUDE.md or
    README.md. Sessions of agents are imported as events, and a recall takes what they say into the state.
    """,
)
dry_run = option("--dry-run", is_flag=True, help="Only say what would be done.")
yes = option("--yes", is_flag=True, help="Do it without asking.")


def system_of(session: Session) -> ProjectState:
    """Return the project state of the workspace, with the user's decisions about what it may run."""
    try:
        workspace = session.workspace
    except MemdeckError as error:
        if error.code == "workspace.not_found":
            error.hint = "`memdeck state init` makes the state of the project here"
        raise
    system = systems.system_of(workspace, "state", ProjectState)
    if not session.safe:
        system.entrust(session.trust, os.environ)
    return system


def store_of(session: Session) -> StateStore:
    """Return the store of the project state; NotFoundError `state.missing` if there is none."""
    store = system_of(session).store
    _ = store.memory().state
    return store


def confirmed(session: Session, yes: bool, question: str, hint: str) -> bool:
    """Return whether to do what was shown: with `--yes`, or after a yes in a terminal; else print how to do it."""
    if yes:
        return True
    if session.asks_person and session.agreed(question):
        return True
    if session.output == "human":
        session.writer.lines(["nothing was changed" if session.asks_person else hint])
    return False


def diff_lines(session: Session, sections: Iterable[SectionDiff], most: int = 0) -> Iterator[str]:
    """Yield the diffs of sections; at most `most` lines of each (0: all)."""
    for section in sections:
        yield f"{section.section}:"
        lines = section.lines[2:]
        for line in lines[:most] if most else lines:
            text = session.paint.line(line, "    ")
            yield session.paint.notice(text) if line.startswith("+") else text
        if most and len(lines) > most:
            yield f"    and {len(lines) - most:,} more lines"


def json_of(text: str, what: str) -> Any:
    """Return the JSON of a text that the user wrote; UsageError `state.json`."""
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise UsageError("state.json", f"{what} is not JSON: {error}", "mend it and try again") from None


_SIGNALS = {
    "decisions": "decision",
    "gotchas": "gotcha",
    "nextStepHints": "next step",
    "keyPaths": "key path",
    "validationObservations": "validation",
}


def group_lines(session: Session, groups: Any) -> Iterator[str]:
    """Yield at most five groups of events, then how many more there are."""
    for one in groups[:SHOWN_GROUPS]:
        count = len(one.event_ids)
        yield session.paint.line(f"{one.id}  {one.label}, {plural(count, 'event')}: {one.summary}", "  ")
        signals = [plural(len(texts), _SIGNALS.get(kind, kind)) for kind, texts in one.signals.items() if texts]
        if signals:
            yield session.paint.line(", ".join(signals), "      ")
    if len(groups) > SHOWN_GROUPS:
        yield f"  … {len(groups) - SHOWN_GROUPS:,} more"
