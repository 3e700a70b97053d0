"""The plans pane: plans, phases and tasks as a tree with states and bars."""

from __future__ import annotations

from tests.widgets.panes.looking import NOW, Files, settled, showing, shown
from widgets.panes.plans import PlansPane
from widgets.text.styled_text import line_text

PLAN = """## Active Plans
### Shop
- planId: orch-1
- status: running
- created: 2024-01-12 09:00
- progress: 10%
- projects: api, web

| id | project | title | phase | dependsOn | status | progress |
|----|---------|-------|-------|-----------|--------|----------|
| t1 | api | 数据库 schema | 1 |  | completed | 100% |
| t2 | api | Auth API | 2 | t1 | running | 50% |
| t3 | web | Login form | 2 | t2, t9 | blocked | 0% |
| t4 | web | Loose end |  |  | pending | 0% |
"""
TASKS = "## Pending\n### [HIGH] Write the login form\n- orchestrationId: orch-1\n"


def rows(pane: PlansPane, width: int = 47) -> list[str]:
    """The rows as they are drawn."""
    return [line_text(pane.draw_row(row.item, width)).rstrip() for row in pane.line_list.rows if hasattr(row, "item")]


async def test_a_plan_is_a_tree_of_phases() -> None:
    """Each task stands in its phase with the sign of its state; plans and running tasks have bars."""
    pane = PlansPane()
    async with showing(pane, {"orchestration.md": PLAN}) as (_, app):
        assert rows(pane) == [
            "▾ ◐ Shop                            ━━────  38%",
            "  ▾ Phase 1                              1 of 1",
            "    ✓ t1   数据库 schema",
            "  ▾ Phase 2                              0 of 2",
            "    ◐ t2   Auth API                 ━━━───  50%",
            "    ▲ t3   Login form                   blocked",
            "  ▾ In no phase                          0 of 1",
            "    ○ t4   Loose end",
        ]
        assert "1 active" in shown(app)


async def test_plans_fold_filter_and_keep_the_cursor() -> None:
    """Enter folds a plan; a hit stands in its phase and plan; a change from outside keeps the cursor on its task."""
    pane, files = PlansPane(), Files({"orchestration.md": PLAN})
    async with showing(pane, files) as (pilot, app):
        await pilot.press("enter")
        assert len(rows(pane)) == 1
        pane.set_filter("status:blocked")
        await pilot.pause()
        assert [row.split()[-1] for row in rows(pane)][-1] == "blocked"
        assert len(rows(pane)) == 3
        pane.set_filter("")
        await pilot.press("enter", "j", "j", "j", "j")
        assert pane.current().values["id"] == "t2"
        files.documents |= Files({"orchestration.md": PLAN.replace("running | 50%", "completed | 100%")}).documents
        pane.show(files.look(), NOW)
        await settled(pilot, app)
        assert pane.current().values["id"] == "t2"
        assert pane.current().values["status"] == "completed"
