"""An entry that somebody brought back from the archive stays as long as a new one would, by the change log."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.files.tasks.edits import edit_task
from memory.history.undo import undo_in
from memory.maintenance.run import maintain
from memory.workspace import Workspace
from tests.memory_files import restore

NOW = datetime(2024, 3, 1, 12, 0, tzinfo=UTC)
TASKS = """## Completed

### [LOW] Old
- created: 2024-01-01
- completed: 2024-01-10

### [LOW] Older
- created: 2024-01-01
- completed: 2024-01-08
"""
JOURNAL = """## 2024-01-10

### 10:00 \u2014 Old
- a line

### 09:00 \u2014 Older
- a line
"""
PLANS = """## Completed Plans

### Old
- planId: orch-111111
- status: completed
- completed: 2024-01-10 10:00

### Older
- planId: orch-222222
- status: completed
- completed: 2024-01-09 10:00
"""
FILES = {"tasks.md": TASKS, "journal.md": JOURNAL, "orchestration.md": PLANS}
STAY = {"tasks.md": timedelta(days=7), "journal.md": timedelta(days=30), "orchestration.md": timedelta(hours=24)}


def workspace_in(folder: Path, files: dict[str, str]) -> Workspace:
    """A workspace in which the entries of these files have just gone to the archive."""
    made = Workspace.init(
        folder / "shop", NOW, actor="test", state_home=folder / "state", machine_zone=UTC, files=files
    )
    maintain(made[0], NOW, actor="maintain")
    assert b" Old" not in b"".join((made[0].memory / name).read_bytes() for name in files)
    return made[0]


def archived(workspace: Workspace, now: datetime) -> int:
    """Maintain; return how many entries moved."""
    return sum(rule.archived + rule.cleared for rule in maintain(workspace, now, actor="maintain").rules)


@pytest.mark.parametrize("name", FILES)
def test_a_restored_entry_stays_and_goes_when_its_time_is_over(tmp_path: Path, name: str) -> None:
    """Its own date is long over; the day on which it was restored counts. What was not restored stays away."""
    with workspace_in(tmp_path, {name: FILES[name]}) as workspace:
        restore(workspace, "Old", actor="cli", now=NOW)
        assert archived(workspace, NOW) == 0
        assert archived(workspace, NOW + STAY[name] - timedelta(minutes=1)) == 0
        assert b"### " in (workspace.memory / name).read_bytes()
        assert archived(workspace, NOW + STAY[name] + timedelta(minutes=1)) == 1
        assert b"### " not in (workspace.memory / name).read_bytes()


def test_an_edited_entry_stays_too(tmp_path: Path) -> None:
    """It is known by its ref where it is not there as it was restored."""
    with workspace_in(tmp_path, {"tasks.md": TASKS}) as workspace:
        restore(workspace, "Old", actor="cli", now=NOW)
        workspace.change("edit", lambda s: edit_task(s, "Old", set={"notes": "x"}, now=NOW), actor="cli", now=NOW)
        assert archived(workspace, NOW + timedelta(days=1)) == 0


def test_only_the_restored_one_of_equal_names_stays(tmp_path: Path) -> None:
    """A completed copy of a recurring task has the name of the others, and its own bytes."""
    copies = "".join(f"### [LOW] Weekly\n- created: 2024-01-01\n- completed: 2024-01-{day}\n\n" for day in ("03", "10"))
    with workspace_in(
        tmp_path, {"tasks.md": f"## Completed\n\n### Old\n- completed: 2024-01-01\n\n{copies}"}
    ) as workspace:
        first, _ = [task for tasks in workspace.snapshot().archived_tasks() for task in tasks if task.title == "Weekly"]
        restore(workspace, first.ref, actor="cli", now=NOW)
        path = workspace.memory / "tasks.md"
        path.write_text(path.read_text() + "\n### [LOW] Weekly\n- created: 2024-01-01\n- completed: 2024-01-17\n")
        assert archived(workspace, NOW) == 1
        (left,) = workspace.snapshot().tasks
        assert left.completed == first.completed


def test_a_restoring_that_was_undone_is_none(tmp_path: Path) -> None:
    """Only what stands counts: undone, and put back by another program, the entry is as old as it says."""
    with workspace_in(tmp_path, {"tasks.md": TASKS}) as workspace:
        restore(workspace, "Old", actor="cli", now=NOW)
        text = (workspace.memory / "tasks.md").read_bytes()
        undo_in(workspace.together, actor="cli", now=NOW)
        (workspace.memory / "archive/tasks-2024-01.md").unlink()
        (workspace.memory / "tasks.md").write_bytes(text)
        assert archived(workspace, NOW) == 1


def test_the_cap_takes_others_first(tmp_path: Path) -> None:
    """Of a journal over its limit a restored entry is the newest."""
    days = "".join(f"## 2024-02-{day}\n\n### 10:00 \u2014 Day {day}\n- a line\n\n" for day in range(29, 19, -1))
    config = "## Memory Maintenance\n- maxJournalEntries: 10\n"
    with workspace_in(tmp_path, {"journal.md": days + JOURNAL, "config.md": config}) as workspace:
        restore(workspace, "Old", actor="cli", now=NOW)
        assert archived(workspace, NOW) == 1
        titles = [entry.title for entry in workspace.snapshot().journal.entries()]
        assert ("Old" in titles, "Day 20" in titles, len(titles)) == (True, False, 10)
