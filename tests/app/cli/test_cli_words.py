"""What the command line says where an answer could be taken for another, and what it proposes instead of an error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("archiveCompletedAfterDay", "did you mean archiveCompletedAfterDays?"),
        ("TIMEZONE", "did you mean timezone?"),
        ("favouriteColour", "it is kept for whoever reads it"),
    ],
)
def test_a_setting_that_nobody_knows_is_set_and_said(memdeck: Memdeck, memory: Path, key: str, told: str) -> None:
    """It may be another program's, so it is written, and one warning on stderr proposes the setting that is meant."""
    answer = memdeck("config", "set", key, "3", "-o", "json")
    assert (answer.code, answer.data) == (0, {"config": {key: "3"}})
    assert answer.err == (f"memdeck: warning: config.unknown_key: {key} is no setting that memdeck knows; {told}\n")
    assert f"- {key}: 3\n" in (memory / "config.md").read_text()


def test_a_setting_that_memdeck_knows_is_set_without_a_word(memdeck: Memdeck) -> None:
    """Settings of the body and of the front matter are known."""
    assert memdeck("config", "set", "archiveCompletedAfterDays", "3").err == ""
    assert memdeck("config", "set", "setupComplete", "true").err == ""
