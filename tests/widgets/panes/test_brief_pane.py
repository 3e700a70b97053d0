"""The brief: groups of what needs a person, each row a way to its entry."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memory.base.problems import Problem
from memory.files.snapshot import Snapshot
from memory.files.status import Brief, brief
from tests.widgets.panes.looking import NOW, Files, look, settled, showing, shown
from widgets.list.rows import Heading
from widgets.pane.base import Pane
from widgets.pane.records import Record
from widgets.pane.rows import RowKey
from widgets.panes.brief import BriefMore, BriefPane

FILES: dict[str, str | bytes] = {
    "tasks.md": """## Pending
### [HIGH] Late
- due: 2024-01-14
- assigned: heartbeat
### [LOW] Soon
- due: 2024-01-15 14:00
### [NORMAL] Far away
- due: 2024-03-01
## In Progress
### [HIGH] Under way
- progress: 45%
""",
    "journal.md": "## 2024-01-15\n### 10:20 — Newest\n- x\n## 2024-01-14\n### 16:30 — Older\n- y\n",
    "monitors.md": """## Monitors
### Disk
- interval: 0 * * * *
- lastCheck: 2024-01-15T10:00:00Z
- lastStatus: alert (93% used)
### API
- interval: */5 * * * *
- lastCheck: 2024-01-15T10:25:00Z
- lastStatus: healthy
""",
    "config.md": "## Heartbeat\n- expression: */30 * * * *\n## Memory Maintenance\n- maintenanceSchedule: 0 2 * * *\n",
}


def rows(pane: BriefPane, group: str) -> list[Record]:
    """The rows of a group."""
    return [row.item for row in pane.line_list.rows if isinstance(row, RowKey) and row.item.part == group]


def headings(pane: BriefPane) -> list[tuple[str, str]]:
    """The groups with their counts."""
    return [(row.title, row.note) for row in pane.line_list.rows if isinstance(row, Heading)]


async def test_a_stale_monitor_is_told_as_such() -> None:
    """A monitor that was healthy and has no result for two of its intervals is told as such."""
    pane = BriefPane()
    old = {"monitors.md": FILES["monitors.md"].replace("2024-01-15T10:25", "2024-01-15T09:25")}  # type: ignore[arg-type]
    async with showing(pane, FILES | old, (100, 40)) as (_, app):
        assert headings(pane)[:2] == [("FAILING", "1"), ("STALE", "1")]
        assert "stale" in shown(app)


async def test_what_needs_a_person_stands_first() -> None:
    """What fails and is overdue comes first, then what runs, what happened and what comes; no group is empty."""
    pane = BriefPane()
    async with showing(pane, FILES, (100, 40)) as (_, app):
        assert headings(pane) == [
            ("FAILING", "1"),
            ("OVERDUE", "1"),
            ("TODAY", "1"),
            ("IN PROGRESS", "1"),
            ("JOURNAL", "2"),
            ("NEXT RUNS", "4"),
        ]
        screen = shown(app)
        for words in ("▲ 30 min ago", "93% used", "▲ 1 d ago", "14:00", "━━━───  45%", "10:20", "in 5 min"):
            assert words in screen
        assert "Far away" not in screen
        assert "Monday, 15 January" in screen


@pytest.mark.parametrize(
    ("group", "file"),
    [
        ("alert", "monitors.md"),
        ("overdue", "tasks.md"),
        ("progress", "tasks.md"),
        ("journal", "journal.md"),
    ],
)
async def test_every_row_leads_to_its_entry(group: str, file: str) -> None:
    """Enter asks the application to go to the entry itself."""
    pane, files = BriefPane(), Files(FILES)
    look = files.look()
    refs = {item.ref for items in (look.tasks.items, look.journal.entries(), look.monitors.items) for item in items}
    async with showing(pane, files) as (pilot, app):
        assert pane.go_to(rows(pane, group)[0].ref)
        await pilot.press("enter")
        await pilot.pause()
        (jump,) = app.of(Pane.Jump)
        assert jump.file == file  # type: ignore[attr-defined]
        assert jump.ref in refs  # type: ignore[attr-defined]


async def test_problems_and_maintenance_come_when_they_are_known() -> None:
    """What a worker found is added without losing the cursor: errors high up, warnings below, notes not at all."""
    pane = BriefPane()
    async with showing(pane, FILES, (100, 50)) as (pilot, app):
        await pilot.press("j", "j")
        before = pane.current().ref
        problems = (
            Problem("error", "config.md", 2, "config.value", "a bad value"),
            Problem("warning", "tasks.md", 2, "link.dangling", "leads nowhere"),
            Problem("note", "tasks.md", 2, "task.created", "created is missing"),
        )
        pane.say_more(BriefMore(problems, ("the clock was ahead",)))
        await settled(pilot, app)
        assert pane.current().ref == before
        screen = shown(app)
        assert screen.index("a bad value") < screen.index("IN PROGRESS") < screen.index("leads nowhere")
        assert "created is missing" not in screen
        assert "the clock was ahead" in screen
        pane.go_to(rows(pane, "problem")[0].ref)
        await pilot.press("enter")
        await pilot.pause()
        (jump,) = app.of(Pane.Jump)
        assert (jump.file, jump.ref) == ("config.md", "line:1")  # type: ignore[attr-defined]


def test_a_draft_says_when_it_was_typed_in_the_zone_of_the_workspace() -> None:
    """After midnight in the workspace it was typed today, though in UTC it was yesterday."""
    pane = BriefPane()
    typed = datetime(2024, 1, 14, 20, 0, tzinfo=UTC)
    pane.say_drafts([("one", "Edited task: Late", typed), ("two", "New task", typed - timedelta(days=2))])
    snapshot = look({"config.md": "- timezone: Asia/Tokyo\n"})
    found = [row for row in pane.records(snapshot, NOW) if isinstance(row, Record) and row.part == "draft"]
    assert [row.cells["when"].text for row in found] == ["05:00", "13 Jan"]


def test_two_threads_read_each_their_own_files() -> None:
    """What one thread found in its files is shown with these, also where another one looks at others meanwhile."""
    there = look({"tasks.md": "## Pending\n### [HIGH] Other\n- due: 2024-01-14\n"})

    class Disturbed(BriefPane):
        """Another thread remembers its own brief directly after this one."""

        @property
        def _known(self) -> object:
            return self._held

        @_known.setter
        def _known(self, known: tuple[Snapshot, datetime, Brief] | None) -> None:
            self._held = known and (there, NOW, brief(there, NOW))

    found = [row for row in Disturbed().records(look(FILES), NOW) if isinstance(row, Record) and row.part == "overdue"]
    assert [row.title for row in found] == ["Late"]
