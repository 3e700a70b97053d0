"""The tasks pane: what a row and the detail say, and that 20,000 tasks move within a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

import pytest

from memory.document import Document, parse
from memory.files.snapshot import Snapshot, Views
from memory.files.tasks.model import Task
from tests.fixture_files import SAMPLE
from tests.widgets.harness import Harness, screen_text
from widgets.calendar.month import TIGHT, WIDE, Load, month_lines
from widgets.detail import Detail
from widgets.list.rows import Heading
from widgets.panes.tasks.detail import rest_of_body, task_detail
from widgets.panes.tasks.pane import TasksPane
from widgets.text.glyphs import ASCII, UNICODE
from widgets.text.styled_text import line_text
from widgets.text.words import card_line, task_row

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)


class Files:
    """Memory files that are given as text."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._documents = {name: parse(text.encode()) for name, text in texts.items()}

    def document(self, name: str) -> Document | None:
        """The file."""
        return self._documents.get(name)

    def put(self, name: str, text: str) -> None:
        """Give a file another text."""
        self._documents[name] = parse(text.encode())

    def archives(self) -> Sequence[str]:
        """None."""
        return ()


def snapshot_of(tasks: str) -> Snapshot:
    """A look at one tasks.md."""
    return Snapshot(Files({"tasks.md": tasks}), lambda: UTC)


def task_from(section: str, text: str) -> Task:
    """The one task of a file."""
    return snapshot_of(f"## {section}\n\n{text}").tasks.tasks[0]


def row_of(section: str, text: str, width: int = 60) -> str:
    """The words of a task's row."""
    return line_text(task_row(task_from(section, text), width, NOW, UTC, UNICODE))


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (60, "HIGH · ━━──  45% · tom. 18:00 · agent:builder"),
        (36, "HIGH · ━━──  45% · tom. 18:00"),
        (28, "HIGH · 45% · tom. 18:00"),
        (20, "HIGH · tom. 18:00"),
        (15, "HIGH tom. 18:00"),
        (12, "H tom. 18:00"),
    ],
)
def test_a_card_keeps_its_date_and_then_its_priority(width: int, expected: str) -> None:
    """What says least goes first: who, the bar, how far, the dots, the rest of the priority."""
    text = "### [HIGH] a\n- due: 2024-01-16 18:00\n- progress: 45%\n- assigned: agent:builder\n"
    task = task_from("In Progress", text)
    assert line_text(card_line(task, 1, width, NOW, UTC, UNICODE)) == expected


ROWS = [
    ("Pending", "### [HIGH] a\n- due: 2024-01-15 14:00\n", "HIGH   a", "14:00"),
    ("Pending", "### [LOW] a\n- due: 2024-01-12\n", "LOW    a", "▲ 3 d ago"),
    ("Pending", "### [LOW] a\n- due: 2024-01-15 09:45\n", "LOW    a", "▲ 45 min ago"),
    ("Pending", "### [LOW] a\n- due: 2024-01-14 20:30\n", "LOW    a", "▲ 14 h ago"),
    ("Pending", "### [NORMAL] a\n- due: recurring: 0 9 * * MON\n", "NORMAL a", "↻ 22 Jan"),
    ("Pending", "### [NORMAL] a\n- due: 2024-01-16\n", "NORMAL a", "tomorrow"),
    ("Pending", "### [NORMAL] a\n- due: 2024-01-20 16:00\n", "NORMAL a", "Sat 16:00"),
    ("Pending", "### [NORMAL] a\n- due: 2024-02-20\n", "NORMAL a", "20 Feb"),
    ("Pending", "### [NORMAL] a\n- due: 2026-02-20\n", "NORMAL a", "Feb 2026"),
    ("Pending", "### [NORMAL] a\n- due: 2024-02-30\n", "NORMAL a", "▲ 2024-02-30"),
    ("Pending", "### a\n", "-      a", ""),
    ("In Progress", "### [HIGH] a\n- progress: 45%\n", "HIGH   a", "━━━───  45%"),
    ("In Progress", "### [HIGH] a\n- progress: 45%\n- due: 2024-01-16\n", "HIGH   a", "tomorrow ━━━───  45%"),
    ("Completed", "### [LOW] a\n- completed: 2024-01-14 16:30\n", "LOW    a", "✓ 14 Jan"),
]


@pytest.mark.parametrize(("section", "text", "left", "right"), ROWS, ids=[row[3] or "no date" for row in ROWS])
def test_a_row_says_priority_title_and_when(section: str, text: str, left: str, right: str) -> None:
    """A row begins with priority and title and ends with the date, the recurrence or the bar."""
    row = row_of(section, text)
    assert len(row) == 60
    assert row.startswith(left)
    assert row.rstrip().endswith(right)


def test_only_what_is_overdue_is_coloured() -> None:
    """The tone `alert` stands on overdue dates alone."""
    for section, text, _, right in ROWS:
        pieces = task_row(task_from(section, text), 60, NOW, UTC, UNICODE)
        assert any(piece.tone == "alert" for piece in pieces) == right.startswith("▲")


def test_a_title_has_the_room_of_a_date_that_is_missing() -> None:
    """A task without a date is cut at the end of the line, one with a date before it; all dates end in one column."""
    title = "word " * 20
    assert row_of("Pending", f"### [LOW] {title}\n").endswith("word wo…")
    dated = row_of("Pending", f"### [LOW] {title}\n- due: 2024-02-20\n")
    assert dated.endswith("20 Feb")
    assert dated.index("…") == 60 - len(" 20 Feb") - 1
    assert row_of("In Progress", f"### [LOW] {title}\n- progress: 45%\n").endswith("… ━━━───  45%")


def test_a_date_that_is_none_is_shown_where_there_is_room() -> None:
    """What is wrong is read in full beside a short title; a long one leaves it the room of a date."""
    due = "- due: 2026-13-45 at noon\n"
    assert row_of("Pending", f"### First\n{due}").endswith("▲ 2026-13-45 at noon")
    assert row_of("Pending", f"### {'word ' * 20}\n{due}").endswith("… ▲ 2026-13-45…")


def test_a_detail_says_a_time_once() -> None:
    """Beside the whole date stands only the day in words."""
    task = task_from("Pending", "### a\n- due: 2024-01-16 18:00\n- created: 2024-01-14 08:00\n")
    words = [line_text(row) for part in task_detail(task, NOW, UTC, UNICODE)[:1] for row in part.lines]
    assert words == ["no priority  due 2024-01-16 18:00, tomorrow"]
    assert ("created", "2024-01-14 08:00, yesterday") in [
        (part.label, part.value) for part in task_detail(task, NOW, UTC, UNICODE) if hasattr(part, "label")
    ]


@pytest.mark.parametrize("width", [24, 32, 38, 39, 60])
def test_what_is_overdue_has_its_sign_in_any_width(width: int) -> None:
    """Where there is no room to say for how long, the sign stands before the title; nothing else has one."""
    for section, more in (("Pending", ""), ("In Progress", "- progress: 45%\n")):
        late = row_of(section, f"### [HIGH] Renew the TLS certificate\n- due: 2024-01-12\n{more}", width)
        assert late.count("▲") == 1
        assert "▲" not in row_of(section, f"### [HIGH] Renew it\n- due: 2024-01-16\n{more}", width)


def test_the_line_of_state_is_wrapped_not_cut() -> None:
    """The date of a task is read to its end in a narrow detail."""
    task = task_from("Pending", "### [NORMAL] a\n- due: 2024-01-16 07:30 (recurring: 30 7 * * *)\n")
    state = task_detail(task, NOW, UTC, UNICODE)[0]
    shown = [line_text(row) for row in Detail()._rows_of(state, 0, 29)]
    assert shown[0].startswith("NORMAL  due 2024-01-16")
    assert " ".join(" ".join(shown).split()) == "NORMAL due 2024-01-16 07:30, tomorrow ↻ daily 07:30"
    assert all(len(row) <= 29 for row in shown)


@pytest.mark.parametrize("cell", [TIGHT, WIDE])
def test_today_keeps_its_brackets(cell: int) -> None:
    """Both brackets stand around today, whatever is due then; every day has the same width."""
    day = date(2024, 1, 15)
    for load in (Load(), Load(open=1), Load(open=9), Load(open=3, overdue=True), Load(done=1), Load(again=2)):
        rows = month_lines(day, day, {day: load}, cell, "•", "✓", "▲", "·")
        week = next(line_text(row) for row, places in rows if any(one == day for one, _ in places))
        assert week.startswith("[15]")
        assert week.index("16") == cell + 1
        assert ("▲" in week) == (load.overdue and cell == WIDE)


@pytest.mark.parametrize("width", range(30))
def test_a_row_fits_into_any_width(width: int) -> None:
    """Columns are dropped before the title is, and nothing is wider than it may be."""
    row = line_text(task_row(task_from(*ROWS[12][:2]), width, NOW, UTC, ASCII))
    assert len(row) == width


@pytest.mark.parametrize(("title", "dated"), [("Pay the rent", True), ("Pay the rent for the office", False)])
def test_a_short_title_leaves_its_date_the_room(title: str, dated: bool) -> None:
    """In the narrowest terminals a date goes only where the title needs its cells."""
    row = row_of("Pending", f"### [HIGH] {title}\n- due: 2024-01-16 09:00\n", 33)
    assert ("tom. 09:00" in row) is dated
    assert title[:20] in row


def test_the_detail_has_every_field_and_the_text() -> None:
    """Known fields are labelled, unknown ones listed, what else stands in the entry follows."""
    text = (
        "### [HIGH] a\n- due: 2024-01-15 14:00\n- assigned: Bob\n- tags: x, y\n- ticket: SUP-1\n"
        "- notes: first\n  second\n\n```sh\nls\n```\n"
    )
    task = task_from("Pending", text)
    shown = [str(part) for part in task_detail(task, NOW, UTC, UNICODE)]
    for words in ("due 2024-01-15 14:00, in 4 h", "Bob", "x, y", "SUP-1", "first second", "OTHER FIELDS"):
        assert any(words in part for part in shown), words
    assert rest_of_body(task) == "```sh\nls\n```"


def test_rows_are_the_sections_with_their_counts() -> None:
    """Sections stand in their order, with how many they hold; the remark counts what is open, as the sidebar does."""
    snapshot = snapshot_of((SAMPLE / "tasks.md").read_text())
    pane = TasksPane()
    headings = [(row.title, row.note) for row in pane.rows(snapshot, NOW) if isinstance(row, Heading)]
    assert headings == [("PENDING", "3"), ("IN PROGRESS", "1"), ("COMPLETED", "1")]
    assert pane.remark(snapshot, NOW) == "4 open"
    assert TasksPane.badge(snapshot, NOW).count == 4


async def test_an_empty_file_says_what_the_pane_is_for() -> None:
    """Without tasks the pane names the key that begins."""
    pane = TasksPane()
    app = Harness(lambda: [pane])
    async with app.run_test(size=(80, 20)) as pilot:
        pane.show(snapshot_of("## Pending\n"), NOW)
        await pilot.pause()
        assert "Press a to add the first task" in screen_text(app)


async def test_changed_tasks_flash_and_the_cursor_stays() -> None:
    """After another look the cursor stands on its task, although tasks moved; only what changed flashes."""
    pane = TasksPane()
    app = Harness(lambda: [pane])
    before = "## Pending\n\n### a\n- notes: 1\n\n### b\n\n### c\n"
    after = "## Pending\n\n### new\n\n### c\n\n### b\n\n## In Progress\n\n### a\n- notes: 2\n"
    async with app.run_test(size=(80, 20)) as pilot:
        pane.show(snapshot_of(before), NOW)
        await pilot.pause()
        assert pane.current().title == "a"
        pane.show(snapshot_of(after), NOW)
        await pilot.pause()
        assert (pane.current().title, pane.current().section) == ("a", "in-progress")
        assert {row.item.title for row in pane.line_list.flashing} == {"a", "new"}


async def test_the_clock_alone_reads_no_dates_again() -> None:
    """A look at tasks that did not change has the agenda of before, until the day or the tasks are others."""
    pane = TasksPane()
    views = Views()
    files = Files({"tasks.md": "## Pending\n\n### a\n- due: 2024-01-18\n", "config.md": "- timezone: UTC\n"})
    async with Harness(lambda: [pane]).run_test(size=(80, 20)) as pilot:

        def agenda(now: datetime) -> object:
            contents = pane.read(Snapshot(files, lambda: UTC, views), now)
            pane.put(contents, flash=False)
            return contents.beside

        pane.show_view("calendar")
        first = agenda(NOW)
        await pilot.pause()
        assert first is not None
        assert agenda(NOW + timedelta(seconds=30)) is first
        assert agenda(NOW + timedelta(hours=2)) is first
        tomorrow = agenda(NOW + timedelta(days=1))
        assert tomorrow is not first
        files.put("tasks.md", "## Pending\n\n### a\n- due: 2024-01-19\n")
        assert agenda(NOW + timedelta(days=1)) is not tomorrow


async def test_the_calendar_has_the_tasks_of_the_list_while_newer_ones_are_read() -> None:
    """A worker reads a newer file that the pane does not show yet: the calendar has the dates of what is shown."""
    pane = TasksPane()
    views = Views()
    files = Files({"tasks.md": "## Pending\n\n### a\n- due: 2024-01-18\n", "config.md": "- timezone: UTC\n"})
    async with Harness(lambda: [pane]).run_test(size=(80, 20)) as pilot:
        pane.show(Snapshot(files, lambda: UTC, views), NOW)
        await pilot.pause()
        files.put("tasks.md", "## Pending\n\n### a\n- due: 2024-01-18\n\n### b\n")
        assert len(Snapshot(files, lambda: UTC, views).tasks) == 2
        pane.show_view("calendar")
        await pilot.pause()
        assert pane.current().title == "a"
