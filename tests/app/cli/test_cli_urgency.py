"""Lists on the command line, sorted by any field."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memory.files.tasks.order import SORTS
from tests.app.cli.conftest import Answer

Memdeck = Callable[..., Answer]


@pytest.mark.parametrize("sort", SORTS[:-1])
def test_sorted_lists_hold_the_same_tasks(memdeck: Memdeck, sort: str) -> None:
    """Sorting loses nothing and stays inside the sections."""
    plain = memdeck("tasks", "list", "--section", "all", "-o", "json").data["tasks"]
    found = memdeck("tasks", "list", "--section", "all", "--sort", sort, "-o", "json").data["tasks"]
    assert sorted(task["ref"] for task in found) == sorted(task["ref"] for task in plain)
    assert [task["section"] for task in found] == [task["section"] for task in plain]
