"""What the sample of `memdeck demo` has besides its memory files: facts, typed memory, the project's state."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory.base.clock import format_utc
from memory.errors import MemdeckError
from memory.facts.model import FILE
from memory.facts.store import NewFact, encode_lines
from memory.facts.system import Facts
from memory.state.files.model import CHECKPOINTS, STATE, digest, stamp
from memory.storage import Store
from memory.storage.fsio import set_time
from memory.systems import system_of
from memory.typed.reading import note_of
from memory.workspace import Workspace

SAMPLE = Path(__file__).parent / "sample"
"""The texts of the sample; those of `project.json` are as they were created at `BASE` in the folder `ROOT`."""
BASE = datetime(2024, 1, 15, 9, 30, tzinfo=UTC)
ROOT = "{root}"
_HASH = re.compile("[0-9a-f]{64}")
_TIME = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z")
_DAY = timedelta(days=1)
_AGES = {
    "Aidefile": 60, "persona.md": 60, "lessons/skills.md": 34, "lessons/patterns.md": 83,
    "scratch/checkout-502.md": 0.2, "scratch/pool-size.md": 1.1, "scratch/staging-build.md": 3.4,
    "scratch/order-table.md": 6.4, "scratch/spring-campaign.md": 9, "scratch/old-flags.md": 16,
}  # fmt: skip
"""The files of the agent, each with its age in days."""


def demo_facts(now: datetime) -> str:
    """Return the content of the sample's facts file, dated relative to `now` (aware)."""
    lines = [
        NewFact(one["text"], tuple(one["tags"]), one["scope"], format_utc(now - one["days"] * _DAY))
        for one in json.loads((SAMPLE / "facts.json").read_text("utf-8"))
    ]
    return encode_lines(lines, 0, now)[1].decode()


def demo_agent(now: datetime) -> Mapping[str, tuple[str, timedelta]]:
    """Return the files of the sample's agent, relative to the workspace, each with its text and its age."""
    failures = "\n".join(
        note_of(one["status"], one["task"], one["tokens"], one["issue"], now - one["days"] * _DAY)
        for one in json.loads((SAMPLE / "failures.json").read_text("utf-8"))
    )
    # The sample's own Aidefile has another name: this folder is no agent's.
    names = {"Aidefile": "aidefile.toml"}
    texts = {path: (SAMPLE / "agent" / names.get(path, path)).read_text("utf-8") for path in _AGES}
    files = {path: (text, _AGES[path] * _DAY) for path, text in texts.items()}
    return {**files, "lessons/failures.md": (failures, _DAY)}


def demo_project(root: str, now: datetime) -> Mapping[str, str]:
    """Return the files of the sample's project state and of its repository, by path relative to `root`.

    Times are shifted so that each is as far from `now` (aware) as it was from the sample's own time, and the hashes of
    bundles follow.
    """
    shift = now.astimezone(UTC).replace(microsecond=0) - BASE
    files: dict[str, str] = json.loads((SAMPLE / "project.json").read_text("utf-8"))
    named = json.dumps(root)[1:-1]
    shifted = {
        path: _TIME.sub(lambda found: stamp(datetime.fromisoformat(found[0]) + shift), text.replace(ROOT, named))
        for path, text in files.items()
    }
    hashes = {}
    for path, text in shifted.items():
        if path == STATE or path.startswith(CHECKPOINTS):
            state = json.loads(text)
            hashes[state["bundleHash"]] = digest(state["bundle"])
    return {path: _HASH.sub(lambda found: hashes.get(found[0], found[0]), text) for path, text in shifted.items()}


def add_beside(workspace: Workspace, now: datetime, *, actor: str) -> None:
    """Write facts, typed memory and the project's state into a sample workspace, as part of its creation.

    Existing files are not touched. If any of the project's state or of the files that it names exists, none of it is
    created.

    Files are as old as they say by the clock `now` (aware).
    """
    from memory.state.system import ProjectState

    facts = system_of(workspace, "facts", Facts).store
    _write(facts._store, {FILE: demo_facts(now)}, "the sample facts", now, actor)
    files = demo_agent(now)
    typed = workspace.system("typed")
    typed.adopt("")
    store = workspace.together.store_of("Aidefile")
    if not isinstance(store, Store):
        raise MemdeckError("demo.agent", "the sample's agent has no place", "name another folder")
    made = _write(store, {path: text for path, (text, _) in files.items()}, "the sample agent", now, actor)
    for path in made:
        set_time(store.workspace / path, now - files[path][1])
    project = demo_project(str(workspace.root), now)
    if not any((workspace.root / path).exists() for path in project):
        _write(system_of(workspace, "state", ProjectState).store.files, project, "the sample project", now, actor)


def _write(store: Store, files: Mapping[str, str], what: str, now: datetime, actor: str) -> list[str]:
    """Write the missing files in one change; return which."""
    with store.transaction("init", actor=actor, now=now) as transaction:
        made = [path for path in files if not transaction.read(path).exists]
        for path in made:
            transaction.write(path, files[path].encode(), base=None)
        transaction.commit(f"created {what}")
    return made
