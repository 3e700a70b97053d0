"""Whether everything that the application draws can be read, in each theme that it offers for each depth of colour."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import NamedTuple

import pytest
from rich._palettes import EIGHT_BIT_PALETTE, STANDARD_PALETTE
from rich.color import ColorSystem
from rich.palette import Palette
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.theme import Theme

from app.demo.siblings import add_beside
from app.demo.workspace import demo_files
from app.tui.app import MemdeckApp
from memory.workspace import Workspace
from screenshots.make import NOW, tell
from tests.app.tui.tui_helpers import make_app, press, running, settle
from tests.pilots import quiet
from widgets.text.contrast import FAINT, TEXT, contrast
from widgets.text.depth import OWN, Depth, depth_of, offered
from widgets.text.fallback import numbered
from widgets.text.theme import palette

XTERM = """000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5
           7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff"""
VGA = """000000 aa0000 00aa00 aa5500 0000aa aa00aa 00aaaa aaaaaa
         555555 ff5555 55ff55 ffff55 5555ff ff55ff 55ffff ffffff"""
SOLARIZED = """073642 dc322f 859900 b58900 268bd2 d33682 2aa198 eee8d5
               002b36 cb4b16 586e75 657b83 839496 6c71c4 93a1a1 fdf6e3"""


def sixteen(text: str) -> Palette:
    """Sixteen colours of a terminal."""
    return Palette([tuple(bytes.fromhex(word)) for word in text.split()])  # type: ignore[misc]


USUAL = {"xterm": sixteen(XTERM), "VGA": sixteen(VGA), "Solarized": sixteen(SOLARIZED)}
"""What the owners of terminals of sixteen colours usually have."""

VIEWS: tuple[tuple[str, ...], ...] = (
    *((key,) for key in "123456789"),
    ("0", "j"),
    ("g", "f", "j"),
    ("g", "y", "j"),
    ("2", "b"),
    ("b", "c"),
    ("c", "slash", "a", "p"),
    ("escape", "space", "j", "v", "j"),
    ("escape", "e", "down", "down", "down"),
    ("escape", "x"),
    ("escape", "M"),
    ("escape", "question_mark"),
    ("escape", "colon"),
    ("escape", "ctrl+f", "d", "e"),
    ("escape", "g"),
    ("escape", "3", "c"),
    ("escape", "b"),
    ("escape", "s"),
)
"""Keys to one picture after the other."""

SIGNS = frozenset("─━│┃╭╮╰╯┌┐└┘├┤┬┴▁▂▃▄▅▆▇█▉▊▋▌▍▎▏░▒▓▪·○◐•▸▾")
"""What is a line, a bar, a cell of a map or a bullet, and no text."""


def story(folder: Path) -> Workspace:
    """A workspace in which there is something of everything."""
    workspace, _ = Workspace.init(
        folder / "shop", NOW, actor="cli", state_home=folder / "state", machine_zone=UTC, files=demo_files(NOW, UTC)
    )
    add_beside(workspace, NOW, actor="cli")
    tell(workspace)
    return workspace


ROLES = {
    "background": "background",
    "surface": "surface",
    "panel": "panel",
    "foreground": "foreground",
    "muted": "foreground-muted",
    "accent": "accent",
    "code": "secondary",
    "error": "error",
    "warning": "warning",
    "success": "success",
    "border": "border",
    "quiet": "border-blurred",
    "cursor": "block-cursor-background",
    "cursor_text": "block-cursor-foreground",
    "blurred": "block-cursor-blurred-background",
    "hover": "block-hover-background",
    "selected": "primary-muted",
    "flash": "accent-muted",
}
"""What each colour of a palette is called in a theme."""

FAINT_ROLES = {"muted", "border", "quiet"}

MARKED = {role: f"#{16 + 12 * place:02x}{place:02x}{255 - 12 * place:02x}" for place, role in enumerate(ROLES)}
"""A palette in which each colour tells what it is."""

GROUNDS = ("surface", "panel", "blurred", "hover", "selected", "background")
ROLE_OF = {Color.parse(colour).rgb: role for role, colour in MARKED.items()}


class Pair(NamedTuple):
    """What is written in one colour on another, by the names of a palette; `quiet`: it is muted, a line or a sign."""

    front: str
    back: str
    quiet: bool


def drawn(app: MemdeckApp) -> Iterator[Segment]:
    """The segments on the screen; what lies dimmed behind a dialog is not meant to be read."""
    strips = app.screen._compositor.render_strips(app.size)
    dialogs = [widget.region for widget in app.screen.query(".dialog")] if app.screen.is_modal else []
    for region in dialogs or [app.screen.region]:
        for y in region.line_range:
            yield from strips[y].crop(*region.column_span)


def pairs(app: MemdeckApp) -> dict[Pair, str]:
    """Each pair of colours that is drawn, with an example of what is written so."""
    found: dict[Pair, str] = {}
    for text, style, control in drawn(app):
        if control or style is None or not text.strip():
            continue
        front, back = (
            usual
            if colour is None
            else ROLE_OF.get(Color.from_rich_color(colour).rgb, f"{colour.name}, which is mixed")
            for colour, usual in ((style.color, "foreground"), (style.bgcolor, "background"))
        )
        quiet = front in FAINT_ROLES or not set(text) - SIGNS - {" "}
        if style.reverse:
            front, back = back, front
        found.setdefault(Pair(front, back, quiet), f"{app.screen}: {text.strip()!r}")
    return found


async def all_pairs(depth: Depth, folder: Path) -> dict[Pair, str]:
    """Go through all views."""
    app = make_app(story(folder), clock=lambda: NOW, depth=depth)
    # Of sixteen colours two make all grounds but the cursor's, and what is on a ground of its own is drawn otherwise.
    one = dict.fromkeys(GROUNDS, MARKED["background"]) if depth == "16" else {}
    app.register_theme(palette("markers", {**MARKED, **one}, dark=True))
    app.theme = "markers"
    found: dict[Pair, str] = {}
    async with running(app) as pilot:
        for keys in VIEWS:
            await press(pilot, *keys)
            found = {**pairs(app), **found}
        pane = app.navigation.pane
        assert pane is not None
        pane.line_list.flash(pane.line_list.rows)
        await quiet(app)
        return {**pairs(app), **found}


def colours_of(theme: Theme) -> dict[str, Color]:
    """The palette of a theme."""
    variables = theme.to_color_system().generate()
    return {role: Color.parse(variables[name]) for role, name in ROLES.items()}


def number(colour: Color, system: ColorSystem) -> int:
    """The number that Rich sends for a colour, which must not be rounded for it."""
    sent = numbered(Style(color=colour.rich_color)).color if system is ColorSystem.EIGHT_BIT else colour.rich_color
    found = sent and sent.downgrade(system).number
    assert found is not None
    colours = STANDARD_PALETTE if system is ColorSystem.STANDARD else EIGHT_BIT_PALETTE
    assert tuple(colours[found]) == colour.rgb, f"{colour.hex} is rounded"
    return found


def shown(theme: Theme, depth: Depth) -> Iterator[tuple[str, dict[str, Color]]]:
    """The palette of a theme as terminals of a depth show it, and on which."""
    colours = colours_of(theme)
    if depth == "16":
        numbers = {role: number(colour, ColorSystem.STANDARD) for role, colour in colours.items()}
        for name, usual in USUAL.items():
            assert len({numbers[role] for role in GROUNDS}) == 1
            yield f"{theme.name} on {name}", {role: Color(*usual[place]) for role, place in numbers.items()}
        return
    if depth == "256":
        assert all(number(colour, ColorSystem.EIGHT_BIT) >= 16 for colour in colours.values())
    yield theme.name, colours


@pytest.mark.parametrize("depth", ["truecolor", "256", "16"])
@pytest.mark.thorough(but=("256",))
async def test_everything_can_be_read(depth: Depth, tmp_path: Path) -> None:
    """Text reaches 4.5 to 1 and muted text and borders 3 to 1, in every view, theme and depth; no colour is rounded."""
    found = await all_pairs(depth, tmp_path)
    assert not [f"{pair} {where}" for pair, where in found.items() if not {pair.front, pair.back} <= ROLES.keys()]
    assert len(found) > 15
    faults = [
        f"{name}: {pair.front} on {pair.back} has {contrast(colours[pair.front], colours[pair.back]):.2f} in {where}"
        for theme in offered(depth)
        for name, colours in shown(theme, depth)
        for pair, where in found.items()
        if contrast(colours[pair.front], colours[pair.back]) < (FAINT if pair.quiet else TEXT)
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("depth", ["truecolor", "256", "16"])
@pytest.mark.thorough(but=("256",))
async def test_what_differs_in_meaning_differs_in_looks(depth: Depth, tmp_path: Path) -> None:
    """The cursor's row, what is overdue, a warning, muted text and plain text are each drawn in a way of their own."""
    app = make_app(story(tmp_path), clock=lambda: NOW, depth=depth)
    async with running(app) as pilot:
        for theme in OWN[depth]:
            app.theme = theme.name
            await settle(pilot)
            view = app.navigation.pane.line_list  # type: ignore[union-attr]
            styles = [
                view.tone_styles()["plain"],
                view.tone_styles("line-list--cursor")["plain"],
                *(view.tone_styles()[tone] for tone in ("muted", "warn", "alert")),
                view.tone_styles("line-list--cursor")["alert"],
            ]
            assert len({str(style) for style in styles}) == len(styles), theme.name


@pytest.mark.parametrize(
    ("environ", "depth"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "truecolor"),
        ({"TERM": "xterm-256color"}, "256"),
        ({"TERM": "tmux-256color"}, "256"),
        ({"TERM": "xterm"}, "16"),
        ({"TERM": "linux"}, "16"),
        ({}, "16"),
        ({"TERM": "xterm", "TEXTUAL_COLOR_SYSTEM": "256"}, "256"),
    ],
)
def test_the_terminal_says_how_many_colours_it_has(environ: dict[str, str], depth: Depth) -> None:
    """`COLORTERM` counts, then the end of `TERM`, and what Textual was told before both."""
    assert depth_of(environ) == depth
