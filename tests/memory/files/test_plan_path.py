"""The critical path: the longest chain of what is still to do."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.files.plans.critical_path import critical_path
from memory.files.plans.parts import PlanTask


def task(name: str, *before: str, minutes: float | None = None, status: str = "pending", progress: int = 0) -> PlanTask:
    """A task of a plan."""
    return PlanTask(name, None, f"Task {name}", None, before, status, progress, minutes, 0)


def path(*tasks: PlanTask) -> tuple[str, float | None] | None:
    """The names of the critical path, and its minutes."""
    found = critical_path(tasks)
    return None if found is None else ("".join(one.id for one in found.tasks), found.minutes)


def test_the_chain_that_takes_longest() -> None:
    """Minutes count where all open tasks have them, else the number of tasks; what is done takes none."""
    assert path(task("a", minutes=10), task("b", "a", minutes=5), task("c", minutes=12)) == ("ab", 15)
    assert path(task("a", minutes=10), task("b", "a"), task("c", minutes=90)) == ("ab", None)
    assert path(task("a", minutes=60, progress=50), task("b", "a", minutes=5)) == ("ab", 35)
    assert path(task("a", status="completed", minutes=60), task("b", "a", minutes=5)) == ("b", 5)
    assert path(task("d", "b", "c"), task("c", "a"), task("b"), task("a")) == ("acd", None)


def test_where_there_is_none() -> None:
    """Nothing is open, tasks wait for each other, or for one that the plan does not have."""
    assert path() is None
    assert path(task("a", status="done")) is None
    assert path(task("a", "b"), task("b", "a"), task("c")) is None
    assert path(task("a", "a")) is None
    assert path(task("a", "gone")) == ("a", None)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sets(st.integers(0, 11)), st.integers(1, 50)), max_size=12))
def test_no_chain_is_longer(plan: list[tuple[set[int], int]]) -> None:
    """Every chain of dependencies takes at most as long; each task of the path waits for the one before it."""
    tasks = [
        task(str(number), *(str(one) for one in before if one < number), minutes=minutes)
        for number, (before, minutes) in enumerate(plan)
    ]
    found = critical_path(tasks)
    if not tasks:
        assert found is None
        return
    assert found is not None
    ends: list[float] = []
    for one in tasks:
        ends.append((one.minutes or 0) + max((ends[int(before)] for before in one.depends_on), default=0))
    assert found.minutes == max(ends)
    assert all(before.id in after.depends_on for before, after in zip(found.tasks, found.tasks[1:], strict=False))
