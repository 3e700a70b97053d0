"""Plans: tasks from the table and the JSON block, phases, progress, and what is wrong with them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.files.find import find_plan
from memory.files.plans.model import MAX_CHARACTERS, Plan, read_plan_json
from tests.fixture_files import sample, with_newlines
from tests.memory_files import snapshot_of

NAME = "orchestration.md"
SAMPLE = snapshot_of({NAME: sample(NAME)})
HEAD = "## Active Plans\n### P\n- planId: orch-1\n"
TABLE = "| id | title | phase | dependsOn | status | progress |\n|--|--|--|--|--|--|\n"


def plan(rest: str) -> Plan:
    """Return the only plan of a file."""
    return snapshot_of({NAME: HEAD + rest}).plans.items[0]


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
def test_the_sample(newline: bytes) -> None:
    """Progress is weighted by minutes, phases hold their tasks, nothing is wrong; in any line ends."""
    plans = snapshot_of({NAME: with_newlines(sample(NAME), newline)}).plans
    shop, site = plans.items
    assert (shop.plan_id, shop.status, shop.current_phase, shop.progress, shop.stated_progress) == (
        "orch-xyz789",
        "running",
        "2",
        65,
        65,
    )
    assert [(one.name, [task.id for task in one.tasks]) for one in shop.phases] == [
        ("1", ["t1", "t2"]),
        ("2", ["t3"]),
        ("3", ["t4"]),
    ]
    assert shop.tasks[3].depends_on == ("t2", "t3")
    assert shop.tasks[2].minutes == 80
    assert (site.section, site.progress, site.completed) == ("completed", 100, "2024-01-13 17:00")
    assert shop.problems == site.problems == ()
    assert find_plan(SAMPLE, "orch-abc123").title == "Marketing Site relaunch"


def test_progress_by_count() -> None:
    """Without minutes every task counts alike; a completed one is done whatever it says; no tasks, no progress."""
    rows = "| a | A | 1 | | completed | 10% |\n| b | B | 1 | | running | 50% |\n| c | C | 1 | | pending | |\n"
    assert plan(TABLE + rows).progress == 50
    assert plan("").progress is None


def test_json_alone() -> None:
    """A plan without a table takes tasks and phases from its JSON."""
    text = """```json
{"planId": "orch-1", "tasks": [{"id": "a", "title": "A", "estimatedMinutes": 30},
 {"id": "b", "title": "B", "dependsOn": ["a"], "estimatedMinutes": 10, "status": "completed"}],
 "executionOrder": [["a"], {"phase": 2, "tasks": ["b"]}]}
```
"""
    found = plan(text)
    assert [(one.name, [task.id for task in one.tasks]) for one in found.phases] == [("1", ["a"]), ("2", ["b"])]
    assert (found.progress, found.problems) == (25, ())


@pytest.mark.parametrize(
    ("rest", "codes"),
    [
        (TABLE + "| a | A | 1 | b |\n| b | B | 1 | a |\n| c | C | 1 | a |\n", [("error", "plan.cycle", 6)]),
        (TABLE + "| a | A | 1 | a |\n", [("error", "plan.cycle", 6)]),
        (TABLE + "| a | A | 1 | x |\n", [("error", "plan.unknown_dependency", 6)]),
        (TABLE + "| a | A |  |  |\n", [("warning", "plan.no_phase", 6)]),
        (TABLE + "| a | A | 1 |  |\n| a | B | 1 |  |\n", [("warning", "plan.task_twice", 7)]),
        (TABLE + "|  | A | 1 |  |\n", [("warning", "plan.task_id", 6)]),
        ('```json\n{"tasks": [\n```\n', [("error", "plan.json", 5)]),
        ("```json\n[]\n```\n", [("error", "plan.json", 4)]),
        ('```json\n{"a": NaN}\n```\n', [("error", "plan.json", 4)]),
        ("```json\n" + "[" * 100_000 + "\n```\n", [("error", "plan.json", 4)]),
        ('```json\n"' + "x" * MAX_CHARACTERS + '"\n```\n', [("error", "plan.json", 4)]),
        ('```json\n{"a": ' + "9" * 5000 + "}\n```\n", [("error", "plan.json", 4)]),
        ('```json\n{"planId": "orch-2"}\n```\n', [("warning", "plan.id_differs", 4)]),
        ('```json\n{"executionOrder": [["x"]]}\n```\n', [("warning", "plan.unknown_task", 4)]),
    ],
)
def test_problems(rest: str, codes: list[tuple[str, str, int]]) -> None:
    """Cycles, unknown dependencies and the like are reported with their line; bad JSON is a problem, no crash."""
    assert [(one.level, one.code, one.line + 1) for one in plan(rest).problems] == codes


def test_long_chains_are_no_cycle() -> None:
    """Thousands of tasks in a row take no recursion and are no cycle."""
    rows = "".join(f"| t{at} | T | 1 | t{at + 1} |\n" for at in range(3000)) + "| t3000 | T | 1 | |\n"
    assert plan(TABLE + rows).problems == ()


@given(st.text(alphabet='[]{}":,0-9tfnaeE.\\ \n`~', max_size=60))
def test_reading_json_never_fails(text: str) -> None:
    """Whatever stands in the block, reading gives a plan or a problem."""
    found = read_plan_json(f"```json\n{text}\n```\n")
    assert found is not None
    assert found.line == 0


def test_a_failed_plan_is_not_counted_as_completed() -> None:
    """Wherever it stands, a failed plan is neither active nor completed."""
    text = (
        "## Active Plans\n### One\n- status: running\n### Two\n- status: failed\n"
        "## Completed Plans\n### Three\n- status: completed\n### Four\n- status: Failed\n### Five\n"
    )
    assert snapshot_of({"orchestration.md": text}).plans.counts == {"active": 1, "completed": 2, "failed": 2}
