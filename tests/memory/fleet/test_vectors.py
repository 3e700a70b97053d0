"""Words of entries as the catalogue keeps them, within the limits of PostgreSQL."""

from __future__ import annotations

import pytest

from memory.fleet.catalogue import vector_of


def places_of(vector: str) -> dict[str, set[str]]:
    """Return the places of each word, as PostgreSQL puts them together."""
    found: dict[str, set[str]] = {}
    for one in vector.split():
        word, _, places = one.partition(":")
        assert word[0] == word[-1] == "'"
        found.setdefault(word[1:-1], set()).update(places.split(","))
    return found


@pytest.mark.parametrize("text", ["\ufdfa" * 399, "a " * 200, "b" * 400, "c" * 401, "d " * 900, "e " * 235 + "f"])
def test_no_entry_goes_over_the_limits(text: str) -> None:
    """Also one whose letters become many more as they are compared has at most 250 places of a word, of 400 letters."""
    for word, places in places_of(vector_of("", text)).items():
        assert len(word) <= 400
        assert len(places) <= 250


def test_postgresql_reads_the_words(database: str) -> None:
    """What is written for an entry is a vector in the database, whatever the script."""
    import psycopg

    text = "Redis' cache: 结账页面 \\ caché 12:30 'a':1 x" + " word" * 12
    with psycopg.connect(database) as connection:
        row = connection.execute("SELECT %s::tsvector", (vector_of("Über den Cache", text),)).fetchone()
    assert row is not None
    assert "'cache':" in row[0]
