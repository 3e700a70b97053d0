"""Keys typed before what an earlier key opens is there: they reach it in their order, Esc as well, or nothing opens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from textual.events import Key, Paste

from app.tui.app import MemdeckApp
from app.tui.keys.type_ahead import EscapeParser, apart
from app.tui.keys.user_keys import Keymap
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot
from memory.files.tasks.edits import edit_task
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running, send, settle
from tests.patience import PATIENCE
from widgets.input.form import Form


@contextmanager
def writing(app: MemdeckApp) -> Iterator[None]:
    """Have a change of the last task written in a worker until the end of the block."""
    goes_on = threading.Event()

    def build(snapshot: Snapshot) -> Edit:
        assert goes_on.wait(PATIENCE)
        return edit_task(snapshot, snapshot.tasks.items[-1].ref, set={"assigned": "Bob"}, now=NOW)

    app.change("test", build)
    try:
        yield
    finally:
        goes_on.set()


@pytest.mark.parametrize("keys", [("e", "escape"), ("e", "e", "escape", "y")])
async def test_escape_leaves_a_form_that_is_not_there_yet(workspace: Workspace, keys: tuple[str, ...]) -> None:
    """Keys come while a change before the form is still written: those up to Esc are the form's, `j` is the list's."""
    app = make_app(workspace)
    async with running(app) as pilot:
        before = app.pane.line_list.position
        with writing(app):
            for key in (*keys, "j"):
                send(pilot, key)
            await pilot.pause()
            assert app.screen is app.main_screen
            assert app.pane.line_list.position == before
        await settle(pilot)
        assert app.screen is app.main_screen
        assert app.pane.line_list.position == before + 1


async def test_a_paste_comes_behind_the_keys_before_it(workspace: Workspace) -> None:
    """What is typed and pasted into a form that is not there yet is in it in its order."""
    app = make_app(workspace)
    async with running(app) as pilot:
        for key in ("a", "n", "o", "w"):
            send(pilot, key)
        app.post_message(Paste("here"))
        send(pilot, "x")
        await settle(pilot)
        assert isinstance(app.screen, Form)
        assert app.screen.values()["title"] == "nowherex"


async def test_escape_leaves_a_dialog_whose_content_is_still_looked_for(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is archived is found in a worker: what is typed meanwhile is for its dialog, and behind it."""
    goes_on = threading.Event()
    shown: list[object] = []

    def late(screen: object, *arguments: object, **options: object) -> object:
        shown.append(screen)
        return push(screen, *arguments, **options)

    def held(work: Callable[[], object], *arguments: object, **options: object) -> None:
        def waits() -> object:
            assert goes_on.wait(PATIENCE)
            return work()

        run(waits, *arguments, **options)  # type: ignore[arg-type]

    app = make_app(workspace)
    async with running(app) as pilot:
        run, push = app.find, app.push_screen
        monkeypatch.setattr(app, "push_screen", late)
        monkeypatch.setattr(app, "find", held)
        before = app.pane.line_list.position
        for key in ("A", "j", "escape", "j"):
            send(pilot, key)
        await pilot.pause()
        assert not shown
        assert app.pane.line_list.position == before
        goes_on.set()
        await settle(pilot)
        assert shown
        assert app.screen is app.main_screen
        assert app.pane.line_list.position == before + 1


@pytest.mark.parametrize("after", ["d", "D", "3", "/", "?", ":", " ", "\r", "\x13", "é", "dj", "d\x1bj", ":\x1b/\x1b3"])
def test_escape_is_read_also_with_the_next_key_at_once(after: str) -> None:
    """What a busy machine reads at once is Esc and the keys behind it, or with a letter what `apart` takes apart."""
    parser = EscapeParser()
    read = [*parser.feed(f"\x1b{after}"), *parser.feed("")]
    keys = [key for key in read if isinstance(key, Key)]
    found = [one.character for key in keys for one in apart(key) or (key,)]
    assert found == ["\x1b", *after]


async def test_alt_and_a_letter_is_escape_and_the_letter_unless_it_means_something(workspace: Workspace) -> None:
    """Alt+j behind `e` leaves the form and goes to the next entry; a person may have given it to an action."""
    for keymap, leads in ((Keymap(), False), (Keymap({"app.help": ("alt+j",)}), True)):
        app = make_app(workspace, keymap=keymap)
        async with running(app) as pilot:
            before = app.pane.line_list.position
            send(pilot, "e")
            app.post_message(Key("alt+j", "j"))
            await settle(pilot)
            assert isinstance(app.screen, Form) == leads
            assert app.pane.line_list.position == before + (not leads)


async def test_lines_pasted_into_the_list_become_tasks(workspace: Workspace) -> None:
    """Several lines ask what they are; one line opens quick add with it."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        for text, key in (("- Water the plants\r* Feed the cat\r- [ ] Buy stamps\r", "t"), ("Call Bob", "enter")):
            app.post_message(Paste(text))
            await settle(pilot)
            await press(pilot, key)
        titles = {task.title for task in workspace.snapshot().tasks}
        assert {"Water the plants", "Feed the cat", "Buy stamps", "Call Bob"} <= titles
