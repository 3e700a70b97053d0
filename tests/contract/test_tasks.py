"""Tasks by the command line: what is added is in the file, is listed, and moves with what is done to it."""

from __future__ import annotations

from tests.contract.place import Place

TASKS = ".aiter/memory/tasks.md"


def test_a_task_is_added_started_finished_and_taken_back(workspace: Place) -> None:
    """A task keeps its ref through its life, and one `undo` takes back the newest step."""
    added = workspace.json("tasks", "add", "Rotate the keys", "--priority", "HIGH", "--due", "2026-03-06 09:00")
    ref = added["task"]["ref"]
    assert b"### [HIGH] Rotate the keys\n" in workspace.read(TASKS)
    listed = workspace.json("tasks", "list")["tasks"]
    assert [(task["ref"], task["priority"], task["due"]) for task in listed] == [(ref, "HIGH", "2026-03-06 09:00")]
    assert workspace("tasks", "start", ref).code == 0
    assert workspace("tasks", "done", ref, "--outcome", "done by hand").code == 0
    done = workspace.json("tasks", "show", ref)["task"]
    assert (done["section"], done["outcome"]) == ("completed", "done by hand")
    assert workspace("undo").code == 0
    assert workspace.json("tasks", "show", ref)["task"]["section"] == "in-progress"


def test_an_unknown_task_is_an_error_with_its_code(workspace: Place) -> None:
    """The error is one object on stdout with `-o json`, and one line on stderr without."""
    answer = workspace("tasks", "show", "Nowhere", "-o", "json")
    assert (answer.code, answer.error) == (1, "task.not_found")
    answer = workspace("tasks", "show", "Nowhere")
    assert (answer.code, answer.error, answer.out) == (1, "task.not_found", "")


def test_a_person_at_a_terminal_is_seen_as_one(workspace: Place) -> None:
    """The harness plays a terminal: the same words, printed for a person."""
    answer = workspace.at_terminal("status")
    assert answer.code == 0, answer
    assert "asks" in answer.out
