"""Moving lines of knowledge: what they say stays, what else stands in the file keeps its bytes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.errors import UsageError
from memory.files.knowledge.edits import move_knowledge
from tests.memory_files import snapshot_of

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
TEXT = """\
# Knowledge

## Environment

- The database runs on port 5432
- Staging is slow

## Project Context

### shop

- Uses Stripe

## Decisions

- 2024-01-10: Use PostgreSQL (it scales)
"""


def moved(titles: list[str], section: str, topic: str | None = None) -> str:
    """The file after moving lines."""
    snapshot = snapshot_of({"knowledge.md": TEXT})
    refs = [item.ref for item in snapshot.knowledge.items if any(title in item.text for title in titles)]
    edit = move_knowledge(snapshot, refs, section, topic, now=NOW)
    return edit.documents["knowledge.md"].dump().decode()


def test_lines_go_to_another_section() -> None:
    """At its end, in their order, and nothing else is different."""
    text = moved(["database", "Staging"], "Project Context", "shop")
    assert "- Uses Stripe\n- The database runs on port 5432\n- Staging is slow\n" in text
    assert sorted(line for line in text.splitlines() if line) == sorted(line for line in TEXT.splitlines() if line)


def test_a_decision_stays_one() -> None:
    """A decision keeps date and reason elsewhere, and a fact gets no date that nobody said among decisions."""
    text = moved(["PostgreSQL"], "Environment")
    assert "- Staging is slow\n- 2024-01-10: Use PostgreSQL (it scales)\n" in text
    text = moved(["Stripe"], "Decisions")
    assert "(it scales)\n- Uses Stripe\n" in text


def test_what_is_there_stays() -> None:
    """Moving to where a line stands says so and changes nothing."""
    with pytest.raises(UsageError) as caught:
        moved(["database"], "environment")
    assert caught.value.code == "knowledge.here"
