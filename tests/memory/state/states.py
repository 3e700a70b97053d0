"""A repository with a project state, and short ways to what a test needs of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memory.state import bundles
from memory.state.analysis.analyse import analyse
from memory.state.files.model import CONFIG, EVENTS, SIGNALS, STATE, line_bytes, stamp
from memory.state.files.reading import StateFiles
from memory.state.files.store import StateStore
from memory.state.recall.recall import apply, preview, scope_of_recall
from memory.state.system import ProjectState
from memory.workspace import Workspace

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ACTOR = "cli"


class Repository:
    """A repository in a temporary folder; `at` is the time, which each change moves on by a minute."""

    def __init__(self, folder: Path) -> None:
        """Write a small project and make its state."""
        self.root = folder / "shop"
        self.home = folder / "home"
        self.state_home = folder / "state"
        (self.root / "shop").mkdir(parents=True)
        self.home.mkdir()
        (self.root / "README.md").write_text("# Shop\n\nA small shop that sells tea to people who like tea.\n")
        (self.root / "pyproject.toml").write_text('[project]\nname = "shop"\nversion = "1"\n')
        (self.root / "shop" / "__init__.py").write_text("")
        (self.root / "shop" / "cache.py").write_text("x = 1\n")
        self.at = NOW
        self.open()
        bundles.init(self.store, self.analysed(), actor=ACTOR, now=self.at)

    def open(self) -> None:
        """Open the workspace as another process would."""
        self.workspace = Workspace(self.root, state_home=self.state_home, machine_zone=UTC, home=self.home)
        self.system: ProjectState = self.workspace.system("state")

    @property
    def store(self) -> StateStore:
        """The project state."""
        return self.system.store

    @property
    def memory(self) -> StateFiles:
        """One look at it as it is now."""
        return self.store.memory()

    @staticmethod
    def at_of(root: Path) -> datetime:
        """Return the time at which a state was written."""
        written: str = json.loads((root / STATE).read_bytes())["generatedAt"]
        return datetime.fromisoformat(written)

    def analysed(self) -> dict[str, Any]:
        """Return what the repository says."""
        return analyse(self.root)

    def later(self, **span: float) -> datetime:
        """Let time go by, a minute unless it is said, and return the time."""
        self.at += timedelta(**(span or {"minutes": 1}))
        return self.at

    def update(self) -> bundles.StateChange:
        """Renew the state."""
        return bundles.update(self.store, self.analysed(), actor=ACTOR, now=self.later())

    def path(self, path: str) -> Path:
        """Return the place of a file of the workspace."""
        return self.root / path

    def json(self, path: str = STATE) -> Any:
        """Return what a JSON file holds."""
        return json.loads(self.path(path).read_bytes())

    def put(self, path: str, value: Any) -> None:
        """Write a JSON file as another program would."""
        self.path(path).write_text(json.dumps(value, indent=2, sort_keys=path != CONFIG, ensure_ascii=False) + "\n")

    def event_lines(self) -> list[bytes]:
        """Return the lines of events.jsonl."""
        return self.path(EVENTS).read_bytes().splitlines(keepends=True)

    def session(self, name: str, lines: Sequence[str], *, at: str = "2026-02-28T10:00:00.000Z") -> Path:
        """Write a session of Claude Code in which the agent says some lines; return its file."""
        folder = self.home / ".claude" / "transcripts"
        folder.mkdir(parents=True, exist_ok=True)
        said = {"role": "assistant", "content": [{"type": "text", "text": "\n".join(lines)}]}
        asked = {"type": "user", "timestamp": at, "message": {"role": "user", "content": f"Work on {name}"}}
        answered = {"type": "assistant", "timestamp": at, "message": said}
        file = folder / f"{name}.jsonl"
        file.write_text(json.dumps(asked) + "\n" + json.dumps(answered) + "\n")
        return file

    def add_source(self) -> None:
        """Add the sessions of Claude Code as the source `claude`."""
        from memory.state.imports.sources import add_source

        (self.home / ".claude" / "transcripts").mkdir(parents=True, exist_ok=True)
        add_source(
            self.store,
            "claude-local",
            "~/.claude",
            name="claude",
            home=self.home,
            actor=ACTOR,
            now=self.later(),
        )

    def sync(self) -> Any:
        """Import what is new."""
        from memory.state.imports.sources import sync

        return sync(self.store, ["claude"], home=self.home, actor=ACTOR, now=self.later())

    def imported(self, name: str, *lines: str, at: str = "2026-02-28T10:00:00.000Z") -> None:
        """Import one session that says some lines."""
        if not self.memory.sources:
            self.add_source()
        self.session(name, lines, at=at)
        self.sync()

    def note(self, *decisions: str) -> None:
        """Add a local event of another program, which no bundle holds."""
        state = self.json()
        number = self.memory.highest_event() + 1
        event = {
            **json.loads(self.event_lines()[0]),
            "id": f"evt-{number:06d}",
            "sourceId": "notes",
            "sourceRef": "notes.md",
            "createdAt": stamp(self.at),
            "signals": {kind: list(decisions) if kind == "decisions" else [] for kind in SIGNALS},
        }
        with self.path(EVENTS).open("ab") as file:
            file.write(line_bytes(event))
        state["maintenance"]["historyEventCount"] += 1
        self.put(STATE, state)

    def recall(
        self, source: str | None = None, section: str | None = None, policy: str | None = None
    ) -> bundles.StateChange:
        """Recall, and apply it."""
        memory = self.memory
        scope = scope_of_recall(memory.config, source=source, section=section, policy=policy)
        return apply(self.store, preview(memory, scope), actor=ACTOR, now=self.later())

    def set(self, key: str, value: str) -> None:
        """Change a setting."""
        bundles.set_config(self.store, key, value, actor=ACTOR, now=self.later())

    def codes(self, level: str = "fail") -> list[str]:
        """Return the codes of the findings of a level."""
        from memory.state.check import validate

        return [one.code for one in validate(self.memory, self.at) if one.level == level]
