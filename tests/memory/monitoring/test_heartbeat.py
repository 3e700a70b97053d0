"""The heartbeat: what it finds, and that it speaks only when there is news."""

from __future__ import annotations

from pathlib import Path

from tests.memory.monitoring.keeping import CONFIG, Place

BEAT = CONFIG + "\n## Heartbeat\n- expression: */30 * * * *\n"
TASKS = """---
type: task-list
---

## Pending

### [HIGH] Deploy v2.1 to staging
- due: 2026-01-15 14:00
- created: 2026-01-14

### [NORMAL] Generate weekly report
- due: 2026-01-15 09:00 (recurring: 0 9 * * THU)

### [LOW] Update README
- due: 2026-01-13

### [LOW] Stand-up
- due: recurring: 0 11 * * *

### [LOW] Far away
- due: 2026-03-01

## In Progress

### [HIGH] Monitor API latency
- started: 2026-01-15 10:00
- progress: 45%

## Completed (last 7 days)

### [NORMAL] Set up CI pipeline
- completed: 2026-01-14 16:30
- outcome: done
"""


def beats(place: Place) -> list[str]:
    """Return the lines of all heartbeat entries, the newest first."""
    return [entry.body for entry in _entries(place)]


def _entries(place: Place) -> list[object]:
    entries = place.workspace.snapshot().journal.entries(limit=50)
    return [entry.entry for entry in entries if entry.title == "Heartbeat Check"]  # type: ignore[misc]


def test_what_a_beat_says(tmp_path: Path) -> None:
    """Due and overdue tasks, and deferred ones with their time."""
    place = Place(tmp_path, "", config=BEAT, tasks=TASKS)
    watch = place.watch()
    assert watch.beat == (
        "5 pending tasks found",
        'Deferred: "Deploy v2.1 to staging" (due at 14:00)',
        'Due: "Generate weekly report" (since 09:00)',
        'Overdue: "Update README" (due 2026-01-13)',
        'Due: "Stand-up" (since 2026-01-15 11:00)',
    )
    assert "### 11:30 — Heartbeat Check\n- 5 pending tasks found\n- Deferred: " in place.text("journal.md")


def test_only_news_are_written(tmp_path: Path) -> None:
    """The next beats are silent until something changes; between beats nothing is looked at."""
    place = Place(tmp_path, "", config=BEAT, tasks=TASKS)
    place.watch(0)
    assert place.watch(10).beaten is False
    assert place.watch(30).beat == ()
    assert place.watch(60).beaten
    assert len(beats(place)) == 1
    # At 14:00 what was deferred is due.
    assert place.watch(150).beat == ("5 pending tasks found", 'Due: "Deploy v2.1 to staging" (since 14:00)')
    assert len(beats(place)) == 2


def test_no_beat_without_an_expression(tmp_path: Path) -> None:
    """A workspace that names no heartbeat has none; a wrong one is told."""
    assert Place(tmp_path / "a", "", tasks=TASKS).watch().beaten is False
    watch = Place(tmp_path / "b", "", config=BEAT.replace("*/30", "*/x"), tasks=TASKS).watch()
    assert (watch.beaten, watch.warnings[0].partition(":")[0]) == (False, "config.md")
