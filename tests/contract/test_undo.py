"""Undo, redo and the list of changes: in the workspace, in the person's own memory, and behind maintenance."""

from __future__ import annotations

import pytest

from tests.contract.place import Place

TASKS = ".aiter/memory/tasks.md"
LATER, LATER_STILL = "2026-05-20T09:00:00Z", "2026-05-20T09:01:00Z"


def minute(number: int) -> str:
    """Return a moment of the day, later for a larger number."""
    return f"2026-03-02T09:{number:02}:00Z"


def remember(place: Place, name: str, kind: str, now: str, actor: str = "") -> str:
    """Remember something, in the global scope for the type user; return its file."""
    done = place.json("curated", "write", "--type", kind, "--name", name, "--content", f"all about {name}", now=now,
                      actor=actor)  # fmt: skip
    return str(done["decision"]["target_filename"])


def names(place: Place) -> set[str]:
    """Return the files of all memories."""
    return {one["filename"] for one in place.json("curated", "list")["memories"]}


@pytest.mark.parametrize("step", [0, 1])
def test_undo_takes_back_the_newest_change_also_in_global_memory(workspace: Place, step: int) -> None:
    """Of three writes each undo takes the newest, wherever it was made; redo brings them back in turn.

    That holds where a clock stands still, too.
    """
    first = remember(workspace, "Tide", "project", minute(step))
    second = remember(workspace, "Coffee", "user", minute(2 * step))
    third = remember(workspace, "Anchor", "project", minute(3 * step))
    assert workspace("undo", now=minute(4 * step)).code == 0
    assert names(workspace) == {first, second}
    undone = workspace("undo", now=minute(5 * step))
    assert (undone.code, "global" in undone.out) == (0, True)
    assert names(workspace) == {first}
    assert workspace("redo", now=minute(6 * step)).code == 0
    assert names(workspace) == {first, second}
    assert workspace("redo", now=minute(7 * step)).code == 0
    assert names(workspace) == {first, second, third}


def test_changes_of_global_memory_are_listed_and_shown(workspace: Place) -> None:
    """They carry the folder of the person's memory, and are reverted by their id like any other."""
    file = remember(workspace, "Coffee", "user", minute(1))
    remember(workspace, "Tide", "project", minute(2))
    listed = workspace.json("changes", "list", "--file", "*.md", "--limit", "2")["changes"]
    inside, outside = listed
    assert (inside["store"], outside["store"]) == (None, str(workspace.home / ".agh"))
    assert f"memory/{file}" in outside["files"]
    assert "(in ~/.agh)" in workspace("changes", "list").out
    assert workspace.json("changes", "show", outside["id"])["change"]["store"] == outside["store"]
    assert workspace("changes", "revert", outside["id"], now=minute(3)).code == 0
    assert file not in names(workspace)
    (reverted, made) = workspace.json("curated", "decisions", "list", "--filename", file)["decisions"]
    assert (reverted["op"], reverted["reverts"]) == ("delete", made["id"])


def test_an_agent_takes_back_its_own_global_change_and_no_other(workspace: Place) -> None:
    """The person's newer memory stays."""
    agents = remember(workspace, "Tea", "user", minute(1), actor="agent:x")
    persons = remember(workspace, "Coffee", "user", minute(2))
    assert workspace("undo", actor="agent:x", now=minute(3)).code == 0
    assert names(workspace) == {persons}
    assert workspace("undo", actor="agent:x", now=minute(4)).error == "change.none"
    assert agents not in names(workspace)


def test_each_undo_and_redo_of_a_memory_is_a_decision(workspace: Place) -> None:
    """The list of decisions is whole: it says what was taken back, and each has an event."""
    for number, (kind, name) in enumerate((("project", "Tide"), ("user", "Coffee"))):
        file = remember(workspace, name, kind, minute(10 * number))
        assert workspace("undo", now=minute(10 * number + 1)).code == 0
        assert workspace("redo", now=minute(10 * number + 2)).code == 0
        found = workspace.json("curated", "decisions", "list", "--filename", file)["decisions"]
        made = [(one["op"], one["rule_trace"][-1]["name"]) for one in reversed(found)]
        assert made[1:] == [("delete", "controller.undone"), ("add", "controller.redone")]
        assert found[1]["reverts"] == found[2]["id"]
        events = workspace.json("curated", "history")["operations"]
        assert {one["id"] for one in found} <= {one["decision_id"] for one in events}
        assert workspace("curated", "decisions", "revert", found[0]["id"], now=minute(10 * number + 3)).code == 0
        assert file not in names(workspace)


def test_undo_passes_over_what_maintenance_archived(workspace: Place) -> None:
    """It says what happened and how to go on; the next undo takes back an older change of one's own."""
    workspace("tasks", "add", "Older")
    workspace("tasks", "add", "Newer")
    workspace("tasks", "done", "Newer")
    assert workspace("--maintain", "--no-exec", now=LATER).code == 0
    refused = workspace("undo", now=LATER_STILL)
    assert (refused.code, refused.error) == (4, "change.archived")
    assert "undo --actor maintain" in refused.err
    assert "added 'Older'" in refused.err
    assert workspace("undo", now=LATER_STILL).out.strip() == "undid: added 'Older'"
    assert workspace("undo", now=LATER_STILL).error == "change.archived"
    # Once maintenance's change is taken back, so are those that it stood in the way of.
    assert workspace("undo", actor="maintain", now=LATER_STILL).code == 0
    assert workspace("undo", now=LATER_STILL).out.strip() == "undid: completed 'Newer'"
    assert workspace("undo", now=LATER_STILL).out.strip() == "undid: added 'Newer'"
    assert workspace.json("tasks", "list", "--section", "all")["tasks"] == []


def test_undo_passes_over_a_journal_entry_that_was_pruned(workspace: Place) -> None:
    """The same holds for the journal."""
    workspace("tasks", "add", "Older")
    workspace("journal", "add", "Noted")
    assert workspace("--maintain", "--no-exec", now=LATER).code == 0
    assert workspace("undo", now=LATER_STILL).error == "change.archived"
    assert workspace("undo", now=LATER_STILL).out.strip() == "undid: added 'Older'"


def test_a_conflict_with_somebody_else_stays_one(workspace: Place) -> None:
    """Where another writer changed the entry, undo says so as before, and passes nothing over."""
    workspace("tasks", "add", "Older")
    ref = workspace.json("tasks", "add", "Newer", "--notes", "mine")["task"]["ref"]
    workspace("tasks", "edit", ref, "--set", "notes=theirs", actor="other")
    for _ in range(2):
        assert workspace("undo", now=LATER).error == "document.conflict"


def test_an_older_memory_is_reverted_behind_newer_ones(workspace: Place) -> None:
    """The index that every write renews does not stand in the way of taking back one memory."""
    first = remember(workspace, "Tide", "project", minute(1))
    second = remember(workspace, "Anchor", "project", minute(2))
    change = workspace.json("changes", "list")["changes"][1]
    assert workspace("changes", "revert", change["id"], now=minute(3)).code == 0
    assert names(workspace) == {second}
    index = workspace.read(".agh/memory/MEMORY.md").decode()
    assert second in index
    assert first not in index


def _removed_outside(place: Place) -> tuple[str, bytes]:
    """Add two tasks; another program removes the first with one line of its own; return its change and the file."""
    place("tasks", "add", "Gone")
    place("tasks", "add", "Stays")
    lines = place.read(TASKS).decode().splitlines(keepends=True)
    start = next(number for number, line in enumerate(lines) if line.endswith("Gone\n"))
    end = next(number for number in range(start + 1, len(lines)) if lines[number].startswith("#"))
    text = "".join(lines[:start] + lines[end:]).replace("Stays\n", "Stays\n- notes: theirs\n")
    place.write(TASKS, text.encode())
    change = place.json("changes", "list", "--actor", "outside")["changes"][0]
    return change["id"], place.read(TASKS)


def test_what_another_program_removed_is_brought_back(workspace: Place) -> None:
    """Status lists it; `revert --removed` brings it back beside what that program wrote, and can be undone."""
    change, theirs = _removed_outside(workspace)
    (told,) = workspace.json("status")["taken_back"]
    assert (told["change"], [one["title"] for one in told["entries"]]) == (change, ["Gone"])
    assert change[:16] in workspace("status").out
    done = workspace("changes", "revert", "--removed", change)
    assert (done.code, done.out) == (0, "brought back 'Gone'\n")
    assert {one["title"] for one in workspace.json("tasks", "list")["tasks"]} == {"Gone", "Stays"}
    assert b"- notes: theirs\n" in workspace.read(TASKS)
    assert workspace.json("status")["taken_back"] == []
    assert workspace("undo").code == 0
    assert workspace.read(TASKS) == theirs
    assert len(workspace.json("status")["taken_back"]) == 1


def test_what_another_program_removed_can_be_left_so(workspace: Place) -> None:
    """Then nothing reminds of it; an agent does not decide that."""
    change, theirs = _removed_outside(workspace)
    assert workspace("changes", "keep", change, actor="agent:a").error == "review.person_only"
    assert workspace.json("changes", "keep", change)["kept"]["change"] == change
    assert workspace.json("status")["taken_back"] == []
    assert workspace.read(TASKS) == theirs


def test_what_another_program_brought_back_itself_is_not_listed(workspace: Place) -> None:
    """As after `git checkout` there and back."""
    empty = workspace.read(TASKS)
    workspace("tasks", "add", "Gone")
    before = workspace.read(TASKS)
    for data, count in ((empty, 1), (before, 0)):
        workspace.write(TASKS, data)
        workspace("changes", "list")
        assert len(workspace.json("status")["taken_back"]) == count


def test_undo_beside_another_writer_of_the_same_entry(workspace: Place) -> None:
    """A field goes back beside another field that somebody changed; the same field is a conflict and writes nothing."""
    ref = workspace.json("tasks", "add", "Paint", "--notes", "first")["task"]["ref"]
    workspace("tasks", "edit", ref, "--set", "notes=second")
    workspace("tasks", "edit", ref, "--set", "assigned=Alice", actor="other")
    assert workspace("undo").code == 0
    (task,) = workspace.json("tasks", "list")["tasks"]
    assert (task["notes"], task["assigned"]) == ("first", "Alice")
    assert workspace("redo").code == 0
    workspace("tasks", "edit", ref, "--set", "notes=third", actor="other")
    before = workspace.read(TASKS)
    refused = workspace("undo")
    assert (refused.code, refused.error) == (4, "document.conflict")
    assert "Paint" in refused.err
    assert workspace.read(TASKS) == before


def test_what_undo_leaves_alone(workspace: Place) -> None:
    """The files of a new workspace do not go by an undo; the last change goes back and comes again, byte for byte."""
    assert workspace("undo").error == "change.none"
    before = workspace.read(TASKS)
    workspace("tasks", "add", "Paint")
    after = workspace.read(TASKS)
    assert workspace("undo").code == 0
    assert workspace.read(TASKS) == before
    assert workspace("redo").code == 0
    assert workspace.read(TASKS) == after


@pytest.mark.parametrize("wanted", ["", " ", "01ZZZZZZZZ"])
def test_an_id_that_names_no_change(workspace: Place, wanted: str) -> None:
    """An empty one names none, however few changes there are."""
    workspace("tasks", "add", "Paint")
    assert workspace("changes", "show", wanted).error == "change.not_found"


def test_an_agent_changes_a_line_that_it_added(workspace: Place) -> None:
    """Its own line in a person's file, and its undo, wait for no one; a line of the person waits."""
    assert workspace("knowledge", "add", "Ships on Thursday").code == 0
    assert workspace("knowledge", "add", "Ships on Friday", actor="agent:a").code == 0
    assert workspace("undo", actor="agent:a").code == 0
    assert "Ships on Friday" not in workspace.read(".aiter/memory/knowledge.md").decode()
    assert workspace("knowledge", "add", "Ships on Monday", actor="agent:a").code == 0
    assert workspace("knowledge", "edit", "Ships on Monday", "Ships on Tuesday", actor="agent:a").code == 0
    assert workspace("knowledge", "remove", "Ships on Tuesday", actor="agent:a").code == 0
    assert workspace("knowledge", "remove", "Ships on Thursday", actor="agent:a").code == 3
