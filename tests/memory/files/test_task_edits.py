"""Edits of tasks: what they set, what they leave alone, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base.clock import BadMoment, read_moment
from memory.base.cron import BadCron
from memory.errors import ConflictError, MemdeckError, UsageError
from memory.files.edit import Edit
from memory.files.find import find_task
from memory.files.snapshot import Snapshot
from memory.files.tasks import edits as task_edits
from memory.files.tasks import operations as task_operations
from tests.fixture_files import sample
from tests.memory_files import NOW, after, changed_lines, left_by, snapshot_of, text_of

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def start() -> Snapshot:
    """Return the format's sample."""
    return snapshot_of({"tasks.md": sample("tasks.md"), "journal.md": sample("journal.md")})


def apply(snapshot: Snapshot, edit: Callable[..., Edit], *args: Any, now: datetime = NOW, **kwargs: Any) -> Snapshot:
    """Return the snapshot behind an edit."""
    return after(snapshot, edit(snapshot, *args, now=now, **kwargs))


def test_a_new_task_goes_on_top_of_its_priority_group(start: Snapshot) -> None:
    """The fields stand in the format's order with `created`; no other line changes."""
    edit = task_operations.add_task(
        start,
        "New one",
        due="2024-02-01",
        recurring="0 9 * * MON",
        assigned="Bob",
        tags=["a", "b,a"],
        notes="first\n### not a heading",
        action="make it",
        extra={"ticket": "X-1"},
        now=NOW,
    )
    done = after(start, edit)
    assert changed_lines(text_of(start), text_of(done))[0] == []
    task = left_by(done, edit)
    assert task.entry.text == (
        "### [NORMAL] New one\n- due: 2024-02-01 (recurring: 0 9 * * MON)\n- assigned: Bob\n"
        "- created: 2024-01-15 12:00\n- tags: a, b\n- notes: first\n  ### not a heading\n"
        "- action: make it\n- ticket: X-1\n"
    )
    assert [task.title for task in done.tasks.in_section("pending")] == [
        "Deploy v2.1 to staging",
        "New one",
        "Generate weekly report",
        "Update README with new API docs",
    ]


@pytest.mark.parametrize(
    ("there", "priority", "place"),
    [
        ("", "LOW", 0),
        ("HNL", "HIGH", 0),
        ("HNL", "NORMAL", 1),
        ("HNL", "LOW", 2),
        ("HL", "NORMAL", 1),
        ("LL", "HIGH", 0),
        ("LHN", "HIGH", 1),
        ("LHN", "NORMAL", 2),
    ],
)
def test_the_place_of_a_new_task(there: str, priority: str, place: int) -> None:
    """On top of the first entry of that priority, else before the first lower one."""
    words = {"H": "[HIGH] ", "N": "[NORMAL] ", "L": "[LOW] "}
    text = "## Pending\n" + "".join(f"### {words[letter]}{number}\n" for number, letter in enumerate(there))
    done = apply(snapshot_of({"tasks.md": text}), task_operations.add_task, "new", priority=priority)
    assert done.tasks.items[place].title == "new"


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("", ["Pending", "In Progress", "Completed (last 7 days)"]),
        ("\n\n", ["Pending", "In Progress", "Completed (last 7 days)"]),
        ("## Completed\n", ["Pending", "Completed"]),
        ("# Tasks\n\n## In Progress\n\n## Notes\n", ["Tasks", "Pending", "In Progress", "Notes"]),
        ("# Tasks\n", ["Tasks", "Pending"]),
        ("## Notes\nx", ["Notes", "Pending"]),
        ("## pending (x)\n## Pending\n", ["pending (x)", "Pending"]),
    ],
)
def test_a_missing_section_or_file_is_made(text: str, headings: list[str]) -> None:
    """Pending is put where it belongs; a blank file gets its template; of two sections the first is used."""
    done = apply(snapshot_of({"tasks.md": text}), task_operations.add_task, "new")
    document = done.document("tasks.md")
    assert headings == [section.title for section in document.sections]
    assert len(document.sections[document.find("pending")[0]]) == 1
    if not text.strip():
        assert document.meta.get("type") == "task-list"
    assert len(apply(snapshot_of({}), task_operations.add_task, "new").tasks) == 1


@pytest.mark.parametrize(
    "title", ["[LOW] x", "x #", "#", "[/nope]", "a\x1b[31m\u202e", "é" * 10_000, "\udcff", "- due: x"]
)
def test_hostile_titles_stay_titles(title: str) -> None:
    """A title reads as it was given, whatever it looks like."""
    done = apply(snapshot_of({"tasks.md": "## Pending\n### b\n"}), task_operations.add_task, title)
    assert [title, "b"] == [task.title for task in done.tasks]


@pytest.mark.parametrize(
    ("arguments", "error", "code"),
    [
        ({"title": " "}, UsageError, "task.title"),
        ({"title": "a\n## b"}, UsageError, "document.title"),
        ({"priority": "URGENT"}, UsageError, "task.priority"),
        ({"due": "2024-02-30"}, BadMoment, "time.invalid"),
        ({"due": "soon"}, BadMoment, "time.invalid"),
        ({"due": "2024-02-01 (recurring: 99 * * * *)"}, BadCron, "cron.invalid"),
        ({"recurring": "0 0 30 2 *"}, BadCron, "cron.never"),
        ({"extra": {"a b": "c"}}, UsageError, "field.key"),
        ({"extra": {"ref": "c"}}, UsageError, "field.key"),
    ],
)
def test_what_cannot_be_written_is_refused(
    start: Snapshot, arguments: dict[str, Any], error: type[MemdeckError], code: str
) -> None:
    """Each wrong value has its error with a stable code."""
    with pytest.raises(error) as caught:
        task_operations.add_task(start, arguments.pop("title", "T"), **arguments, now=NOW)
    assert code == caught.value.code


def test_reopen_goes_back_and_keeps_the_outcome_in_the_notes(start: Snapshot) -> None:
    """Completed goes, outcome moves into notes; what was in progress loses what belongs to it."""
    task = find_task(apply(start, task_operations.reopen_task, "CI"), "CI")
    assert (task.section, task.completed, task.outcome) == ("pending", None, None)
    assert task.notes == "Outcome: GitHub Actions workflow created, runs on push to main"
    task = find_task(apply(start, task_operations.reopen_task, "latency"), "latency")
    assert (task.section, task.started, task.progress) == ("pending", None, None)


@pytest.mark.parametrize("verb", ["start_task", "progress_task"])
def test_a_completed_task_must_be_reopened_first(start: Snapshot, verb: str) -> None:
    """What is completed is not started by accident."""
    with pytest.raises(UsageError) as caught:
        getattr(task_operations, verb)(start, "CI", *([5] if verb == "progress_task" else []), now=NOW)
    assert caught.value.code == "task.completed"


@pytest.mark.parametrize(
    ("due", "zone", "now", "expected"),
    [
        ("2024-01-15 09:00 (recurring: 0 9 * * MON)", UTC, NOW, "2024-01-22 09:00 (recurring: 0 9 * * MON)"),
        ("2023-06-05 09:00 (recurring: 0 9 * * MON)", UTC, NOW, "2024-01-22 09:00 (recurring: 0 9 * * MON)"),
        # Finished before it was due: the occurrence that it was due at is done.
        ("2024-01-22 09:00 (recurring: 0 9 * * MON)", UTC, NOW, "2024-01-29 09:00 (recurring: 0 9 * * MON)"),
        ("2024-01-22 (recurring: 0 9 * * MON)", UTC, NOW, "2024-01-29 09:00 (recurring: 0 9 * * MON)"),
        ("2024-01-15 (recurring: 0 14 * * *)", UTC, NOW, "2024-01-16 14:00 (recurring: 0 14 * * *)"),
        ("2024-01-21 (recurring: 0 0 * * MON)", UTC, NOW, "2024-01-22 00:00 (recurring: 0 0 * * MON)"),
        ("2024-01-24 10:00 (recurring: 0 9 * * MON)", UTC, NOW, "2024-01-29 09:00 (recurring: 0 9 * * MON)"),
        ("9999-12-31 23:59 (recurring: 0 9 * * MON)", UTC, NOW, "2024-01-22 09:00 (recurring: 0 9 * * MON)"),
        ("2024-13-45 (recurring: 0 9 * * MON)", UTC, NOW, "2024-01-22 09:00 (recurring: 0 9 * * MON)"),
        ("recurring: 0 12 * * *", UTC, NOW, "2024-01-16 12:00 (recurring: 0 12 * * *)"),
        ("recurring: 0 12 * * *", BERLIN, NOW, "2024-01-16 12:00 (recurring: 0 12 * * *)"),
        ("recurring: 0 14 * * *", BERLIN, NOW, "2024-01-15 14:00 (recurring: 0 14 * * *)"),
        ("2024-01-15 (recurring: @daily) (tidy up)", UTC, NOW, "2024-01-16 00:00 (recurring: @daily) (tidy up)"),
        (
            "recurring: 30 2 * * *",
            BERLIN,
            datetime(2024, 3, 30, 12, tzinfo=UTC),
            "2024-03-31 03:00 (recurring: 30 2 * * *)",
        ),
        (
            "recurring: */30 * * * *",
            BERLIN,
            datetime(2024, 10, 27, 0, 45, tzinfo=UTC),
            "2024-10-27 02:00+01:00 (recurring: */30 * * * *)",
        ),
    ],
)
def test_a_recurring_task_stays_with_its_next_date(due: str, zone: Any, now: datetime, expected: str) -> None:
    """The next occurrence is strictly after now, in the zone; missed ones collapse into it, also when clocks change."""
    text = f"## Pending\n### [LOW] b\n### [HIGH] T\n- due: {due}\n- progress: 5%\n### c\n## Completed\n"
    edit = task_operations.done_task(snapshot_of({"tasks.md": text}, zone), "T", outcome="ok", now=now)
    done = after(snapshot_of({"tasks.md": text}, zone), edit)
    task = left_by(done, edit)
    assert expected == task.fields["due"]
    assert [task.title for task in done.tasks.in_section("pending")] == ["b", "T", "c"]
    moment = task.due_moment(zone)
    assert moment is not None
    assert moment.instant is not None
    assert moment.instant > now
    (copy,) = done.tasks.in_section("completed")
    assert (due, "ok", None) == (copy.fields["due"], copy.outcome, copy.progress)
    assert copy.completed is not None


def test_a_recurring_task_in_progress_goes_back_to_pending() -> None:
    """It loses what belongs to the run; the copy keeps when it was started."""
    fields = "- started: 2024-01-15 10:00\n- due: recurring: 0 9 * * *\n- progress: 5%\n- x: y\n"
    text = f"## In Progress\n### [LOW] T\n{fields}"
    done = apply(snapshot_of({"tasks.md": text}), task_operations.done_task, "T")
    assert [s.title for s in done.document("tasks.md").sections] == [
        "Pending",
        "In Progress",
        "Completed (last 7 days)",
    ]
    again, copy = done.tasks.items
    assert (
        again.entry.text.rstrip("\n") + "\n" == "### [LOW] T\n- due: 2024-01-16 09:00 (recurring: 0 9 * * *)\n- x: y\n"
    )
    assert (copy.started, copy.completed, copy.progress) == ("2024-01-15 10:00", "2024-01-15 12:00", None)


def test_other_values_set_with_the_section_stay_with_the_open_task(start: Snapshot) -> None:
    """Finishing a recurring task by its section gives the outcome to the copy and everything else to both."""
    values = {"section": "completed", "outcome": "sent", "assigned": "Bob"}
    done = apply(start, task_edits.edit_task, "weekly", set=values)
    tasks = [task for task in done.tasks if task.title == "Generate weekly report"]
    assert [(task.section, task.assigned, task.outcome) for task in tasks] == [
        ("pending", "Bob", None),
        ("completed", "Bob", "sent"),
    ]


def test_a_recurrence_that_is_none_is_named(start: Snapshot) -> None:
    """Finishing such a task fails instead of losing the recurrence."""
    broken = after(start, task_edits.TASK_EDITS.rewrite(start, "weekly", "### weekly\n- due: recurring: 61 * * * *\n"))
    with pytest.raises(BadCron):
        task_operations.done_task(broken, "weekly", now=NOW)


@pytest.mark.parametrize(
    ("due", "value", "expected"),
    [
        ("2024-01-15 (maybe)", {"due": "2024-01-20"}, "2024-01-20 (maybe)"),
        ("2024-01-15 (maybe)", {"due": "2024-01-20 (sure)"}, "2024-01-20 (sure)"),
        ("null (whenever)", {"due": "2024-01-20"}, "2024-01-20"),
        ("recurring: @daily (each day)", {"recurring": "@hourly"}, "recurring: @hourly"),
        ("2024-01-15 (recurring: @daily) (x)", {"due": "2024-01-20"}, "2024-01-20 (recurring: @daily) (x)"),
        (
            "2024-01-15 (recurring: @daily)",
            {"due": "2024-01-20 (recurring: @hourly)"},
            "2024-01-20 (recurring: @hourly)",
        ),
        ("2024-01-15 (recurring: @daily)", {"due": "", "recurring": ""}, None),
    ],
)
def test_remarks_and_recurrences_stay_where_they_are_still_right(
    due: str, value: dict[str, str], expected: str | None
) -> None:
    """A remark goes with the value that it was about."""
    snapshot = snapshot_of({"tasks.md": f"## Pending\n### T\n- due: {due}\n"})
    assert expected == find_task(apply(snapshot, task_edits.edit_task, "T", set=value), "T").fields.get("due")


@pytest.mark.parametrize(
    ("key", "value"), [("notes", "a\n```\n- due: 2030-01-01"), ("notes", "<!--\n<!--"), ("x", "a\n\n\nb")]
)
def test_no_value_can_hide_or_add_another_field(start: Snapshot, key: str, value: str) -> None:
    """A value with code or HTML in it is either kept whole or refused; other fields read as before."""
    before = dict(find_task(start, "Deploy").fields)
    try:
        done = apply(start, task_edits.edit_task, "Deploy", set={key: value})
    except UsageError as error:
        if error.code not in ("field.value", "document.unclosed"):
            raise
        return
    fields = dict(find_task(done, "Deploy").fields)
    assert value.split() == fields.pop(key).split()
    before.pop(key, None)
    assert before == fields


def test_edits_of_both_sides_merge_or_conflict(start: Snapshot) -> None:
    """Other fields of theirs are kept; the same field changed by both raises with the fields, unless both agree."""
    base = find_task(start, "Deploy").entry
    theirs = apply(start, task_edits.edit_task, "Deploy", set={"assigned": "Bob", "due": "2024-03-01"})
    task = find_task(apply(theirs, task_edits.edit_task, "Deploy", set={"notes": "x"}, base=base), "Deploy")
    assert (task.assigned, task.notes, task.due) == ("Bob", "x", "2024-03-01")
    task_edits.edit_task(theirs, "Deploy", set={"assigned": "Bob"}, base=base, now=NOW)
    with pytest.raises(ConflictError) as caught:
        task_edits.edit_task(
            theirs, "Deploy", set={"assigned": "Carol", "notes": "x"}, unset=["due"], base=base, now=NOW
        )
    assert (caught.value.code, caught.value.details["fields"]) == ("document.conflict", ["due", "assigned"])


def test_an_edited_source_against_a_changed_entry(start: Snapshot) -> None:
    """Theirs stays where the person changed nothing; other fields merge, the same field is a conflict."""
    base = find_task(start, "Deploy").entry
    theirs = apply(start, task_edits.edit_task, "Deploy", set={"assigned": "Bob"})
    assert task_edits.TASK_EDITS.rewrite(theirs, "Deploy", base.text, base=base).documents == {}
    done = after(theirs, task_edits.TASK_EDITS.rewrite(theirs, "Deploy", base.text + "- x: y\n", base=base))
    task = find_task(done, "Deploy")
    assert (task.assigned, task.extra["x"]) == ("Bob", "y")
    mine = base.text.replace("assigned: heartbeat", "assigned: Carol")
    with pytest.raises(ConflictError) as caught:
        task_edits.TASK_EDITS.rewrite(theirs, "Deploy", mine, base=base)
    assert caught.value.details["fields"] == ["assigned"]
    conflict = caught.value.details["conflicts"][0]
    assert [conflict[key] for key in ("field", "base", "ours", "theirs")] == ["assigned", "heartbeat", "Carol", "Bob"]


@given(
    st.integers(0, 60 * 24 * 700),
    st.sampled_from(["*/20 * * * *", "30 2 * * *", "@daily"]),
)
def test_the_next_date_is_always_after_now(minutes: int, cron: str) -> None:
    """Whatever the clock does, the date that is written reads as an instant after now."""
    now = NOW + timedelta(minutes=minutes)
    snapshot = snapshot_of({"tasks.md": f"## Pending\n### T\n- due: recurring: {cron}\n"}, BERLIN)
    done = apply(snapshot, task_operations.done_task, "T", now=now)
    moment = read_moment(done.tasks.items[0].due or "", BERLIN)
    assert moment is not None
    assert moment.instant is not None
    assert now < moment.instant
