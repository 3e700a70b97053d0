"""The verbs on the change log: what they list and show, what they take back, in which words they refuse."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.app.cli.conftest import Answer

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
