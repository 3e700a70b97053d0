"""News: what others changed, one line per entry and writer, from a real change log."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory.files.tasks.edits import edit_task
from memory.files.tasks.operations import add_task, remove_task
from memory.history.changes import news_of
from memory.workspace import Workspace

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)


def workspace_in(folder: Path) -> Workspace:
    """A workspace with one task."""
    files = {"tasks.md": "## Pending\n\n### [LOW] Old\n"}
    return Workspace.init(
        folder / "shop", NOW, actor="test", state_home=folder / "state", machine_zone=UTC, files=files
    )[0]


def test_each_entry_and_writer_is_one_line(tmp_path: Path) -> None:
    """Several changes of one entry are counted, my own are left out, the newest writer comes first."""
    workspace = workspace_in(tmp_path)
    at = [NOW + timedelta(minutes=number) for number in range(1, 6)]
    workspace.change("add", lambda s: add_task(s, "Ship", now=at[0]), actor="agent", now=at[0])
    workspace.change("edit", lambda s: edit_task(s, "Ship", set={"notes": "x"}, now=at[1]), actor="agent", now=at[1])
    workspace.change("edit", lambda s: edit_task(s, "Ship", set={"notes": "y"}, now=at[2]), actor="human", now=at[2])
    workspace.change("remove", lambda s: remove_task(s, "Old", now=at[3]), actor="cleaner", now=at[3])
    found = news_of(workspace.store.history.list(since=at[0]), mine="human")
    assert [(one.actor, one.kind, one.title, one.count, one.file) for one in found] == [
        ("cleaner", "removed", "Old", 1, "tasks.md"),
        ("agent", "added", "Ship", 2, "tasks.md"),
    ]
    assert found[1].time == at[1]
    assert found[1].ref == workspace.snapshot().tasks.in_section("pending")[0].ref


def test_other_programs_are_told_too(tmp_path: Path) -> None:
    """What was written to the files without memdeck is there once it was noticed."""
    workspace = workspace_in(tmp_path)
    workspace.notice(NOW)
    path = workspace.memory / "tasks.md"
    path.write_text(path.read_text("utf-8") + "\n### [HIGH] Outside\n", "utf-8")
    later = NOW + timedelta(minutes=1)
    workspace.notice(later)
    (one,) = news_of(workspace.store.history.list(since=later), mine="human")
    assert (one.kind, one.title, one.actor) == ("added", "Outside", "outside")
