"""Plans by the command line: started, advanced and completed, with their tasks; one undo takes each step back."""

from __future__ import annotations

from typing import Any

from tests.contract.place import Place

FILE = ".aiter/memory/orchestration.md"
PLAN = """## Active Plans

### Move to Redis
- planId: plan-redis
- status: planning
- created: 2026-01-10
- progress: 0%

| id | project | title | phase | dependsOn | status | progress |
|----|---------|-------|-------|-----------|--------|----------|
| T1 | api | Add client | 1 | | planning | 0% |
| T2 | api | Switch reads | 2 | T1 | planning | 0% |

Some prose.
"""


def plan(place: Place, *words: str) -> dict[str, Any]:
    """Run a verb on the plan and return the plan as it is then."""
    found: dict[str, Any] = place.json("orchestration", words[0], "plan-redis", *words[1:])["plan"]
    return found


def test_a_plan_goes_through_its_phases(workspace: Place) -> None:
    """Start, advance and done move a plan through its phases; its stated progress follows its tasks."""
    workspace.write(FILE, PLAN)
    started = plan(workspace, "start")
    assert (started["status"], started["currentPhase"]) == ("running", "1")
    assert plan(workspace, "start", "--task", "T1")["tasks"][0]["status"] == "running"
    half = plan(workspace, "done", "--task", "T1")
    assert (half["progress"], half["statedProgress"], half["tasks"][0]["progress"]) == (50, 50, 100)
    assert plan(workspace, "advance")["currentPhase"] == "2"
    assert workspace("orchestration", "advance", "plan-redis").code == 2
    answer = workspace("orchestration", "done", "plan-redis")
    assert "plan.open_tasks: not completed: T2" in answer.err
    done = workspace.json("orchestration", "list")["plans"][0]
    assert (done["section"], done["status"], done["progress"]) == ("completed", "completed", 50)
    for verb in ("start", "advance"):
        refused = workspace("orchestration", verb, "plan-redis", "-o", "json")
        assert (refused.code, refused.data["error"]["code"]) == (4, "plan.completed")
    for _ in range(5):
        assert workspace("undo").code == 0
    assert workspace.read(FILE) == PLAN.encode()


def test_tasks_of_a_plan_are_added_changed_and_removed(workspace: Place) -> None:
    """A task of a plan is a row of its table: a new id with a title adds one, and other rows keep their bytes."""
    workspace.write(FILE, PLAN)
    added = plan(workspace, "edit", "--task", "T3", "--set", "title=Clean up", "--set", "phase=2")
    assert [(one["id"], one["title"], one["phase"]) for one in added["tasks"]][2] == ("T3", "Clean up", "2")
    assert b"| T1 | api | Add client | 1 | | planning | 0% |\n" in workspace.read(FILE)
    plan(workspace, "edit", "--task", "T2", "--set", "title=Switch | writes")
    assert [one["id"] for one in plan(workspace, "remove", "--task", "T1")["tasks"]] == ["T2", "T3"]
    assert workspace.json("orchestration", "show", "plan-redis")["plan"]["tasks"][0]["title"] == "Switch | writes"
    for words, code in (
        (("edit", "--task", "T9", "--set", "phase=2"), "plan.task"),
        (("edit", "--task", "T2", "--set", "colour=red"), "plan.task"),
        (("edit", "--task", "T2", "--set", "status=sleeping"), "plan.status"),
        (("remove", "--task", "T9"), "plan.task"),
    ):
        before = workspace.read(FILE)
        refused = workspace("orchestration", words[0], "plan-redis", *words[1:], "-o", "json")
        assert refused.data["error"]["code"] == code
        assert workspace.read(FILE) == before


def test_a_plan_without_a_table_gets_one(workspace: Place) -> None:
    """The first task of a plan makes its table; a plan whose tasks are JSON is changed as text."""
    workspace.write(FILE, "## Active Plans\n\n### Bare\n- planId: plan-redis\n")
    assert plan(workspace, "edit", "--task", "A", "--set", "title=First")["tasks"][0]["title"] == "First"
    assert plan(workspace, "done", "--task", "A")["progress"] == 100
    inner = '{"tasks": [{"id": "J1", "title": "Inner"}]}'
    workspace.write(FILE, f"## Active Plans\n\n### Bare\n- planId: plan-redis\n\n```json\n{inner}\n```\n")
    refused = workspace("orchestration", "done", "plan-redis", "--task", "J1", "-o", "json")
    assert refused.data["error"]["code"] == "plan.task"


def test_steps_of_a_plan_keep_their_pipes(workspace: Place) -> None:
    """A step that an agent sends is the title of a task, whatever is in it; one of two lines is refused."""
    add: tuple[str, dict[str, Any]] = ("add", {"kind": "plan", "title": "Move", "fields": {"steps": ["Run a | b"]}})
    two = ("add", {"kind": "plan", "title": "Go", "fields": {"steps": ["One\nand more"]}})
    _, refused = workspace.mcp(add, two)
    assert refused["error"]["code"] == "table.value"
    (plan,) = [one for one in workspace.json("orchestration", "list")["plans"] if one["title"] == "Move"]
    assert [task["title"] for task in plan["tasks"]] == ["Run a | b"]
