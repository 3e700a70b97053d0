"""What the keys of tasks do, without an application: a question, an edit, a message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.tui.commands import tasks
from memory.errors import ConflictError
from memory.workspace import Workspace
from tests.app.tui.command_context import answered, context_over, text_of, written
from tests.app.tui.tui_helpers import make_workspace

TASKS = (
    "## Pending\n\n### [HIGH] Deploy\n- due: 2024-01-12\n- tags: infra\n\n### [LOW] Sweep\n\n"
    "## In Progress\n\n### [NORMAL] Write\n- progress: 20%\n\n## Completed\n\n### [NORMAL] Read\n"
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Two pending tasks, one that was started, one that is done."""
    return make_workspace(tmp_path, {"tasks.md": TASKS, "journal.md": "## 2024-01-15\n"})


def test_finishing_asks_for_the_outcome_and_moves_the_task(workspace: Workspace) -> None:
    """The words become the outcome, and the cursor goes on to the next task."""
    context = context_over(workspace, "tasks", "Deploy")
    step = answered(tasks.done(context), " went well ")
    assert (step.arguments[0], step.options["follow"]) == ("tasks.done", False)
    outcome = written(context, step)
    done = text_of(workspace).partition("## Completed")[2]
    assert "Deploy" in done
    assert "outcome: went well" in done
    assert outcome.ref is not None


def test_a_question_that_is_left_changes_nothing(workspace: Workspace) -> None:
    """Escape in a question is the end of it."""
    context = context_over(workspace, "tasks", "Deploy")
    for command in (tasks.done, tasks.due, tasks.tags, tasks.assign, tasks.quick):
        assert answered(command(context), None) is None
    assert text_of(workspace) == TASKS


def test_several_tasks_are_one_change(workspace: Workspace) -> None:
    """All selected tasks are finished by one edit, so that one undo reverts it; a finished one is left out."""
    context = context_over(workspace, "tasks", "Deploy", "Sweep", "Read")
    outcome = written(context, answered(tasks.done(context), ""))
    assert "2 tasks" in outcome.summary
    assert "###" not in text_of(workspace).partition("## In Progress")[0]
    assert len(context.pane.line_list.selected) == 3, "they stay selected until Esc"


def test_progress_takes_a_number_and_words(workspace: Workspace) -> None:
    """`60, then a note` is a percentage and the last update; other words are refused in the question."""
    context = context_over(workspace, "tasks", "Write")
    step = tasks.progress(context)
    written(context, answered(step, "60% half of it"))
    assert "progress: 60%" in text_of(workspace)
    assert "half of it" in text_of(workspace)
    assert answered(step, "soon") is None


@pytest.mark.parametrize(("command", "line"), [(tasks.higher, "[HIGH] Sweep"), (tasks.lower, "[LOW] Sweep")])
def test_the_priority_is_shifted(workspace: Workspace, command: Callable[..., Any], line: str) -> None:
    """Up twice is high; lower than low there is nothing."""
    context = context_over(workspace, "tasks", "Sweep")
    for _ in range(2):
        step = command(context)
        if step.name == "say":
            assert step.arguments == ("Already LOW, the lowest priority.",)
        else:
            written(context, step)
    assert line in text_of(workspace)


def test_tags_of_several_are_given_and_taken(workspace: Workspace) -> None:
    """`+a -b` changes the tags of each; words without a sign replace those of all."""
    context = context_over(workspace, "tasks", "Deploy", "Sweep")
    written(context, answered(tasks.tags(context), "+late -infra"))
    assert text_of(workspace).count("tags: late") == 2
    context = context_over(workspace, "tasks", "Deploy", "Sweep")
    written(context, answered(tasks.tags(context), "calm, home"))
    assert text_of(workspace).count("tags: calm, home") == 2


def test_a_field_that_somebody_else_set_is_not_overwritten(workspace: Workspace) -> None:
    """The edit compares with what was seen; where another program set the same field since, nothing is written."""
    context = context_over(workspace, "tasks", "Sweep")
    step = answered(tasks.assign(context), "alice")
    path = workspace.memory / "tasks.md"
    path.write_text(TASKS.replace("### [LOW] Sweep\n", "### [LOW] Sweep\n- assigned: bob\n"), "utf-8")
    with pytest.raises(ConflictError):
        written(context, step)
    assert "assigned: bob" in text_of(workspace)


@pytest.mark.parametrize(("choice", "titles"), [("lines", ["Buy milk", "Call Bob"]), ("joined", ["Buy milk Call Bob"])])
def test_pasted_lines_are_asked_about_once(workspace: Workspace, choice: str, titles: list[str]) -> None:
    """Several lines become a task each, in their order and as one change, or one task; none is dropped."""
    context = context_over(workspace, "tasks")
    question = answered(tasks.quick(context), "Buy milk\n\nCall Bob\n")
    written(context, answered(question, choice))
    pending = text_of(workspace).partition("## In Progress")[0]
    assert [line[13:] for line in pending.splitlines() if line.startswith("### [NORMAL]")] == titles
