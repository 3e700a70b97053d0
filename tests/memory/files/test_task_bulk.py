"""Many tasks at once: one edit of one file, what is not set keeps its bytes; copies and parts of tasks."""

from __future__ import annotations

from datetime import UTC, datetime

from memory.files.journal.model import Journal
from memory.files.snapshot import Snapshot
from memory.files.tasks.edits import edit_task, retag_tasks, shift_priorities
from memory.files.tasks.operations import done_task
from tests.memory_files import after, snapshot_of

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
TEXT = """\
# Tasks

## Pending

### [HIGH] one
- due: 2024-01-20
- odd: kept as it is
- tags: Api, ops

### [LOW] two

Some words.

### three
- tags: ops
- assigned: zoe

### four

### five

## In Progress

### [NORMAL] six
- started: 2024-01-10
- progress: 40%
- notes: first

## Completed

### [NORMAL] seven
- completed: 2024-01-14
- outcome: fine
"""


def refs_of(snapshot: Snapshot) -> list[str]:
    """All refs."""
    return [task.ref for task in snapshot.tasks]


def test_one_edit_is_what_the_edits_one_by_one_are() -> None:
    """Fields of many tasks are set as those of one, in few and in many, in any order and named twice."""
    snapshot = snapshot_of({"tasks.md": TEXT})
    refs = refs_of(snapshot)
    for chosen in (refs[:1], refs[:3], refs, [*reversed(refs), refs[0]]):
        expected = snapshot
        for ref in dict.fromkeys(chosen):
            edit = edit_task(expected, ref, set={"assigned": "amy"}, unset=("due",), now=NOW)
            expected = after(expected, edit)
        edit = edit_task(snapshot, chosen, set={"assigned": "amy"}, unset=("due",), now=NOW)
        assert edit.documents["tasks.md"].dump() == expected.document("tasks.md").dump()


def test_tags_are_given_and_taken() -> None:
    """What a task has besides stays, also its spelling; nothing is there twice; without tags there is no field."""
    snapshot = snapshot_of({"tasks.md": TEXT})
    edit = retag_tasks(snapshot, refs_of(snapshot)[:3], add=["api", "new"], remove=["OPS"], now=NOW)
    assert [task.tags for task in after(snapshot, edit).tasks][:3] == [("Api", "new"), ("api", "new"), ("api", "new")]
    gone = retag_tasks(snapshot, refs_of(snapshot), remove=["api", "ops"], now=NOW)
    assert b"tags" not in gone.documents["tasks.md"].dump()
    assert retag_tasks(snapshot, refs_of(snapshot), add=[], remove=["none"], now=NOW).documents == {}


def test_priorities_are_shifted() -> None:
    """Each by a step, within HIGH and LOW."""
    snapshot = snapshot_of({"tasks.md": TEXT})
    edit = shift_priorities(snapshot, refs_of(snapshot), 1, now=NOW)
    assert [task.priority for task in after(snapshot, edit).tasks] == [
        "HIGH",
        "NORMAL",
        "HIGH",
        "HIGH",
        "HIGH",
        "HIGH",
        "HIGH",
    ]


def test_tasks_move_together() -> None:
    """From any section in the order of the file, on top of their priority; what is there already stays."""
    snapshot = snapshot_of({"tasks.md": TEXT})
    moved = after(snapshot, edit_task(snapshot, refs_of(snapshot)[:3], set={"section": "in-progress"}, now=NOW)).tasks
    assert [task.title for task in moved.in_section("in-progress")] == ["one", "six", "two", "three"]
    assert [task.title for task in moved.in_section("pending")] == ["four", "five"]
    done = done_task(snapshot, refs_of(snapshot)[:6], outcome="all good", now=NOW)
    assert done.summary == "completed 6 tasks"
    finished = after(snapshot, done).tasks.in_section("completed")
    assert [task.title for task in finished] == ["one", "two", "three", "four", "five", "six", "seven"]
    assert [task.outcome for task in finished] == ["all good"] * 6 + ["fine"]


def test_a_checked_item_stays_completed() -> None:
    """Under a heading that is no section only the box says that a task is completed: no edit of several drops it."""
    text = "## 1. Setup\n\n- [x] Make it\n- [ ] Test it\n\n### [x] Ship it\n"
    snapshot = snapshot_of({"tasks.md": text})
    refs = [task.ref for task in snapshot.tasks]
    for edit in (
        edit_task(snapshot, refs, set={"assigned": "amy"}, now=NOW),
        retag_tasks(snapshot, refs, add=["a"], now=NOW),
        shift_priorities(snapshot, refs, 1, now=NOW),
    ):
        found = {task.title: task.section for task in after(snapshot, edit).tasks}
        assert (found["Make it"], found["Test it"], found["Ship it"]) == ("completed", "pending", "completed")


def test_tasks_that_are_finished_together_are_one_entry_of_the_journal() -> None:
    """It has the lines of each; a recurring task stays where it is and waits for its next time."""
    text = "## Ideas\n\n### a\n- due: 2024-01-15 (recurring: 0 9 * * *)\n\n## In Progress\n\n### b\n"
    snapshot = snapshot_of({"tasks.md": text, "config.md": "## Workspace\n\n- journalTaskChanges: true\n"})
    edit = done_task(snapshot, refs_of(snapshot), outcome="fine", now=NOW)
    assert [(task.title, task.section, task.due) for task in after(snapshot, edit).tasks] == [
        ("a", "pending", "2024-01-16 09:00"),
        ("a", "completed", "2024-01-15"),
        ("b", "completed", None),
    ]
    (entry,) = Journal("journal.md", edit.documents["journal.md"]).entries()
    assert entry.title == "Task Completed"
    assert entry.lines == (
        '"a" completed',
        "Outcome: fine",
        "Next: 2024-01-16 09:00",
        '"b" completed',
        "Outcome: fine",
    )
