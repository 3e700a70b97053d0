"""The workspace: finding, initialising, looking at it, and changing it."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.document import Entry, parse
from memory.document.merge import kind_of, merge, ours_of
from memory.errors import UsageError
from memory.files import MEMORY_FILES
from memory.files.edit import Edit
from memory.files.find import find_task
from memory.files.snapshot import Snapshot
from memory.files.versions.merging import MergeConflict
from memory.history.undo import undo_in
from memory.workspace import Workspace
from tests.fixture_files import sample
from tests.patience import PATIENCE

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


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """A file in place of the folder is an error of its own."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="not a folder"):
        Workspace.open(tmp_path / "file")


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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr


def test_saves_an_edit_from_an_older_look(workspace: Workspace) -> None:
    """A file edited meanwhile by somebody else gets both changes, as one change that can be undone."""
    path = workspace.memory / "tasks.md"
    base = workspace.snapshot().document("tasks.md")
    ours = parse(base.dump().replace(b"progress: 45%", b"progress: 50%"))
    workspace.change("add", add("Theirs"), actor="agent:x", now=NOW)
    path.write_bytes(path.read_bytes().replace(b"assigned: user", b"assigned: Bob"))
    outcome = workspace.save("edit", "tasks.md", base, ours, actor="human", now=NOW + timedelta(minutes=1))
    text = path.read_text()
    assert all(part in text for part in ("### Theirs\n", "- assigned: Bob\n", "- progress: 50%\n", "T12:01:00Z"))
    assert (outcome.summary, outcome.kept, len(outcome.change.files)) == ("saved tasks.md", (), 1)
    undo_in(workspace.together, actor="human", now=NOW)
    assert "progress: 45%" in path.read_text()


def test_a_conflict_writes_nothing(workspace: Workspace) -> None:
    """What both changed is told in data that a program reads and in a merge that a person chooses from."""
    path = workspace.memory / "tasks.md"
    base = workspace.snapshot().document("tasks.md")
    ours = parse(base.dump().replace(b"progress: 45%", b"progress: 50%").replace(b"assigned: user", b"assigned: Bob"))
    theirs = base.dump().replace(b"progress: 45%", b"progress: 60%")
    path.write_bytes(theirs)
    with pytest.raises(MergeConflict) as caught:
        workspace.save("edit", "tasks.md", base, ours, actor="human", now=NOW)
    error = caught.value
    assert (error.code, error.exit_code, path.read_bytes()) == ("document.conflict", 4, theirs)
    found = json.loads(json.dumps(error.details))
    assert (found["file"], found["fields"]) == ("tasks.md", ["progress"])
    conflict = found["conflicts"][0]
    keys = ("section", "entry", "field", "base", "ours", "theirs")
    assert [conflict[key] for key in keys] == [
        "In Progress", "[HIGH] Monitor API latency", "progress", "45%", "50%", "60%"
    ]  # fmt: skip
    assert find_task(workspace.snapshot(), conflict["ref"]).title == "Monitor API latency"
    chosen = merge(base, ours, error.current, kind_of("tasks.md"), decide=ours_of).document
    workspace.save("edit", "tasks.md", error.current, chosen, actor="human", now=NOW)
    assert b"progress: 50%" in path.read_bytes()
    assert b"assigned: Bob" in path.read_bytes()


def test_saving_tells_what_stays(workspace: Workspace) -> None:
    """An entry that somebody else edited stays although it was deleted in the edited text, and the outcome says so."""
    path = workspace.memory / "tasks.md"
    base = workspace.snapshot().document("tasks.md")
    path.write_bytes(base.dump().replace(b"progress: 45%", b"progress: 60%"))
    ours = base.remove_entry(base.find("in progress")[0], 0)
    outcome = workspace.save("edit", "tasks.md", base, ours, actor="human", now=NOW)
    assert outcome.kept == ("[HIGH] Monitor API latency: we removed it, they changed it: it stays",)
    assert b"progress: 60%" in path.read_bytes()


@pytest.mark.parametrize("left", [None, b"", b"\n"])
def test_an_emptied_file_is_no_deletion(workspace: Workspace, left: bytes | None) -> None:
    """A file that is missing or empty at the moment of saving is a passing state: the edit is written whole."""
    path = workspace.memory / "tasks.md"
    base = workspace.snapshot().document("tasks.md")
    if left is None:
        path.unlink()
    else:
        path.write_bytes(left)
    ours = parse(base.dump().replace(b"progress: 45%", b"progress: 50%"))
    workspace.save("edit", "tasks.md", base, ours, actor="human", now=NOW)
    assert parse(path.read_bytes()).headings() == base.headings()
    assert b"progress: 50%" in path.read_bytes()


def test_a_current_folder_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path has no meaning where the current folder was removed."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(UsageError) as caught:
        Workspace.open(".")
    assert caught.value.code == "workspace.no_folder"


@pytest.mark.parametrize("place", [".aiter", ".aiter/memory"])
def test_a_file_in_the_place_of_the_memory_is_named(tmp_path: Path, place: str) -> None:
    """`init` would not help there, so something else is advised."""
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).touch()
    with pytest.raises(UsageError, match="is not a folder") as caught:
        Workspace.open(tmp_path)
    assert caught.value.code == "workspace.not_found"
