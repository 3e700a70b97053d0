"""Every verb on the sample files: what it prints for people and for programs, and what it leaves in the files."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.app.cli.conftest import Answer

Memdeck = Callable[..., Answer]


def _one(answer: Answer, key: str) -> Any:
    assert (answer.code, answer.err) == (0, "")
    assert list(answer.data) == [key]
    return answer.data[key]


def test_a_given_date_is_said(memdeck: Memdeck) -> None:
    """Adding and editing print the date that they understood, the journal its time; JSON is as it was."""
    answer = memdeck("tasks", "add", "X", "--due", "fri 9:00")
    assert answer.out.endswith("  X  due Fri 19 Jan 09:00\n")
    assert answer.err == ""
    assert memdeck("tasks", "edit", "X", "--due", "2 Feb").out.endswith("  X  due Fri 2 Feb\n")
    assert memdeck("tasks", "edit", "X", "--set", "due=1.3.2025").out.endswith("  X  due Sat 1 Mar 2025\n")
    assert memdeck("tasks", "edit", "X", "--set", "assigned=Bob").out.endswith("  X\n")
    recurring = memdeck("tasks", "edit", "X", "--due", "eom (recurring: 0 9 * * MON)")
    assert recurring.out.endswith("  X  due Wed 31 Jan\n")
    assert _one(memdeck("tasks", "add", "Y", "--due", "fri 9:00", "-o", "json"), "task")["due"] == "2024-01-19 09:00"
    assert memdeck("journal", "add", "Z").out.endswith("  Z  Mon 15 Jan 12:00\n")
    assert memdeck("journal", "add", "Z2", "--at", "5 Nov 9:30").out.endswith("  Z2  Sun 5 Nov 2023 09:30\n")
    assert (
        memdeck("journal", "list", "--since", "5 nov", "--until", "6 nov", "-o", "json").data["entries"][-1]["title"]
        == "Z2"
    )


@pytest.mark.parametrize("due", ["soon", "5/6", "30 feb", "before 2 dec", ""])
def test_due_that_is_no_date_is_refused(memdeck: Memdeck, due: str) -> None:
    """Nothing is listed; the error has the code of dates and says what would be one, or why this is none."""
    answer = memdeck("tasks", "list", "--due", due, "-o", "json")
    assert answer.code == 2
    assert answer.data["error"]["code"] == "time.invalid"
    assert repr(due) in answer.data["error"]["message"]


def test_a_date_that_is_over_is_warned_about(memdeck: Memdeck) -> None:
    """What is due already is added, and told on stderr; what is due today is not over."""
    answer = memdeck("tasks", "add", "Late", "--due", "yesterday")
    assert (answer.code, answer.out.endswith("  Late  due Sun 14 Jan\n")) == (0, True)
    assert answer.err == "memdeck: warning: it is already due: Sun 14 Jan\n"
    assert memdeck("tasks", "add", "Today", "--due", "eod").err == ""
    refused = memdeck("tasks", "add", "Odd", "--due", "5/6")
    assert refused.code == 2
    assert "could be 5 Jun or 6 May; write 5 Jun or 6 May" in refused.err


def test_stdin_gives_lines(process: Callable[..., Any]) -> None:
    """`--line -` reads lines, without their bullets and without empty ones."""
    done = process("journal", "add", "T", "--line", "first", "--line", "-", "-o", "json", stdin=b"- a\r\n\nb\xff\n")
    assert json.loads(done.stdout)["entry"]["lines"] == ["first", "a", "b\udcff"]
