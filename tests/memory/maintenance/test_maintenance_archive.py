"""Archive files: where entries land in them, and that neither they nor their neighbours change."""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from memory.document import Document, Entry, parse
from memory.maintenance.rules import LeavingDay, add_completed, add_days, new_archive
from tests.memory.maintenance.maintenance_files import NOW, TASKS, day, document, task, titles

HEADER = "---\ntype: task-archive\nupdated: 2024-01-15T12:00:00Z\n---\n\n## Completed\n\n"
JOURNAL_HEADER = "---\ntype: journal-archive\nupdated: 2024-01-15T12:00:00Z\n---\n\n"


def date_of(entry: Entry) -> date | None:
    """Return the date of a task."""
    text = entry.fields.get("completed")
    return date.fromisoformat(text[:10]) if text else None


def arrivals(*sources: str) -> list[tuple[date, Entry]]:
    """Return tasks with their dates, as they leave a file."""
    found = []
    for source in sources:
        entry = document(source).head.entries[0]
        when = date_of(entry)
        assert when is not None
        found.append((when, entry))
    return found


def leaving(text: str) -> list[LeavingDay]:
    """Return all entries of a journal, as they leave it."""
    return [
        LeavingDay(date.fromisoformat(section.title[:10]), section, range(len(section)))
        for section in document(text).sections
    ]


def added(base: Document, *sources: str) -> bytes:
    """Return the bytes of a tasks archive with tasks added."""
    result = add_completed(base, "tasks", arrivals(*sources), date_of)
    assert parse(result.dump()).headings() == result.headings()
    return result.dump()


def test_a_new_archive_has_its_front_matter() -> None:
    """A new file gets type, time and the section that its kind has, spaced as the file it serves."""
    assert new_archive("tasks", NOW, document(TASKS)).dump() == HEADER.encode()
    tight = new_archive("orchestration", NOW, document("---\r\nx: y\r\n---\r\n## A\r\n### b\r\n## C\r\n"))
    assert tight.dump() == (
        b"---\r\ntype: orchestration-archive\r\nupdated: 2024-01-15T12:00:00Z\r\n---\r\n## Completed Plans\r\n"
    )
    berlin = datetime(2024, 1, 15, 13, 0, tzinfo=ZoneInfo("Europe/Berlin"))
    assert new_archive("journal", berlin, document("")).dump() == JOURNAL_HEADER.encode()


def test_tasks_keep_their_bytes_and_order() -> None:
    """In a new archive entries stand newest date first, those of one date as they stood in their file."""
    sources = [
        task("c", "2024-01-02"),
        task("a", "2024-01-03 08:00"),
        task("b", "2024-01-03 09:00"),
        task("d", "2024-01-01"),
    ]
    expected = HEADER + sources[1] + sources[2] + sources[0] + sources[3]
    assert added(new_archive("tasks", NOW, document(TASKS)), *sources) == expected.encode()[:-1]


def test_later_runs_go_on_top() -> None:
    """What is archived later stands above what has the same date, and an undated entry keeps its neighbour."""
    base = document(HEADER + task("x", "2024-01-05") + task("y") + task("z", "2024-01-03"))
    text = added(base, task("new", "2024-01-05"), task("mid", "2024-01-04"), task("old", "2024-01-01"))
    assert titles(text) == [f"[NORMAL] {one}" for one in ("new", "x", "y", "mid", "z", "old")]


def test_two_runs_give_what_one_gives() -> None:
    """Archiving in two steps, older entries first, ends in the same file as archiving at once."""
    sources = [task(f"t{number}", f"2024-01-{20 - number:02}") for number in range(8)]
    new = new_archive("tasks", NOW, document(TASKS))
    twice = parse(added(new, *sources[4:]))
    assert added(twice, *sources[:4]) == added(new, *sources)


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("## Completed\n", "## Completed\n### n\n- completed: 2024-01-02\n"),
        ("## Completed", "## Completed\n### n\n- completed: 2024-01-02\n"),
        ("## Completed\n\n", "## Completed\n\n### n\n- completed: 2024-01-02\n"),
        ("words\n", "words\n\n## Completed\n\n### n\n- completed: 2024-01-02\n"),
        ("words", "words\n\n## Completed\n\n### n\n- completed: 2024-01-02\n"),
        ("", "## Completed\n\n### n\n- completed: 2024-01-02\n"),
        (
            "## Completed\n\n### o\n- completed: 2024-01-01",
            "## Completed\n\n### n\n- completed: 2024-01-02\n\n### o\n- completed: 2024-01-01",
        ),
        (
            "## Completed\n\n### o\n- completed: 2024-01-03",
            "## Completed\n\n### o\n- completed: 2024-01-03\n\n### n\n- completed: 2024-01-02\n",
        ),
        (
            "## Completed\n### o\n- completed: 2024-01-03\n### p\n\n\n## Notes\nmine\n",
            "## Completed\n### o\n- completed: 2024-01-03\n### p\n\n\n### n\n- completed: 2024-01-02\n## Notes\nmine\n",
        ),
        (
            "## Completed\r\n\r\n### o\r\n- completed: 2024-01-01\r\n",
            "## Completed\r\n\r\n### n\n- completed: 2024-01-02\n\r\n### o\r\n- completed: 2024-01-01\r\n",
        ),
        (
            "## Completed (x)\r\n\r\n### o\r\n- completed: 2024-01-03",
            "## Completed (x)\r\n\r\n### o\r\n- completed: 2024-01-03\r\n\r\n### n\n- completed: 2024-01-02\n",
        ),
    ],
)
def test_archives_of_other_hands(base: str, expected: str) -> None:
    """Whatever an archive looks like, its bytes stay, and what meets a new entry gets its line end."""
    assert added(document(base), "### n\n- completed: 2024-01-02\n").decode() == expected


def test_an_entry_without_a_line_end_gets_one() -> None:
    """The last entry of a file that ends in the middle of a line can stand before others."""
    text = added(document(HEADER + task("o", "2024-01-01")), "### n\n- completed: 2024-01-02")
    assert text.decode() == HEADER + "### n\n- completed: 2024-01-02\n\n" + task("o", "2024-01-01")


def test_days_of_the_journal_keep_their_sections() -> None:
    """A new archive holds the sections of the journal as they were, newest first."""
    text = day("2024-01-02", "10:00 — a", "09:00 — b") + day("2024-01-04", "c") + day("2024-01-03 (Wednesday)", "d")
    result = add_days(new_archive("journal", NOW, document(text)), leaving(text))
    expected = day("2024-01-04", "c") + day("2024-01-03 (Wednesday)", "d") + day("2024-01-02", "10:00 — a", "09:00 — b")
    assert result.dump().decode() == (JOURNAL_HEADER + expected)[:-1]
    assert parse(result.dump()).headings() == result.headings()


def test_a_tight_journal_gives_a_tight_archive() -> None:
    """A file without blank lines moves without any, byte for byte; an archive that has sections keeps its own way."""
    text = "## 2024-01-04\n### 10:00 — a\n- x\n### 09:00 — b\n- y\n## 2024-01-03\n### c\n- z\n"
    source = document("---\ntype: activity-journal\n---\n" + text)
    days = leaving(text)
    tight = add_days(new_archive("journal", NOW, source), days, like=source)
    assert tight.dump().decode() == JOURNAL_HEADER[:-1] + text
    known = JOURNAL_HEADER + day("2024-01-05", "o", "p")
    spaced = add_days(document(known), days, like=source).dump().decode()
    assert spaced.startswith(known + "## 2024-01-04\n\n### 10:00 — a\n- x\n\n### 09:00 — b")


def test_days_join_their_section() -> None:
    """Entries of a date that is there already go on top of it; two sections of one date become one."""
    base = document(JOURNAL_HEADER + day("2024-01-03", "08:00 — old") + day("2024-01-01", "x"))
    text = day("2024-01-03", "10:00 — a", "09:00 — b") + day("2024-01-02", "n") + day("2024-01-03", "c")
    result = add_days(base, leaving(text))
    expected = (
        day("2024-01-03", "10:00 — a", "09:00 — b", "c", "08:00 — old")
        + day("2024-01-02", "n")
        + day("2024-01-01", "x")
    )
    assert result.dump().decode() == JOURNAL_HEADER + expected
    assert parse(result.dump()).headings() == result.headings()


def test_days_find_their_place_between_other_sections() -> None:
    """New dates stand among the dates; headings that are no date, and text without entries, keep their place."""
    base = document("# Journal\n\nwords\n\n" + day("2024-01-03", "x") + "## 2024-01-01\n\nprose\n\n## Notes\n\nmine")
    result = add_days(base, leaving(day("2024-01-04", "a") + day("2024-01-02", "b") + day("2023-12-31", "c")))
    expected = (
        "# Journal\n\nwords\n\n"
        + day("2024-01-04", "a")
        + day("2024-01-03", "x")
        + day("2024-01-02", "b")
        + "## 2024-01-01\n\nprose\n\n"
        + day("2023-12-31", "c")
        + "## Notes\n\nmine"
    )
    assert result.dump().decode() == expected


def test_a_day_goes_behind_an_end_without_a_line_end() -> None:
    """An archive that ends in the middle of a line is ended before something follows."""
    result = add_days(document("## 2024-01-03\n\n### x\n- y"), leaving("## 2024-01-02\n\n### a\n- b"))
    assert result.dump() == b"## 2024-01-03\n\n### x\n- y\n\n## 2024-01-02\n\n### a\n- b\n"


def test_some_entries_of_a_day() -> None:
    """When only some entries of a section leave, a section of the same heading takes them; text does not come along."""
    text = document("## 2024-01-02 (Tuesday)\n\nwords\n\n### a\n- 1\n\n### b\n- 2\n\n### c\n- 3\n")
    result = add_days(document(JOURNAL_HEADER), [LeavingDay(date(2024, 1, 2), text.sections[0], [0, 2])])
    assert result.dump().decode() == JOURNAL_HEADER + "## 2024-01-02 (Tuesday)\n\n### a\n- 1\n\n### c\n- 3\n"
