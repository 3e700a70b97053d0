"""Small manners: cards and their keys, links with dates, the cursor after `d`, open months, keys that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.tui.keys.bindings import known_ids
from app.tui.keys.key_file import parse_keymap
from memory.base.problems import Problem
from memory.workspace import Workspace
from tests.app.tui.test_tui_footer import hints
from tests.app.tui.test_tui_keys import FIRST, current_title, section_of
from tests.app.tui.tui_helpers import NAMES, NOW, make_app, make_workspace, press, running, settle
from tests.widgets.harness import screen_text
from widgets.detail import Labelled
from widgets.panes.changes.detail import diff_lines
from widgets.panes.tasks.detail import joined
from widgets.text.glyphs import UNICODE
from widgets.text.markdown import render_markdown
from widgets.text.styled_text import line_text
from widgets.text.words import card_line


@pytest.mark.parametrize("size", [(160, 36), (120, 36), (80, 24)], ids=str)
async def test_angle_brackets_move_a_card_and_the_footer_says_so(workspace: Workspace, size: tuple[int, int]) -> None:
    """> starts the task of a card, < reopens it; both are named on the board, narrow or wide, and only there."""
    app = make_app(workspace)
    async with running(app, size) as pilot:
        assert "</> move" not in hints(app)
        await press(pilot, "b")
        assert "</> move" in hints(app)
        title = current_title(app)
        await press(pilot, NAMES[">"])
        assert section_of(workspace, title) == "in-progress"
        assert current_title(app) == title
        assert "</> move" in hints(app)
        await press(pilot, NAMES["<"])
        assert section_of(workspace, title) == "pending"


@pytest.mark.parametrize("width", range(6, 60))
async def test_a_card_says_its_priority_in_any_width(workspace: Workspace, width: int) -> None:
    """At least its first letter stands on the second line."""
    for task in workspace.snapshot().tasks.tasks:
        if task.priority:
            words = line_text(card_line(task, 1, width, NOW, workspace.zone, UNICODE))
            assert words.startswith(task.priority[:1])


async def test_after_done_the_next_key_takes_it_back(workspace: Workspace) -> None:
    """The cursor goes with the task that was finished, and r reopens it."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "d", "enter")
        assert section_of(workspace, FIRST) == "completed"
        assert current_title(app) == FIRST
        await press(pilot, "r")
        assert section_of(workspace, FIRST) == "pending"


@pytest.mark.parametrize("keys", [("j",), ("j", "b"), ("c",), ("3", "j"), ("space", "j", "space")])
async def test_undo_of_a_removal_goes_to_what_came_back(workspace: Workspace, keys: tuple[str, ...]) -> None:
    """The cursor stands on the entry again, wherever it went meanwhile; redo and undo find it once more."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, *keys)
        pane = app.navigation.pane
        assert pane is not None
        removed = pane.selected()[0]
        for again in (("x", "y"), ("U",)):
            await press(pilot, *again)
            assert pane.find(removed.ref) is None
            await press(pilot, "home", "u")
            assert pane.current() == pane.find(removed.ref) is not None


async def test_undo_of_another_change_leaves_the_cursor(workspace: Workspace) -> None:
    """Where nothing comes back there is nowhere to go."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "s", "j", "j")
        before = current_title(app)
        await press(pilot, "u")
        assert current_title(app) == before


LINKED = {
    "tasks.md": "## Pending\n\n### [LOW] Ship it\n- assigned: Bob\n- plan: none\n",
    "journal.md": '# Journal\n\n## 2024-01-14\n\n### 09:30 - Noted\nAbout "Ship it".\n',
    "contacts.md": "## People\n\n- **Bob** (Ops): by mail\n",
}


async def test_links_carry_dates_and_repeat_no_field(tmp_path: Path) -> None:
    """The entry of the journal has its day beside it; who does the task is followed from the field itself."""
    app = make_app(make_workspace(tmp_path, LINKED))
    async with running(app) as pilot:
        pane = app.navigation.pane
        assert pane is not None
        pane.linking.find()
        await settle(pilot)
        detail = pane.detail_view
        assert [(link.label, link.text, link.when) for link in detail.links] == [
            ("assigned", "Bob", ""),
            ("journal", "Noted", "14 Jan 09:30"),
        ]
        assert not [part for part in detail._lines if isinstance(part, Labelled) and part.label == "assigned"]
        assert "Noted  14 Jan 09:30" in screen_text(app)


ARCHIVE = "# Archive\n\n## Completed\n\n### [LOW] Old {0}\n- created: 2023-01-01\n- completed: 2023-0{0}-02\n"


async def test_an_open_month_stays_open_when_a_newer_one_comes(tmp_path: Path) -> None:
    """What maintenance archives into a new month folds nothing that was open."""
    shop = make_workspace(tmp_path, {"archive/tasks-2023-01.md": ARCHIVE.format(1)})
    app = make_app(shop, pane="archive")
    async with running(app) as pilot:
        assert "Old 1" in screen_text(app)
        (shop.memory / "archive/tasks-2023-02.md").write_text(ARCHIVE.format(2))
        app.refresher.request()
        await settle(pilot)
        assert "Old 2" in screen_text(app)
        assert "Old 1" in screen_text(app)


async def test_all_that_is_wrong_with_the_keys_is_said_with_its_line(workspace: Workspace) -> None:
    """Each error names the key and the line, all at once."""
    text = b'task.done = "f99"\ntask.strt = "s"\napp.help = ["hyper+foo", "nope"]\n'
    keymap = parse_keymap(text, "/home/me/keys.toml", known_ids())
    app = make_app(workspace, keymap=keymap)
    async with running(app):
        notes = [note for note in app._notifications if "keys.toml" in note.title]
        assert len(notes) == 1
        for words in (
            "line 1: task.done: there is no key 'f99'",
            "line 2: nothing is called 'task.strt'",
            "line 3: app.help: there is no key 'hyper+foo' and no 'nope'",
        ):
            assert words in notes[0].message


def test_removed_lines_are_red() -> None:
    """What went is in the tone of an alert, what came in that of what is well."""
    tones = [line_of[0].tone for line_of in diff_lines(["-gone", "+new", " same"])]
    assert tones == ["alert", "good", "muted"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one line\nthat goes on", "one line that goes on"),
        ("one\n\ntwo", "one\n\ntwo"),
        ("a list:\n- one\n- two\n  more", "a list:\n- one\n- two more"),
        ("1. one\n2. two", "1. one\n2. two"),
    ],
)
def test_notes_join_soft_line_breaks(text: str, expected: str) -> None:
    """A line that only goes on is no line of its own; lists and paragraphs stay."""
    assert joined(text) == expected


def test_prose_joins_soft_line_breaks_but_labels() -> None:
    """Lines of a paragraph flow together; `Status: done` begins a line of its own."""
    flows = render_markdown("one line\nthat goes on\nStatus: done\n**Command**: none")
    assert [line_text(flow.content) for flow in flows] == ["one line that goes on", "Status: done", "Command: none"]


def test_a_problem_says_bytes_as_the_application_does() -> None:
    """A byte that is no UTF-8 is `\\xe9` in a quoted title too, and what only looks like one stays."""
    assert Problem("note", "tasks.md", 1, "x", f"{'caf' + chr(0xDCE9)!r}").message == "'caf\\xe9'"
    literal = repr("\\udce9")
    assert Problem("note", "tasks.md", 1, "x", literal).message == literal
