"""The guide to curated memory: every test that its table names is there, and its example is a memory."""

from __future__ import annotations

import re
from pathlib import Path

from memory.curated.files.header import read
from memory.curated.model import Root

HOUSE = Path(__file__).parents[1]
PAGE = (HOUSE / "docs" / "curated.md").read_text("utf-8")


def test_every_sentence_of_curated_memory_names_tests_that_exist() -> None:
    """Each row of the table has at least one test, and each test it names is one."""
    rows = [line for line in PAGE.partition("## Sentence by sentence")[2].splitlines() if line.startswith("| ")][1:]
    written = {
        name
        for path in (HOUSE / "tests").rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
    }
    assert len(rows) > 50
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row)
        assert named, row
        assert set(named) <= written, row


def test_the_example_memory_is_read() -> None:
    """The file of the guide is a memory."""
    example = re.findall(r"```markdown\n(.*?)```", PAGE, re.DOTALL)[0]
    header, body = read(example.encode(), Root("global", None, None, "global", "memory", 0))
    assert (header.name, header.provenance.confidence) == ("Test Integrity", "high")
    assert body.startswith("If a test")
