"""How tasks are arranged: columns that fit, cards that are cut, orders, kept views, what recurs, and jumping."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.widget import Widget

from app.tui.app import MemdeckApp
from memory.workspace import Workspace
from tests.app.tui.test_tui_views import lanes, tasks_pane
from tests.app.tui.tui_helpers import make_app, make_workspace, press, running, settle, type_text
from tests.widgets.harness import screen_text
from widgets.chrome.frame import Frame
from widgets.list.rows import Heading
from widgets.pane.rows import RowKey
from widgets.text.glyphs import ASCII, UNICODE, Glyphs

LONG = (
    "## Pending\n\n"
    + "".join(f"### [NORMAL] Task number {number:02} of many\n- assigned: somebody\n\n" for number in range(30))
    + "## In Progress\n\n### [HIGH] Renew it\n- due: 2024-01-12\n- progress: 40%\n- assigned: heartbeat\n"
)


async def test_three_columns_stand_in_eighty_cells(tmp_path: Path) -> None:
    """All columns are shown where each has 17 cells, with what stands above and below; names are not cut away."""
    app = make_app(make_workspace(tmp_path, {"tasks.md": LONG}), pane="tasks")
    async with running(app, (80, 24)) as pilot:
        await press(pilot, "b")
        assert "PENDING  30  ↓ 24" in screen_text(app)
        assert all(name in screen_text(app) for name in ("IN PROGRESS  1", "COMPLETED  0"))
        assert "▲ 3 d ago" in screen_text(app)
        await press(pilot, "G")
        assert "PENDING  30  ↑ 24" in screen_text(app)
        await pilot.resize_terminal(60, 24)
        await settle(pilot)
        assert "PENDING  30  1/3 →" in screen_text(app)


async def test_a_cut_card_shows_where_it_goes_on(tmp_path: Path) -> None:
    """The first line of a card whose second one is out of view has an arrow; the selected card is always whole."""
    app = make_app(make_workspace(tmp_path, {"tasks.md": LONG}), pane="tasks")
    async with running(app, (80, 24), frames=True) as pilot:
        await press(pilot, "b")
        cards = tasks_pane(app).line_list
        height = cards.size.height
        assert cards.render_line(height - 1).text.startswith("↓ Task")
        await press(pilot, "j", "j", "j", "j", "j", "j")
        drawn = [cards.render_line(y).text for y in range(height)]
        assert sum(text.startswith("▌") for text in drawn) == 2
        assert drawn[0].startswith("↑ ") or drawn[0].strip() == ""


async def test_a_board_is_never_seen_without_its_cards(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the terminal gets after b has cards from its first picture on."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        pictures: list[str] = []
        shown = type(app.screen)._compositor_refresh

        def look(screen: Widget) -> None:
            if tasks_pane(app).view_name == "board":
                pictures.append(screen_text(app))
            shown(screen)  # type: ignore[arg-type]

        monkeypatch.setattr(type(app.screen), "_compositor_refresh", look)
        await press(pilot, "b")
        assert pictures
        assert all("Deploy v2.1" in picture and "PENDING" in picture for picture in pictures)


async def test_orders_are_chosen_and_turned_round(workspace: Workspace) -> None:
    """S opens the orders at the one in use, r turns one round and back; the title says the order of the file, too."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        assert "file order" in screen_text(app).splitlines()[1]
        await press(pilot, "S")
        assert "✓ file order" in screen_text(app)
        assert "r reverse" in screen_text(app)
        await press(pilot, "j", "j", "enter")
        due = [row.item.title for row in tasks_pane(app).line_list.rows if isinstance(row, RowKey)][:3]
        await press(pilot, "S", "r")
        assert tasks_pane(app).sort == "due, reversed"
        assert "sorted by due, reversed" in screen_text(app).splitlines()[1]
        turned = [row.item.title for row in tasks_pane(app).line_list.rows if isinstance(row, RowKey)][:3]
        assert turned == due[::-1]
        await press(pilot, "S", "r")
        assert tasks_pane(app).sort == "due"


async def test_the_view_in_use_is_marked_and_named(workspace: Workspace) -> None:
    """V begins at the view that is shown, with a mark; the title has its name until something is arranged otherwise."""
    app = make_app(workspace, pane="tasks")
    async with running(app, (100, 30)) as pilot:
        for name, keys in (("boards", ("b",)), ("urgent", ("b", "S", "j", "enter"))):
            await press(pilot, *keys, "V", "G", "k", "enter")
            await type_text(pilot, name)
            await press(pilot, "enter")
            assert f"“{name}”" in screen_text(app).splitlines()[1]
        await press(pilot, "V")
        line = next(line for line in screen_text(app).splitlines() if "✓ urgent" in line)
        assert "▌ ✓ urgent" in line
        await press(pilot, "escape", "b")
        assert "“" not in screen_text(app).splitlines()[1]
    app = make_app(workspace, pane="tasks")
    async with running(app, (100, 30)) as pilot:
        await press(pilot, "V", "j", "enter")
        assert "“urgent”" in screen_text(app).splitlines()[1]


async def test_a_filter_counts_in_each_heading(workspace: Workspace) -> None:
    """Grouped or not, a heading says how many of its tasks fit."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "z", "j", "j", "enter", "slash")
        await type_text(pilot, "deploy")
        found = [key.note for key in tasks_pane(app).line_list.rows if isinstance(key, Heading)]
        assert found
        assert all(" of " in note or note == "1" for note in found)
        assert any(" of " in note for note in found)


DAILY = "## Pending\n\n### Back up\n- due: 2024-01-15 (recurring: 30 7 * * *)\n\n### Pay\n- due: 2024-01-18\n"


async def test_what_recurs_daily_stands_once(tmp_path: Path) -> None:
    """Its run that is due has its day; those ahead are one row with how often, and the days stay free for dues."""
    app = make_app(make_workspace(tmp_path, {"tasks.md": DAILY}), pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "c")
        calendar = tasks_pane(app).calendar
        assert calendar is not None
        titles = [row.item.title for row in calendar.list.rows if isinstance(row, RowKey)]
        assert titles == ["Back up", "Pay", "Back up"]
        shown = screen_text(app)
        assert "RECURRING OFTEN  1" in shown
        assert "daily 07:30" in shown
        assert "18•" in shown
        assert "17·" not in shown
        assert "all day   Pay" in shown
        await press(pilot, "G")
        assert str(calendar.day) == "2024-01-15", "the last row stands for no day"
        await press(pilot, "right")
        assert "only what recurs often" in screen_text(app)


async def test_below_the_month_stands_what_comes_next(tmp_path: Path) -> None:
    """What the signs mean, what is overdue, and what is due after the month."""
    later = "\n### Late\n- due: 2024-01-12\n\n### Spring\n- due: 2024-03-01\n"
    app = make_app(make_workspace(tmp_path, {"tasks.md": DAILY + later}), pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "c", "full_stop")
        shown = screen_text(app)
        assert "• due  ▲ overdue  ✓ done  · recurs" in shown
        assert "▲ 12 Jan  Late" in shown
        assert "AFTER JANUARY" in shown
        assert " 1 Mar  Spring" in shown
        await press(pilot, "slash")
        await type_text(pilot, "pay")
        assert " 1 Mar  Spring" not in screen_text(app)
        assert "AFTER JANUARY" not in screen_text(app)


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
@pytest.mark.parametrize("keys", [(), ("b", "right")], ids=["list", "board"])
async def test_what_is_overdue_is_seen_in_the_smallest_terminal(
    tmp_path: Path, glyphs: Glyphs, keys: tuple[str, ...]
) -> None:
    """At 40×10 a row and a card have the sign, not only a colour."""
    app = make_app(make_workspace(tmp_path, {"tasks.md": LONG}), pane="tasks", glyphs=glyphs)
    async with running(app, (40, 10)) as pilot:
        await press(pilot, *keys, "G")
        row = [line for line in screen_text(app).splitlines()[2:-2] if glyphs.alert in line]
        assert row


async def test_the_chosen_day_and_an_empty_column_have_a_sign(workspace: Workspace) -> None:
    """Where there are no colours, a bar says which day is chosen, and which column keys mean when it has no card."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "c", "right", "right")
        assert "▌17" in screen_text(app)
        await press(pilot, "c", "b", "slash")
        await type_text(pilot, "deploy")
        await press(pilot, "enter", "right")
        assert lanes(app)[1] == []
        assert "▌ IN PROGRESS  0" in screen_text(app)


async def test_a_small_year_says_what_its_signs_mean(workspace: Workspace) -> None:
    """At 40×10 a short legend stands beside the keys, and a day of long ago is scrolled to."""
    app = make_app(workspace, pane="journal")
    async with running(app, (40, 10)) as pilot:
        await press(pilot, "c")
        assert "▒1 █2-4" in screen_text(app)
        await press(pilot, *["h"] * 40)
        shown = screen_text(app)
        assert "April 2023" in shown
        assert "◆" in shown


async def test_the_letter_of_a_link_leaves_a_cell(workspace: Workspace) -> None:
    """Between the letters and what a link says stands a blank."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        pane = tasks_pane(app)
        await press(pilot, "G")
        pane.linking.find()
        await settle(pilot)
        places = pane.detail_view.link_rows
        assert places
        await press(pilot, "semicolon")
        region = pane.detail_view.scrollable_content_region
        lines = screen_text(app).splitlines()
        for row in places:
            before = lines[region.y + row][: region.x]
            assert before[-1] == " "
            assert before[-2].isalpha()


async def test_a_key_gives_one_picture_of_the_list(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """No letter of the filter is seen before what it leaves, and the entry comes with the picture after its row's."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        pane = tasks_pane(app)
        seen: list[tuple[tuple[str, str], tuple[str, str]]] = []
        display = MemdeckApp._display

        def look(self: MemdeckApp, *shown: Any) -> None:
            title = pane.current().title if pane.current() else ""
            label = pane.query(".pane--detail-frame").first(Frame).label
            seen.append(((title, label), (pane.filter_bar.text, pane.filter)))
            display(self, *shown)

        monkeypatch.setattr(MemdeckApp, "_display", look)
        for key in ("j", "j", "G", "slash", *"dezz", "backspace", "backspace"):
            before = len(seen)
            await press(pilot, key)
            apart = [title != label for (title, label), _ in seen[before:]]
            assert not any(apart[1:]), key
        assert len({title for (title, _), _ in seen}) > 3
        assert {text for _, (text, _) in seen} >= {"", "d", "de", "dez", "dezz"}
        assert all(text == used for _, (text, used) in seen)


async def test_what_nothing_fits_is_said_in_the_list(workspace: Workspace) -> None:
    """The words stand where the rows were, in any view, and the list keeps its place and its keys."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        for key in ("", "b", "c"):
            await press(pilot, *key, "slash")
            await type_text(pilot, "zzq")
            assert ("Nothing fits “zzq”" in screen_text(app)) is (key != "c")
            await press(pilot, "escape")
            assert "zzq" not in screen_text(app)
            assert app.main_screen.focused is tasks_pane(app).line_list
