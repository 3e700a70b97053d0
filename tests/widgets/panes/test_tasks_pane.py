"""The tasks pane: what a row and the detail say, and that 20,000 tasks move within a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pytest

from memory.document import Document, parse
from memory.files.snapshot import Snapshot
from memory.files.tasks.model import Task
from tests.widgets.harness import Harness, screen_text
from tests.widgets.panes.looking import settled, showing, shown
from widgets.panes.tasks.detail import rest_of_body, task_detail
from widgets.panes.tasks.pane import TasksPane
from widgets.text.glyphs import UNICODE
from widgets.text.styled_text import line_text
from widgets.text.words import task_row

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
    return snapshot_of(f"## {section}\n\n{text}").tasks.items[0]


def row_of(section: str, text: str, width: int = 60) -> str:
    """The words of a task's row."""
    return line_text(task_row(task_from(section, text), width, NOW, UTC, UNICODE))


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
    ("In Progress", "### [HIGH] a\n- progress: 45%\n- due: 2024-01-16\n", "HIGH   a", "━━━───  45% tomorrow"),
    ("Completed", "### [LOW] a\n- completed: 2024-01-14 16:30\n", "LOW    a", "✓ 14 Jan"),
]


@pytest.mark.parametrize(("section", "text", "left", "right"), ROWS, ids=[row[3] or "no date" for row in ROWS])
def test_a_row_says_priority_title_and_when(section: str, text: str, left: str, right: str) -> None:
    """A row begins with priority and title and ends with the date, the recurrence or the bar."""
    row = row_of(section, text)
    assert len(row) == 60
    assert row.startswith(left)
    assert row.rstrip().endswith(right)


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
        assert {row.item.title for row in pane.line_list._flashing} == {"a", "new"}


@pytest.mark.parametrize("view", ["list", "board", "calendar"])
async def test_lines_that_are_in_no_task_are_in_every_view(view: str) -> None:
    """They follow the tasks, and the cursor stops on them."""
    pane = TasksPane()
    async with showing(pane, {"tasks.md": "## Pending\n### [HIGH] One\n- due 2024-02-02\n"}) as (pilot, app):
        pane.show_view(view)
        await settled(pilot, app)
        await pilot.press("G")
        found = pane.unread_line()
        assert found is not None
        assert found.place == "tasks.md:3"
        assert "- due 2024-02-02" in shown(app)
