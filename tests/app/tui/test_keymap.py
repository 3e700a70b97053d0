"""The keys that a person chose: what is read, what is told about them, and that they are live everywhere."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.binding import Binding

import app.tui
import widgets
from app.tui.app import MemdeckApp
from app.tui.keys.every_key import PARTS, known_bindings, known_ids
from app.tui.keys.help import CommandScreen, key_rows
from app.tui.keys.user_keys import Keymap, key_of, parse_keymap, read_keymap
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, press, running, type_text
from tests.widgets.harness import screen_text
from widgets.chrome.jump import JumpScreen


def parse(text: str) -> Keymap:
    """A keymap from the text of a file."""
    return parse_keymap(text.encode(), "keys.toml", known_ids())


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("?", "question_mark"),
        ("Esc", "escape"),
        ("ctrl+S", "ctrl+s"),
        ("shift+a", "A"),
        ("A", "A"),
        ("+", "plus"),
        ("ctrl++", "ctrl+plus"),
        ("PgDn", "pagedown"),
        ("f12", "f12"),
        ("shift+ctrl+left", "ctrl+shift+left"),
        (" ", "space"),
        ("", None),
        ("ctrl+", None),
        ("f25", None),
        ("strg+s", None),
        ("ctrl+ctrl+s", None),
        ("\x1b", None),
    ],
)
def test_keys_are_written_as_people_know_them(written: str, name: str | None) -> None:
    """Characters, names and modifiers in any case; what is no key is refused."""
    assert key_of(written) == name


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('task.done = "f5"\ntask.dome = "f6"\n', 2, "did you mean task.done?"),
        ('[task]\n\ndone = "nokey"\n', 3, "there is no key 'nokey'"),
        ("task.done = 5\n", 1, "write a key"),
        ('task.done = ["a", 1]\n', 1, "write a key"),
        ('task.done = "f5"\nthis is no TOML\n', 2, "expected"),
        ('task.done = "f5', 1, ""),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int, words: str) -> None:
    """An entry that is wrong is left out and named by file and line."""
    problem = parse(text).problems[0]
    assert (problem.file, problem.line) == ("keys.toml", line)
    assert words in problem.message
    assert str(problem).startswith(f"keys.toml:{line}: ")


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_an_error(data: bytes) -> None:
    """Whatever stands in the file, there is a keymap, and every problem has words."""
    keymap = parse_keymap(data, "keys.toml", known_ids())
    assert all(problem.message for problem in keymap.problems)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """A folder, a huge file and one that is missing: no error, and the keys stay."""
    assert read_keymap(tmp_path) == Keymap()
    (tmp_path / "memdeck" / "keys.toml").mkdir(parents=True)
    assert "directory" in read_keymap(tmp_path).problems[0].message
    (tmp_path / "memdeck" / "keys.toml").rmdir()
    (tmp_path / "memdeck" / "keys.toml").write_bytes(b"#" * 70_000)
    assert "KB" in read_keymap(tmp_path).problems[0].message


def test_every_binding_is_known_once() -> None:
    """Each binding with an id in the two folders is in the list, under an id of its own."""
    ids = [known.id for known in known_bindings()]
    assert len(set(ids)) == len(ids)
    assert all(ids)
    found = set()
    for package in (app.tui, widgets):
        for module in walk_packages(package.__path__, package.__name__ + "."):
            for owner in vars(import_module(module.name)).values():
                if isinstance(owner, type) and owner.__module__.startswith(("app.", "widgets")):
                    own = owner.__dict__.get("BINDINGS", ())
                    found |= {binding.id for binding in own if isinstance(binding, Binding)}
    assert found == set(ids)
    assert len(PARTS) > 5


TAKEN = {
    "tmux": {"ctrl+b"},
    "screen": {"ctrl+a"},
    "zellij": {f"ctrl+{letter}" for letter in "gpnosthqb"} | {f"alt+{letter}" for letter in "nfhjkliop"},
    "wezterm": {f"ctrl+shift+{letter}" for letter in "cvntwprlufkzmhx"} | {"shift+pageup", "shift+pagedown"},
}
"""Keys that terminal multiplexers take by default."""


def test_no_key_of_ours_is_a_prefix_of_a_multiplexer() -> None:
    """With each program around the terminal, each binding has a key that arrives."""
    for known in known_bindings():
        for taken in TAKEN.values():
            assert not known.keys or set(known.keys) - taken, known.id


def titles(workspace: Workspace, section: str) -> list[str]:
    """The titles in a section as the files have them now."""
    return [task.title for task in workspace.snapshot().tasks.items if task.section == section]


async def test_chosen_keys_work_and_old_ones_do_not(workspace: Workspace) -> None:
    """The new key acts, the old one is none any more; exchanged keys do each other's work."""
    application = make_app(workspace, keymap=parse('task.start = "d"\ntask.done = "s"\napp.theme = "f9"'))
    async with running(application) as pilot:
        pending = titles(workspace, "pending")
        theme = application.theme
        await press(pilot, "f9", "j", "enter")
        assert application.theme != theme
        await press(pilot, "j", "d")
        assert pending[0] in titles(workspace, "in-progress")
    application = make_app(workspace, keymap=parse('task.start = "f5"'))
    async with running(application) as pilot:
        before = titles(workspace, "pending")
        await press(pilot, "s")
        assert titles(workspace, "pending") == before
        await press(pilot, "g", "g", "f5")
        assert len(titles(workspace, "pending")) == len(before) - 1


async def test_every_place_shows_the_live_keys(workspace: Workspace) -> None:
    """Footer, help, palette and the help of a part show what was chosen, and nothing for what has no key."""
    text = 'entry.add = "f5"\ntask.start = []\nlist.down = ["m", "down"]\nlist.go = "z"'
    application = make_app(workspace, keymap=parse(text))
    async with running(application) as pilot:
        footer = screen_text(application).splitlines()[-1]
        assert "f5 add" in footer
        assert "start" not in footer
        rows = {row.sentence: row.keys for row in key_rows(application.screen, application)}
        assert rows["Add an entry with a form"] == "f5"
        assert rows["Start the task"] == ""
        assert "unbound" not in rows.values()
        await press(pilot, "colon")
        assert isinstance(application.screen, CommandScreen)
        await type_text(pilot, "add an entry")
        assert "f5" in screen_text(application)
        await press(pilot, "escape", "question_mark")
        assert isinstance(application.screen, CommandScreen)
        await type_text(pilot, "next row")
        shown = screen_text(application)
        assert "m ↓" in shown
        await press(pilot, "escape")
        last = application.navigation.pane.line_list
        await press(pilot, "G", "z", "z")
        assert last.cursor == next(key for key in last.rows if type(key).__name__ == "RowKey")
        await press(pilot, "m", "z", "4")
        assert application.navigation.pane.pane_id == "knowledge"


# Jump mode


def label_of(application: MemdeckApp, words: str) -> str:
    """The label in front of some words on the screen."""
    screen = application.screen
    assert isinstance(screen, JumpScreen)
    lines = [strip.text for strip in application.main_screen._compositor.render_strips(application.size)]
    for label, place in screen._places.items():
        if not place.label and words in lines[place.y][place.x :]:
            return label
    raise AssertionError(words)


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 10)], ids=str)
async def test_a_label_leads_to_its_row(workspace: Workspace, size: tuple[int, int]) -> None:
    """`;` and a label put the cursor on that row; the labels are on the screen meanwhile."""
    application = make_app(workspace)
    async with running(application, size) as pilot:
        await press(pilot, "L")
        label = label_of(application, "LOW")
        assert label in screen_text(application)
        await type_text(pilot, label)
        assert application.screen is application.main_screen
        assert "README" in application.navigation.pane.current().title
        assert application.navigation.pane.line_list.has_focus


def test_a_workspace_chooses_no_keys(tmp_path: Path) -> None:
    """A file inside the workspace, by itself or through a link, is not read and told as a problem."""
    shop, away = tmp_path / "shop", tmp_path / "away"
    (shop / "conf" / "memdeck").mkdir(parents=True)
    assert read_keymap(shop / "conf", shop) == Keymap()
    (shop / "conf" / "memdeck" / "keys.toml").write_text('"app.quit" = "f5"\n')
    assert read_keymap(shop / "conf").rebound
    (away / "memdeck").mkdir(parents=True)
    (away / "memdeck" / "keys.toml").symlink_to(shop / "conf" / "memdeck" / "keys.toml")
    for folder in (shop / "conf", away):
        keymap = read_keymap(folder, shop)
        assert not keymap.rebound
        assert "in the workspace" in keymap.problems[0].message
    assert read_keymap(away, tmp_path / "other").rebound
