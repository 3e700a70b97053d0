"""The config pane: keys under their own names, what they mean, and what is wrong with a value."""

from __future__ import annotations

from tests.widgets.panes.looking import NOW, Files, detail_words, settled, showing, shown
from widgets.panes.config import ConfigPane

CONFIG = """---
type: agent-config
setupComplete: true
---
## Heartbeat
- expression: */30 * * * *
## Memory Maintenance
- archiveCompletedAfterDays: seven
- pruneJournalAfterDays: 30 (a month)
- maintenanceSchedule: 0 2 * * *
## Own Things
- colour: blue
- expression: 0 * * * *
"""


async def test_a_bad_value_is_marked_with_its_place() -> None:
    """What cannot be used is an alert, with file and line in the detail and in the sidebar's mark."""
    pane = ConfigPane()
    files = Files({"config.md": CONFIG})
    async with showing(pane, files) as (pilot, app):
        assert "▲ archive tasks after    seven" in shown(app)
        assert "2 problems" in shown(app)
        assert pane.go_to("archiveCompletedAfterDays")
        await settled(pilot, app)
        assert "config.md:8: archiveCompletedAfterDays is 'seven'" in detail_words(pane)
    assert ConfigPane.badge(files.look(), NOW).alert


async def test_editing_changes_one_line() -> None:
    """Saving the form changes the key's line and nothing else; the cursor stays on the key."""
    pane = ConfigPane()
    files = Files({"config.md": CONFIG})
    async with showing(pane, files) as (pilot, app):
        pane.go_to("archiveCompletedAfterDays")
        plan = pane.editing(pane.current(), NOW)
        assert plan is not None
        files.apply(plan.build({"value": "14"}, {"value": "14"}, NOW))
        assert files.text("config.md") == CONFIG.replace("seven", "14")
        pane.show(files.look(), NOW)
        await settled(pilot, app)
        assert pane.current().ref == "archiveCompletedAfterDays"
        assert "1 problem" in shown(app)


async def test_keys_are_added_and_removed() -> None:
    """A new key goes to the section under the cursor; a key that is there cannot be added again."""
    pane = ConfigPane()
    files = Files({"config.md": CONFIG})
    async with showing(pane, files):
        pane.go_to("colour")
        plan = pane.adding(NOW)
        assert plan is not None
        assert [field.value for field in plan.fields] == ["", "", "Own Things"]
        assert plan.check is not None
        assert plan.check({"section": "", "key": "colour", "value": "red"}) == {"key": "colour exists already"}
        values = {"section": "Own Things", "key": "shape", "value": "round"}
        assert plan.check(values) == {}
        assert "value" in plan.check({"section": "", "key": "maxJournalEntries", "value": "many"})
        files.apply(plan.build(values, values, NOW))
        assert "- expression: 0 * * * *\n- shape: round\n" in files.text("config.md")
        removal = pane.removing([pane.current()])
        assert removal is not None
        assert removal.details == "colour"
        files.apply(removal.build(NOW))
        assert "colour" not in files.text("config.md")
