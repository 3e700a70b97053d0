"""What lies beside the memory files: reported, never read."""

from __future__ import annotations

from datetime import UTC

import pytest

from memory.document import Document, parse
from memory.files import MEMORY_FILES
from memory.files.check import check_files
from memory.files.snapshot import Folder, Snapshot
from memory.storage.safe_open import Unlisted
from tests.memory_files import TextFiles


class _OnDisk(TextFiles):
    """Files in a folder in which more lies than they."""

    def __init__(self, folder: Folder, documents: dict[str, Document]) -> None:
        super().__init__(documents)
        self._folder = folder

    def folder(self) -> Folder:
        return self._folder


def found(folder: Folder, *there: str) -> list[tuple[str, str, str]]:
    """Return level, file and code of what is said about a folder; of the memory files only some are there."""
    files = _OnDisk(folder, {name: parse(b"") for name in there})
    codes = ("file.missing", "front.missing")
    problems = check_files(Snapshot(files, lambda: UTC))
    return [(one.level, one.file, one.code) for one in problems if one.code not in codes]


@pytest.mark.parametrize(
    ("name", "level", "code"),
    [
        ("tasks (conflicted copy).md", "warning", "file.conflicted_copy"),
        ("tasks (Alice's conflicted copy 2024-01-15).md", "warning", "file.conflicted_copy"),
        ("journal.sync-conflict-20240115-103000-ABCDEFG.md", "warning", "file.conflicted_copy"),
        ("knowledge (1).md", "warning", "file.conflicted_copy"),
        ("config copy.md", "warning", "file.conflicted_copy"),
        (".tasks.md.icloud", "error", "file.evicted"),
        (".tasks.md.swp", "note", "file.swap"),
        (".#tasks.md", "note", "file.swap"),
        ("#tasks.md#", "note", "file.swap"),
        ("TASKS.MD", "warning", "file.similar_name"),
        ("tasks.md ", "warning", "file.similar_name"),
        ("tasks.md", "error", "file.link_dangling"),
        ("notes.md", None, None),
        ("notes (1).md", None, None),
        ("tasks 2.md", "warning", "file.conflicted_copy"),
        ("tasks-LAPTOP-7.md", "warning", "file.conflicted_copy"),
        ("tasks(conf(1)).md", "warning", "file.conflicted_copy"),
        ("tasks_Conf(1).md", "warning", "file.conflicted_copy"),
        ("tasks.md~", "warning", "file.conflicted_copy"),
        ("tasks.md.orig", "warning", "file.conflicted_copy"),
        ("tasks.md.BACKUP.1234.md", "warning", "file.conflicted_copy"),
        ("tasks_LOCAL_1234.md", "warning", "file.conflicted_copy"),
        ("tasks-2024-01.md", None, None),
        ("tasksheet.md", None, None),
        (".DS_Store", None, None),
    ],
)
def test_neighbours_are_told_by_their_names(name: str, level: str | None, code: str | None) -> None:
    """Copies, placeholders, swap files and look-alikes of memory files are reported; what is nobody's is not."""
    expected = [] if level is None else [(level, name, code)]
    assert expected == found(Folder((name,), ()))


def test_files_that_are_there_are_no_neighbours() -> None:
    """Nothing is said about the memory files themselves and well-named archives."""
    archives = ("tasks-2024-01.md", "journal-2023-12.md", "orchestration-2024-02.md", "notes.txt", ".x.md")
    assert found(Folder(MEMORY_FILES, archives), *MEMORY_FILES) == []


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("tasks-2024-13.md", "file.archive_name"),
        ("contacts-2024-01.md", "file.archive_name"),
        ("tasks-2024-01 (conflicted copy).md", "file.conflicted_copy"),
        ("tasks-2024-01.sync-conflict-20240115-103000-ABCDEFG.md", "file.conflicted_copy"),
    ],
)
def test_archives_under_other_names(name: str, code: str) -> None:
    """An archive into which nothing is ever moved is a warning."""
    assert found(Folder((), (name,))) == [("warning", f"archive/{name}", code)]


def test_folders_that_cannot_be_listed() -> None:
    """What stands in the place of a folder is an error of that folder."""
    refused = Folder(Unlisted("file.unreadable", "closed"), Unlisted("file.not_folder", "a file"))
    assert found(refused) == [("error", ".", "file.unreadable"), ("error", "archive", "file.not_folder")]
