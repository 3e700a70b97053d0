"""Which names a person would take for one."""

from __future__ import annotations

import unicodedata
from itertools import chain, starmap

from hypothesis import given
from hypothesis import strategies as st

from memory.base.values import alike


def _folded(name: str) -> str:
    """Return what `alike` stands for, in the words of the standard library."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def test_every_letter_is_folded_as_unicode_has_it() -> None:
    """No letter becomes anything else than Unicode says."""
    # Inside of the long rows of Chinese and Korean all are alike, and behind these planes there is none.
    rows = ((0, 0x3410), (0x4DB0, 0x4E10), (0x9FF0, 0xAC10), (0xD7A0, 0x20010), (0x2F800, 0x2FA20), (0xE0000, 0xE0200))
    for code in chain.from_iterable(starmap(range, rows)):
        letter = chr(code)
        assert alike(letter) == _folded(letter), hex(code)


PARTS = (
    "Straße",
    "é",
    "e\u0301",
    "\u0323",
    "Ｂｕｙ：",
    "ﬁ",
    "İ",
    "ı",
    "\u0345",
    "α",
    "가",
    "\u1100",
    "\u1161",
    "\u11a8",
    "か\u3099",
    "…",
    " ",
)


@given(st.lists(st.one_of(st.sampled_from(PARTS), st.characters(exclude_categories=("Cs",))), max_size=6).map("".join))
def test_names_are_folded_as_unicode_has_it(name: str) -> None:
    """Letters beside each other are folded as the standard library does."""
    assert alike(name) == _folded(name)
