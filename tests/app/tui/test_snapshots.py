"""How each pane looks over the sample workspace, wide, usual and small; `--snapshot-update` takes new pictures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from app.tui.app import MemdeckApp
from screenshots.make import CONFLICT, SMALL, USUAL, WIDE, Picture, application, press, rest, settle
from tests.app.tui.curated_memories import curated_workspace
from tests.app.tui.projects import project
from tests.app.tui.tui_helpers import NAMES, NOW, make_app
from tests.app.tui.watched import watched_workspace
from widgets.panes import panes_for

SIZES = {"wide": WIDE, "usual": USUAL, "small": SMALL}
LOOKS = [
    *(Picture(f"{pane.id}-usual", pane.id, USUAL) for pane in panes_for(())),
    *(Picture(f"{pane}-wide", pane, WIDE) for pane in ("brief", "tasks", "journal")),
    *(Picture(f"{pane}-small", pane, SMALL) for pane in ("brief", "tasks", "journal")),
    Picture("form", "tasks", WIDE, ("e",)),
    Picture("form-small", "tasks", SMALL, ("e",)),
    Picture("help", "tasks", USUAL, ("question_mark",)),
    Picture("palette", "tasks", USUAL, ("colon", "a", "r", "c")),
    Picture("search", "tasks", WIDE, ("ctrl+f", *"redis")),
    Picture("filter", "tasks", USUAL, ("slash", "a", "p", "i")),
    Picture("board", "tasks", WIDE, ("b",)),
    Picture("calendar", "tasks", WIDE, ("c",)),
    Picture("year", "journal", USUAL, ("c",)),
    Picture("maintain", "tasks", WIDE, ("M",)),
    Picture("conflict", "tasks", WIDE, (*CONFLICT, "m", "t"), story=True),
    Picture("history", "tasks", WIDE, ("j", "j", "H", "j"), story=True),
    Picture("take-back", "tasks", WIDE, ("0", "j", "X"), story=True),
    Picture("gone", "tasks", USUAL, ("j", "j", "e", "end", "!", "@remove", "ctrl+s")),
    Picture("brief-light", "brief", USUAL, theme="memdeck-light"),
    Picture("tasks-plain", "tasks", USUAL, plain=True),
    Picture("high-contrast", "tasks", WIDE, theme="memdeck-high-contrast"),
]


def _rested(*keys: str) -> Callable[[Pilot[MemdeckApp]], Awaitable[None]]:
    """Return what presses keys and waits until nothing moves any more."""

    async def do(pilot: Pilot[MemdeckApp]) -> None:
        await settle(pilot.app, pilot)
        for key in keys:
            await pilot.press(NAMES.get(key, key))
            await settle(pilot.app, pilot)
            await rest(pilot.app, pilot)
        pilot.app.clear_notifications()
        await rest(pilot.app, pilot)

    return do


def test_watched(snap_compare: Callable[..., bool], tmp_path: Path) -> None:
    """Monitors with a history: alerts, mutes, outages and latency."""
    environ = {"HOME": str(tmp_path), "LANG": "C.UTF-8"}
    app = make_app(watched_workspace(tmp_path), pane="monitors", environ=environ)
    app.animation_level = "none"
    assert snap_compare(app, terminal_size=WIDE, run_before=_rested())


@pytest.mark.parametrize("size", ["wide", "small"])
def test_project_state(size: str, snap_compare: Callable[..., bool], tmp_path: Path) -> None:
    """The state of a project as a tab of "Agent memory"."""
    shop = project(tmp_path)
    environ = {"HOME": str(tmp_path), "LANG": "C.UTF-8"}
    app = make_app(shop.workspace, clock=lambda: shop.at, pane="state", environ=environ)
    app.animation_level = "none"
    assert snap_compare(app, terminal_size=SIZES[size], run_before=_rested())


def test_curated_memory(snap_compare: Callable[..., bool], tmp_path: Path) -> None:
    """Curated memories by scope, and those that another one overrides."""
    environ = {"HOME": str(tmp_path), "LANG": "C.UTF-8"}
    app = make_app(curated_workspace(tmp_path, NOW), pane="curated", environ=environ)
    app.animation_level = "none"
    assert snap_compare(app, terminal_size=WIDE, run_before=_rested("j", "j"))


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.name)
def test_look(look: Picture, snap_compare: Callable[..., bool], tmp_path: Path) -> None:
    """The picture is the one that was looked at and found good."""

    async def do(pilot: Pilot[MemdeckApp]) -> None:
        await rest(pilot.app, pilot)
        for key in look.keys:
            await press(pilot.app, pilot, key)

    assert snap_compare(application(look, tmp_path), terminal_size=look.size, run_before=do)


@pytest.mark.parametrize("name", ["form-small", "filter"])
async def test_a_picture_has_its_cursor(name: str, tmp_path: Path) -> None:
    """What has the focus shows its cursor and blinks no more, however long its picture takes."""
    (look,) = (look for look in LOOKS if look.name == name)
    app = application(look, tmp_path)
    async with app.run_test(size=look.size) as pilot:
        await rest(app, pilot)
        for key in look.keys:
            await press(app, pilot, key)
        focused = app.focused
        assert isinstance(focused, Input)
        assert focused._blink_timer is not None
        assert not focused._blink_timer._active.is_set()
        assert focused._cursor_visible
