"""The verbs on the change log: what they list and show, what they take back, in which words they refuse."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.app.cli.conftest import HOSTILE, Answer

Memdeck = Callable[..., Answer]


def changes(memdeck: Memdeck, *options: str) -> list[dict[str, Any]]:
    """Return what `changes list` gives."""
    answer = memdeck("changes", "list", *options, "-o", "json")
    assert (answer.code, answer.err) == (0, "")
    return list(answer.data["changes"])


def test_nothing_changed_yet(memdeck: Memdeck) -> None:
    """A workspace that was never seen before has no history, and nothing to undo."""
    assert memdeck("changes", "list").out == "no changes\n"
    assert changes(memdeck) == []
    assert memdeck("undo", "-o", "json").data["error"]["code"] == "change.none"
    assert memdeck("redo").code == 1


def test_what_an_editor_did_is_listed_and_reverted(memdeck: Memdeck, memory: Path) -> None:
    """A change from outside has its entry, its lines, and goes back below a later change of ours."""
    changes(memdeck)
    path = memory / "tasks.md"
    path.write_text(path.read_text().replace("tags: documentation", "tags: docs"))
    (found,) = changes(memdeck, "--actor", "outside")
    assert (found["actor"], found["file"]) == ("outside", "tasks.md")
    shown = memdeck("changes", "show", found["id"][:20], "-o", "json").data
    (view,) = shown["views"]
    assert (view["kind"], view["entry"]) == ("edited", found["entry"])
    assert view["fields"] == [{"key": "tags", "before": "documentation", "after": "docs"}]
    words = memdeck("changes", "show", found["id"]).out
    assert "  -- tags: documentation\n  +- tags: docs\n" in words
    memdeck("tasks", "start", "Deploy")
    answer = memdeck("changes", "revert", found["id"])
    assert (answer.code, answer.err) == (0, "")
    assert "tags: documentation" in path.read_text()
    assert "started" in path.read_text()
    assert memdeck("changes", "revert", found["id"]).code == 4


def test_filters(memdeck: Memdeck) -> None:
    """By actor, file, entry, time and number."""
    ref = memdeck("tasks", "edit", "Deploy", "--set", "notes=a", "-o", "json").data["task"]["ref"]
    memdeck("journal", "add", "Seen", "--actor", "agent:a", now="2024-01-16T12:00:00Z")
    memdeck("config", "set", "maxJournalEntries", "400", now="2024-01-17T12:00:00Z")

    def count(*options: str) -> int:
        return len(changes(memdeck, *options))

    assert (count("--actor", "agent:*"), count("--actor", "cli"), count("--file", "config.md")) == (1, 2, 1)
    assert (count("--entry", ref), count("--entry", "seen"), count("--limit", "2"), count("--limit", "0")) == (
        1,
        1,
        2,
        3,
    )
    assert (count("--since", "2024-01-16"), count("--until", "2024-01-16"), count("--until", "2024-01-15 12:00")) == (
        2,
        2,
        1,
    )
    assert memdeck("changes", "list", "--since", "someday").code == 2


def test_restore_from_the_archive(memdeck: Memdeck, memory: Path) -> None:
    """A task goes back to Completed."""
    memdeck("archive", now="2024-03-15T12:00:00Z")
    assert "Set up" not in (memory / "tasks.md").read_text()
    answer = memdeck("restore", "Set up", "-o", "json")
    assert answer.code == 0
    assert answer.data["ref"].startswith("tasks#")
    assert "Set up" in (memory / "tasks.md").read_text()
    assert memdeck("restore", "nothing like it").code == 1
    assert memdeck("changes", "show", "X").code == 1


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_safely(memdeck: Memdeck, memory: Path, text: str) -> None:
    """Titles and lines of other programs reach no terminal as more than text."""
    changes(memdeck)
    path = memory / "tasks.md"
    path.write_text(path.read_text() + f"\n### {text}\n- notes: {text}\n")
    for answer in (memdeck("changes", "list"), memdeck("changes", "show", changes(memdeck)[0]["id"])):
        assert answer.code == 0
        assert not {"\x1b", "\x07", "\x9b", "\u202e", "\U000e0041"} & set(answer.out)


def test_a_damaged_log_is_said_once(memdeck: Memdeck, shop: Path) -> None:
    """The verb works with a new log; the warning names where the old one went."""
    memdeck("tasks", "start", "Deploy")
    gc.collect()  # A command is a process: what it had open would be closed by now.
    (log,) = (shop.parent / "state" / "memdeck").glob("*/changes.sqlite")
    for part in log.parent.glob("changes.sqlite-*"):
        part.unlink()
    log.write_bytes(b"no database" * 100)
    answer = memdeck("changes", "list")
    assert (answer.code, answer.out) == (0, "no changes\n")
    assert "warning" in answer.err
    assert "changes.damaged.sqlite" in answer.err
    assert memdeck("changes", "list").err == ""
