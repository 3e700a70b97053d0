"""The progress of a plan over time: what the change log saw, what dates say, and what nobody knows."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.files.plans.progress import DAYS, WEEKS, PlanProgress, done_by_dates, done_in_log, plan_progress
from memory.files.snapshot import Snapshot
from tests.examples import examples
from tests.widgets.panes.looking import look
from widgets.panes.plans.detail import history_lines, known_words, level
from widgets.text.glyphs import ASCII, UNICODE

TODAY = date(2024, 1, 15)
HEAD = "| id | title | phase | status | completed |\n|---|---|---|---|---|\n"


def entry(*rows: str, created: str = "2024-01-10 09:00", more: str = "") -> str:
    """The source of a plan with these rows."""
    table = HEAD + "".join(f"| {row} |\n" for row in rows)
    return f"### Shop\n\n- planId: orch-1\n- created: {created}\n{more}\n{table}"


def snapshot_of(source: str, **files: str) -> Snapshot:
    """A look at a plan, and other files."""
    others = {f"{name}.md": text for name, text in files.items()}
    return look({"orchestration.md": f"## Active Plans\n\n{source}", **others})


def progress(snapshot: Snapshot, logged: dict[str, date] | None = None, today: date = TODAY) -> PlanProgress | None:
    """The progress of the one plan."""
    (plan,) = snapshot.plans.plans
    return plan_progress(plan, logged or {}, done_by_dates(snapshot, plan), today, UTC)


def stretches(found: PlanProgress | None) -> list[tuple[int, int]]:
    """Tasks and phases of each stretch."""
    assert found is not None
    return [(one.tasks, one.phases) for one in found.stretches]


def test_dates_of_the_plan_make_its_days() -> None:
    """From the day it was made to today; a phase is done with its last task; what is open counts for nothing."""
    found = progress(
        snapshot_of(
            entry("a | A | 1 | completed | 2024-01-11", "b | B | 1 | done | 2024-01-13 10:00", "c | C | 2 | running | ")
        )
    )
    assert found is not None
    assert (found.unit, len(found.stretches), found.stretches[0].first) == ("day", 6, date(2024, 1, 10))
    assert stretches(found) == [(0, 0), (1, 0), (1, 0), (2, 1), (2, 1), (2, 1)]
    assert (found.done, found.total, found.phases_done, found.phases, found.undated) == (2, 3, 1, 2, 0)
    assert found.latest[0] == date(2024, 1, 13)
    assert found.latest[1].id == "b"


def test_a_completed_task_of_the_same_title_lends_its_date() -> None:
    """It must name the plan; the archive is asked for what tasks.md does not have."""
    source = entry("a | Auth API | 1 | completed | ", "b | Login | 1 | completed | ", "c | Other | 1 | completed | ")
    found = progress(
        snapshot_of(
            source,
            tasks="## Completed\n\n### [HIGH] Auth API\n- completed: 2024-01-12 10:00\n- orchestrationId: orch-1\n\n"
            "### [HIGH] Other\n- completed: 2024-01-12 10:00\n- orchestrationId: orch-2\n",
        )
    )
    assert found is not None
    assert (found.dated, found.undated) == (1, 2)
    archived = look(
        {
            "orchestration.md": f"## Active Plans\n\n{source}",
            "archive/tasks-2024-01.md": "## Completed\n\n### [LOW] login\n- completed: 2024-01-11\n"
            "- orchestrationId: orch-1\n",
        }
    )
    assert done_by_dates(archived, archived.plans.plans[0]) == {"b": date(2024, 1, 11)}


def test_json_says_when_a_task_was_completed() -> None:
    """`completedAt` of a task counts where the table has no date."""
    block = '```json\n{"tasks": [{"id": "a", "title": "A", "completedAt": "2024-01-12T08:00:00Z"}]}\n```\n'
    found = progress(snapshot_of(entry("a | A | 1 | completed | ") + "\n" + block))
    assert found is not None
    assert found.latest[0] == date(2024, 1, 12)


def test_without_any_date_there_is_nothing_to_show() -> None:
    """Neither where nothing is done, nor where nobody noted when, nor for a plan without tasks."""
    assert progress(snapshot_of(entry("a | A | 1 | running | 2024-01-11"))) is None
    assert progress(snapshot_of(entry("a | A | 1 | completed | yesterday"))) is None
    assert progress(snapshot_of(entry())) is None


def at(day: int) -> datetime:
    """Noon of a day."""
    return datetime(2024, 1, day, 12, tzinfo=UTC)


def test_the_log_knows_when_it_saw_a_task_become_done() -> None:
    """Only what was seen open before counts; what is opened again counts no more; a lost version says nothing."""
    versions = [
        (at(10), entry("a | A | 1 | completed | ", "b | B | 1 | pending | ", "c | C | 1 | pending | ")),
        (at(11), entry("a | A | 1 | completed | ", "b | B | 1 | completed | ", "c | C | 1 | completed | ")),
        (at(12), None),
        (at(13), entry("a | A | 1 | completed | ", "b | B | 1 | completed | ", "c | C | 1 | running | ")),
        (at(14), entry("a | A | 1 | completed | ", "b | B | 1 | completed | ", "d | D | 1 | completed | ")),
    ]
    assert done_in_log(versions, UTC) == {"b": date(2024, 1, 11)}
    assert done_in_log([], UTC) == {}


def test_the_log_counts_before_dates() -> None:
    """Where both know, the log's day counts; the words say how many came from each."""
    snapshot = snapshot_of(
        entry("a | A | 1 | completed | 2024-01-10", "b | B | 1 | completed | 2024-01-11", "c | C | 1 | completed | ")
    )
    found = progress(snapshot, {"a": date(2024, 1, 14)})
    assert found is not None
    assert (found.logged, found.dated, found.undated) == (1, 2, 1)
    assert found.latest[0] == date(2024, 1, 14)
    assert known_words(found) == (
        "1 seen in the change log, 1 by the dates of tasks. When 1 more was done is not known."
    )
    assert found.phases_done == 1
    assert stretches(found)[-1] == (2, 0)


@settings(deadline=None, max_examples=examples(80))
@given(st.lists(st.dates(date(1, 1, 1), date(9999, 12, 31)), min_size=1, max_size=6), st.dates())
def test_any_dates_make_days_or_weeks_that_only_grow(days: list[date], today: date) -> None:
    """Never more than so many cells, each after the one before, and the last holds every date."""
    rows = [f"t{number} | T | {number} | completed | {day}" for number, day in enumerate(days)]
    found = progress(snapshot_of(entry(*rows, created="")), today=today)
    assert found is not None
    assert 1 <= len(found.stretches) <= max(DAYS, WEEKS)
    counts = stretches(found)
    assert counts == sorted(counts)
    assert all(one.last < other.first for one, other in zip(found.stretches, found.stretches[1:], strict=False))
    assert found.stretches[-1].last >= max(days)
    assert counts[-1] == (len(days), len(days))
    assert found.stretches[-1].last - found.stretches[0].first < timedelta(days=7 * WEEKS)


def test_a_long_plan_is_told_by_weeks() -> None:
    """From Monday on; a plan that is over ends with its own end, not today."""
    found = progress(snapshot_of(entry("a | A | 1 | completed | 2023-11-20", created="2023-11-15")))
    assert found is not None
    assert found.unit == "week"
    assert [one.first.weekday() for one in found.stretches] == [0] * 10
    over = look(
        {
            "orchestration.md": "## Completed Plans\n\n"
            + entry("a | A | 1 | completed | 2024-01-11", more="- completed: 2024-01-12 10:00\n")
        }
    )
    ended = progress(over)
    assert ended is not None
    assert ended.stretches[-1].last == date(2024, 1, 12)


def test_cells_are_full_and_empty_only_at_the_ends() -> None:
    """In both sets of signs one of many is not none, and all but one is not all."""
    for glyphs in (UNICODE, ASCII):
        assert level(0, 9, glyphs) == level(0, 0, glyphs) == glyphs.spark[0]
        assert level(9, 9, glyphs) == glyphs.spark[-1]
        assert level(1, 999, glyphs) == glyphs.spark[1]
        assert level(998, 999, glyphs) == glyphs.spark[-2]


def test_words_stand_beside_the_bars() -> None:
    """What a bar shows is said in words as well, also where one phase or one day is all."""
    found = progress(snapshot_of(entry("a | A | 1 | completed | 2024-01-15", created="2024-01-15")))
    assert found is not None
    words = repr(history_lines(found, TODAY, ASCII))
    assert "1 of 1 done" in words
    assert "phases" not in words
    assert "'today'" in words
