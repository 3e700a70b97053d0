"""Every verb on the sample files: what it prints for people and for programs, and what it leaves in the files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
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


def test_a_journal_entry_through_its_life(memdeck: Memdeck, memory: Path) -> None:
    """Added on top of today, shown, edited and removed."""
    entry = _one(memdeck("journal", "add", "Deploy", "--line", "one", "--line", "two", "-o", "json"), "entry")
    assert (entry["date"], entry["time"], entry["lines"]) == ("2024-01-15", "12:00", ["one", "two"])
    assert "## 2024-01-15\n### 12:00 — Deploy\n- one\n- two\n### 10:30" in (memory / "journal.md").read_text()
    ref = entry["ref"]
    assert memdeck("journal", "show", ref).out.splitlines() == [
        "2024-01-15 12:00  Deploy",
        "  - one",
        "  - two",
        f"  {ref}",
    ]
    changed = _one(memdeck("journal", "edit", ref, "--title", "Deployed", "--at", "11:55", "-o", "json"), "entry")
    assert (changed["title"], changed["time"], changed["lines"]) == ("Deployed", "11:55", ["one", "two"])
    assert memdeck("journal", "edit", changed["ref"]).code == 2
    assert memdeck("journal", "remove", changed["ref"]).out == f"removed {changed['ref']}  Deployed\n"
    assert "Deploy" not in (memory / "journal.md").read_text().split("### 10:30")[0]


def test_contacts(memdeck: Memdeck, memory: Path) -> None:
    """Three tables, each kind added, edited and removed; jsonl says what each one is."""
    answer = memdeck("contacts", "list", "-o", "json")
    assert list(answer.data) == ["channels", "routes", "people"]
    assert [len(items) for items in answer.data.values()] == [3, 2, 3]
    assert list(memdeck("contacts", "list", "--kind", "person", "-o", "json").data.values())[:2] == [[], []]
    kinds = [item["kind"] for item in memdeck("contacts", "list", "-o", "jsonl").objects]
    assert kinds == ["channel"] * 3 + ["route"] * 2 + ["person"] * 3
    assert "People\n" in memdeck("contacts", "list").out
    for kind, name, values in (
        ("channel", "Ops Bot", ["id=channel-x", "type=telegram", "status=connected"]),
        ("route", "Ops Bot", ["project=project-9", "prefix=/ops"]),
        ("person", "Dana", ["role=QA", "text=Ask her"]),
    ):
        words = [word for value in values for word in ("--set", value)]
        added = _one(memdeck("contacts", "add", kind, name, *words, "-o", "json"), "contact")
        changed = memdeck(
            "contacts", "edit", added["ref"], "--set", values[-1].partition("=")[0] + "=new", "-o", "json"
        )
        assert "new" in _one(changed, "contact").values()
        assert memdeck("contacts", "remove", changed.data["contact"]["ref"]).out.startswith("removed contacts#")
    text = (memory / "contacts.md").read_text()
    assert "Ops Bot" not in text
    assert "Dana" not in text


def test_config(memdeck: Memdeck, memory: Path) -> None:
    """Settings by section, one alone, set with a check, taken out."""
    listing = memdeck("config", "list").out
    assert "Memory Maintenance\n" in listing
    assert "channel-abc123 (Telegram)" in listing
    settings = _one(memdeck("config", "list", "-o", "json"), "config")
    assert settings["maxJournalEntries"] == "500"
    assert memdeck("config", "get", "maxJournalEntries").out == "500\n"
    assert _one(memdeck("config", "get", "primaryChannel", "-o", "json"), "config") == {
        "primaryChannel": "channel-abc123"
    }
    assert memdeck("config", "get", "nosuch").code == 1
    assert _one(memdeck("config", "set", "maxJournalEntries", "400", "-o", "json"), "config") == {
        "maxJournalEntries": "400"
    }
    assert "- maxJournalEntries: 400\n" in (memory / "config.md").read_text()
    before = (memory / "config.md").read_bytes()
    for key, value in (("maxJournalEntries", "many"), ("timezone", "Nowhere/Town"), ("expression", "often")):
        answer = memdeck("config", "set", key, value, "-o", "json")
        assert (answer.code, answer.data["error"]["code"]) == (2, "config.value")
    assert before == (memory / "config.md").read_bytes()
    assert memdeck("config", "set", "timezone", "Europe/Berlin").code == 0
    assert memdeck("config", "unset", "timezone").code == 0
    assert "timezone" not in (memory / "config.md").read_text()


def test_stdin_gives_lines(process: Callable[..., Any]) -> None:
    """`--line -` reads lines, without their bullets and without empty ones."""
    done = process("journal", "add", "T", "--line", "first", "--line", "-", "-o", "json", stdin=b"- a\r\n\nb\xff\n")
    assert json.loads(done.stdout)["entry"]["lines"] == ["first", "a", "b\udcff"]
