"""Questions about small projects with sessions: the share of first lines that hold the right answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.places import NOW, Places
from memory.state import bundles
from memory.state.analysis.analyse import analyse
from memory.state.imports.sources import add_source, sync
from memory.state.query import ask
from memory.state.recall.recall import apply, preview, scope_of_recall
from memory.state.system import ProjectState
from memory.workspace import Workspace

PROJECTS = Path(__file__).parent / "state_set" / "projects.json"


class Asked(NamedTuple):
    """A question of a project, the texts of which one is right, and the first line of the answer."""

    project: str
    question: str
    right: list[str]
    line: str

    @property
    def fits(self) -> bool:
        """Whether the first line holds a right text."""
        return any(text.lower() in self.line.lower() for text in self.right)


def asked_of(folder: Path) -> Iterator[Asked]:
    """Make the projects in a folder, and yield each question with its answer."""
    for name, project in json.loads(PROJECTS.read_text()).items():
        root = folder / name
        for path, text in project["files"].items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        system = _made(root, project["sessions"])
        for question, right in project["questions"]:
            yield Asked(name, question, right, ask(system.store.memory(), question)["answer"].split("\n")[0])


def _made(root: Path, sessions: list[list[str]]) -> ProjectState:
    """Make the state of a project, import its sessions, and recall them one by one."""
    system: ProjectState = Workspace(root, state_home=None).system("state")
    store = system.store
    bundles.init(store, analyse(root), actor="bench", now=NOW)
    folder = root.parent / f"{root.name}-sessions"
    folder.mkdir(exist_ok=True)
    add_source(store, "claude-local", str(folder), name="mine", home=None, actor="bench", now=NOW)
    for number, lines in enumerate(sessions):
        said = {"role": "assistant", "content": "\n".join(lines)}
        record = {"type": "assistant", "timestamp": f"2026-02-0{number + 1}T10:00:00Z", "message": said}
        (folder / f"s{number}.jsonl").write_text(json.dumps(record) + "\n")
        sync(store, ["mine"], home=None, actor="bench", now=NOW)
        memory = store.memory()
        apply(store, preview(memory, scope_of_recall(memory.config)), actor="bench", now=NOW)
    return system


def questions_table(places: Places) -> str:
    """Return the share of right first lines, and the questions whose first line is not right."""
    asked = list(asked_of(places.folder / "state-questions"))
    right = sum(one.fits for one in asked)
    wrong = [f"  {one.project}: {one.question}\n    {one.line}" for one in asked if not one.fits]
    return "\n".join([f"{right} of {len(asked)} first lines are right ({right / len(asked):.0%})", *wrong])
