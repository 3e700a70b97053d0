"""The operations that are interrupted: what they start from, what they do, and how to tell before from after."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory.curated.curated import Curated
from memory.curated.operations.operation import OperationCall
from memory.curated.operations.registry import BY_NAME
from memory.document import parse
from memory.errors import MemdeckError, NotFoundError
from memory.facts import FactStore
from memory.facts.model import KeptFact
from memory.files import config, monitors
from memory.files.contacts import model as contacts
from memory.files.edit import Edit
from memory.files.journal import edits as journal_edits
from memory.files.knowledge import model as knowledge
from memory.files.snapshot import Snapshot
from memory.files.tasks import edits as task_edits
from memory.history.versions import restore_version
from memory.maintenance import maintain
from memory.state import operations as state_operations
from memory.state.analysis import analyse
from memory.state.checks.check import validate
from memory.state.checks.finding import Finding
from memory.state.checks.repair import plan_repair, repair
from memory.state.files.model import CHECKPOINTS, CONFIG, EVENTS, SCOPES, SOURCES
from memory.state.files.model import FOLDER as STATE_FOLDER
from memory.state.files.model import STATE as STATE_FILE
from memory.state.files.store import StateStore
from memory.state.recall.recall import apply, preview, scope_of_recall
from memory.state.retention import prune
from memory.state.sources import add_source, sync
from memory.storage import PrivateState, Store
from memory.workspace import Workspace
from tests.fixture_files import SAMPLE

NOW = datetime(2024, 1, 16, 10, 0, tzinfo=UTC)
LATER = NOW + timedelta(days=45)
Tree = dict[str, bytes | None]
CURATED_FOLDER = ".agh"
DAMAGED = "damaged"
"""Beside a project: its state was damaged on purpose."""
FACTS_FOLDER, FACTS_FILE, FACTS_MARK = ".aegis", ".aegis/memory/memories.jsonl", ".aegis/memory/memories.seq"


class Place:
    """A workspace `shop` and a state home `state` in one folder."""

    def __init__(self, top: Path) -> None:
        """Keep where it is."""
        self.top = top
        self.shop = top / "shop"
        self.state = top / "state"

    def workspace(self) -> Workspace:
        """Open the workspace as a new process would; displaced files are looked at right away."""
        workspace = Workspace(self.shop, state_home=self.state, machine_zone=UTC)
        workspace.store.settle = 0
        workspace.store.patience = 0.5
        return workspace

    def store(self) -> Store:
        """Open the store alone."""
        state = PrivateState(self.state, self.shop)
        return Store(self.shop / ".aiter", state=state, settle=0, patience=0.5, lock_timeout=20)

    def recover(self) -> Store:
        """Start a transaction that does nothing, in each system: recovery comes with it."""
        store = self.store()
        stores = [store]
        if (self.shop / FACTS_FOLDER).is_dir():
            stores.append(
                Store(self.shop / FACTS_FOLDER, state=PrivateState(self.state, self.shop), settle=0, patience=0.5)
            )
        if (self.shop / STATE_FOLDER).is_dir():
            stores.append(self.project().files)
        if (self.shop / CURATED_FOLDER).is_dir():
            memories = self.curated()
            stores.append(memories.sides["global"].store)
            memories.finish_interrupted(NOW)
            memories.close()
        for one in stores:
            with one.transaction("look", actor="cli", now=NOW):
                pass
        return store

    def facts(self) -> FactStore:
        """Return the facts as a new process would find them."""
        store: FactStore = self.workspace().system("facts").store
        store._store.settle, store._store.patience = 0, 0.5
        return store

    def project(self) -> StateStore:
        """Return the project state as a new process would find it."""
        store: StateStore = self.workspace().system("state").store
        store.files.settle, store.files.patience = 0, 0.5
        return store

    def curated(self) -> Curated:
        """Return the curated memories of the person as a new process would find them."""
        person = self.shop / CURATED_FOLDER
        store = Store(person, state=PrivateState(self.state, self.shop), workspace=self.shop, settle=0, patience=0.5)
        return Curated(None, store, state_home=self.state)

    def go_on(self) -> str:
        """Store one more fact where there are any, and validate the project state; say what is wrong then.

        A project state that was damaged on purpose is repaired first, as a person would who finds it so.
        """
        if (self.shop / STATE_FILE).is_file():
            if (self.top / DAMAGED).exists() and any(one.level == "fail" for one in self.findings()):
                _repair(self)
            failed = [one.code for one in self.findings() if one.level == "fail"]
            if failed:
                return f"the project state fails: {failed}"
        path = self.shop / FACTS_FILE
        if not path.is_file():
            return ""
        before, known = path.read_bytes(), {fact.id for fact in self.facts().read().facts}
        kept = self.facts().store("One more", actor="cli", now=NOW)
        found = {fact.id for fact in self.facts().read().facts}
        if not isinstance(kept, KeptFact) or kept.id in known or found != known | {kept.id}:
            return f"one more fact: {kept!r}, which makes {sorted(found)} of {sorted(known)}"
        return "" if path.read_bytes().startswith(before) else "one more fact changed what was there"

    def findings(self) -> list[Finding]:
        """Return what validate says of the project state."""
        return validate(self.project().memory(), LATER)

    def memory(self) -> Tree:
        """Return every file and folder of the workspace but memdeck's own, with the bytes."""
        tree: Tree = {}
        top = str(self.shop)
        for here, folders, files in os.walk(top):
            folders[:] = [name for name in folders if name != ".memdeck"]
            for path in (f"{here}/{name}" for name in (*folders, *files)):
                tree[path[len(top) + 1 :]] = _read(path) if os.path.isfile(path) else None
        for own in (".aiter", FACTS_FOLDER, STATE_FOLDER, CURATED_FOLDER):
            tree.pop(own, None)
        # The mark may be ahead of the facts, and what is behind the last newline was never acknowledged.
        tree.pop(FACTS_MARK, None)
        facts = tree.get(FACTS_FILE)
        if facts is not None:
            tree[FACTS_FILE] = facts[: facts.rfind(b"\n") + 1]
        return tree

    def kept(self) -> list[Path]:
        """Return the files with bytes that came late, or were taken for such."""
        return list(self.shop.glob(".*/.memdeck/stage/*.kept"))

    def leftovers(self) -> list[str]:
        """Return what a crash left of memdeck's own: staged files, intents, temporary files."""
        found = [f"stage/{path.name}" for path in self.shop.glob(".*/.memdeck/stage/*")]
        for path in self.state.rglob("*"):
            if path.name.startswith(("intent", ".")) or path.name.endswith(".tmp"):
                found.append(path.name)
        return found

    def copy(self, top: Path) -> Place:
        """Make a copy, which has its own inodes; its state folder goes by the path that it has now."""
        shutil.copytree(self.top, top, symlinks=True, copy_function=_copied)
        copy = Place(top)
        for folder in (".", CURATED_FOLDER):
            if not (copy.shop / folder).is_dir():
                continue
            mine, theirs = (PrivateState(one.state, one.shop / folder).folder.path for one in (self, copy))
            if (copy.state / "memdeck" / mine.name).is_dir():
                (copy.state / "memdeck" / mine.name).rename(theirs)
        # A minute old: files that changed just now are looked at more closely, which would be a matter of speed here.
        for path in (*top.glob("shop/.aiter/memory/**/*.md"), *top.glob(f"shop/{FACTS_FOLDER}/memory/*")):
            before = path.lstat().st_mtime_ns - 60_000_000_000
            os.utime(path, ns=(before, before), follow_symlinks=False)
        return copy

    @property
    def state_folder(self) -> Path:
        """Where memdeck keeps what it knows of the workspace."""
        return PrivateState(self.state, self.shop).folder.path

    def clear(self) -> None:
        """Remove it all."""
        shutil.rmtree(self.top, ignore_errors=True)


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.readall()


def _copied(source: str, target: str) -> None:
    """Copy a small file with its mode and times: `shutil.copy2` takes thrice as long, and a part copies thousands."""
    found = os.stat(source)
    with open(target, "xb", buffering=0) as file:
        file.write(_read(source))
        os.fchmod(file.fileno(), stat.S_IMODE(found.st_mode))
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))


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
    changed(place, lambda s: task_edits.add_task(s, "First of all", now=NOW), name="first")


def nothing(place: Place) -> None:
    """Make an empty folder."""
    place.shop.mkdir(parents=True)
    place.state.mkdir()


def changed(
    place: Place, build: Callable[[Snapshot], Edit], *, actor: str = "cli", name: str = "edit", now: datetime = NOW
) -> None:
    """Make a change as a new process would.

    The log is closed as well: processes that are forked later must not share an open database.
    """
    workspace = place.workspace()
    workspace.change(name, build, actor=actor, now=now)
    workspace.store.history.close()


def _added(snapshot: Snapshot) -> Edit:
    return task_edits.add_task(snapshot, "Second", now=NOW)


def _noted(snapshot: Snapshot) -> Edit:
    return task_edits.edit_task(snapshot, "First of all", set={"notes": "a note"}, now=NOW)


def _started(snapshot: Snapshot) -> Edit:
    edit = task_edits.start_task(snapshot, "First of all", now=NOW)
    more = journal_edits.add_entry(snapshot, "Started it", ("a line",), at=None, now=NOW)
    return Edit({**edit.documents, **more.documents}, edit.summary, edit.ref)


def archived(place: Place) -> None:
    """Make the sample workspace, maintained much later: its archives are filled."""
    sample(place)
    changed(place, lambda s: task_edits.done_task(s, "First of all", now=NOW))
    maintain(place.workspace(), LATER, actor="maintain")


def undone(place: Place) -> None:
    """Make the sample workspace, in which the last change was undone."""
    sample(place)
    changed(place, _added)
    place.workspace().undo(actor="cli", now=NOW)


def by_an_agent(place: Place) -> None:
    """Make the sample workspace, in which an agent changed a task and the journal, and a person another task since."""
    sample(place)
    changed(place, _started, actor="agent:a")
    changed(place, _added)


def _undo(place: Place) -> None:
    changed(place, _added)
    workspace = place.workspace()
    if not any("Second" in record.summary for record in workspace.store.history.list(1)):
        # The log failed just then. An undo would be that of an older change, and is not what is meant.
        raise NotFoundError("change.not_found", "what was added is not listed")
    workspace.undo(actor="cli", now=NOW)


def _of_the_agent(workspace: Workspace) -> str:
    """Return the id of the agent's change, as `changes list` tells it."""
    found = [record.id for record in workspace.store.history.list(actor="agent:a")]
    if not found:
        raise NotFoundError("change.not_found", "no change of the agent is listed")
    return found[0]


def _revert(place: Place) -> None:
    workspace = place.workspace()
    workspace.revert(_of_the_agent(workspace), actor="cli", now=NOW)


def _earlier_version(place: Place) -> None:
    workspace = place.workspace()
    restore_version(workspace, _of_the_agent(workspace), "First of all", actor="cli", now=NOW)


def _save(place: Place) -> None:
    path = place.shop / ".aiter/memory/tasks.md"
    base = parse(path.read_bytes())
    changed(place, _added, actor="agent:a")
    ours = parse(base.dump().replace(b"First of all", b"First of everything"))
    place.workspace().save("save", "tasks.md", base, ours, actor="cli", now=NOW)


def _move(place: Place) -> None:
    with place.store().transaction("move", actor="cli", now=NOW) as transaction:
        data = transaction.read("memory/contacts.md").data
        knowledge = transaction.read("memory/knowledge.md").data
        transaction.write("memory/moved/deep/contacts.md", data, base=None)
        transaction.write("memory/knowledge.md", knowledge + b"\n- moved\n", base=knowledge)
        transaction.remove("memory/contacts.md", base=data)
        transaction.commit()


def _remove(place: Place) -> None:
    with place.store().transaction("remove", actor="cli", now=NOW) as transaction:
        transaction.remove("memory/contacts.md", base=transaction.read("memory/contacts.md").data)
        transaction.commit()


def _one_new(place: Place) -> None:
    with place.store().transaction("new", actor="cli", now=NOW) as transaction:
        transaction.write("memory/archive/one.md", b"one\n", base=None)
        transaction.commit()


def _init(place: Place) -> None:
    Workspace.init(place.shop, NOW, actor="cli", state_home=place.state, machine_zone=UTC)


def _maintain(place: Place) -> None:
    maintain(place.workspace(), LATER, actor="maintain")


def _change(name: str, build: Callable[[Snapshot], Edit]) -> Operation:
    return Operation(name, sample, lambda place: changed(place, build))


def remembering(place: Place) -> None:
    """Make the sample workspace with two facts."""
    sample(place)
    for text in ("The kettle is in the cellar", "Ada has the key"):
        _remember(place, text)


def _remember(place: Place, text: str = "The cellar is locked") -> None:
    facts = place.facts()
    kept = facts.store(text, tags=("house",), actor="cli", now=NOW)
    if not isinstance(kept, KeptFact):
        raise NotFoundError("facts.refused", kept.error)
    facts._store.history.close()


def described(place: Place) -> None:
    """Make a project without a state."""
    nothing(place)
    (place.shop / "README.md").write_text("# Shop\n\nA shop that sells tea to people who like it.\n")


def _init_state(place: Place) -> None:
    store = place.project()
    state_operations.init(store, lambda: analyse(place.shop, now=NOW), actor="cli", now=NOW)
    store.files.history.close()


def with_sessions(place: Place) -> None:
    """Make a project with a state and a source of two sessions, none of them imported."""
    described(place)
    for number in range(2):
        message = {"role": "user", "content": f"DECISION: number {number}"}
        said = {"type": "user", "timestamp": "2024-01-15T10:00:00.000Z", "message": message}
        path = place.shop / f"sessions/{number}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(said) + "\n")
    _init_state(place)
    store = place.project()
    # Copies of the place read the sessions of the first: nobody changes them.
    folder = str(place.shop / "sessions")
    add_source(store, "claude-local", folder, name="own", home=None, folder="/", actor="cli", now=NOW)
    store.files.history.close()


def _sync(place: Place) -> None:
    store = place.project()
    sync(store, ["own"], home=None, actor="cli", now=NOW)
    store.files.history.close()


def stated(place: Place) -> None:
    """Make a project with a state, and an event of another program that no recall saw."""
    described(place)
    _init_state(place)
    line = (
        (place.shop / EVENTS)
        .read_bytes()
        .replace(b"evt-000001", b"evt-000002")
        .replace(b"agent-memory.local", b"other")
    )
    line = line.replace(b'"gotchas":[', b'"gotchas":["Kettle: it is hot"' + (b"" if b'"gotchas":[]' in line else b","))
    with (place.shop / EVENTS).open("ab") as file:
        file.write(line)
    state = place.shop / STATE_FILE
    state.write_bytes(state.read_bytes().replace(b'"historyEventCount": 1', b'"historyEventCount": 2'))


def recalled(place: Place) -> None:
    """Make the same project, with everything recalled."""
    stated(place)
    _recall(place)


def _recall(place: Place) -> None:
    store = place.project()
    memory = store.memory()
    apply(store, preview(memory, scope_of_recall(memory.config, source=SCOPES[0])), actor="cli", now=NOW)
    store.files.history.close()


def _prune(place: Place) -> None:
    store = place.project()
    prune(store, actor="cli", now=NOW + timedelta(days=100))
    store.files.history.close()


def damaged(place: Place) -> None:
    """Make a project with everything recalled, in which a file of each kind is damaged."""
    recalled(place)
    (place.top / DAMAGED).touch()
    events, state = place.shop / EVENTS, place.shop / STATE_FILE
    events.write_bytes(events.read_bytes() + b"no event\n")
    state.write_bytes(state.read_bytes().replace(b'"historyEventCount": 3', b'"historyEventCount": 7'))
    (place.shop / CONFIG).write_bytes(b"{")
    (place.shop / SOURCES).unlink()
    (place.shop / CHECKPOINTS / "chk-000001.json").write_bytes(b"{}")
    (place.shop / "docs/agent-memory/gotchas.md").write_bytes(b"# Mine\n")


def _repair(place: Place) -> None:
    store = place.project()
    plan = plan_repair(store.memory(), NOW)
    if plan.left:
        raise MemdeckError("state.repair.left", plan.left[0].message)
    repair(store, plan, actor="cli", now=NOW)
    store.files.history.close()


def curating(place: Place) -> None:
    """Make a folder with two curated memories, one of which was changed."""
    nothing(place)
    (place.shop / CURATED_FOLDER).mkdir()
    for number, (name, text) in enumerate((("Tea", "green"), ("Coffee", "oat milk"), ("Coffee", "soy milk"))):
        _curate(place, name, text, minute=number)


def _curate(place: Place, name: str, text: str, kind: str = "user", minute: int = 10) -> None:
    values = {"type": kind, "name": name, "content": f"likes {text}", "scope": "global"}
    _curated(place, lambda curated, now: BY_NAME["write"].call(curated, values, OperationCall(now)), minute)


def _forget(place: Place) -> None:
    values = {"filename": "user_coffee", "scope": "global"}
    _curated(place, lambda curated, now: BY_NAME["delete"].call(curated, values, OperationCall(now)))


def _retype(place: Place) -> None:
    values = {"filename": "user_coffee", "scope": "global", "type": "feedback"}
    _curated(place, lambda curated, now: BY_NAME["edit"].call(curated, values, OperationCall(now)))


def _take_back(place: Place) -> None:
    def newest(curated: Curated, now: datetime) -> object:
        found = BY_NAME["decisions list"].call(curated, {"op": "update"}, OperationCall(now))["decisions"]
        if not found:
            raise MemdeckError("memory.records.unavailable", "the decision to take back is not listed")
        return BY_NAME["decisions revert"].call(curated, {"id": found[0]["id"]}, OperationCall(now))

    _curated(place, newest)


def _curated(place: Place, do: Callable[[Curated, datetime], object], minute: int = 10) -> None:
    curated = place.curated()
    try:
        do(curated, NOW.replace(minute=minute))
    finally:
        curated.close()
        curated.sides["global"].store.history.close()


def decides_on(place: Place) -> str:
    """Make one more decision; say what is wrong with that, or with what the records say of the files."""
    place.recover()
    error = fails(lambda: _curate(place, "More", "one more thing", minute=30))
    if error is not None:
        return f"the next decision raised {error}"
    curated = place.curated()
    try:
        listed = BY_NAME["decisions list"].call(curated, {}, OperationCall(LATER))["decisions"]
        if not listed or listed[0]["target_filename"] != "user_more.md" or not listed[0]["applied_at"]:
            return f"the next decision is not listed: {listed[:1]}"
        newest = {}
        for one in reversed(listed):
            newest[one["target_filename"]] = one["post_content_hash"]
        for path in (place.shop / CURATED_FOLDER / "memory").glob("*_*.md"):
            if path.name in newest and newest[path.name] != hashlib.sha256(path.read_bytes()).hexdigest():
                return f"no decision made what is in {path.name}"
    finally:
        curated.close()
    return ""


CURATED = [
    Operation("curate a memory", curating, lambda place: _curate(place, "Cellar", "the key")),
    Operation("change a curated memory", curating, lambda place: _curate(place, "Coffee", "rice milk")),
    Operation("forget a curated memory", curating, _forget),
    Operation("move a curated memory to another type", curating, _retype),
    Operation("take a decision back", curating, _take_back),
]
"""The operations of curated memory, where a decision is recorded before a file changes: see `test_curated_parts`."""

OPERATIONS = [
    Operation("init", nothing, _init),
    _change("add", _added),
    _change("edit", _noted),
    Operation("start with a journal entry", sample, lambda place: changed(place, _started, name="start")),
    Operation("maintain", sample, _maintain),
    Operation("add and undo", sample, _undo),
    Operation("move between files", sample, _move),
    Operation("remove a file", sample, _remove),
    Operation("create in a new folder", sample, _one_new),
    Operation("redo", undone, lambda place: place.workspace().redo(actor="cli", now=NOW)),
    Operation("revert an agent's change", by_an_agent, _revert),
    Operation("restore an earlier version", by_an_agent, _earlier_version),
    Operation(
        "restore from the archive",
        archived,
        lambda place: place.workspace().restore("Set up CI", actor="cli", now=LATER),
    ),
    Operation("save over an agent's change", sample, _save),
    _change("done", lambda s: task_edits.done_task(s, "First of all", outcome="well", now=NOW)),
    _change("remove a task", lambda s: task_edits.remove_task(s, "First of all", now=NOW)),
    _change("add to the journal", lambda s: journal_edits.add_entry(s, "Noted", ("a line",), at=None, now=NOW)),
    _change("set a setting", lambda s: config.set_setting(s, "timezone", "Europe/Berlin", now=NOW)),
    _change("add a fact", lambda s: knowledge.add_knowledge(s, "A new fact", section="Facts", now=NOW)),
    _change("add a person", lambda s: contacts.add_contact(s, "person", {"name": "Ada"}, now=NOW)),
    Operation("store a fact", remembering, _remember, b"The cellar is locked"),
    Operation("store the first fact", sample, _remember),
    Operation("make the project state", described, _init_state),
    Operation("import sessions", with_sessions, _sync),
    Operation("recall", stated, _recall),
    Operation("prune the project state", recalled, _prune),
    Operation("repair the project state", damaged, _repair),
    _change("add a monitor", lambda s: monitors.add_monitor(s, "One more", {"check": "echo"}, now=NOW)),
]


_known: dict[str, tuple[Place, list[Tree]]] = {}


def states(operation: Operation, top: Path) -> tuple[Place, list[Tree]]:
    """Prepare an operation; return the place (to be copied) and the states that may be seen, in their order.

    An operation of several changes has those in between as well. `top` is a folder for trials. What is prepared once
    is there for all parts of the harness, until the process ends.
    """
    if operation.name not in _known:
        if not _known:
            pid = os.getpid()
            folder = tempfile.mkdtemp(prefix="memdeck-start-", dir=top.parent.parent)
            atexit.register(lambda: os.getpid() == pid and shutil.rmtree(folder, ignore_errors=True))
            _starts.append(Path(folder))
        _known[operation.name] = _prepared(operation, _starts[0] / operation.name.replace(" ", "-"), top)
    place, seen = _known[operation.name]
    return place, list(seen)


_starts: list[Path] = []


def _prepared(operation: Operation, start: Path, top: Path) -> tuple[Place, list[Tree]]:
    place = Place(start)
    operation.prepare(place)
    trial = place.copy(top / "trial")
    seen = [trial.memory()]
    from memory.storage.transaction import Transaction

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


def fails(call: Callable[[], object]) -> MemdeckError | None:
    """Return the error that something raised, None when it went well."""
    try:
        call()
    except MemdeckError as error:
        return error
    return None
