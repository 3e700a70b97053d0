"""`memdeck search`: the index that it keeps, its filters, what it says beside the finds, and how they are drawn."""

from __future__ import annotations

import re
from collections.abc import Callable

from memory.operations.result import Paint

Memdeck = Callable[..., object]


def test_a_line_divides_what_fits_some_words(memdeck: Memdeck) -> None:
    """A question finds: programs get a field, people a line, by reading and from the index alike."""
    for _ in range(2):
        found = memdeck("search", "redis caching xyzzyplugh?", "-o", "json")
        assert found.code == 0
        assert found.data["results"][0]["title"] == "Using Redis for caching"
        assert not any(one["fits_all"] for one in found.data["results"])
        lines = memdeck("search", "redis caching xyzzyplugh?").out.splitlines()
        assert lines[0] == "--- no entry has all the words; these have some ---"
        assert "Using Redis for caching" in lines[1]
        both = memdeck("search", "deploy staging", "-o", "json").data["results"]
        fits = [one["fits_all"] for one in both]
        assert fits == sorted(fits, reverse=True)
        assert {True, False} == set(fits)
        text = memdeck("search", "deploy staging").out
        assert text.count("--- these have some of the words ---\n") == 1
        assert text.index("---") > text.index(both[0]["title"])
        assert "---" not in memdeck("search", "deploy staging", "--limit", "1").out
    assert memdeck("search", "xyzzyplugh qwertzuiop").out == "nothing found\n"


def test_words_are_marked() -> None:
    """Bold and underlined where colour is wanted, never beyond the width; plain elsewhere."""
    marked = Paint(True, 20).marked("one two three and \x1b[31m more", [(4, 7), (18, 23)], indent="  ")
    assert "\x1b[1;4mtwo\x1b[22;24m" in marked
    assert len(re.sub(r"\x1b\[[0-9;]*m", "", marked)) == 20
    assert "\x1b[31m" not in marked
    assert Paint(False, None).marked("one two", [(4, 7)]) == "one two"
    assert Paint(True, None).marked("one two", []) == "one two"
