"""A ref never reaches another entry: twins, recurring tasks, and what the change log knows of a ref that fits none."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memory.errors import AmbiguousError, ConflictError, MemdeckError, NotFoundError
from memory.files.find import find_entry, find_monitor, find_plan, find_task
from memory.files.journal import edits as journal_edits
from memory.files.tasks import edits as task_edits
from memory.files.tasks import operations as task_operations
from memory.files.tasks.model import Task
from memory.maintenance.run import maintain
from memory.workspace import Workspace

NOW = datetime(2024, 1, 15, 12, 0, tzinfo=UTC)
TWIN = "### [NORMAL] Same\n- created: 2024-01-01\n"
TWINS = {
    "one section": f"## Pending\n{TWIN}- notes: a\n{TWIN}- notes: b\n{TWIN}- notes: c\n## Completed\n",
    "sections": f"## Pending\n{TWIN}- notes: a\n## In Progress\n{TWIN}- notes: b\n## Completed\n{TWIN}- notes: c\n",
    "equal": f"## Pending\n{TWIN}{TWIN}{TWIN}## Completed\n",
}


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., Workspace]:
    """Return a function that makes a workspace of some files, looked at once."""

    def make(**files: str) -> Workspace:
        memory = tmp_path / "shop" / ".aiter" / "memory"
        memory.mkdir(parents=True)
        for name, text in files.items():
            (memory / f"{name}.md").write_text(text)
        workspace = Workspace.open(tmp_path / "shop", state_home=tmp_path / "state", machine_zone=UTC)
        workspace.notice(NOW)
        return workspace

    return make


def do(workspace: Workspace, operation: Callable[..., Any], ref: str, now: datetime = NOW, **values: Any) -> Any:
    """Make a change of one entry."""
    name = operation.__name__.replace("_task", "").replace("_entry", "")
    noun = "journal" if operation.__module__.endswith("journal.edits") else "tasks"
    return workspace.change(
        f"{noun} {name}", lambda snapshot: operation(snapshot, ref, now=now, **values), actor="cli", now=now
    )


def same(workspace: Workspace) -> list[Task]:
    """Return the twins in file order."""
    return [task for task in workspace.snapshot().tasks if task.title == "Same"]


def text(workspace: Workspace, name: str = "tasks.md") -> str:
    """Return a file."""
    return (workspace.memory / name).read_text()


@pytest.mark.parametrize("kind", TWINS)
@pytest.mark.parametrize("which", [0, 1, 2])
def test_what_was_removed_once_is_not_removed_twice(opened: Callable[..., Workspace], kind: str, which: int) -> None:
    """The ref of a removed twin, the first, middle or last of three, is an error and takes no other one away."""
    workspace = opened(tasks=TWINS[kind])
    twins = same(workspace)
    refs = [task.ref for task in twins]
    do(workspace, task_operations.remove_task, refs[which])
    left = text(workspace)
    with pytest.raises(MemdeckError) as caught:
        do(workspace, task_operations.remove_task, refs[which])
    assert left == text(workspace)
    if kind == "equal":
        assert caught.value.code == "task.ambiguous"
        assert {one["ref"] for one in caught.value.details["candidates"]} == {task.ref for task in same(workspace)}
    else:
        assert caught.value.code == "task.gone"
        assert "was removed by cli at 2024-01-15 12:00" in caught.value.message
        assert caught.value.details["change"]
        # The others are still what they were.
        for ref, task in zip(refs, twins, strict=True):
            if ref != refs[which]:
                assert find_task(workspace.snapshot(), ref).entry.raw == task.entry.raw


@pytest.mark.parametrize("kind", ["one section", "equal"])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_done_twice_completes_no_twin(opened: Callable[..., Workspace], kind: str, which: int) -> None:
    """The second `done` of a ref is refused, and the twins stay open."""
    workspace = opened(tasks=TWINS[kind])
    ref = same(workspace)[which].ref
    do(workspace, task_operations.done_task, ref, outcome="first")
    left = text(workspace)
    with pytest.raises((ConflictError, AmbiguousError)) as caught:
        do(workspace, task_operations.done_task, ref, outcome="second")
    assert caught.value.code == ("task.ambiguous" if kind == "equal" else "task.completed")
    assert left == text(workspace)


def test_a_twin_keeps_answering_while_its_fields_change(opened: Callable[..., Workspace]) -> None:
    """The ref from before every edit goes on to mean its entry: the log tells which one that is."""
    workspace = opened(tasks=TWINS["one section"])
    refs = [task.ref for task in same(workspace)]
    for word, ref in zip("xyz", refs, strict=True):
        do(workspace, task_edits.edit_task, ref, set={"assigned": word})
        do(workspace, task_operations.start_task, ref)
        do(workspace, task_operations.progress_task, ref, percent=50)
    found = [find_task(workspace.snapshot(), ref) for ref in refs]
    assert [(task.assigned, task.notes) for task in found] == [("x", "a"), ("y", "b"), ("z", "c")]


def test_an_outside_edit_moves_no_ref(opened: Callable[..., Workspace]) -> None:
    """Another program puts twins in another order and changes two at once: unchanged ones keep their refs, the others
    are told as candidates.
    """
    workspace = opened(tasks=TWINS["one section"])
    refs = [task.ref for task in same(workspace)]
    changed = f"## Pending\n{TWIN}- notes: c\n{TWIN}- notes: b2\n{TWIN}- notes: a2\n## Completed\n"
    (workspace.memory / "tasks.md").write_text(changed)
    workspace.notice(NOW)
    assert find_task(workspace.snapshot(), refs[2]).notes == "c"
    for ref in refs[:2]:
        with pytest.raises(AmbiguousError) as caught:
            find_task(workspace.snapshot(), ref)
        assert caught.value.details["count"] == 3
        assert "by another program at 2024-01-15 12:00" in caught.value.message


def test_a_renamed_or_removed_entry_says_so(opened: Callable[..., Workspace]) -> None:
    """A ref whose entry has another title names the new ref; one that is removed names the change."""
    workspace = opened(tasks="## Pending\n### Alone\n- created: 2024-01-01\n### Other\n")
    ref = find_task(workspace.snapshot(), "Alone").ref
    new = do(workspace, task_edits.edit_task, ref, set={"title": "Renamed"}).ref
    with pytest.raises(NotFoundError) as caught:
        find_task(workspace.snapshot(), ref)
    assert (caught.value.code, caught.value.details["ref"]) == ("task.renamed", new)
    do(workspace, task_operations.remove_task, new)
    with pytest.raises(NotFoundError) as caught:
        find_task(workspace.snapshot(), new)
    assert caught.value.code == "task.gone"
    assert "'Renamed' was removed by cli at 2024-01-15 12:00" in caught.value.message
    with pytest.raises(NotFoundError) as caught:
        find_task(workspace.snapshot(), "tasks#0123456789")
    assert caught.value.code == "task.not_found"


RECURRING = "## Pending\n### [NORMAL] Report\n- due: 2024-01-15 09:00 (recurring: 0 9 * * *)\n- created: 2024-01-01\n"


def test_a_recurring_task_keeps_ref_and_title(opened: Callable[..., Workspace]) -> None:
    """After `done` both mean the open one; each copy has a ref of its own, the same in the archive."""
    workspace = opened(tasks=RECURRING)
    ref = find_task(workspace.snapshot(), "Report").ref
    for day in range(3):
        assert do(workspace, task_operations.done_task, ref, NOW + timedelta(days=day), outcome=f"run {day}").ref == ref
    snapshot = workspace.snapshot()
    assert find_task(snapshot, "Report").section == "pending"
    assert snapshot.remarks == [f"'Report' means the open one, {ref}; 3 completed ones have this title too"]
    copies = {task.outcome: task.ref for task in snapshot.tasks if task.section == "completed"}
    assert len({*copies.values(), ref}) == 4
    maintain(workspace, now=NOW + timedelta(days=30), actor="cli")
    later = workspace.snapshot()
    assert not later.tasks.in_section("completed")
    for outcome, copy in copies.items():
        found = find_task(later, copy, archived=True)
        assert (found.ref, found.outcome, found.section) == (copy, outcome, "archived")
        with pytest.raises(NotFoundError) as caught:
            find_task(later, copy)
        assert caught.value.code == "task.archived"
        assert "was archived by cli at 2024-02-14 12:00" in caught.value.message
    assert find_task(later, ref).section == "pending"


def test_the_ref_of_a_removed_recurring_task_reaches_none_of_its_runs(opened: Callable[..., Workspace]) -> None:
    """`remove` twice takes the open one away and leaves its completed copy."""
    workspace = opened(tasks=RECURRING)
    ref = find_task(workspace.snapshot(), "Report").ref
    do(workspace, task_operations.done_task, ref)
    do(workspace, task_operations.remove_task, ref)
    left = text(workspace)
    with pytest.raises(NotFoundError) as caught:
        do(workspace, task_operations.remove_task, ref)
    assert caught.value.code == "task.gone"
    assert left == text(workspace)
    assert "Report" in left


def test_refs_hold_in_the_journal(opened: Callable[..., Workspace]) -> None:
    """Entries of one heading: removing one leaves the others their refs, and its own means none."""
    entry = "### 10:30 — Same\n- {}\n\n"
    workspace = opened(journal="## 2024-01-15\n\n" + "".join(entry.format(word) for word in "abc"))
    entries = workspace.snapshot().journal.entries()
    refs = [one.ref for one in entries]
    do(workspace, journal_edits.remove_entry, refs[1])
    left = text(workspace, "journal.md")
    with pytest.raises(NotFoundError) as caught:
        do(workspace, journal_edits.remove_entry, refs[1])
    assert caught.value.code == "journal.gone"
    assert left == text(workspace, "journal.md")
    assert [find_entry(workspace.snapshot(), ref).lines for ref in (refs[0], refs[2])] == [("a",), ("c",)]


@pytest.mark.parametrize(
    ("file", "before", "after", "find"),
    [
        (
            "monitors",
            "## Monitors\n### api\n- url: https://a\n### api\n- url: https://b\n",
            "## Monitors\n### api\n- url: https://b\n",
            find_monitor,
        ),
        (
            "orchestration",
            "## Active Plans\n### Plan\n- status: running\n### Plan\n- status: failed\n",
            "## Active Plans\n### Plan\n- status: failed\n",
            find_plan,
        ),
    ],
)
def test_refs_hold_for_monitors_and_plans(
    opened: Callable[..., Workspace], file: str, before: str, after: str, find: Callable[..., Any]
) -> None:
    """The ref of a twin that another program removed is no other one's."""
    workspace = opened(**{file: before})
    snapshot = workspace.snapshot()
    twins = snapshot.monitors.items if file == "monitors" else snapshot.plans.items
    refs = [twin.ref for twin in twins]
    (workspace.memory / f"{file}.md").write_text(after)
    workspace.notice(NOW)
    assert find(workspace.snapshot(), refs[1]).entry.raw == twins[1].entry.raw
    with pytest.raises(NotFoundError) as caught:
        find(workspace.snapshot(), refs[0])
    assert caught.value.code.endswith(".gone")


def test_refs_hold_in_contacts_and_knowledge(opened: Callable[..., Workspace]) -> None:
    """People of one name and equal facts: the ref of one that is gone is an error, never the other's."""
    people = "## People\n- **Alice** (Ops): on call\n- **Alice** (Sales): calls\n"
    facts = "## Facts\n- water is wet\n- water is wet\n"
    workspace = opened(contacts=people, knowledge=facts)
    alices = [one.ref for one in workspace.snapshot().contacts.items]
    wet = [one.ref for one in workspace.snapshot().knowledge.items]
    (workspace.memory / "contacts.md").write_text("## People\n- **Alice** (Sales): calls\n")
    (workspace.memory / "knowledge.md").write_text("## Facts\n- water is wet\n")
    from memory.files.find import find_contact, find_knowledge

    left = find_contact(workspace.snapshot(), alices[1])
    assert getattr(left, "role", None) == "Sales"
    with pytest.raises(AmbiguousError):
        find_contact(workspace.snapshot(), alices[0])
    for ref in wet:
        with pytest.raises(AmbiguousError):
            find_knowledge(workspace.snapshot(), ref)


@pytest.mark.parametrize("which", [(0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_several_equal_facts_are_removed_as_one_change(
    opened: Callable[..., Workspace], which: tuple[int, ...]
) -> None:
    """Equal facts that were selected together go together, though the refs of the others end with the first."""
    from memory.files.verbs.knowledge import KNOWLEDGE_EDITS

    workspace = opened(knowledge="## A\n- wet\n- dry\n## B\n- wet\n## A\n- wet\n- wet\n")
    facts = [one for one in workspace.snapshot().knowledge.items if one.text == "wet" and one.section == "A"]
    refs = [facts[place].ref for place in which]
    workspace.change("knowledge remove", partial(KNOWLEDGE_EDITS.remove, refs=refs), actor="cli", now=NOW)
    left = [(one.section, one.text) for one in workspace.snapshot().knowledge.items]
    assert sorted(left) == sorted([("A", "dry"), ("B", "wet"), *[("A", "wet")] * (3 - len(refs))])
