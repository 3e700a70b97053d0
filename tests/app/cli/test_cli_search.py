"""`memdeck search`: the index that it keeps, its filters, what it says beside the finds, and how they are drawn."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from app.cli.printing import Paint

Memdeck = Callable[..., object]


def index(folder: Path) -> list[Path]:
    """The index files in a state folder."""
    return list((folder / "state").glob("memdeck/*/search.sqlite"))


def test_the_first_search_makes_the_index(memdeck: Memdeck, memory: Path, tmp_path: Path) -> None:
    """It reads, and leaves an index behind it, from which the next ones answer; an edit is found at once."""
    first = memdeck("search", "redis", "--explain", "-o", "json")
    assert "searched in" in first.err
    assert index(tmp_path)
    second = memdeck("search", "redis", "--explain", "-o", "json")
    assert "searched in" in second.err
    assert "100% of the files" in second.err
    assert "'redis' in the title" in second.err
    keys = ("file", "line", "ref", "title", "snippet", "why")
    assert [[one[key] for key in keys] for one in first.data["results"]] == [
        [one[key] for key in keys] for one in second.data["results"]
    ]
    path = memory / "journal.md"
    path.write_text(path.read_text("utf-8") + "\n## 2024-01-01\n### 10:00 — Zebra\n- stripes\n", "utf-8")
    found = memdeck("search", "stripes", "-o", "json").data["results"]
    assert [(one["title"], one["snippet"]) for one in found] == [("Zebra", "- stripes")]
    lines = path.read_text("utf-8").splitlines()
    assert lines[found[0]["line"] - 1] == "### 10:00 — Zebra"


def test_what_is_odd_is_said_on_stderr(memdeck: Memdeck) -> None:
    """Notes about the query and words taken instead are no data."""
    answer = memdeck("search", "deplyo", "before:x", "-o", "json")
    assert answer.code == 0
    assert answer.data["results"]
    assert "also fits: deploy" in answer.err
    assert "before: does not understand 'x'" in answer.err
    assert memdeck("search", "--", "-deploy", "in:tasks").code == 0


def test_a_line_divides_what_fits_some_words(memdeck: Memdeck) -> None:
    """A question finds: programs get a field, people a line, by reading and from the index alike."""
    for _ in range(2):
        found = memdeck("search", "redis caching xyzzyplugh?", "-o", "json")
        assert found.code == 0
        assert found.data["results"][0]["title"] == "Using Redis for caching"
        assert not any(one["fits_all"] for one in found.data["results"])
        lines = memdeck("search", "redis caching xyzzyplugh?").out.splitlines()
        assert lines[0] == "--- nothing holds all the words; these hold some ---"
        assert "Using Redis for caching" in lines[1]
        both = memdeck("search", "deploy staging", "-o", "json").data["results"]
        fits = [one["fits_all"] for one in both]
        assert fits == sorted(fits, reverse=True)
        assert {True, False} == set(fits)
        text = memdeck("search", "deploy staging").out
        assert text.count("--- these hold some of the words ---\n") == 1
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
