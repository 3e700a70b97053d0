"""The application says where a person is, what cannot be done, and never stands still over odd content."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest
from rich.style import Style

from app.tui.app import MemdeckApp
from app.tui.launch import terminal_encoding
from memory.files.tasks.operations import add_task
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running
from widgets.text.glyphs import ASCII, UNICODE, glyphs_for


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
    """No cell has a colour or is faint; what is overdue and the chosen answer are in reverse."""
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
        shown = {text.strip(): style.reverse for text, style in cells() if text.strip() in ("Remove", "Keep")}
        assert shown == {"Remove": None, "Keep": True}


async def test_undo_says_where_a_change_was_made(workspace: Workspace) -> None:
    """One's own change on this screen needs no more words; one from a shell, or of before, says where and when."""
    add = partial(add_task, title="From a shell", now=NOW)
    workspace.change("tasks.add", lambda snapshot: add(snapshot), actor="cli", now=NOW - timedelta(minutes=20))
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "s", "u")
        assert "made" not in said(app)
        await press(pilot, "4", "u")
        assert said(app) == "Undid: added 'From a shell' in Tasks, made at the command line, 20 min ago"
        await press(pilot, "U")
        assert said(app).endswith("in Tasks")
