"""Text made safe for the screen, and its width in cells."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from memory.base.safe_text import _JOINER, _SUSPECT, cell_width, clip, fit, pad, plural, visible

ANY = st.text(alphabet=st.characters(exclude_categories=()), max_size=40)
PICTURES = st.lists(
    st.sampled_from([*"ab#1 ", "é", "e\u0301", "中", "👍🏽", "👨‍👩‍👧", "❤️", "1️⃣", "🇩🇪", "\u200d", "\ufe0f", "한", "…"]),
    max_size=12,
).map("".join)
STEERING = {
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2060\ufeff",
    *"\u115f\u1160\u3164\uffa0\u17b4\u17b5\u180e",
    *map(chr, range(0xD800, 0xE000)),
    *map(chr, range(0xE0000, 0xE0080)),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain [/nope] text", "plain [/nope] text"),
        ("\x1b]52;c;aGk=\x07", r"\x1b]52;c;aGk=\x07"),
        ("a\x00b\x7f", r"a\x00b\x7f"),
        ("a\rb", r"a\x0db"),
        ("a\u200bb\ufeffc\u2028d", r"a\u200bb\ufeffc\u2028d"),
        ("a\u3164b\uffa0", r"a\u3164b\uffa0"),
        ("\ud800", r"\ud800"),
        ("a\u200db 中\u200d", r"a\u200db 中\u200d"),
    ],
)
def test_visible(text: str, expected: str) -> None:
    """What steers a terminal or hides is shown as an escape; emoji, accents and markup stay."""
    assert expected == visible(text)


def test_visible_keeps_lines_where_asked() -> None:
    """With newlines every line end is one line feed and a tab is four spaces."""
    assert visible("a\nb\r\nc\rd\te\x1b", newlines=True) == "a\nb\nc\nd    e\\x1b"


@given(ANY, st.booleans())
def test_nothing_that_steers_gets_through(text: str, newlines: bool) -> None:
    """No control, bidirectional or invisible character comes out, and a second time changes nothing."""
    shown = visible(text, newlines=newlines)
    assert not (set(shown) & (STEERING - ({"\n"} if newlines else set())))
    assert shown == visible(shown, newlines=newlines)


def test_every_hidden_character_is_seen_without_its_neighbours() -> None:
    """What looks printable to Python is found like all others: in a text of one character, no other one helps."""
    hidden = [code for code in range(0x110000) if re.match(_SUSPECT, chr(code)) and chr(code) != _JOINER]
    assert len(hidden) > 2_000
    assert [hex(code) for code in hidden if visible(chr(code)) == chr(code)] == []
    shown = "\u115f\u1160\u3164\uffa0\u17b4\u17b5"
    assert [one for one in map(chr, hidden) if one.isprintable()] == sorted(shown)


def test_every_assigned_character_is_as_wide_as_the_screen_draws_it() -> None:
    """Widths agree with the tables of the terminal library for every character that Python knows."""
    differing = [
        hex(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code)) != "Cn" and cell_width(chr(code)) != cell_len(chr(code))
    ]
    assert differing == []


@given(PICTURES)
def test_widths_of_text_agree_with_the_screen(text: str) -> None:
    """Joined emoji, variation selectors, flags, skin tones and accents are measured as they are drawn."""
    assert cell_len(text) == cell_width(text)


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 1, "…"),
        ("", 0, ""),
        ("中文字", 5, "中文…"),
        ("中文", 2, "…"),
        ("a👨‍👩‍👧b", 3, "a…"),
        ("❤️❤️", 3, "❤️…"),
    ],
)
def test_clip(text: str, width: int, expected: str) -> None:
    """Text that is too long ends in an ellipsis and never in half a picture."""
    assert expected == clip(text, width)


@given(st.one_of(PICTURES, ANY).map(visible), st.integers(1, 20))
def test_clipped_text_fits(text: str, width: int) -> None:
    """A clipped text takes at most the cells it was given, is a beginning, and stays whole where it fits."""
    clipped = clip(text, width)
    assert cell_width(clipped) <= width
    assert (clipped == text) or (cell_width(text) > width and text.startswith(clipped.removesuffix("…")))


@given(PICTURES.map(visible), st.integers(0, 20))
def test_pad_and_fit(text: str, width: int) -> None:
    """Padding fills up to the width and cuts nothing; fitting gives exactly the width."""
    assert max(width, cell_width(text)) == cell_width(pad(text, width))
    assert width == cell_width(fit(text, width))


def test_a_count_has_its_noun() -> None:
    """The noun follows the number as English does: entries, but days; batches, but files."""
    said = [plural(2000, noun) for noun in ("entry", "day", "expired batch", "file")]
    assert said == ["2,000 entries", "2,000 days", "2,000 expired batches", "2,000 files"]
    assert [plural(count, "memory") for count in (0, 1)] == ["0 memories", "1 memory"]
