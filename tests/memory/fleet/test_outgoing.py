"""What leaves a host: texts that are looked through together, and those in which something is found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.fleet.catalogue.outgoing import are_clean, cleared, plain

PIECES = ("password", "token", "Bearer ", ": ", ":", "swordfish", "hunter2", " ", ";", ",", "|", ".", "\n", "\t",
          "sk-abc123def", "-----BEGIN ", "PRIVATE KEY-----", "https://a:", "b1c2d3@host", "private", "_key = ",
          "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0U1", "and some words", "caf\xe9")  # fmt: skip
TEXTS = st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), max_size=12)


@given(TEXTS)
def test_what_is_clean_among_others_is_clean_alone(texts: list[str]) -> None:
    """A text that was looked through with its neighbours holds nothing that a look at it alone finds."""
    sure = are_clean(texts)
    assert len(sure) == len(texts)
    for text, clean in zip(texts, sure, strict=True):
        if clean:
            assert cleared(text) == (plain(text),)


def test_long_texts_are_looked_through_by_themselves() -> None:
    """One with a secret makes no other doubtful that is not looked through with it."""
    texts = ["words " * 2_000, "password: hunter2", "", "words " * 2_000]
    assert are_clean(texts) == [True, False, False, True]
