"""Urgency on the command line: lists sorted by any field, and why a task stands where it does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memory.files.tasks.order import SORTS
from tests.app.cli.conftest import Answer

Memdeck = Callable[..., Answer]


@pytest.mark.parametrize("sort", SORTS[1:])
def test_sorted_lists_hold_the_same_tasks(memdeck: Memdeck, sort: str) -> None:
    """Sorting loses nothing and stays inside the sections."""
    plain = memdeck("tasks", "list", "--section", "all", "-o", "json").data["tasks"]
    found = memdeck("tasks", "list", "--section", "all", "--sort", sort, "-o", "json").data["tasks"]
    assert sorted(task["ref"] for task in found) == sorted(task["ref"] for task in plain)
    assert [task["section"] for task in found] == [task["section"] for task in plain]


def test_the_most_urgent_comes_first(memdeck: Memdeck) -> None:
    """The order is that of the numbers that `why` gives."""
    refs = [task["ref"] for task in memdeck("tasks", "list", "--sort", "urgency", "-o", "json").data["tasks"]][:3]
    points = [memdeck("tasks", "why", ref, "-o", "json").data["task"]["urgency"] for ref in refs]
    assert points == sorted(points, reverse=True)
    assert points[0] > points[-1]


def test_why_says_each_term(memdeck: Memdeck) -> None:
    """For programs and for people the terms add up to the number."""
    task = memdeck("tasks", "why", "Deploy", "-o", "json").data["task"]
    assert list(task) == ["ref", "title", "urgency", "terms"]
    assert task["urgency"] == round(sum(term["points"] for term in task["terms"]), 1)
    words = memdeck("tasks", "why", "Deploy").out
    assert words.startswith(f"{task['urgency']:.1f}  Deploy v2.1")
    assert all(term["name"] in words and term["why"] in words for term in task["terms"])


def test_what_is_completed_is_not_urgent(memdeck: Memdeck) -> None:
    """It has no terms, and a sentence says so."""
    assert memdeck("tasks", "why", "Set up CI", "-o", "json").data["task"]["terms"] == []
    assert "not urgent any more" in memdeck("tasks", "why", "Set up CI").out
