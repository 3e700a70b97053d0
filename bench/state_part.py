"""Project state: recall preview, query, status and validate, against reading and decoding the files."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any

from bench.facts_part import vocabulary
from bench.measure import Case
from bench.places import NOW, Places

CHECKPOINTS_EACH = 20
MOST = 10
"""How many times as long as reading and decoding the files each may take."""


def state_cases(places: Places, size: str) -> Iterator[Case]:
    """Yield what each question costs with so many events and a twentieth as many checkpoints, all opened anew."""
    from memory.state.check import validate
    from memory.state.files.reading import StateFiles
    from memory.state.query import ask
    from memory.state.recall.recall import preview, scope_of_recall
    from memory.state.status import status_of
    from memory.state.system import ProjectState
    from memory.workspace import Workspace

    root = places.folder / f"state-{size}"
    if not root.exists():
        make_state(root, int(size))
    files = sorted(root.glob(".agent-memory/**/*.json*"))

    def system() -> ProjectState:
        found: ProjectState = Workspace(root, state_home=None).system("state")
        return found

    def fresh() -> StateFiles:
        return system().store.memory()

    def decode() -> None:
        for file in files:
            data = file.read_bytes()
            if file.suffix == ".jsonl":
                for line in data.split(b"\n"):
                    if line:
                        json.loads(line)
            else:
                json.loads(data)

    def recall() -> None:
        memory = fresh()
        preview(memory, scope_of_recall(memory.config))

    read = "read and decode every file"
    yield Case(read, decode)
    yield Case("memdeck previews a recall", recall, None, read, MOST)
    question = "why does the build need the cache"
    yield Case("memdeck answers a query", lambda: ask(fresh(), question), None, read, MOST)
    yield Case("memdeck says the status", lambda: status_of(fresh(), NOW), None, read, MOST)
    yield Case("memdeck validates everything", lambda: validate(fresh(), NOW), None, read, MOST)


def make_state(root: Path, count: int) -> None:
    """Write a repository with a state, so many events that no recall saw, and their checkpoints."""
    from memory.state import bundles
    from memory.state.analysis.analyse import analyse
    from memory.state.files.model import (
        CHECKPOINTS,
        EVENTS,
        STATE,
        canonical_bytes,
        checkpoint_id,
        digest,
        event_id,
        line_bytes,
        stamp,
    )
    from memory.workspace import Workspace

    words = Words(random.Random(7))
    root.mkdir(parents=True)
    (root / "README.md").write_text("# Bench\n\nA project that is as large as its history.\n")
    for number in range(60):
        (root / f"part{number}").mkdir()
        (root / f"part{number}" / "main.py").write_text("x = 1\n")
    store = Workspace(root, state_home=None).system("state").store
    bundles.init(store, analyse(root), actor="bench", now=NOW)
    state = json.loads((root / STATE).read_bytes())
    bundle = state["bundle"]
    bundle["gotchas"] = [_gotcha(words, number) for number in range(30)]
    bundle["nextSteps"] = [_step(words, number) for number in range(20)]
    lines = [(root / EVENTS).read_bytes()]
    lines += [line_bytes(_event(words, number, event_id(number))) for number in range(2, count + 1)]
    (root / EVENTS).write_bytes(b"".join(lines))
    total = count // CHECKPOINTS_EACH
    for number in range(1, total + 1):
        bundle["currentFocus"]["summary"] = f"Work is on step {number}."
        name = checkpoint_id(number)
        checkpoint = {
            "id": name,
            "createdAt": stamp(NOW + timedelta(minutes=number)),
            "eventId": event_id(number),
            "bundleHash": digest(bundle),
            "bundle": bundle,
            "summary": f"Step {number}",
        }
        (root / CHECKPOINTS / f"{name}.json").write_bytes(canonical_bytes(checkpoint))
    state["bundleHash"] = digest(bundle)
    state["maintenance"] |= {"historyEventCount": count, "latestCheckpointId": checkpoint_id(total)}
    (root / STATE).write_bytes(canonical_bytes(state))


class Words:
    """Sentences of words that are as frequent as words are."""

    def __init__(self, chance: random.Random) -> None:
        """Take the words of the facts."""
        self._chance = chance
        self._words = vocabulary(chance)
        self._weights = list(accumulate(1 / (place + 1) for place in range(len(self._words))))

    def sentence(self, least: int = 8, most: int = 16) -> str:
        """Return a sentence of so many words."""
        count = self._chance.randint(least, most)
        return " ".join(self._chance.choices(self._words, cum_weights=self._weights, k=count))


def _gotcha(words: Words, number: int) -> dict[str, Any]:
    said = words.sentence()
    return {"title": f"Trap {number} of {said[:20]}", "symptom": said, "cause": words.sentence(), "correctPath": said}


def _step(words: Words, number: int) -> dict[str, Any]:
    said = words.sentence()
    return {"title": f"Step {number} of {said[:20]}", "why": said, "start": words.sentence(), "done": said}


def _event(words: Words, number: int, name: str) -> dict[str, Any]:
    """Return an imported session; one in three says something, which is what sessions with markers do."""
    says = number % 3 == 0
    said = words.sentence()
    return {
        "id": name,
        "kind": "imported_session",
        "sourceId": "claude",
        "externalItemId": f"session-{number}",
        "createdAt": "2026-01-01T00:00:00.000Z",
        "contentHash": f"{number:064x}",
        "summary": said,
        "signals": {
            "decisions": [words.sentence()] if says else [],
            "gotchas": [f"{words.sentence(2, 5)}: {words.sentence()}"] if says else [],
            "nextStepHints": [f"NEXT: {words.sentence(2, 5)}: {words.sentence()}"] if says else [],
            "keyPaths": [f"part{number % 90}/main.py"],
            "validationObservations": [words.sentence()] if says else [],
        },
        "sourceRef": f"claude-local:transcripts/s{number}.jsonl",
    }
