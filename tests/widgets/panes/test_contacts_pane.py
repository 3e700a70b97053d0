"""The contacts pane: three tables on one grid, who is reached via what, and what can be done."""

from __future__ import annotations

import pytest

from tests.widgets.panes.looking import NOW, Files, showing, shown
from widgets.panes.contacts import ContactsPane
from widgets.text.styled_text import line_text

CONTACTS = """## Channels

| Name         | ID         | Type     | Status       | Owner |
|--------------|------------|----------|--------------|-------|
| Dev Team Bot | channel-1  | telegram | connected    | Alice |
| 通知机器人   | channel-22 | webhook  | disconnected |       |

## Message Routes

| Channel      | Project   | Prefix | Terminal |
|--------------|-----------|--------|----------|
| Dev Team Bot | project-1 | /ask   | auto     |

## People

- **Alice** (PM): Reach via Telegram Dev Team Bot
- **Bob**
"""


def rows(pane: ContactsPane, width: int = 70) -> list[str]:
    """The rows as they are drawn."""
    return [line_text(pane.draw_row(row.item, width)).rstrip() for row in pane.line_list.rows if hasattr(row, "item")]


@pytest.mark.parametrize(
    ("keys", "title", "names", "values", "written"),
    [
        (
            "jjj",
            "New channel",
            ["name", "id", "type", "status"],
            ["Mail", "channel-3", "mail", "connected"],
            "channel-3",
        ),
        (
            "G",
            "New route",
            ["name", "project", "prefix", "terminal"],
            ["Dev Team Bot", "project-2", "/go", "auto"],
            "| Dev Team Bot | project-2 | /go",
        ),
        (
            "",
            "New person",
            ["name", "role", "text"],
            ["Carol", "Designer", "by mail"],
            "- **Carol** (Designer): by mail\n",
        ),
    ],
    ids=["channel", "route", "person"],
)
async def test_a_contact_is_added_to_the_group_under_the_cursor(
    keys: str, title: str, names: list[str], values: list[str], written: str
) -> None:
    """The form asks what the group's contacts have; the new one stands in the file."""
    pane, files = ContactsPane(), Files({"contacts.md": CONTACTS})
    async with showing(pane, files) as (pilot, _):
        await pilot.press(*keys)
        plan = pane.adding(NOW)
        assert plan is not None
        assert plan.title == title
        assert [field.name for field in plan.fields] == names
        given = dict(zip(names, values, strict=True))
        files.apply(plan.build(given, given, NOW))
        assert written in files.text("contacts.md")


async def test_a_cell_is_edited_and_rows_are_removed() -> None:
    """The form changes one cell, a further column included; removing asks with the names."""
    pane, files = ContactsPane(), Files({"contacts.md": CONTACTS})
    async with showing(pane, files) as (pilot, _):
        assert pane.editing(pane.current(), NOW) is None
        await pilot.press("j", "j", "j", "j")
        plan = pane.editing(pane.current(), NOW)
        assert plan is not None
        assert [field.name for field in plan.fields if not field.known] == ["Owner"]
        changed = {"status": "disconnected", "Owner": "Bob"}
        files.apply(plan.build(changed, {field.name: field.value for field in plan.fields} | changed, NOW))
        assert "| Dev Team Bot | channel-1  | telegram | disconnected | Bob   |" in files.text("contacts.md")
        removal = pane.removing(pane.selected())
        assert removal is not None
        assert (removal.question, removal.details) == ("Remove this contact?", "Dev Team Bot")
        files.apply(removal.build(NOW))
        assert "channel-1 " not in files.text("contacts.md")


async def test_groups_fold_and_filter() -> None:
    """Enter on a group folds it; the filter leaves hits below their group; an empty group can be added to."""
    pane, files = ContactsPane(), Files({"contacts.md": CONTACTS.split("## People")[0]})
    async with showing(pane, files) as (pilot, app):
        assert rows(pane)[0] == "  People  none yet"
        plan = pane.adding(NOW)
        assert plan is not None
        assert plan.title == "New person"
        await pilot.press("j", "enter")
        assert len(rows(pane)) == 4
        pane.set_filter("status:disc")
        await pilot.pause()
        assert [row.split()[:2] for row in rows(pane)] == [["▾", "Channels"], ["通知机器人", "webhook"]]
        assert "1 of 3" in shown(app)
