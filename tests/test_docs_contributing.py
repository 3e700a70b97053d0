"""The tour of the house names what is there."""

from __future__ import annotations

import re
from pathlib import Path

HOUSE = Path(__file__).parents[1]
PAGE = (HOUSE / "CONTRIBUTING.md").read_text("utf-8")


def test_the_files_of_the_tour_are_there() -> None:
    """Each of the questions names files that exist."""
    table = PAGE.partition("### Where to look")[2].partition("\n\n## ")[0]
    rows = [row for row in table.splitlines() if row.startswith("| ") and "`" in row]
    assert len(rows) >= 30
    named = [name for row in rows for name in re.findall(r"`([\w/]+\.(?:py|md))`", row)]
    assert [name for name in named if not (HOUSE / name).is_file()] == []
