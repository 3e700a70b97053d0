"""The journal: entries in any order and form, newest first, and only looked into where somebody asks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.document import parse
from memory.files.journal.model import Journal, read_lines
from tests.fixture_files import sample

MIXED = """\
---
type: activity-journal
---
### 01:00 — before any section
# Journal
## 2024-01-13
### 09:00 — old
## 2024-01-15
### 10:00 — new a
- match me
### 11:00 — new b
## Notes
### 12:00 — undated
## 2024-02-30
### 08:00 — impossible
## 2024-01-15 (later)
### 23:00 — new c
"""


def test_the_sample_has_every_entry_right() -> None:
    """Date, time, title, lines and line of the format's sample."""
    journal = Journal("journal.md", parse(sample("journal.md")))
    entries = [entry.json() for day in journal.days for entry in journal.of_day(day)]
    assert [list(entry) for entry in entries] == [["ref", "date", "time", "title", "lines", "line"]] * 5
    assert {**entries[0], "ref": None} == {
        "ref": None,
        "date": "2024-01-15",
        "time": "10:30",
        "title": "Heartbeat Check",
        "lines": [
            "2 pending tasks found",
            'Executed: "Generate weekly report" → sent to Slack ✓',
            'Deferred: "Deploy v2.1" (due at 14:00)',
        ],
        "line": 5,
    }
    assert [(entry["date"], entry["time"]) for entry in entries] == [
        ("2024-01-15", "10:30"),
        ("2024-01-15", "10:45"),
        ("2024-01-15", "11:00"),
        ("2024-01-15", "11:30"),
        ("2024-01-14", "16:30"),
    ]


def test_entries_come_newest_first_whatever_the_order_of_the_file() -> None:
    """By date and time, two sections of a day together; what has no date comes last."""
    journal = Journal("journal.md", parse(MIXED.encode()))
    titles = ["impossible", "new c", "new b", "new a", "old", "before any section", "undated"]
    assert titles == [entry.title for entry in journal.entries()]
    assert titles == [entry.title for entry in journal.newest_first()]
    assert titles[:3] == [entry.title for entry in journal.entries(3)]
    assert journal.count == 7
    assert [journal.entries()[0].day, 1] == [None, 1]
    assert [journal.entries(match="before")[0].line + 1, journal.entries(match="new a")[0].line + 1] == [4, 9]


@pytest.mark.parametrize(
    ("arguments", "titles"),
    [
        ({"since": "2024-01-15"}, ["impossible", "new c", "new b", "new a"]),
        ({"until": "2024-01-14"}, ["old"]),
        ({"since": "2024-01-15", "until": "2024-01-15"}, ["new c", "new b", "new a"]),
        ({"match": "MATCH me"}, ["new a"]),
        ({"match": "new", "limit": 2}, ["new c", "new b"]),
        ({"match": "nothing"}, []),
    ],
)
def test_entries_are_chosen_by_date_and_text(arguments: dict[str, str], titles: list[str]) -> None:
    """Both ends of a span count; a text is looked for in the whole entry, in any case."""
    journal = Journal("journal.md", parse(MIXED.encode()))
    assert titles == [entry.title for entry in journal.entries(**arguments)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("- a\n- b\n", ["a", "b"]),
        ("* a\n+ b\n-\n", ["a", "b", ""]),
        ("- a\n  more\n    deep\n- b\n", ["a\nmore\n  deep", "b"]),
        ("- a\n  - nested\n", ["a\n- nested"]),
        ("text\nover two\n\nanother\n- a\nloose\n", ["text\nover two", "another", "a", "loose"]),
        ("- a\n\n```sh\n- no bullet\n\nx\n```\n- b\n", ["a", "```sh\n- no bullet\n\nx\n```", "b"]),
        ("- ```\n  x\n  ```\n- b\n", ["```\nx\n```", "b"]),
        ("| a | b |\n|---|---|\n", ["| a | b |\n|---|---|"]),
        ("\n\n", []),
        ("", []),
        ("-  wide\n", ["wide"]),
        ("-no bullet\n", ["-no bullet"]),
        ("- key: value\n", ["key: value"]),
        ("#### four\ntext\n", ["#### four\ntext"]),
    ],
)
def test_lines_are_bullets_paragraphs_and_blocks(body: str, lines: list[str]) -> None:
    """Each says its text without the marker."""
    assert lines == [line.text for line in read_lines(body)]


@given(st.binary(max_size=300))
def test_reading_never_fails(data: bytes) -> None:
    """Any bytes give a journal whose every entry has its JSON, and lines that cover the text."""
    journal = Journal("journal.md", parse(b"## 2024-01-15\n### 10:00 - a\n" + data))
    entries = journal.entries()
    assert journal.count == len(entries) == len({entry.ref for entry in entries})
    for entry in entries:
        assert "".join("\n".join(entry.json()["lines"]).split()) in "".join(entry.entry.body.split()) or entry.lines


def test_a_time_that_does_not_exist_is_not_the_newest() -> None:
    """Such an entry counts as one without a time, and does not stand before what just happened."""
    text = (
        "## 2024-01-15\n### 25:99 — no such time\n### 24:00 — nor this\n### 9:30:15 — with seconds\n"
        "### 09:30 — before it\n### 23:59 — latest\n### none\n\n## 2024-01-14\n### 23:59 — old\n"
    )
    entries = Journal("journal.md", parse(text.encode())).entries()
    wanted = ["latest", "with seconds", "before it", "no such time", "nor this", "none", "old"]
    assert [entry.title for entry in entries] == wanted
    assert [entry.clock for entry in entries][:4] == ["23:59", "09:30:15", "09:30", None]
