"""The workspace: finding, initialising, looking at it, and changing it."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.document import Entry
from memory.errors import BusyError, MemdeckError, RefusedError, UsageError
from memory.files.edit import Edit
from memory.files.snapshot import MEMORY_FILES, Snapshot
from memory.workspace import Workspace
from tests.fixture_files import sample

NOW = datetime(2024, 1, 15, 12, 0, tzinfo=UTC)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return a workspace with the sample files."""
    memory = tmp_path / "shop" / ".aiter" / "memory"
    memory.mkdir(parents=True)
    for name in MEMORY_FILES:
        (memory / name).write_bytes(sample(name))
    return Workspace.open(tmp_path / "shop", state_home=tmp_path / "state", machine_zone=UTC)


def add(title: str) -> object:
    """Return a build function that puts a task on top of the first section."""

    def build(snapshot: Snapshot) -> Edit:
        document = snapshot.document("tasks.md")
        return Edit({"tasks.md": document.insert_entry(0, 0, Entry.compose(title, "- created: 2024-01-15\n"))}, title)

    return build


def test_walks_up_to_the_nearest_memory(workspace: Workspace) -> None:
    """A folder deep inside belongs to the workspace above it, the memory folder itself too."""
    deep = workspace.root / "src" / "deep"
    deep.mkdir(parents=True)
    assert Workspace.open(deep).root == workspace.root
    assert Workspace.open(workspace.memory).root == workspace.root


def test_no_memory_names_the_two_commands(tmp_path: Path) -> None:
    """Where there is no memory the error says which commands help and exits with 2."""
    with pytest.raises(UsageError) as caught:
        Workspace.open(tmp_path)
    assert caught.value.code == "workspace.not_found"
    assert "memdeck init" in caught.value.hint
    assert "memdeck demo" in caught.value.hint
    assert caught.value.exit_code == 2


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """A file in place of the folder is an error of its own."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="not a folder"):
        Workspace.open(tmp_path / "file")


def test_init_creates_everything_and_overwrites_nothing(tmp_path: Path) -> None:
    """The first call creates the seven files and the archive, the second one nothing; what is there stays."""
    (tmp_path / ".aiter" / "memory").mkdir(parents=True)
    (tmp_path / ".aiter" / "memory" / "tasks.md").write_bytes(b"mine\r\n")
    _, created = Workspace.init(tmp_path, NOW, actor="cli", machine_zone=UTC)
    assert set(created) == set(MEMORY_FILES) - {"tasks.md"}
    assert (tmp_path / ".aiter" / "memory" / "archive").is_dir()
    assert (tmp_path / ".aiter" / "memory" / "tasks.md").read_bytes() == b"mine\r\n"
    _, created = Workspace.init(tmp_path, NOW, actor="cli", machine_zone=UTC)
    assert created == ()


def test_reading_writes_nothing(workspace: Workspace, tmp_path: Path) -> None:
    """A look at all files leaves no trace, neither in the workspace nor in the state folder."""
    before = sorted(tmp_path.rglob("*"))
    snapshot = workspace.snapshot()
    for name in MEMORY_FILES:
        assert snapshot.document(name).dump() == sample(name)
    assert sorted(tmp_path.rglob("*")) == before


def test_an_unchanged_file_keeps_its_document(workspace: Workspace) -> None:
    """Two looks share documents, and a change of one file leaves the others shared."""
    first = workspace.snapshot()
    old = {name: first.document(name) for name in MEMORY_FILES}
    workspace.change("add", add("New"), actor="human", now=NOW)
    second = workspace.snapshot()
    for name in MEMORY_FILES:
        assert (second.document(name) is old[name]) == (name != "tasks.md")
    entries = {id(entry) for section in old["tasks.md"].sections for entry in section.entries}
    kept = [
        entry for section in second.document("tasks.md").sections for entry in section.entries if id(entry) in entries
    ]
    assert len(kept) >= 4


def test_a_change_sets_updated_and_only_its_lines(workspace: Workspace) -> None:
    """The new entry and the time stamp are the only lines that differ."""
    outcome = workspace.change("add", add("New"), actor="human", now=NOW)
    before, after = sample("tasks.md").splitlines(), (workspace.memory / "tasks.md").read_bytes().splitlines()
    gone = [line for line in before if line not in after]
    new = [line for line in after if line not in before]
    assert [line.split(b":")[0] for line in gone] == [b"updated"]
    assert new == [b"updated: 2024-01-15T12:00:00Z", b"### New", b"- created: 2024-01-15"]
    assert [file.path for file in outcome.change.files] == ["memory/tasks.md"]


def test_an_edit_that_changes_nothing_writes_nothing(workspace: Workspace) -> None:
    """The same bytes are no change: no file is touched, no time stamp set."""
    before = (workspace.memory / "tasks.md").stat()
    outcome = workspace.change(
        "nothing", lambda snapshot: Edit({"tasks.md": snapshot.document("tasks.md")}, "nothing"), actor="human", now=NOW
    )
    assert outcome.change.files == ()
    assert (workspace.memory / "tasks.md").stat() == before


def test_a_failing_build_leaves_everything(workspace: Workspace) -> None:
    """An error while the edit is made writes nothing and releases the lock."""

    def build(snapshot: Snapshot) -> Edit:
        raise MemdeckError("task.not_found", "no such task")

    with pytest.raises(MemdeckError, match="no such task"):
        workspace.change("edit", build, actor="human", now=NOW)
    assert (workspace.memory / "tasks.md").read_bytes() == sample("tasks.md")
    workspace.change("add", add("After"), actor="human", now=NOW)


def test_build_sees_what_an_editor_wrote_meanwhile(workspace: Workspace) -> None:
    """A change is made on the files as they are under the lock, not as they were looked at."""
    workspace.snapshot().document("tasks.md")
    with (workspace.memory / "tasks.md").open("ab") as file:
        file.write(b"\n### [LOW] By an agent\n- created: 2024-01-15\n")
    workspace.change("add", add("Mine"), actor="human", now=NOW)
    text = (workspace.memory / "tasks.md").read_text()
    assert "### Mine" in text
    assert "By an agent" in text


def test_undo_and_redo_turn_one_change(workspace: Workspace) -> None:
    """Undo brings the bytes back, redo the change, and neither looks at what another actor did."""
    workspace.change("add", add("One"), actor="human", now=NOW)
    changed = (workspace.memory / "tasks.md").read_bytes()
    workspace.undo(actor="human", now=NOW + timedelta(seconds=1))
    assert (workspace.memory / "tasks.md").read_bytes() == sample("tasks.md")
    workspace.redo(actor="human", now=NOW + timedelta(seconds=2))
    assert (workspace.memory / "tasks.md").read_bytes() == changed
    with pytest.raises(MemdeckError) as caught:
        workspace.undo(actor="agent:other", now=NOW)
    assert caught.value.code == "change.none"


def test_conflict_markers_make_a_file_read_only(workspace: Workspace) -> None:
    """A file with git's markers is read, but never written."""
    path = workspace.memory / "tasks.md"
    path.write_bytes(sample("tasks.md") + b"<<<<<<< ours\n- a: 1\n=======\n- a: 2\n>>>>>>> theirs\n")
    before = path.read_bytes()
    with pytest.raises(MemdeckError) as caught:
        workspace.change("add", add("New"), actor="human", now=NOW)
    assert caught.value.code == "file.conflict_markers"
    assert path.read_bytes() == before


def test_a_link_that_leads_out_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    """A memory file that is a link to somewhere else is neither read nor written."""
    secret = tmp_path / "secret.md"
    secret.write_text("## Pending\n")
    (workspace.memory / "tasks.md").unlink()
    (workspace.memory / "tasks.md").symlink_to(secret)
    with pytest.raises(RefusedError):
        workspace.snapshot().document("tasks.md")
    with pytest.raises(RefusedError):
        workspace.change("add", add("New"), actor="human", now=NOW)
    assert secret.read_text() == "## Pending\n"


def test_two_writers_take_turns(workspace: Workspace, tmp_path: Path) -> None:
    """Twelve threads with a workspace of their own add a task each, and all twelve stay."""

    def write(number: int) -> None:
        mine = Workspace.open(workspace.root, state_home=tmp_path / "state", machine_zone=UTC)
        mine.change("add", add(f"Task {number}"), actor="agent:x", now=NOW)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = (workspace.memory / "tasks.md").read_text()
    assert all(f"### Task {number}\n" in text for number in range(12))


def test_a_held_lock_is_busy(workspace: Workspace) -> None:
    """While another process holds the lock a change gives up with exit 75 and names the holder."""
    workspace.change("add", add("First"), actor="human", now=NOW)
    workspace.store._timeout = 0.05
    workspace.store._locks.clear()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(workspace.root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(BusyError) as caught:
            workspace.change("add", add("Second"), actor="human", now=NOW)
    finally:
        holder.communicate(b"\n")
    assert caught.value.exit_code == 75
    assert str(holder.pid) in str(caught.value)


HOLD = """
import sys
from datetime import UTC, datetime
from memory.workspace import Workspace
with Workspace.open(sys.argv[1]).store.transaction("hold", actor="agent:holder", now=datetime.now(UTC)):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_archives_are_listed_newest_first(workspace: Workspace) -> None:
    """Archive files of a kind come with the newest month first; other files are none."""
    folder = workspace.memory / "archive"
    folder.mkdir()
    for name in ("tasks-2023-11.md", "tasks-2024-01.md", "journal-2023-12.md", ".hidden.md", "notes.txt"):
        (folder / name).write_text("")
    snapshot = workspace.snapshot()
    assert snapshot.archives("tasks") == ("archive/tasks-2024-01.md", "archive/tasks-2023-11.md")
    assert snapshot.archives("journal") == ("archive/journal-2023-12.md",)


def test_the_core_loads_no_terminal_library() -> None:
    """Everything of memory can be imported without textual, rich, click and markdown-it."""
    code = """
import importlib, pkgutil, sys
import memory
for module in pkgutil.walk_packages(memory.__path__, "memory."):
    importlib.import_module(module.name)
loaded = {"textual", "rich", "click", "markdown_it", "app", "widgets"} & set(sys.modules)
sys.exit(f"loaded: {loaded}" if loaded else 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
