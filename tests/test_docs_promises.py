"""The guides to the memory systems: every test that the table of promises names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[1]


@pytest.mark.parametrize(("guide", "least"), [("facts", 31), ("typed", 26), ("state", 31), ("curated", 51)])
def test_every_sentence_names_tests_that_exist(guide: str, least: int) -> None:
    """Each row of the table has at least one test, and each test it names is one."""
    page = (HOUSE / "docs" / f"{guide}.md").read_text("utf-8").partition("## Sentence by sentence")[2]
    rows = [line for line in page.splitlines() if line.startswith("| ")][1:]
    written = {
        name
        for path in (HOUSE / "tests").rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
    }
    assert len(rows) >= least
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row)
        assert named, row
        assert set(named) <= written, row
