"""Words of entries as the catalogue keeps them: the same from the short way and from the one that knows all limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memory.fleet.catalogue.words as words

TEXTS = st.text(st.sampled_from("ab1 -\n'\\:\xe9"), max_size=120)


def places_of(vector: str) -> dict[str, set[str]]:
    """Return the places of each word, as PostgreSQL puts them together."""
    found: dict[str, set[str]] = {}
    for one in vector.split():
        word, _, places = one.partition(":")
        assert word[0] == word[-1] == "'"
        found.setdefault(word[1:-1], set()).update(places.split(","))
    return found


@given(TEXTS, TEXTS)
def test_short_entries_have_the_words_of_long_ones(title: str, text: str) -> None:
    """Whichever way an entry takes, its words and places are the same."""
    short = words.vector_of(title, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "_SHORT", -1)
        assert places_of(words.vector_of(title, text)) == places_of(short)


@pytest.mark.parametrize("text", ["\ufdfa" * 399, "a " * 200, "b" * 400, "c" * 401, "d " * 900, "e " * 235 + "f"])
def test_no_entry_goes_over_the_limits(text: str) -> None:
    """Also one whose letters become many more as they are compared has at most 250 places of a word, of 400 letters."""
    for word, places in places_of(words.vector_of("", text)).items():
        assert len(word) <= 400
        assert len(places) <= 250


def test_postgresql_reads_the_words(database: str) -> None:
    """What is written for a short entry and for a long one is the same vector in the database, whatever the script."""
    import psycopg

    title, text = "Über den Cache", "Redis' cache: 结账页面 \\ caché 12:30 'a':1 x" + " word" * 12
    with psycopg.connect(database) as connection, pytest.MonkeyPatch.context() as patch:
        short = words.vector_of(title, text)
        patch.setattr(words, "_SHORT", -1)
        row = connection.execute("SELECT %s::tsvector, %s::tsvector", (short, words.vector_of(title, text))).fetchone()
    assert row is not None
    assert row[0] == row[1]
    assert "'cache':" in row[0]
