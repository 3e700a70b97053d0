"""The application lets go of what it showed before, however often files change and panes, forms and dialogs open."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter

import pytest
from textual._styles_cache import StylesCache
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import TextArea
from textual.widgets._toast import Toast

from memory.document import Document
from memory.files.snapshot import Snapshot
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, press, running, settle
from widgets.pane.rows import RowKey

KINDS = (Document, Snapshot, RowKey, Widget, Screen, StylesCache, TextArea)
OPENED = ("colon", "question_mark", "slash", "ctrl+f", "H", "x", "e", "V", "z")
"""Palette, help, filter, search, history, a question, a form of an entry, saved views, the order."""


def live(*kinds: type) -> dict[str, int]:
    """How many objects of some kinds there are."""
    found = Counter(kind.__name__ for one in gc.get_objects() for kind in kinds if isinstance(one, kind))
    return {kind.__name__: found[kind.__name__] for kind in kinds}


async def _edit(pilot: Pilot[int], workspace: Workspace, number: int) -> None:
    """Another program gives tasks and entries other titles."""
    for name, before, after in (
        ("tasks.md", "Deploy v", f"Deploy {number} v"),
        ("journal.md", "### 10:15", f"### 10:{number % 60:02}"),
    ):
        path = workspace.memory / name
        text = workspace.snapshot().document(name).dump().decode()
        path.write_text(text.replace(before, after, 1))
    app = pilot.app
    app.refresher.files_changed(frozenset({"tasks.md", "journal.md"}))  # type: ignore[attr-defined]
    await settle(pilot)


async def test_a_document_goes_with_the_next_look(workspace: Workspace) -> None:
    """Without any look for garbage, no older document, snapshot or row stays behind changes from outside."""
    app = make_app(workspace)
    async with running(app) as pilot:
        gc.collect()
        gc.disable()
        try:
            for number in range(4):
                await _edit(pilot, workspace, number)
            before = live(Document, RowKey)
            for number in range(4, 16):
                await _edit(pilot, workspace, number)
            after = live(Document, RowKey)
        finally:
            gc.enable()
    assert after["Document"] <= before["Document"] + 3, (before, after)
    assert after["RowKey"] <= before["RowKey"] + 3, (before, after)


async def test_what_was_said_goes_with_what_is_said_next(workspace: Workspace) -> None:
    """However much is said, on a pane or on a dialog, no more widgets stay than those of the last message."""
    app = make_app(workspace)
    async with running(app, says=True) as pilot:

        async def talk(times: int) -> tuple[int, int, int]:
            """How many messages and widgets are on the screen then, and how many tasks run: each widget is one."""
            for number in range(times):
                app.say(f"The task {number} was started.")
                await settle(pilot)
            return len(app.screen.query(Toast)), len(app.screen.query()), len(asyncio.all_tasks())

        before = await talk(3)
        after = await talk(20)
        await press(pilot, "colon")
        dialog_before = await talk(3)
        dialog_after = await talk(20)
        await press(pilot, "escape")
        back = await talk(1)
    assert before[:2] == after[:2] == back[:2]
    assert before[0] == dialog_before[0] == 1
    assert dialog_before[:2] == dialog_after[:2]
    # What was just taken away may still be under way.
    assert max(after[2], back[2]) <= before[2] + 4, (before, after, back)
    assert dialog_after[2] <= dialog_before[2] + 4, (dialog_before, dialog_after)


@pytest.mark.thorough
async def test_nothing_grows_with_what_is_opened_and_left(workspace: Workspace) -> None:
    """Changes from outside and one's own, all panes, forms, dialogs, search and history leave nothing behind."""
    app = make_app(workspace)
    async with running(app, says=True) as pilot:

        async def turn(number: int) -> None:
            await _edit(pilot, workspace, number)
            await press(pilot, "2", "s", "u")
            for pane in "1234567890":
                # A form there, and an entry.
                await press(pilot, pane, "a", "escape", "enter", "escape")
            for opened in OPENED:
                await press(pilot, "2", opened)
                assert opened == "slash" or len(app.screen_stack) == 2, opened
                await press(pilot, "escape")
                assert len(app.screen_stack) == 1, opened

        for number in range(2):
            await turn(number)
        gc.collect()
        before = live(*KINDS)
        for number in range(2, 5):
            await turn(number)
        gc.collect()
        after = live(*KINDS)
    # What is under way differs by a toast or a row; three turns leave far more behind where anything stays.
    assert all(after[name] <= before[name] * 1.1 + 3 for name in before), (before, after)
    # Of these none may stay: each turn opens two.
    assert after["TextArea"] <= before["TextArea"] + 1, (before, after)
