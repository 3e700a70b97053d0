"""The contacts pane: three tables on one grid, who is reached via what, and what can be done."""

from __future__ import annotations

import pytest

from tests.fixture_files import sample
from tests.widgets.panes.looking import NOW, ONE_LINE, Files, detail_words, settled, showing, shown, walked
from widgets.panes.contacts.pane import ContactsPane
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


async def test_three_tables_stand_on_one_grid() -> None:
    """Columns begin in the same cells in all groups, also beside wide characters; a sign says what is gone."""
    pane = ContactsPane()
    async with showing(pane, {"contacts.md": CONTACTS}) as (_, app):
        assert rows(pane) == [
            "▾ Channels        id          type      status",
            "  Dev Team Bot    channel-1   telegram  ✓ connected",
            "▲ 通知机器人      channel-22  webhook   disconnected",
            "▾ Message Routes  project     prefix  terminal",
            "  Dev Team Bot    project-1   /ask    auto",
            "▾ People          role        how to reach",
            "  Alice           PM          Reach via Telegram Dev Team Bot",
            "  Bob",
        ]
        assert "1 disconnected" in shown(app)


async def test_what_is_connected_is_green_and_what_is_not_is_red() -> None:
    """A person sees at once which channel can be used; everything else is calm."""
    pane = ContactsPane()
    async with showing(pane, {"contacts.md": CONTACTS}):
        tones = [
            {piece.tone for piece in pane.draw_row(row.item, 70)} & {"warn", "alert", "good", "accent"}
            for row in pane.line_list.rows
            if hasattr(row, "item")
        ]
        assert tones == [set(), {"good"}, {"alert"}, set(), set(), set(), set(), set()]
    badge = ContactsPane.badge(Files({"contacts.md": CONTACTS}).look(), NOW)
    assert (badge.count, badge.alert) == (5, True)


async def test_the_detail_names_routes_and_people() -> None:
    """A channel shows what goes through it and who is reached via it, a person the channel, further columns too."""
    pane = ContactsPane()
    async with showing(pane, {"contacts.md": CONTACTS}) as (pilot, app):
        await pilot.press("j")
        await settled(pilot, app)
        assert "routes /ask → project-1 people Alice (PM)" in detail_words(pane)
        assert "OTHER COLUMNS Owner Alice" in detail_words(pane)
        assert [link.target[0] for link in pane.detail_view.links] == ["contacts.md", "contacts.md"]
        pane.set_filter("alice")
        await pilot.press("G")
        await settled(pilot, app)
        assert "REACHED BY 1st ✓ Dev Team Bot connected" in detail_words(pane)


async def test_a_first_word_is_enough_to_name_a_channel() -> None:
    """`Reach via DingTalk` means the channel DingTalk Team, as in the format's own sample."""
    pane, files = ContactsPane(), Files({"contacts.md": sample("contacts.md")})
    async with showing(pane, files) as (pilot, app):
        pane.go_to(next(person.ref for person in files.look().contacts.people if person.name == "Carol"))
        await settled(pilot, app)
        assert "1st ✓ DingTalk Team connected" in detail_words(pane)


@pytest.mark.parametrize(
    ("keys", "title", "names", "values", "written"),
    [
        ("", "New channel", ["name", "id", "type", "status"], ["Mail", "channel-3", "mail", "connected"], "channel-3"),
        (
            "jjj",
            "New route",
            ["channel", "project", "prefix", "terminal"],
            ["Dev Team Bot", "project-2", "/go", "auto"],
            "| Dev Team Bot | project-2 | /go",
        ),
        (
            "G",
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
        await pilot.press("j")
        assert pane.editing(pane.branch_of(pane.current()), NOW) is None
        plan = pane.editing(pane.current(), NOW)
        assert plan is not None
        assert [field.name for field in plan.fields if not field.known] == ["Owner"]
        changed = {"status": "disconnected", "Owner": "Bob"}
        files.apply(plan.build(changed, {field.name: field.value for field in plan.fields} | changed, NOW))
        assert "| Dev Team Bot | channel-1  | telegram | disconnected | Bob   |" in files.text("contacts.md")
        removal = pane.removing(pane.selected())
        assert removal is not None
        assert (removal.question, removal.details) == ("Remove this channel?", "Dev Team Bot")
        files.apply(removal.build(NOW))
        assert "channel-1 " not in files.text("contacts.md")


async def test_groups_fold_and_filter() -> None:
    """Enter on a group folds it; the filter leaves hits below their group; an empty group can be added to."""
    pane, files = ContactsPane(), Files({"contacts.md": CONTACTS.split("## People")[0]})
    async with showing(pane, files) as (pilot, app):
        assert rows(pane)[-1] == "  People  none yet"
        await pilot.press("G")
        plan = pane.adding(NOW)
        assert plan is not None
        assert plan.title == "New person"
        await pilot.press("g", "g", "enter")
        assert len(rows(pane)) == 4
        pane.set_filter("status:disc")
        await pilot.pause()
        assert [row.split()[:2] for row in rows(pane)] == [["▾", "Channels"], ["▲", "通知机器人"]]
        assert "1 of 3" in shown(app)


@pytest.mark.parametrize("size", [(120, 36), (40, 10)], ids=str)
async def test_without_contacts_the_pane_says_what_it_is_for(size: tuple[int, int]) -> None:
    """The empty pane names the key that begins."""
    pane = ContactsPane()
    async with showing(pane, {"contacts.md": "## Channels\n"}, size) as (_, app):
        assert "Press a to add the first" in " ".join(shown(app).replace("│", " ").split())


async def test_hostile_contacts_are_only_text() -> None:
    """Cells, names, roles and texts from a file cannot steer the terminal."""
    pane = ContactsPane()
    async with showing(pane, {}, (80, 24)) as (pilot, app):
        for hostile in ONE_LINE:
            cell = hostile.replace("|", "/")
            source = (
                f"## Channels\n| Name | ID | Type | Status | {cell} |\n|-|-|-|-|-|\n"
                f"| {cell} | {cell} | {cell} | {cell} | {cell} |\n"
                f"## Message Routes\n| Channel | Project |\n|-|-|\n| {cell} | {cell} |\n"
                f"## People\n- **{cell}** ({cell}): {cell}\n"
            )
            await walked(pane, {"contacts.md": source}, pilot, app)
