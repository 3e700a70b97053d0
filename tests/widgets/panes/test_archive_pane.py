"""The archive pane: months and what was moved there, read when it is opened."""

from __future__ import annotations

from tests.widgets.panes.looking import NOW, Files, settled, showing, shown
from widgets.panes.archive import ArchivePane

TASKS = """---
type: task-archive
---
## Completed
### [NORMAL] {title}
- completed: {month}-24 16:30
- assigned: heartbeat
- outcome: Done
"""
JOURNAL = "---\ntype: journal-archive\n---\n## {month}-20\n### 10:30 — {title}\n- one **bold** word\n"


def archive() -> Files:
    """Three months: two with tasks and journal, one with a plan's name that has no month."""
    return Files(
        {
            "archive/tasks-2023-11.md": TASKS.format(title="Newest task", month="2023-11"),
            "archive/journal-2023-11.md": JOURNAL.format(title="Newest entry", month="2023-11"),
            "archive/tasks-2023-10.md": TASKS.format(title="Older task", month="2023-10"),
            "archive/tasks-2022-01.md": TASKS.format(title="Oldest task", month="2022-01"),
            "archive/notes.md": "not an archive of ours",
        }
    )


async def test_months_are_newest_first_and_fold() -> None:
    """Months have their kinds with counts and are open; Enter folds a kind, and a filter finds what is folded."""
    pane, files = ArchivePane(), archive()
    async with showing(pane, files) as (pilot, app):
        screen = shown(app)
        assert screen.index("November 2023") < screen.index("October 2023") < screen.index("January 2022")
        assert "Newest task" in screen
        assert "Newest entry" in screen
        assert "Older task" in screen
        pane.go_to("archive/tasks-2023-10.md")
        await pilot.press("enter")
        await settled(pilot, app)
        assert "Older task" not in shown(app)
        assert pane.current().ref == "archive/tasks-2023-10.md"
        pane.set_filter("oldest")
        await settled(pilot, app)
        screen = shown(app)
        assert "Oldest task" in screen
        assert "January 2022" in screen
        assert "November" not in screen.split("\n")[1]
        assert "1 of 4" in screen
        pane.set_filter("assigned:heartbeat task")
        await settled(pilot, app)
        assert "3 of 4" in shown(app)


async def test_entries_are_shown_in_full_and_cannot_be_changed() -> None:
    """Tasks show their fields, journal entries their text rendered; no form opens."""
    pane, files = ArchivePane(), archive()
    async with showing(pane, files) as (pilot, app):
        pane.go_to(files.look().archived_tasks()[0].items[0].ref)
        await settled(pilot, app)
        assert "outcome" in shown(app)
        pane.go_to(files.look().archived_journals()[0].entries()[0].ref)
        await settled(pilot, app)
        assert "2023-11-20 10:30" in shown(app)
        assert "one bold word" in shown(app)
        assert pane.adding(NOW) is None
        assert pane.editing(pane.current(), NOW) is None
        assert pane.removing([pane.current()]) is None
