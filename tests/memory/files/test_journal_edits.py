"""Edits of the journal: where entries go, and that no line can become anything else."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from memory.base.clock import BadMoment
from memory.errors import ConflictError, MemdeckError, UsageError
from memory.files.find import find_entry
from memory.files.journal import edits as journal_edits
from memory.files.journal.model import clean_line
from memory.files.snapshot import Snapshot
from tests.fixture_files import sample
from tests.memory_files import NOW, after, changed_lines, snapshot_of, text_of

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def start() -> Snapshot:
    """Return the format's sample."""
    return snapshot_of({"journal.md": sample("journal.md")})


def journal(snapshot: Snapshot) -> str:
    """Return the text of the journal."""
    return text_of(snapshot, "journal.md")


@pytest.mark.parametrize(
    ("days", "new", "expected"),
    [
        ([], "15", ["15"]),
        (["14", "13"], "15", ["15", "14", "13"]),
        (["16", "14"], "15", ["16", "15", "14"]),
        (["17", "16"], "15", ["17", "16", "15"]),
        (["13", "14"], "15", ["13", "14", "15"]),
        (["14", "16"], "15", ["14", "15", "16"]),
        (["16", "17"], "15", ["15", "16", "17"]),
        (["16"], "15", ["16", "15"]),
        (["14"], "15", ["15", "14"]),
        (["15", "14"], "15", ["15", "14"]),
        (["14", "15"], "15", ["14", "15"]),
    ],
)
def test_a_missing_day_is_put_where_its_date_belongs(days: list[str], new: str, expected: list[str]) -> None:
    """Newest first, or rising if the file rises; an existing day is used."""
    text = "# Journal\n\n" + "".join(f"## 2024-01-{day}\n\n### 10:00 — a\n\n" for day in days)
    snapshot = snapshot_of({"journal.md": text})
    done = after(snapshot, journal_edits.add_entry(snapshot, "new", at=f"2024-01-{new} 09:00", now=NOW))
    assert ["Journal", *(f"2024-01-{day}" for day in expected)] == [
        section.title for section in done.document("journal.md").sections
    ]
    journal = done.journal
    entries = [entry for day in journal.days if day.date == f"2024-01-{new}" for entry in journal.of_day(day)]
    assert entries[0].title == "new"


@pytest.mark.parametrize("text", [None, "", "\n"])
def test_a_missing_journal_is_made(text: str | None) -> None:
    """A blank or missing file gets its front matter."""
    snapshot = snapshot_of({} if text is None else {"journal.md": text})
    done = after(snapshot, journal_edits.add_entry(snapshot, "first", now=NOW))
    assert done.document("journal.md").meta.get("type") == "activity-journal"
    assert [(e.date, e.time, e.title) for e in done.journal.entries()] == [("2024-01-15", "12:00", "first")]


@pytest.mark.parametrize(
    ("at", "zone", "now", "expected"),
    [
        (None, UTC, NOW, ("2024-01-15", "12:00")),
        ("09:05", UTC, NOW, ("2024-01-15", "09:05")),
        ("9:05", UTC, NOW, ("2024-01-15", "09:05")),
        ("2024-01-14 09:05", UTC, NOW, ("2024-01-14", "09:05")),
        ("2024-01-14T23:30:00Z", BERLIN, NOW, ("2024-01-15", "00:30")),
        (None, BERLIN, datetime(2024, 1, 15, 23, 30, tzinfo=UTC), ("2024-01-16", "00:30")),
        (None, BERLIN, datetime(2024, 10, 27, 1, 30, tzinfo=UTC), ("2024-10-27", "02:30")),
    ],
)
def test_times_are_the_workspace_s(at: str | None, zone: ZoneInfo, now: datetime, expected: tuple[str, str]) -> None:
    """Now and given times are written in the zone, with hours of two digits."""
    snapshot = snapshot_of({"journal.md": sample("journal.md")}, zone)
    done = after(snapshot, journal_edits.add_entry(snapshot, "at", at=at, now=now))
    entry = find_entry(done, "at")
    assert expected == (entry.date, entry.time)


@pytest.mark.parametrize("at", ["24:00", "10:60", "2024-01-15", "2024-02-30 10:00", "null"])
def test_a_time_that_is_none_is_refused(start: Snapshot, at: str) -> None:
    """Times must exist and name an hour."""
    with pytest.raises(BadMoment):
        journal_edits.add_entry(start, "x", at=at, now=NOW)


@pytest.mark.parametrize(
    "title",
    ["10:45 — x", "— x", "[/nope]", "x #", "\x1b]52;c;x\x07", "\u202eabc", "é" * 10_000, "\udcff", "# x", "`a`"],
)
def test_hostile_titles_stay_titles(start: Snapshot, title: str) -> None:
    """A title is read as it was given, or refused."""
    try:
        done = after(start, journal_edits.add_entry(start, title, ["l"], now=NOW))
    except UsageError as error:
        assert error.code == "journal.title"  # noqa: PT017
        assert title == "— x"
        return
    assert (title, ("l",)) == (done.journal.entries(1)[0].title, done.journal.entries(1)[0].lines)
    assert done.journal.count == 6


@pytest.mark.parametrize("title", ["", "  ", "a\nb", "a\r## b"])
def test_a_title_is_one_line(start: Snapshot, title: str) -> None:
    """Nothing, or more than a line, is no title."""
    with pytest.raises(UsageError):
        journal_edits.add_entry(start, title, now=NOW)


@pytest.mark.parametrize(
    "line",
    [
        *("### heading", "a\n## b", "```", "```\ncode\n\n- x\n```", "<!-- open", "a\n<div>\n\nb", "- nested", "---"),
        *("* x", "a\n```\nopen", "key: value", "    code", "a\n- b\n  - c", "|a|b|\n|-|-|", "> q\nlazy", "1. x"),
        *("\\", "a\r\n### b"),
    ],
)
def test_no_line_leaves_its_place(start: Snapshot, line: str) -> None:
    """Whatever a line looks like, it is read back as one line, or refused with a reason."""
    try:
        done = after(start, journal_edits.add_entry(start, "T", ["before", line, "after"], now=NOW))
    except UsageError as error:
        assert error.code in ("journal.line", "document.unclosed")  # noqa: PT017
        return
    assert ("before", clean_line(line), "after") == done.journal.entries(1)[0].lines
    assert done.journal.count == 6


def test_changing_lines_keeps_those_that_stay(start: Snapshot) -> None:
    """Only the line that differs is written again."""
    old = find_entry(start, "Heartbeat").lines
    done = after(start, journal_edits.edit_entry(start, "Heartbeat", lines=[old[0], "new", old[2]], now=NOW))
    assert ([f"- {old[1]}\n"], ["- new\n"]) == changed_lines(journal(start), journal(done))


def test_lines_that_are_no_bullets_keep_their_form() -> None:
    """Paragraphs and code stay as they are while a line is added behind them."""
    text = "## 2024-01-15\n### 10:00 - T\nSome text.\n\n```\n- code\n```\n* star\n\n### 09:00 - U\n"
    snapshot = snapshot_of({"journal.md": text})
    lines = [*find_entry(snapshot, "T").lines, "added"]
    done = after(snapshot, journal_edits.edit_entry(snapshot, "T", lines=lines, now=NOW))
    assert lines == list(find_entry(done, "T").lines)
    assert changed_lines(text, journal(done)) == ([], ["- added\n"])


@pytest.mark.parametrize(
    ("heading", "arguments", "expected"),
    [
        ("10:30 – T", {"title": "U"}, "### 10:30 – U\n"),
        ("10:30 - T", {"at": "9:00"}, "### 09:00 - T\n"),
        ("10:30 — T", {"at": ""}, "### T\n"),
        ("T", {"at": "09:00"}, "### 09:00 — T\n"),
        ("T", {"title": "U", "at": "09:00"}, "### 09:00 — U\n"),
        ("10:30:15 — T", {"title": "U"}, "### 10:30:15 — U\n"),
    ],
)
def test_headings_change_in_their_own_style(heading: str, arguments: dict[str, str], expected: str) -> None:
    """The dash stays as it was written; the other part too."""
    text = f"## 2024-01-15\n### {heading}\n- x\n### 01:00 — other\n"
    snapshot = snapshot_of({"journal.md": text})
    edit = journal_edits.edit_entry(snapshot, snapshot.journal.at(0, 0).ref, **arguments, now=NOW)
    done = after(snapshot, edit)
    assert ([f"### {heading}\n"], [expected]) == changed_lines(text, journal(done))
    assert edit.at == ("journal.md", (0, 0))


def test_a_heading_that_would_be_misread_is_refused() -> None:
    """A title that looks like a time cannot stand alone."""
    snapshot = snapshot_of({"journal.md": "## 2024-01-15\n### T\n"})
    with pytest.raises(UsageError, match="would be read differently"):
        journal_edits.edit_entry(snapshot, "T", title="10:30 — x", now=NOW)


def read_lines_of(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the lines of the heartbeat entry."""
    return tuple(find_entry(snapshot, "Heartbeat").lines)


def test_edits_of_both_sides_merge_or_conflict(start: Snapshot) -> None:
    """What they changed stays; what both changed raises with the names."""
    base = find_entry(start, "Heartbeat").entry
    theirs = after(start, journal_edits.edit_entry(start, "Heartbeat", lines=["theirs"], now=NOW))
    done = after(theirs, journal_edits.edit_entry(theirs, "Heartbeat", at="10:31", base=base, now=NOW))
    assert (find_entry(done, "Heartbeat").time, find_entry(done, "Heartbeat").lines) == ("10:31", ("theirs",))
    with pytest.raises(ConflictError) as caught:
        journal_edits.edit_entry(theirs, "Heartbeat", lines=["ours"], base=base, now=NOW)
    assert caught.value.details["fields"] == ["text"]
    assert caught.value.details["conflicts"][0]["ours"] == "- ours"
    added = after(start, journal_edits.edit_entry(start, "Heartbeat", lines=[*read_lines_of(start), "theirs"], now=NOW))
    both = [*read_lines_of(start), "ours"]
    done = after(added, journal_edits.edit_entry(added, "Heartbeat", lines=both, base=base, now=NOW))
    assert read_lines_of(done)[-2:] == ("theirs", "ours")
    text = base.text.replace("2 pending", "3 pending")
    done = after(added, journal_edits.JOURNAL_EDITS.rewrite(added, "Heartbeat", text, base=base))
    assert (read_lines_of(done)[0], read_lines_of(done)[-1]) == ("3 pending tasks found", "theirs")
    with pytest.raises(MemdeckError):
        journal_edits.JOURNAL_EDITS.rewrite(theirs, "Heartbeat", text, base=base)
