"""Pieces, columns, glyphs and themes: what stands where, how wide it is, and whether it can be read."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.color import Color

from memory.base.safe_text import visible
from tests.widgets.harness import HOSTILE, assert_safe
from widgets.text.fallback import CONSOLE_SIGNS, plain_text
from widgets.text.glyphs import ASCII, CONSOLE, UNICODE, Glyphs, glyphs_for
from widgets.text.styled_text import (
    Column,
    Columns,
    Piece,
    clip_line,
    line,
    line_text,
    line_width,
    wrap_line,
)
from widgets.text.theme import DARK, HIGH_CONTRAST, LIGHT, THEMES

TEXTS = st.one_of(st.sampled_from(sorted(HOSTILE.values())), st.text(max_size=40))
LINES = st.lists(st.builds(Piece, TEXTS, st.sampled_from(["plain", "alert"])), max_size=4).map(tuple)


@given(LINES, st.integers(0, 60))
def test_a_clipped_line_fits(content: tuple[Piece, ...], width: int) -> None:
    """A clipped line is never wider than asked, and a line that fits is not cut."""
    clipped = clip_line(content, width)
    assert line_width(clipped) <= width
    assert_safe(line_text(clipped))
    if len(line_text(content)) <= width and line_width(content) <= width:
        assert line_text(clipped) == line_text(content)


@given(LINES, st.integers(4, 60), st.integers(0, 10))
def test_wrapping_keeps_every_word(content: tuple[Piece, ...], width: int, indent: int) -> None:
    """Wrapped lines fit and hold the same characters, spaces aside."""
    rows = wrap_line(content, width, indent=indent)
    assert all(line_width(row) <= width for row in rows)
    joined = "".join(line_text(row) for row in rows)
    assert joined.replace(" ", "") == line_text(content).replace(" ", "")


@pytest.mark.parametrize("name", [name for name in HOSTILE if not name.startswith("long")])
def test_widths_agree_with_what_textual_counts(name: str) -> None:
    """Our columns and Textual's crops measure the same text the same."""
    text = visible(HOSTILE[name])
    assert line_width(line(text)) == cell_len(text)


COLUMNS = Columns(
    Column("badge", 6, importance=3),
    Column("title", minimum=10),
    Column("extra", 8, importance=1),
    Column("date", 6, align="right", importance=2),
)


@pytest.mark.parametrize(
    ("width", "names"),
    [
        (40, ["badge", "title", "extra", "date"]),
        (33, ["badge", "title", "extra", "date"]),
        (32, ["badge", "title", "date"]),
        (24, ["badge", "title", "date"]),
        (23, ["badge", "title"]),
        (16, ["title"]),
        (1, ["title"]),
    ],
)
def test_columns_go_by_importance(width: int, names: list[str]) -> None:
    """The least important column goes first, the title never."""
    fitted = COLUMNS.fit(width)
    assert [column.name for column, _ in fitted] == names
    assert sum(cells for _, cells in fitted) + len(fitted) - 1 == width


@given(st.fixed_dictionaries({"badge": TEXTS, "title": LINES, "date": TEXTS}), st.integers(0, 80))
def test_a_row_is_exactly_as_wide_as_the_list(cells: dict[str, object], width: int) -> None:
    """Whatever the cells hold, rows never push each other around."""
    assert line_width(COLUMNS.line(width, cells)) == width  # type: ignore[arg-type]


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_every_sign_has_its_width(glyphs: Glyphs) -> None:
    """Signs are one cell each, so that both sets lay out alike."""
    for part, signs in asdict(glyphs).items():
        for sign in signs if part != "name" else ():
            assert cell_len(sign) == 1, part
            assert glyphs is UNICODE or sign.isascii(), part


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [("utf-8", UNICODE), ("UTF8", UNICODE), ("UTF_8", UNICODE), ("ANSI_X3.4-1968", ASCII), ("", ASCII)],
)
def test_the_locale_chooses_the_signs(encoding: str, expected: Glyphs) -> None:
    """Only UTF-8 gets Unicode."""
    assert glyphs_for(encoding) is expected


def test_the_linux_console_gets_signs_of_its_fonts() -> None:
    """Straight corners instead of round ones, and no sign that the console would show as a block."""
    assert glyphs_for("utf-8", "linux") is CONSOLE
    assert plain_text("╭─ “all” tasks…╮", CONSOLE_SIGNS) == '┌─ "all" tas...┐'


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours, 1 to 21."""

    def luminance(name: str) -> float:
        parts = Color.parse(name).normalized
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_tone_can_be_read(theme: object) -> None:
    """Text reaches a contrast of 4.5 to 1 on each surface it stands on, 7 to 1 in the high-contrast theme."""
    assert theme in (DARK, LIGHT, HIGH_CONTRAST)
    colours = theme.to_color_system().generate()  # type: ignore[attr-defined]
    least = 7.0 if theme is HIGH_CONTRAST else 4.5
    for surface in ("background", "surface", "block-cursor-background", "block-cursor-blurred-background"):
        for tone in ("foreground", "foreground-muted", "accent", "secondary", "error", "warning", "success"):
            ratio = contrast(colours[tone], colours[surface])
            floor = least if surface == "background" else least * 0.8
            assert ratio >= floor, (tone, surface, round(ratio, 2))
