"""The guide to typed memory: every test that its table names is there, and its examples are true."""

from __future__ import annotations

import re
from pathlib import Path

from memory.typed.aidefile import read_aidefile

HOUSE = Path(__file__).parents[1]
PAGE = (HOUSE / "docs" / "typed.md").read_text("utf-8")


def test_every_sentence_names_tests_that_exist() -> None:
    """Each row of the table has at least one test, and each test it names is one."""
    rows = [line for line in PAGE.partition("## Sentence by sentence")[2].splitlines() if line.startswith("| ")][1:]
    written = {
        name
        for path in (HOUSE / "tests").rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
    }
    assert len(rows) > 25
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row)
        assert named, row
        assert set(named) <= written, row


def test_the_example_aidefile_is_read(tmp_path: Path) -> None:
    """The Aidefile of the guide says what the guide says."""
    example = next(block for block in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL) if "[memory]" in block)
    found = read_aidefile(tmp_path, example.encode())
    assert (found.compact_after, found.core_files) == (200_000, ("memory/persona.md", "memory/rules.md"))
