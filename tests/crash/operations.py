"""The eight operations that are interrupted: what they start from, what they do, and how to tell before from after."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from memory.curated.curated import Curated
from memory.curated.operations.registry import BY_NAME, OperationCall
from memory.files.edit import Edit
from memory.files.journal import edits as journal_edits
from memory.files.snapshot import Snapshot
from memory.files.tasks import operations as task_operations
from memory.history.undo import undo_in
from memory.maintenance.run import maintain
from memory.state import bundles
from memory.state.analysis.analyse import analyse
from memory.state.check import validate
from memory.state.files.model import EVENTS, SCOPES
from memory.state.files.model import FOLDER as STATE_FOLDER
from memory.state.files.model import STATE as STATE_FILE
from memory.state.files.store import StateStore
from memory.state.recall.recall import apply, preview, scope_of_recall
from memory.storage import PrivateState, Store
from memory.storage.journal import Intent
from memory.storage.transaction import Transaction
from memory.workspace import Workspace
from tests.fixture_files import SAMPLE

NOW = datetime(2024, 1, 16, 10, 0, tzinfo=UTC)
LATER = NOW + timedelta(days=45)
Tree = dict[str, bytes | None]
CURATED_FOLDER, FACTS_FOLDER = ".agh", ".aegis"
FACTS_FILE, FACTS_MARK = ".aegis/memory/memories.jsonl", ".aegis/memory/memories.seq"


class Place:
    """A workspace `shop` and a state home `state` in one folder."""

    def __init__(self, top: Path) -> None:
        """Keep where it is."""
        self.top = top
        self.shop = top / "shop"
        self.state = top / "state"

    def workspace(self) -> Workspace:
        """Open the workspace as a new process would."""
        return Workspace(self.shop, state_home=self.state, machine_zone=UTC)

    def store(self, folder: str = ".aiter") -> Store:
        """Open the store of one system alone."""
        state = PrivateState(self.state, self.shop)
        return Store(self.shop / folder, state=state, workspace=self.shop, patience=0.5, lock_timeout=20)

    def recover(self) -> Store:
        """Start a transaction that does nothing, in each system: recovery comes with it."""
        if (self.shop / CURATED_FOLDER).is_dir():
            memories = self.curated()
            memories.finish_interrupted(NOW)
            memories.close()
        for folder in (".aiter", FACTS_FOLDER, STATE_FOLDER, CURATED_FOLDER):
            if folder == ".aiter" or (self.shop / folder).is_dir():
                store = self.store(folder) if folder != STATE_FOLDER else self.project().files
                with store.transaction("look", actor="cli", now=NOW):
                    pass
        return self.store()

    def project(self) -> StateStore:
        """Return the project state as a new process would find it."""
        store: StateStore = self.workspace().system("state").store
        return store

    def curated(self) -> Curated:
        """Return the curated memories of the person as a new process would find them."""
        return Curated(None, self.store(CURATED_FOLDER), state_home=self.state)

    def wrong(self) -> str:
        """Validate the project state, store one more fact, and say what is wrong then, "" for nothing."""
        if (self.shop / STATE_FILE).is_file():
            failed = [one.code for one in validate(self.project().memory(), LATER) if one.level == "fail"]
            return f"the project state fails: {failed}" if failed else ""
        path = self.shop / FACTS_FILE
        if not path.is_file():
            return ""
        before = path.read_bytes()
        _remember(self, "One more")
        mended = before if before.endswith(b"\n") else before + b"\n"
        whole = path.read_bytes().startswith(mended + b"{")
        return "" if whole else "one more fact is not on a line of its own"

    def memory(self) -> Tree:
        """Return every file and folder of the workspace but memdeck's own, with the bytes."""
        tree: Tree = {}
        top = str(self.shop)
        for here, folders, files in os.walk(top):
            folders[:] = [name for name in folders if name != ".memdeck"]
            for path in (f"{here}/{name}" for name in (*folders, *files)):
                tree[path[len(top) + 1 :]] = Path(path).read_bytes() if os.path.isfile(path) else None
        # The mark may be ahead of the facts, and what is behind the last newline was never acknowledged.
        for own in (".aiter", FACTS_FOLDER, STATE_FOLDER, CURATED_FOLDER, FACTS_MARK):
            tree.pop(own, None)
        facts = tree.get(FACTS_FILE)
        if facts is not None:
            tree[FACTS_FILE] = facts[: facts.rfind(b"\n") + 1]
        return tree

    def kept(self) -> list[bytes]:
        """Return the bytes that came late, or were taken for such."""
        return sorted(path.read_bytes() for path in self.shop.glob(".*/.memdeck/stage/*.kept"))

    def leftovers(self) -> list[str]:
        """Return what a crash left of memdeck's own: staged files, open journals, temporary files."""
        found = [f"stage/{path.name}" for path in self.shop.glob(".*/.memdeck/stage/*")]
        return found + [
            path.name
            for path in self.state.rglob("*")
            if path.name.startswith(".") or path.name.endswith(".tmp") or _is_open(path)
        ]

    def copy(self, top: Path) -> Place:
        """Make a copy, which has its own inodes; its state folder goes by the path that it has now."""
        shutil.copytree(self.top, top, symlinks=True, copy_function=_copied)
        copy = Place(top)
        mine, theirs = (PrivateState(one.state, one.shop).folder.path for one in (self, copy))
        if (copy.state / "memdeck" / mine.name).is_dir():
            (copy.state / "memdeck" / mine.name).rename(theirs)
        return copy

    def clear(self) -> None:
        """Remove it all."""
        shutil.rmtree(self.top, ignore_errors=True)


def _is_open(path: Path) -> bool:
    """Tell whether a file is a journal with a change under way."""
    return path.name.startswith("journal-") and Intent.decode(path.read_bytes()) is not None


def _copied(source: str, target: str) -> None:
    """Copy a small file with its mode, a minute older: what changed just now would be waited for."""
    found = os.stat(source)
    with open(target, "xb", buffering=0) as file:
        file.write(Path(source).read_bytes())
        os.fchmod(file.fileno(), stat.S_IMODE(found.st_mode))
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns - 60_000_000_000))


@dataclass(frozen=True)
class Operation:
    """One operation: `prepare` makes what it starts from, `run` does it; `adds` are bytes that a file then holds."""

    name: str
    prepare: Callable[[Place], None]
    run: Callable[[Place], object]
    adds: bytes = b""


def sample(place: Place) -> None:
    """Make the sample workspace, in which one change was made already."""
    memory = place.shop / ".aiter/memory"
    memory.mkdir(parents=True)
    place.state.mkdir()
    for path in SAMPLE.glob("*.md"):
        shutil.copy(path, memory / path.name)
    changed(place, lambda s: task_operations.add_task(s, "First of all", now=NOW))


def changed(place: Place, build: Callable[[Snapshot], Edit]) -> None:
    """Make a change as a new process would.

    The log is closed as well: processes that are forked later must not share an open database.
    """
    with place.workspace() as workspace:
        workspace.change("edit", build, actor="cli", now=NOW)


def added(snapshot: Snapshot) -> Edit:
    """Return the edit that adds a task."""
    return task_operations.add_task(snapshot, "Second", now=NOW)


def _started(snapshot: Snapshot) -> Edit:
    edit = task_operations.start_task(snapshot, "First of all", now=NOW)
    more = journal_edits.add_entry(snapshot, "Started it", ("a line",), at=None, now=NOW)
    return Edit({**edit.documents, **more.documents}, edit.summary, edit.at)


def _maintain(place: Place) -> None:
    with place.workspace() as workspace:
        maintain(workspace, LATER, actor="maintain")


def _to_undo(place: Place) -> None:
    sample(place)
    changed(place, added)


def _undo(place: Place) -> None:
    with place.workspace() as workspace:
        undo_in(workspace.together, actor="cli", now=NOW)


def _move(place: Place) -> None:
    """Move a file into a new folder, and change another one with it."""
    store = place.store()
    with store.transaction("move", actor="cli", now=NOW) as transaction:
        data = transaction.read("memory/contacts.md").data
        knowledge = transaction.read("memory/knowledge.md").data
        transaction.write("memory/moved/deep/contacts.md", data, base=None)
        transaction.write("memory/knowledge.md", knowledge + b"\n- moved\n", base=knowledge)
        transaction.remove("memory/contacts.md", base=data)
        transaction.commit()
    store.together.close()


def _remember(place: Place, text: str = "The cellar is locked") -> None:
    with place.workspace() as workspace:
        workspace.system("facts").store.store(text, tags=("house",), actor="cli", now=NOW)


def _remembering(place: Place) -> None:
    sample(place)
    _remember(place, "The kettle is in the cellar")


def _stated(place: Place) -> None:
    """Make a project with a state, and an event of another program that no recall saw."""
    place.shop.mkdir(parents=True)
    place.state.mkdir()
    (place.shop / "README.md").write_text("# Shop\n\nA shop that sells tea to people who like it.\n")
    store = place.project()
    bundles.init(store, analyse(place.shop), actor="cli", now=NOW)
    store.files.history.close()
    line = (place.shop / EVENTS).read_bytes()
    line = line.replace(b"evt-000001", b"evt-000002").replace(b"agent-memory.local", b"other")
    line = line.replace(b'"gotchas":[', b'"gotchas":["Kettle: it is hot"' + (b"" if b'"gotchas":[]' in line else b","))
    with (place.shop / EVENTS).open("ab") as file:
        file.write(line)
    state = place.shop / STATE_FILE
    state.write_bytes(state.read_bytes().replace(b'"historyEventCount": 1', b'"historyEventCount": 2'))


def _recall(place: Place) -> None:
    store = place.project()
    memory = store.memory()
    apply(store, preview(memory, scope_of_recall(memory.config, source=SCOPES[0])), actor="cli", now=NOW)
    store.files.history.close()


def _curating(place: Place) -> None:
    (place.shop / CURATED_FOLDER).mkdir(parents=True)
    place.state.mkdir()
    _curate(place, "Tea", "green")


def _curate(place: Place, name: str, text: str) -> None:
    values = {"type": "user", "name": name, "content": f"likes {text}", "scope": "global"}
    curated = place.curated()
    try:
        BY_NAME["write"].call(curated, values, OperationCall(NOW))
    finally:
        curated.close()
        curated.sides["global"].store.history.close()


OPERATIONS = [
    Operation("add", sample, lambda place: changed(place, added), b"Second"),
    Operation("start with a journal entry", sample, lambda place: changed(place, _started)),
    Operation("maintain", sample, _maintain),
    Operation("undo", _to_undo, _undo),
    Operation("move between files", sample, _move),
    Operation("store a fact", _remembering, _remember, b"The cellar is locked"),
    Operation("recall", _stated, _recall),
    Operation("curate a memory", _curating, partial(_curate, name="Tea", text="black tea")),
]


def states(operation: Operation, top: Path) -> tuple[Place, list[Tree]]:
    """Prepare an operation; return the place (to be copied) and the states that may be seen, in their order.

    An operation of several changes has those in between as well.
    """
    place = Place(top / "start")
    operation.prepare(place)
    place.recover()  # Clears what the last change displaced.
    trial = place.copy(top / "trial")
    seen = [trial.memory()]
    commit = Transaction.commit

    def noted(self: Transaction, summary: str = "") -> object:
        change = commit(self, summary)
        if trial.memory() != seen[-1]:
            seen.append(trial.memory())
        return change

    Transaction.commit = noted  # type: ignore[method-assign, assignment]
    try:
        operation.run(trial)
    finally:
        Transaction.commit = commit  # type: ignore[method-assign]
    trial.clear()
    return place, seen
