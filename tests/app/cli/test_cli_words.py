"""What the command line says where an answer could be taken for another, and what it proposes instead of an error."""

from __future__ import annotations

from collections.abc import Callable

from tests.app.cli.conftest import Answer

Memdeck = Callable[..., Answer]


def test_progress_says_when_it_has_started_a_task(memdeck: Memdeck) -> None:
    """A pending task is moved by it, and that is said once; one in progress is only noted, as JSON as ever."""
    first = memdeck("tasks", "progress", "Update README", "10")
    assert (first.code, first.err) == (0, "")
    assert first.out.startswith("started, at 10%: tasks#")
    assert memdeck("tasks", "progress", "Update README", "20").out.startswith("at 20%: tasks#")
    task = memdeck("tasks", "progress", "Deploy v2.1", "5%", "-o", "json").data["task"]
    assert (task["section"], task["progress"]) == ("in-progress", 5)
    assert "a pending one is started by it" in " ".join(memdeck("tasks", "progress", "--help").out.split())
