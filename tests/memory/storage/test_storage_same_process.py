"""Several connections of one process to one database: none lets go of the locks of another."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memory.errors import MemdeckError
from memory.storage import fsio
from memory.storage.database import Database, Derived
from memory.storage.own_folders import StateFolder
from memory.storage.records import CHANGES

ALONE = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
try:
    db.execute("PRAGMA journal_mode = DELETE")
    db.execute("BEGIN EXCLUSIVE")
except sqlite3.OperationalError as error:
    sys.exit(f"refused: {error}")
"""
"""What only a process does that has the database for itself: it takes away the commits that are still beside it."""


@pytest.fixture
def folder(workspace: Path, tmp_path: Path) -> StateFolder:
    """Return the private folder of a workspace."""
    return StateFolder(tmp_path / "state", workspace)


def shared(path: Path) -> bool:
    """Tell whether another process finds that somebody has a database open."""
    done = subprocess.run([sys.executable, "-c", ALONE, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "refused: database is locked" in done.stderr, done.stderr
    return done.returncode != 0


def log_twice(folder: StateFolder) -> tuple[Path, list[object]]:
    """Open the change log twice."""
    files = [Database(folder, CHANGES), Database(folder, CHANGES)]
    for file in files:
        file.run(lambda db: None, None)
    return folder.path / files[0].kind.name, list(files)


def derived_twice(folder: StateFolder) -> tuple[Path, list[object]]:
    """Open a database twice that is made of the memory files."""
    made = [Derived(folder, "words.sqlite", "1", "CREATE TABLE word (word TEXT)") for _ in range(2)]
    for one in made:
        one.write(lambda db: None)
    return folder.path / "words.sqlite", list(made)


@pytest.mark.parametrize("opened", [log_twice, derived_twice])
def test_a_further_connection_leaves_the_first_its_lock(
    folder: StateFolder, opened: Callable[[StateFolder], tuple[Path, list[object]]]
) -> None:
    """Another process finds the database open, and does not take away what the first one has committed."""
    path, kept = opened(folder)
    assert shared(path)
    for one in kept:
        one.close()  # type: ignore[attr-defined]
    assert not shared(path)


def test_commits_are_kept_when_another_process_closes(folder: StateFolder) -> None:
    """What a process commits after another one came and went is there, also where it has the log open twice."""
    first, second = Database(folder, CHANGES), Database(folder, CHANGES)

    def put(name: str) -> Callable[[sqlite3.Connection], None]:
        return lambda db: db.execute("INSERT INTO seen (path, data) VALUES (?, ?)", (name, b"bytes")) and None

    first.run(put("one"), None)
    second.run(put("two"), None)
    other = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('DELETE FROM touched'); db.commit()"
    subprocess.run([sys.executable, "-c", other + "; db.close()", str(folder.path / first.kind.name)], check=True)
    first.run(put("three"), None)
    second.run(put("four"), None)
    assert first.warnings == second.warnings == []
    with closing(sqlite3.connect(folder.path / first.kind.name)) as db:
        assert {path for (path,) in db.execute("SELECT path FROM seen")} == {"one", "two", "three", "four"}


def test_a_database_is_made_once_and_private(tmp_path: Path) -> None:
    """A file that is there stays as it is; one with a second name, and a link, are refused."""
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        fsio.make_database("new", folder, "new")
        assert (tmp_path / "new").stat().st_mode & 0o777 == 0o600
        (tmp_path / "new").write_bytes(b"rows")
        fsio.make_database("new", folder, "new")
        assert (tmp_path / "new").read_bytes() == b"rows"
        (tmp_path / "link").symlink_to("new")
        with pytest.raises(MemdeckError, match="link"):
            fsio.make_database("link", folder, "link")
        os.link(tmp_path / "new", tmp_path / "second")
        with pytest.raises(MemdeckError, match="2 names"):
            fsio.make_database("new", folder, "new")
    finally:
        os.close(folder)
