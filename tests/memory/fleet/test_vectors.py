"""Words of entries as the catalogue keeps them: the same from the short way and from the one that knows all limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memory.fleet.catalogue.words as words

TEXTS = st.text(st.sampled_from("ab1 -\n'\\:\xe9"), max_size=120)


@given(TEXTS, TEXTS)
def test_short_entries_have_the_words_of_long_ones(title: str, text: str) -> None:
    """Whichever way an entry takes, its words and places are the same."""
    short = words.vector_of(title, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "_SHORT", -1)
        assert words.vector_of(title, text) == short


@pytest.mark.parametrize("text", ["\ufdfa" * 399, "a " * 200, "b" * 400, "c" * 401, "d " * 900])
def test_no_entry_goes_over_the_limits(text: str) -> None:
    """Also one whose letters become many more as they are compared has at most 250 places of a word, of 400 letters."""
    for one in words.vector_of("", text).split(" "):
        word, _, found = one.rpartition(":")
        assert len(word) <= 402
        assert found.count(",") < 250
