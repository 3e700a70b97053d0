"""The monitors pane: how each monitor was, when it runs, and its form."""

from __future__ import annotations

import pytest

from memory.errors import UsageError
from memory.files.monitors import Monitor
from memory.monitoring.alerts import AlertState
from memory.monitoring.overview import MonitorStanding
from tests.memory_files import left_by
from tests.widgets.panes.looking import NOW, Files, showing, shown
from widgets.panes.monitors import MonitorsPane, state_pieces
from widgets.text.glyphs import UNICODE
from widgets.text.styled_text import line_text

MONITORS = """## Monitors
### API
- type: http
- url: https://api.example.com/health
- interval: */5 * * * * (every 5 min)
- threshold: status != 200
- autoRemediate: pm2 restart api
- lastCheck: 2024-01-15T10:25:00Z
- lastStatus: healthy
- owner: Bob
### Disk
- type: command
- command: df -h / | awk 'NR==2 {print $5}'
- folder: .
- interval: 0 * * * *
- autoRemediate: null (notify only)
- lastCheck: 2024-01-15T10:00:00Z
- lastStatus: alert (93% used)
### New
- type: command
- command: true
- interval: sometimes
"""


def rows(pane: MonitorsPane, width: int) -> list[str]:
    """The rows as they are drawn."""
    return [line_text(pane.draw_row(row.item, width)).rstrip() for row in pane.line_list.rows]  # type: ignore[attr-defined]


async def test_each_row_says_how_it_is_by_sign_and_word() -> None:
    """Name, state, last check and next run stand in columns; only what is not healthy is in colour."""
    pane = MonitorsPane()
    async with showing(pane, {"monitors.md": MONITORS}) as (_, app):
        assert rows(pane, 60) == [
            "▲ Disk                failing          30 min ago  in 30 min",
            "✓ API                 healthy           5 min ago   in 5 min",
            "○ New                 unknown",
        ]
        assert [line[2:14].rstrip() for line in rows(pane, 34)] == ["Disk", "API", "New"]
        tones = [{piece.tone for piece in pane.draw_row(row.item, 54)} for row in pane.line_list.rows]  # type: ignore[attr-defined]
        assert ["alert" in found for found in tones] == [True, False, False]
        assert "1 failing" in shown(app)
    badge = MonitorsPane.badge(Files({"monitors.md": MONITORS}).look(), NOW)
    assert (badge.count, badge.alert) == (3, True)


async def test_a_monitor_is_edited_and_removed() -> None:
    """Changed fields change their lines, emptied ones go, unknown ones can be edited, the source be replaced."""
    pane, files = MonitorsPane(), Files({"monitors.md": MONITORS})
    async with showing(pane, files):
        item = next(monitor for monitor in files.look().monitors.items if monitor.name == "API")
        assert pane.go_to(item.ref)
        plan = pane.editing(pane.current(), NOW)
        assert plan is not None
        values = {field.name: field.value for field in plan.fields}
        assert values["owner"] == "Bob"
        changed = {"interval": "0 * * * *", "threshold": "", "name": "API health"}
        edit = files.apply(plan.build(changed, values | changed, NOW))
        text = files.text("monitors.md")
        assert "### API health\n- type: http\n- url: https://api.example.com/health\n" in text
        assert "\n- interval: 0 * * * *\n- autoRemediate" in text
        pane.show(files.look(), NOW)
        assert pane.go_to(left_by(files.look(), edit).ref)
        source = pane.source_text(pane.current())
        assert source is not None
        build = pane.from_source(pane.current(), source.replace("- owner: Bob", "- timeout: 1e308"), NOW)
        assert build is not None
        with pytest.raises(UsageError, match="timeout is '1e308'"):
            files.apply(build)
        build = pane.from_source(pane.current(), source.replace("Bob", "Carol"), NOW)
        assert build is not None
        files.apply(build)
        assert "- owner: Carol\n### Disk" in files.text("monitors.md")
        pane.show(files.look(), NOW)
        removal = pane.removing([pane.current()])
        assert removal is not None
        files.apply(removal.build(NOW))
        assert [monitor.name for monitor in files.look().monitors.items] == ["Disk", "New"]


async def test_what_is_not_healthy_is_first_unless_sorted() -> None:
    """The usual order brings alerts up; another one does not."""
    pane = MonitorsPane()
    async with showing(pane, {"monitors.md": MONITORS}):
        assert [row[2:6].strip() for row in rows(pane, 54)] == ["Disk", "API", "New"]
        pane.set_sort("name")
        assert [row[2:6].strip() for row in rows(pane, 54)] == ["API", "Disk", "New"]


def test_a_blocked_monitor_needs_approval_and_keeps_its_alert() -> None:
    """One that may not run needs approval, however old its result is, and keeps an alert that was measured."""
    well, bad, _ = Files({"monitors.md": MONITORS}).look().monitors.items

    def word(monitor: Monitor, *, stale: bool) -> str:
        standing = MonitorStanding(monitor, AlertState(), (), None, None, None, stale, "not approved yet", "", "", "")
        return state_pieces(monitor, standing, UNICODE)[1].text

    for stale in (True, False):
        assert [word(well, stale=stale), word(bad, stale=stale)] == ["needs approval", "failing"]
