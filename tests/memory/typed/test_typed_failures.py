"""Failure notes: their form, that they never fail a run, and what is made of them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.document import parse
from memory.typed import ops
from memory.typed.reading import Failure, note_of, read_failures, summarise, with_note
from tests.examples import examples
from tests.memory.typed.conftest import NOW, Den

BLOCK = """## 2026-04-18T12:00:00+00:00
- **Issue**: local
- **Task snippet**: Fix the build
- **Tokens**: 12345
- **Why it failed**: partial
"""


def test_the_log_is_append_only_and_two_in_a_second_are_two(den: Den) -> None:
    """What stands there stays; a note is a block of its own each time."""
    folder = den.add("ada")
    path = folder / "memory/procedural/failures.md"
    path.parent.mkdir(parents=True)
    path.write_text("# Failures\n\nby hand")
    store = den.store(den.agent("ada"))
    for _ in range(2):
        assert ops.record_failure(folder, "partial", "Fix the build", 12345, "local", NOW, store=store)
    text = path.read_text()
    assert text.startswith("# Failures\n\nby hand")
    assert text.count(BLOCK) == 2
    assert len(read_failures(text.encode()).notes) == 2


@pytest.mark.parametrize(("status", "notes"), [("partial", 1), ("timeout", 1), ("success", 0), ("failed", 0)])
def test_only_partial_and_timeout_are_noted(den: Den, status: str, notes: int) -> None:
    """Other statuses write nothing and return False."""
    folder = den.add("ada")
    done = ops.record_failure(folder, status, "x", 1, now=NOW, store=den.store(den.agent("ada")))
    assert done is bool(notes)
    assert (folder / "memory/procedural/failures.md").exists() is bool(notes)


def test_a_snippet_is_200_characters_on_one_line() -> None:
    """Newlines of all kinds become blanks, and the rest of a long task is left out; the time is UTC, whole seconds."""
    note = note_of("timeout", "## a\r\nb\nc\x85d" + "x" * 300, 7, "#1\n## 2", NOW + timedelta(microseconds=999))
    lines = note.split("\n")
    assert len(lines) == 6
    assert lines[0] == "## 2026-04-18T12:00:00+00:00"
    assert lines[1] == "- **Issue**: #1 ## 2"
    assert lines[2] == "- **Task snippet**: " + ("## a b c d" + "x" * 300)[:200]


def test_noting_never_raises(den: Den, tmp_path: Path) -> None:
    """A missing agent, a broken Aidefile, a locked log and nonsense for arguments return False."""
    folder = den.add("ada", "[memory\n")
    store = den.store(den.agent("ada"))
    assert ops.record_failure(tmp_path / "none", "partial", "x", 1, now=NOW, store=store) is False
    assert ops.record_failure(folder, "partial", "x", 1, now=NOW, store=store) is False
    (folder / "Aidefile").write_text("")
    (folder / "memory/procedural").mkdir(parents=True)
    (folder / "memory/procedural/failures.md.lock").write_text("")
    assert ops.record_failure(folder, "partial", "x", 1, now=NOW, store=store) is False
    (folder / "memory/procedural/failures.md.lock").unlink()
    (folder / "memory/procedural/failures.md").mkdir()
    assert ops.record_failure(folder, "partial", "x", 1, now=NOW, store=store) is False
    assert ops.record_failure(folder, "partial", "x", "many", now=NOW, store=store) is False  # type: ignore[arg-type]
    assert ops.record_failure(None, "partial", "x", 1) is False  # type: ignore[arg-type]


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(st.sampled_from(["## A", "```", "~~~", "text", "", "<!--", "- x", "# T", "\ufeff"]), max_size=8),
    st.text(max_size=40),
)
def test_a_note_is_read_back_behind_anything(lines: list[str], task: str) -> None:
    """The log's own bytes stay, and the note behind them is found, unless a fence is open at their end."""
    data = "\n".join(lines).encode()
    text = with_note(data, note_of("timeout", task, 5, "i", NOW))
    assert text.startswith(data)
    if not parse(data).open_end:
        last = read_failures(text).notes[-1]
        assert (last.reason, last.tokens, last.issue, last.time) == ("timeout", 5, "i", NOW)


def _failure(task: str, *, days: int = 0, reason: str = "partial", issue: str = "local", tokens: int = 10) -> Failure:
    note = note_of(reason, task, tokens, issue, NOW - timedelta(days=days))
    return read_failures(note.encode(), agent="ada").notes[0]


def test_failures_are_summed_up() -> None:
    """By reason, by issue, by ISO week, and similar tasks together, the largest group first."""
    notes = [
        _failure("migrate the orders database", days=0),
        _failure("migrate the users database", days=8, reason="timeout", issue="#7"),
        _failure("write release notes for May", days=1),
        _failure("migrate the billing database", days=15),
    ]
    found = summarise(notes)
    assert found["by_reason"] == {"partial": 3, "timeout": 1}
    assert found["by_issue"] == {"local": 3, "#7": 1}
    assert found["by_week"] == {"2026-W14": 1, "2026-W15": 1, "2026-W16": 2}
    assert [group["count"] for group in found["groups"]] == [3, 1]
    assert found["total"] == 4


def test_notes_of_other_hands_are_read() -> None:
    """Fields without bold, a time without a zone or none at all, and numbers with separators; other blocks are not."""
    text = """# Log
## 2026-04-18 10:00
- Issue: 9
- Why it failed: timeout
- Tokens: 12,345
## someday
- **Why it failed**: partial
## Not a failure
- **Issue**: x
"""
    found = read_failures(text.encode())
    assert found.unread == ((7, "Not a failure"),)
    assert [(one.at, one.issue, one.tokens, one.week, one.line) for one in found.notes] == [
        ("2026-04-18 10:00", "9", 12345, "2026-W16", 1),
        ("someday", "local", None, "unknown", 5),
    ]
