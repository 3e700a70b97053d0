"""Which names a person would take for one."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from itertools import chain, starmap

from hypothesis import given
from hypothesis import strategies as st

from memory.base.values import alike, unsettled


def _folded(name: str) -> str:
    """Return what `alike` stands for, in the words of the standard library."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def test_every_letter_is_folded_as_unicode_has_it() -> None:
    """Of no letter the short way makes anything else, and none that becomes ASCII is overlooked."""
    # Inside of the long rows of Chinese and Korean all are alike, and behind these planes there is none.
    rows = ((0, 0x3410), (0x4DB0, 0x4E10), (0x9FF0, 0xAC10), (0xD7A0, 0x20010), (0x2F800, 0x2FA20), (0xE0000, 0xE0200))
    for code in chain.from_iterable(starmap(range, rows)):
        letter = chr(code)
        folded = _folded(letter)
        assert alike(letter) == folded, hex(code)
        becomes = code > 127 and any(one.isascii() for one in letter.casefold() + folded)
        assert not becomes or unsettled(letter), hex(code)


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


def test_usual_names_need_no_tables_of_letters() -> None:
    """Accents, dashes, pictures, Chinese and its colon are folded without the module that has all letters."""
    code = (
        "import sys; from memory.base.values import alike; "
        "print(alike('Über die Straße — 🚀'), alike('更新：Café'), 'unicodedata' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-X", "utf8", "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split("\n")[0] == "über die strasse — 🚀 更新:café False"
