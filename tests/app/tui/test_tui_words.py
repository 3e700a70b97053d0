"""The application says where a person is, what cannot be done, and never stands still over odd content."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from rich.style import Style
from textual.color import Color
from textual.widgets._toast import Toast

from app.tui.app import MemdeckApp
from app.tui.commands.entries import LONGEST_VALUE
from app.tui.keys.help import MOVING, Help, key_groups
from app.tui.launch import terminal_encoding
from memory.files.tasks.edits import add_task
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, make_workspace, press, running, settle, type_text
from tests.widgets.harness import screen_text
from widgets.chrome.keys import KeyHints
from widgets.dialogs.choose import Choose
from widgets.dialogs.dialogs import Preview
from widgets.input.form import Form
from widgets.text.glyphs import ASCII, UNICODE, glyphs_for
from widgets.text.styled_text import line_text


def said(app: MemdeckApp) -> str:
    """The last words in the corner."""
    return [*app._notifications][-1].message


@pytest.mark.parametrize(
    ("environ", "encoding"),
    [
        ({}, None),
        ({"LANG": "de_DE.UTF-8"}, "UTF-8"),
        ({"LANG": "de_DE"}, None),
        ({"LANG": "de_DE.ISO-8859-1@euro"}, "ISO-8859-1"),
        ({"LANG": "C"}, "ascii"),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "ascii"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "POSIX"}, "ascii"),
        ({"LANG": "C", "LC_ALL": "C.UTF-8"}, "UTF-8"),
    ],
)
def test_the_locale_tells_what_the_terminal_shows(environ: dict[str, str], encoding: str | None) -> None:
    """LC_ALL counts before LC_CTYPE before LANG, and what Python makes of the locale C does not count."""
    assert terminal_encoding(environ) == encoding
    assert glyphs_for(encoding or "utf-8") is (UNICODE if encoding in (None, "UTF-8") else ASCII)


async def test_no_color_is_no_colour_and_urgent_is_loud(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """No cell has a colour or is faint; what is overdue and the chosen button are in reverse."""
    monkeypatch.setenv("NO_COLOR", "1")
    app = make_app(workspace)

    def cells() -> list[tuple[str, Style]]:
        strips = app.screen._compositor.render_strips()
        filtered = [
            strip.apply_filter(one, app.screen.styles.background) for strip in strips for one in app._filters[-1:]
        ]
        return [(text, style or Style.null()) for strip in filtered for text, style, _ in strip]

    async with running(app) as pilot:
        await press(pilot, "j")
        for text, style in cells():
            assert style.color is None, text
            assert style.bgcolor is None, text
            assert not style.dim, text
        assert any("overdue" in text and style.reverse and style.bold for text, style in cells())
        await press(pilot, "x")
        shown = {text.strip(): style.reverse for text, style in cells() if text.strip() in ("y Remove", "n Keep")}
        assert shown == {"y Remove": None, "n Keep": True}


async def test_ascii_signs_are_ascii_and_x_is_not_well(workspace: Workspace) -> None:
    """Scroll bars, cut texts and signs are plain; what is done has a sign that nobody takes for a failure."""
    app = make_app(workspace, glyphs=ASCII)
    async with running(app, (80, 24)) as pilot:
        for key in ("1", "2", "7", "6", "8"):
            await press(pilot, key)
            strips = [
                strip.apply_filter(app._filters[-1], Color(0, 0, 0)) for strip in app.screen._compositor.render_strips()
            ]
            shown = "\n".join(strip.text for strip in strips)
            assert shown.isascii(), shown
            assert all(strip.cell_length == 80 for strip in strips)
            assert " x " not in shown
            if key == "7":
                assert "~ Disk Space" in shown


async def test_g_and_a_letter_open_a_pane(workspace: Workspace) -> None:
    """The first pane of a letter opens; a letter that no pane has says so."""
    app = make_app(workspace)
    async with running(app) as pilot:
        for keys, pane in (("gk", "knowledge"), ("gm", "monitors"), ("g8", "config"), ("gt", "tasks")):
            await press(pilot, *keys)
            assert app.navigation.pane is not None
            assert app.navigation.pane.pane_id == pane
        await press(pilot, "g", "z")
        assert app.navigation.pane.pane_id == "tasks"
        assert said(app) == "No pane begins with 'z'."


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 10)])
async def test_g_says_where_it_leads(workspace: Workspace, size: tuple[int, int]) -> None:
    """While g waits the foot of the screen lists the panes with their letters; g ? is the help."""
    app = make_app(workspace)
    async with running(app, size) as pilot:
        assert "f facts" not in screen_text(app)
        await press(pilot, "g")
        shown = screen_text(app)
        for words in ("g first row", "t tasks", "8 config", "f facts", "0 changes", "y typed", "? help"):
            assert words in shown
        await press(pilot, "g")
        assert "f facts" not in screen_text(app)
        await press(pilot, "g", "question_mark")
        assert isinstance(app.screen, Help)


async def test_a_pane_of_another_system_opens_where_there_is_none_of_it_yet(workspace: Workspace) -> None:
    """Facts and typed memory explain themselves; the first fact is stored with the form."""
    app = make_app(workspace)
    async with running(app) as pilot:
        assert "Typed memory" not in screen_text(app)
        await press(pilot, "g", "y")
        assert "with a file `Aidefile` in it" in screen_text(app)
        await press(pilot, "colon")
        await type_text(pilot, "facts")
        await press(pilot, "enter")
        assert app.navigation.pane is not None
        assert app.navigation.pane.pane_id == "facts"
        assert "Press a to store the first fact" in screen_text(app)
        await press(pilot, "a")
        await type_text(pilot, "tests run with make test")
        await press(pilot, "ctrl+s")
        assert "tests run with make test" in screen_text(app)
        await press(pilot, "tab", "shift+tab")
        assert app.navigation.pane.pane_id == "facts"


async def test_task_keys_work_in_the_brief(workspace: Workspace) -> None:
    """A row that is a task takes the keys of tasks, one that is none does not."""
    app = make_app(workspace, pane="brief")
    async with running(app) as pilot:
        pane = app.navigation.pane
        assert pane is not None
        for row in pane.line_list.rows:
            item = getattr(row, "item", None)
            if getattr(item, "group", "") == "today":
                pane.line_list.cursor = row
        await settle(pilot)
        assert app.check_action("do", ("task.start",))
        await press(pilot, "s")
        started = workspace.snapshot().tasks.in_section("in-progress")
        assert "Deploy v2.1 to staging" in {task.title for task in started}
        for row in pane.line_list.rows:
            if getattr(getattr(row, "item", None), "group", "") == "journal":
                pane.line_list.cursor = row
        await settle(pilot)
        assert not app.check_action("do", ("task.due",))


async def test_field_filters_begin_empty_and_name_the_fields(workspace: Workspace) -> None:
    """f shows the names in the bar and leaves all of it to what is typed."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "f")
        assert "tag: priority: assigned:" in screen_text(app)
        await type_text(pilot, "priority:high")
        assert app.navigation.pane is not None
        assert app.navigation.pane.filter == "priority:high"
        titles = {
            item.title for item in (row.item for row in app.navigation.pane.line_list.rows if hasattr(row, "item"))
        }
        assert titles == {"Deploy v2.1 to staging", "Monitor API latency"}


async def test_the_number_of_selected_entries_is_said(workspace: Workspace) -> None:
    """The list's title counts the selection, also a range that grows, and forgets it with Escape."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "v", "j")
        assert "2 selected  file order ─" in screen_text(app)
        await press(pilot, "escape")
        assert "selected  file" not in screen_text(app)
        assert "4 open" in screen_text(app)


async def test_the_detail_says_how_to_leave_it(workspace: Workspace) -> None:
    """With the focus in the detail the footer begins with Esc; in the list it does not show it."""
    app = make_app(workspace)
    async with running(app, (40, 10)) as pilot:
        assert "Esc back" not in screen_text(app)
        await press(pilot, "enter")
        assert "Esc back" in screen_text(app)
        await press(pilot, "escape")
        assert "Esc back" not in screen_text(app)


async def test_help_begins_with_what_can_be_done(workspace: Workspace) -> None:
    """The keys of the pane and of entries stand before those that move; F1 says what the pane is for."""
    app = make_app(workspace)
    async with running(app) as pilot:
        assert [*key_groups(app.screen)][:3] == ["Tasks", "Entries", MOVING]
        await press(pilot, "f1")
        assert isinstance(app.screen, Help)
        text = screen_text(app)
        assert "What there is to do, for people and agents." in text
        assert "PaneList" not in text


async def test_an_entry_that_goes_while_its_form_is_open(workspace: Workspace) -> None:
    """Saving says that another program renamed it, and what was typed; going back to work keeps that as a draft."""
    app = make_app(workspace)
    path = workspace.memory / "tasks.md"
    async with running(app) as pilot:
        await press(pilot, "e")
        await type_text(pilot, " now")
        path.write_text(path.read_text("utf-8").replace("Deploy v2.1", "Roll out v2.1"), "utf-8")
        app.refresher.request()
        await settle(pilot)
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, Choose)
        text = screen_text(app)
        for words in ("renamed meanwhile", "Roll out v2.1 to staging", "Deploy v2.1 to staging now"):
            assert words in text
        await press(pilot, "escape", "w")
        assert isinstance(app.screen, Choose)
        await press(pilot, "s")
        assert isinstance(app.screen, Form)
        assert app.screen.values()["title"] == "Deploy v2.1 to staging now"


async def test_an_enormous_value_is_shown_in_part(workspace: Workspace) -> None:
    """A note of megabytes shows its beginning and how much is left out; a form is not opened for it."""
    path = workspace.memory / "tasks.md"
    notes = "word " * (LONGEST_VALUE // 2)
    path.write_text(path.read_text("utf-8").replace("- notes: ", f"- notes: {notes}", 1), "utf-8")
    app = make_app(workspace)
    async with running(app) as pilot:
        pane = app.navigation.pane
        assert pane is not None
        assert len(pane.detail_view.shown_lines) < 2_000
        await press(pilot, "e")
        assert not isinstance(app.screen, Form)
        assert "too long for a form" in said(app)


async def test_files_that_cannot_be_read_stay_said(workspace: Workspace) -> None:
    """While a file cannot be read the header says so; when it can, the header is as before."""
    app = make_app(workspace)
    path = workspace.memory / "tasks.md"
    async with running(app) as pilot:
        kept = path.read_bytes()
        path.unlink()
        path.mkdir()
        app.refresher.request()
        await settle(pilot)
        assert "not read: " in screen_text(app).splitlines()[0]
        path.rmdir()
        path.write_bytes(kept)
        app.refresher.request()
        await settle(pilot)
        assert "not read: " not in screen_text(app).splitlines()[0]


async def test_the_footer_names_what_means_something_here(workspace: Workspace) -> None:
    """Archiving is named beside the tasks only, approving where something waits, moving a line in Knowledge."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        assert {"b board", "c calendar"} <= hints(app)
        await press(pilot, "5")
        assert not any("archive" in hint for hint in hints(app))
        await press(pilot, "7")
        assert {"R run", "m mute", "T approve"} <= hints(app)
        await press(pilot, "4", "j")
        assert "F move" in hints(app)
        assert "T approve" not in hints(app)
        await press(pilot, "1")
        assert "o go there" in hints(app)
        await press(pilot, "A")
        assert isinstance(app.screen, Preview)


def hints(app: MemdeckApp) -> set[str]:
    """What the footer says."""
    return {f"{hint.key} {hint.description}" for hint in app.main_screen.hints.hints}


async def test_a_date_that_does_not_exist_is_marked_and_reached(tmp_path: Path) -> None:
    """Row and detail mark it, the brief says which field of which task it is, and the palette leads there."""
    files = {"tasks.md": "## Pending\n\n### [LOW] First\n\n### [HIGH] Deploy\n- due: 2026-13-45 25:99\n"}
    app = make_app(make_workspace(tmp_path, files), pane="brief")
    async with running(app) as pilot:
        assert "1 problem" in screen_text(app)
        await press(pilot, "colon")
        await type_text(pilot, "probl")
        await press(pilot, "enter")
        pane = app.navigation.pane
        assert pane is not None
        assert pane.pane_id == "tasks"
        assert pane.current().title == "Deploy"
        assert said(app).startswith("tasks.md:6: due: '2026-13-45 25:99' does not exist, in 'Deploy'")
        shown = screen_text(app)
        assert "▲ 2026-13-45 25:99" in shown
        words = " ".join(line_text(line) for line in pane.detail_view.shown_lines)
        assert "▲ due 2026-13-45 25:99, no date" in " ".join(words.split())


async def test_a_key_that_does_nothing_says_why(workspace: Workspace) -> None:
    """Progress of a pending task, tasks' keys in Plans; what is typed into the filter is no key."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "p")
        assert said(app) == "Progress is of a task that was started: s starts it."
        app.clear_notifications()
        await press(pilot, "slash", "p", "X", "escape", "escape", "j", "g", "p")
        assert app.navigation.pane is not None
        assert app.navigation.pane.pane_id == "plans"
        assert not app._notifications
        await press(pilot, "s")
        assert said(app) == "Plans are written by agents; o opens what is linked."
        await press(pilot, "1", "X")
        assert said(app) == "Changes are taken back in Changes: 0 shows them."


async def test_messages_wrap_over_dialogs_and_leave_the_cursor_free(workspace: Workspace) -> None:
    """On a small screen a message over a dialog is whole, and over a list it stands where the cursor is not."""
    app = make_app(workspace)
    async with app.run_test(size=(40, 10), notifications=True) as pilot:
        await settle(pilot)
        for key in ("g", "G"):
            await press(pilot, *key * (2 if key == "g" else 1))
            app.say("words and words and words and words and more words and an end")
            await settle(pilot)
            toast = app.screen.query_one(Toast)
            listed = app.navigation.pane.line_list  # type: ignore[union-attr]
            row = listed.region.y + listed.position - round(listed.scroll_y)
            assert not toast.region.contains(toast.region.x, row), key
            assert "an end" in screen_text(app)
        await press(pilot, "question_mark")
        app.say("words and words and words and words and more words and an end")
        await settle(pilot)
        toast = app.screen.query_one(Toast)
        assert toast.region.right <= 40
        assert "an end" in screen_text(app)


@pytest.mark.parametrize("keys", ["e", "z", "M", "H", "question_mark", "colon", "3c"])
async def test_messages_hide_no_keys_of_a_dialog(workspace: Workspace, keys: str) -> None:
    """Whether a dialog opens below a message or a message comes over a dialog, its keys are seen."""
    app = make_app(workspace)
    async with app.run_test(size=(40, 10), notifications=True) as pilot:
        await settle(pilot)
        for before in (True, False):
            if before:
                app.say("Undo: 'Deploy v2.1 to staging' is at 30% again")
            await press(pilot, *([keys] if len(keys) > 2 else keys))
            if not before:
                app.say("words and words and words and words and more words", title="Not like this")
            await settle(pilot)
            assert app.screen.is_modal
            toast = app.screen.query_one(Toast).region
            hints = [one.region for one in app.screen.query(KeyHints)]
            assert hints
            assert not any(toast.overlaps(one) for one in hints), before
            assert toast.y >= 0
            await press(pilot, "escape")


async def test_escape_takes_a_message_away_when_there_is_nothing_else_to_leave(workspace: Workspace) -> None:
    """First go a selection, the filter and a dialog, and what is said stays; then it goes."""
    app = make_app(workspace)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle(pilot)
        pane = app.navigation.pane
        for keys in (["space"], ["slash"], ["question_mark"]):
            await press(pilot, *keys)
            app.say("This was said.")
            await press(pilot, "escape")
            assert [note.message for note in app._notifications] == ["This was said."], keys
            assert not pane.line_list.selected
            assert not pane.filter_bar.is_open
            assert app.screen is app.main_screen
        assert len(app.screen.query(Toast)) == 1
        await press(pilot, "escape")
        assert not len(app._notifications)
        assert len(app.screen.query(Toast)) == 0
        await press(pilot, "escape")


@pytest.mark.parametrize("words", [1, 20, 60, 90])
async def test_long_messages_end_above_the_footer(workspace: Workspace, words: int) -> None:
    """However many lines a message takes, its last one is seen and the key hints stay free."""
    app = make_app(workspace)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle(pilot)
        app.say(" ".join(["words"] * words))
        await settle(pilot)
        toast = app.screen.query_one(Toast)
        assert toast.region.bottom <= 23


async def test_undo_says_where_a_change_was_made(workspace: Workspace) -> None:
    """One's own change on this screen needs no more words; one from a shell, or of before, says where and when."""
    add = partial(add_task, title="From a shell", now=NOW)
    workspace.change("tasks.add", lambda snapshot: add(snapshot), actor="cli", now=NOW - timedelta(minutes=20))
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "s", "u")
        assert "made" not in said(app)
        await press(pilot, "4", "u")
        assert said(app) == "Undo: added 'From a shell' in Tasks, made at the command line, 20 min ago"
        await press(pilot, "U")
        assert said(app).endswith("in Tasks")


async def test_undo_names_the_pane_of_a_fact(workspace: Workspace) -> None:
    """A fact that the command line stored is no file of the memory: its pane is found all the same."""
    store = workspace.system("facts").store
    store.store("Deploys run on Fridays", actor="cli", now=NOW - timedelta(minutes=20))
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "1", "u")
        assert said(app).endswith(" in Facts, made at the command line, 20 min ago")
