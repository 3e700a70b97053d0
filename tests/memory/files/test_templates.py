"""The files of a new workspace."""

from __future__ import annotations

from memory.files import MEMORY_FILES, template_files
from memory.files.check import check_files
from tests.memory_files import NOW, snapshot_of


def test_seven_files_without_findings() -> None:
    """A new workspace has the seven files, nothing in them, and nothing wrong with them."""
    files = template_files(NOW)
    assert sorted(files) == sorted(MEMORY_FILES)
    snapshot = snapshot_of(files)
    assert check_files(snapshot) == ()
    assert len(snapshot.tasks) == snapshot.journal.count == len(snapshot.knowledge.items) == 0
    assert snapshot.contacts.items == snapshot.plans.items == snapshot.monitors.items == ()
    assert snapshot.config.truth("journalTaskChanges") is True
    assert snapshot.document("tasks.md").meta.get("updated") == "2024-01-15T12:00:00Z"
