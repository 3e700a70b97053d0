"""What the sample of `memdeck demo` has besides its memory files: facts, typed memory, the project's state."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

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

PROCEDURAL, EPISODIC = "lessons", "scratch"
"""The folders of the agent's memory in the workspace."""

SAMPLE = Path(__file__).parent / "sample" / "project.json"
"""The files by path, as they were created at `BASE` in the folder `ROOT`."""
BASE = datetime(2024, 1, 15, 9, 30, tzinfo=UTC)
ROOT = "{root}"
_HASH = re.compile("[0-9a-f]{64}")
_TIME = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z")
_DAY = timedelta(days=1)
_FACTS: tuple[tuple[float, str, str, tuple[str, ...]], ...] = (
    (41, "user", "Alice prefers short answers with the command first", ("preference",)),
    (40, "user", "Alice prefers short answers, with the command first of all", ("preference", "style")),
    (38, "workspace", "The checkout runs on six workers behind one load balancer", ("infra", "checkout")),
    (33, "workspace", "PostgreSQL 16 listens on port 5432, the replica on 5433", ("infra", "db")),
    (30, "workspace", "Staging is rebuilt every night at 02:00 UTC", ("infra", "staging")),
    (26, "workspace", "Deploys are frozen on Fridays after 15:00", ("rule", "deploy")),
    (21, "workspace", "The retry of a payment needs an idempotency key", ("checkout", "rule")),
    (20, "workspace", "A retry of the payment needs an idempotency key, always", ("checkout",)),
    (12, "workspace", "Feature flags live in flags.toml, not in the database", ("code",)),
    (9, "user", "Bob reviews whatever touches the connection pool", ("people", "db")),
    (4, "workspace", "Error pages do not show the order number yet", ("checkout",)),
    (1.2, "session", "Two of six workers are still on the old image", ("incident", "checkout")),
    (0.3, "session", "The 502s began with the deploy of v2.1-rc3", ("incident", "deploy")),
)
_FAILURES: tuple[tuple[float, str, int, str, str], ...] = (
    (24, "timeout", 184_000, "#388", "Migrate the order table to the new schema and backfill the totals"),
    (23, "partial", 96_400, "#402", "Write an end to end test for the checkout with a card that is declined"),
    (22, "timeout", 201_300, "#388", "Migrate the order table to the new schema, then backfill the totals"),
    (15, "timeout", 199_800, "#388", "Migrate the order table to the new schema in batches of 10,000"),
    (8, "partial", 73_100, "#417", "Find out why the nightly build of staging takes forty minutes"),
    (1, "partial", 88_700, "#421", "Compare the 502s of the checkout with the deploys of last week"),
)
_PERSONA = """# Persona

An engineer of the shop: calm, brief, says what it did and what it did not.

## Rules

- Never deploy on a Friday afternoon.
- Ask before anything is deleted.
"""
_SKILLS = """# Skills

## Deploy to staging

1. `make image`, then `make push`
2. wait for the health check, at most five minutes
3. roll back with `make previous`

## Read the log of the load balancer

Times are UTC. A 502 without an upstream time is one of the workers.
"""
_PATTERNS = """# Patterns

## A migration that takes too long

Split it by key range, 10,000 rows at a time, and note the last key.
"""
_NOTES: tuple[tuple[str, float, str], ...] = (
    (
        "checkout-502.md",
        0.2,
        "Two of six workers answer 502, both on the old image.\n\n- restarted one: no more 502s\n",
    ),
    ("pool-size.md", 1.1, "p99 fell from 900 to 410 ms after the pool was doubled.\n"),
    ("staging-build.md", 3.4, "38 of 40 minutes of the nightly build are spent on one download.\n"),
    ("order-table.md", 6.4, "Backfill stopped at key 4,310,000.\n"),
    ("spring-campaign.md", 9.0, "Alice asked for the numbers of the spring campaign.\n"),
    ("old-flags.md", 16.0, "Three flags have been on for everyone since summer.\n"),
)


def demo_facts(now: datetime) -> str:
    """Return the content of the sample's facts file, dated relative to `now` (aware)."""
    lines = [
        NewFact(text, tags, scope, (now - days * _DAY).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
        for days, scope, text, tags in _FACTS
    ]
    return encode_lines(lines, 0, now)[1].decode()


def demo_agent(now: datetime) -> Mapping[str, tuple[str, timedelta]]:
    """Return the files of the sample's agent, relative to the workspace, each with its text and its age."""
    failures = "\n".join(
        note_of(status, task, tokens, issue, now - days * _DAY) for days, status, tokens, issue, task in _FAILURES
    )
    aidefile = (
        "# Where the agent of this folder keeps what it knows.\n[memory]\n"
        'compact_after = "2k"\ncore_files = ["persona.md"]\n'
        f'procedural_dir = "{PROCEDURAL}"\nepisodic_dir = "{EPISODIC}"\n'
    )
    files = {
        "Aidefile": (aidefile, 60 * _DAY),
        "persona.md": (_PERSONA, 60 * _DAY),
        f"{PROCEDURAL}/skills.md": (_SKILLS, 34 * _DAY),
        f"{PROCEDURAL}/patterns.md": (_PATTERNS, 83 * _DAY),
        f"{PROCEDURAL}/failures.md": (failures, _DAY),
    }
    return files | {f"{EPISODIC}/{name}": (text, days * _DAY) for name, days, text in _NOTES}


def demo_project(root: str, now: datetime) -> Mapping[str, str]:
    """Return the files of the sample's project state and of its repository, by path relative to `root`.

    Times are shifted so that each is as far from `now` (aware) as it was from the sample's own time, and the hashes of
    bundles follow.
    """
    shift = now.astimezone(UTC).replace(microsecond=0) - BASE
    files: dict[str, str] = json.loads(SAMPLE.read_text("utf-8"))
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
