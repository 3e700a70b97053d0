"""How each pane looks over the sample workspace, wide, usual and small; `--snapshot-update` takes new pictures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from app.tui.app import MemdeckApp
from screenshots.make import CONFLICT, SMALL, USUAL, WIDE, Picture, application, press, rest, settle
from tests.app.tui.curated_memories import curated_workspace
from tests.app.tui.projects import project
from tests.app.tui.tui_helpers import NAMES, NOW, jobs_done, make_app
from tests.app.tui.watched import watched_workspace
from widgets.panes import panes_for
from widgets.text.glyphs import ASCII, UNICODE, Glyphs

SIZES = {"wide": WIDE, "usual": USUAL, "small": SMALL}
LOOKS = [
    *(Picture(f"{pane.id}-{name}", pane.id, size) for pane in panes_for(()) for name, size in SIZES.items()),
    Picture("detail-small", "tasks", SMALL, ("enter",)),
    Picture("form", "tasks", WIDE, ("e",)),
    Picture("form-small", "tasks", SMALL, ("e",)),
    Picture("maintain", "tasks", WIDE, ("M",)),
    Picture("help", "tasks", WIDE, ("question_mark",)),
    Picture("palette", "tasks", USUAL, ("colon", "a", "r", "c")),
    *(Picture(f"search-{name}", "tasks", size, ("ctrl+f", *"redis")) for name, size in SIZES.items()),
    Picture("search-typo", "tasks", USUAL, ("ctrl+f", *"deplyo")),
    Picture("search-start", "tasks", USUAL, ("ctrl+f",)),
    Picture("search-light", "tasks", WIDE, ("ctrl+f", *"deploy"), theme="memdeck-light"),
    Picture("filter", "tasks", USUAL, ("slash", "a", "p", "i")),
    Picture("changed", "tasks", WIDE, ("s", "0")),
    *(Picture(f"board-{name}", "tasks", size, ("b",)) for name, size in SIZES.items()),
    *(Picture(f"calendar-{name}", "tasks", size, ("c",)) for name, size in SIZES.items()),
    *(Picture(f"year-{name}", "journal", size, ("c",)) for name, size in SIZES.items()),
    Picture("knowledge-twice", "knowledge", WIDE, ("j",) * 7),
    Picture("knowledge-stale", "knowledge", USUAL, ("slash", *"is:stale", "enter", "G")),
    Picture("plan-small", "plans", SMALL, ("g", "g", "enter", "G")),
    Picture("contacts-person", "contacts", WIDE, ("G",)),
    Picture("contacts-person-small", "contacts", SMALL, ("G", "enter")),
    Picture("why", "tasks", USUAL, ("W",)),
    Picture("arrange", "tasks", WIDE, ("z",)),
    *(Picture(f"conflict-{name}", "tasks", size, CONFLICT, story=True) for name, size in SIZES.items()),
    Picture("conflict-chosen", "tasks", WIDE, (*CONFLICT, "m", "t"), story=True),
    Picture("history-wide", "tasks", WIDE, ("H",), story=True),
    Picture("history-small", "tasks", SMALL, ("H",), story=True),
    Picture("log", "tasks", WIDE, ("0", "j"), story=True),
    Picture("take-back-wide", "tasks", WIDE, ("0", "j", "X"), story=True),
    Picture("take-back-small", "tasks", SMALL, ("0", "j", "X"), story=True),
    Picture("refused", "tasks", USUAL, ("0", "j", "j", "j", "X"), story=True),
    Picture("gone-usual", "tasks", USUAL, ("e", "end", "!", "@remove", "ctrl+s")),
    Picture("gone-small", "tasks", SMALL, ("e", "end", "!", "@remove", "ctrl+s")),
    Picture("kept", "tasks", WIDE, ("e", "end", "!", "@remove", "ctrl+s", "k", "1")),
    *(Picture(f"{pane.id}-light", pane.id, USUAL, theme="memdeck-light") for pane in panes_for(())),
    *(Picture(f"{pane.id}-plain", pane.id, USUAL, plain=True) for pane in panes_for(())),
    Picture("light", "tasks", WIDE, theme="memdeck-light"),
    Picture("high-contrast", "tasks", WIDE, theme="memdeck-high-contrast"),
]


def _sample() -> tuple[str, ...]:
    """Return one picture of those that come of the same keys in a pane, in another size or look from pane to pane."""
    alike: dict[object, list[str]] = {}
    for look in LOOKS:
        alike.setdefault((look.pane, look.keys, look.story), []).append(look.name)
    return tuple(names[number % len(names)] for number, names in enumerate(alike.values()))


WATCHED: dict[str, tuple[tuple[int, int], str, Glyphs]] = {
    "wide": (WIDE, "", UNICODE),
    "wide-silenced": (WIDE, "j", UNICODE),
    "wide-blocked": (WIDE, "jjjj", UNICODE),
    "wide-ascii": (WIDE, "j", ASCII),
    "usual": (USUAL, "jj", UNICODE),
    "small": (SMALL, "", UNICODE),
}


@pytest.mark.parametrize("name", WATCHED)
@pytest.mark.thorough(but=("wide-silenced", "wide-ascii", "small"))
def test_watched(name: str, snap_compare: Callable[..., bool], tmp_path: Path) -> None:
    """Monitors with a history: alerts, mutes, outages and latency at every size, with signs and without colours too."""
    size, keys, glyphs = WATCHED[name]
    app = make_app(
        watched_workspace(tmp_path), pane="monitors", glyphs=glyphs, environ={"HOME": str(tmp_path), "LANG": "C.UTF-8"}
    )
    app.animation_level = "none"

    async def press(pilot: Pilot[MemdeckApp]) -> None:
        await rest(pilot.app, pilot)
        for key in keys:
            await pilot.press(key)
            await rest(pilot.app, pilot)

    assert snap_compare(app, terminal_size=size, run_before=press)


STATE: dict[str, tuple[tuple[int, int], tuple[str, ...], Glyphs]] = {
    "wide": (WIDE, ("j",) * 4, UNICODE),
    "wide-recall": (WIDE, ("n",), UNICODE),
    "wide-compare": (WIDE, ("slash", *"part:checkpoints", "enter", "space", "j", "space", "equals_sign"), UNICODE),
    "wide-checked": (WIDE, ("exclamation_mark",), UNICODE),
    "wide-backlog": (WIDE, ("slash", *"part:backlog", "enter"), ASCII),
    "wide-part": (WIDE, ("percent_sign",), UNICODE),
    "wide-answer": (WIDE, ("quotation_mark", *"what is next", "enter"), UNICODE),
    "usual": (USUAL, (), UNICODE),
    "usual-recall": (USUAL, ("n",), UNICODE),
    "small": (SMALL, (), UNICODE),
    "small-recall": (SMALL, ("n", "j", "j", "j", "j"), UNICODE),
    "small-part": (SMALL, ("percent_sign",), UNICODE),
}


@pytest.mark.parametrize("name", STATE)
@pytest.mark.thorough(but=("wide-compare", "wide-checked", "wide-backlog", "wide-answer", "usual-recall", "small-part"))
def test_project_state(name: str, snap_compare: Callable[..., bool], tmp_path: Path) -> None:
    """The state of a project at every size: its outline, a recall before it is applied, two checkpoints, findings."""
    size, keys, glyphs = STATE[name]
    # The words of a failure have a path in them that is another one each time.
    shop = project(tmp_path, fails=name != "wide-checked")
    if name == "wide-checked":
        with open(shop.path("docs/agent-memory/gotchas.md"), "a") as file:
            file.write("- a trap that somebody wrote by hand\n")
    app = make_app(
        shop.workspace,
        clock=lambda: shop.at,
        pane="state",
        glyphs=glyphs,
        environ={"HOME": str(tmp_path), "LANG": "C.UTF-8"},
    )
    app.animation_level = "none"

    async def press(pilot: Pilot[MemdeckApp]) -> None:
        await settle(pilot.app, pilot)
        for key in keys:
            await pilot.press(NAMES.get(key, key))
            await jobs_done(pilot)
            await settle(pilot.app, pilot)
            await rest(pilot.app, pilot)
        pilot.app.clear_notifications()
        await rest(pilot.app, pilot)

    assert snap_compare(app, terminal_size=size, run_before=press)


CURATED: dict[str, tuple[tuple[int, int], tuple[str, ...], Glyphs]] = {
    "wide": (WIDE, ("j",) * 4, UNICODE),
    "wide-decisions": (WIDE, ("slash", *"part:decisions", "enter", "j", "j", "j"), UNICODE),
    "wide-dreams": (WIDE, ("slash", *"part:dreams", "enter"), UNICODE),
    "wide-search": (WIDE, ("j", "j", "j", "j", "comma", *"which days may relaeses go out", "enter"), UNICODE),
    "wide-ascii": (WIDE, ("j",) * 4, ASCII),
    "usual": (USUAL, ("j",) * 5, UNICODE),
    "small": (SMALL, ("j", "j"), UNICODE),
}


@pytest.mark.parametrize("name", CURATED)
@pytest.mark.thorough(but=("wide-decisions", "wide-search", "wide-ascii", "small"))
def test_curated_memory(name: str, snap_compare: Callable[..., bool], tmp_path: Path) -> None:
    """Curated memories at every size: what hides what, a decision with its rules, gates, the terms of a search."""
    size, keys, glyphs = CURATED[name]
    environ = {"HOME": str(tmp_path), "LANG": "C.UTF-8"}
    app = make_app(curated_workspace(tmp_path, NOW), pane="curated", glyphs=glyphs, environ=environ)
    app.animation_level = "none"

    async def press(pilot: Pilot[MemdeckApp]) -> None:
        await settle(pilot.app, pilot)
        for key in keys:
            await pilot.press(NAMES.get(key, key))
            await settle(pilot.app, pilot)
            await rest(pilot.app, pilot)
        pilot.app.clear_notifications()
        await rest(pilot.app, pilot)

    assert snap_compare(app, terminal_size=size, run_before=press)


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.name)
@pytest.mark.thorough(but=_sample())
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
