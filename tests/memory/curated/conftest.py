"""A workspace with curated memory, the person's folder beside it, and a private state folder."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory.curated.control.decision import Candidate
from memory.curated.control.propose import Proposed, propose
from memory.curated.curated import Curated
from memory.curated.model import Header, OperationCall, Provenance
from memory.curated.recall.recall import Recall, RecallOptions, recall
from memory.curated.records import Records
from memory.curated.settings import Model
from memory.storage import PrivateState, Store

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)


class Den:
    """The folders of a test, and short ways to write and to look."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.workspace = top / "ws"
        self.workspace.mkdir()
        self.person = top / "home" / ".agh"
        self.state = top / "state"
        self._opened: list[Curated] = []
        self.seconds = 0

    def open(self, workspace: Path | None = None, tiebreaker: Model | None = None) -> Curated:
        """Return the memory as a new process sees it."""
        root = workspace or self.workspace
        own = Store(root / ".agh", state=PrivateState(self.state, root), workspace=root)
        person = Store(self.person, state=PrivateState(self.state, self.person), workspace=self.person)
        found = Curated(own, person, state_home=self.state)
        if tiebreaker is not None:
            found.models["tiebreaker"] = tiebreaker
        self._opened.append(found)
        return found

    def now(self) -> datetime:
        """Return a time that is a second later with every call."""
        self.seconds += 1
        return NOW + timedelta(seconds=self.seconds)

    def settings(self, text: str) -> None:
        """Write the person's settings."""
        self.person.mkdir(parents=True, exist_ok=True)
        (self.person / "config.toml").write_text(text)

    def close(self) -> None:
        """Close what was opened."""
        for one in self._opened:
            one.close()
            for side in one.sides.values():
                side.store.together.close()


@pytest.fixture
def den(tmp_path: Path) -> Iterator[Den]:
    """Yield the folders of a test."""
    made = Den(tmp_path)
    yield made
    made.close()


def write(
    den: Den,
    curated: Curated,
    kind: str,
    name: str,
    body: str,
    *,
    scope: str = "global",
    agent: str | None = None,
    tier: str | None = None,
    origin: str = "cli",
    description: str = "what it is about",
    now: datetime | None = None,
    dry_run: bool = False,
    **more: Any,
) -> Proposed:
    """Propose a memory."""
    root = curated.root(scope, agent, tier)
    header = Header(name, description, kind, scope, root.agent, root.tier, Provenance())
    candidate = Candidate(root, origin, header, body, **more)
    return propose(curated, candidate, OperationCall(now or den.now(), "cli"), dry_run=dry_run)


def forget(den: Den, curated: Curated, name: str, scope: str = "global") -> Proposed:
    """Propose to forget a memory."""
    metadata = {"operation": "delete", "target_filename": name}
    candidate = Candidate(curated.root(scope), "cli", None, "", "", "", metadata)
    return propose(curated, candidate, OperationCall(den.now(), "cli"))


def ask(den: Den, curated: Curated, query: str, *, agent: str | None = None, **options: Any) -> Recall:
    """Recall what one sees."""
    return recall(curated, query, curated.visible(agent), RecallOptions(**options), now=den.now())


def count_recall(records: Records, scores: dict[str, float], now: datetime = NOW) -> None:
    """Count a recall of some memories at once."""
    records.count_recall(scores, None, now)


def rules(proposed: Proposed) -> list[str]:
    """Return the names of the traces."""
    return [one.name for one in proposed.decision.trace]


def tree(folder: Path) -> dict[str, bytes | None]:
    """Return every file below a folder with its bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }
