"""The guide to typed memory: its examples are true."""

from __future__ import annotations

import re
from pathlib import Path

from memory.typed.aidefile import read_aidefile

HOUSE = Path(__file__).parents[1]
PAGE = (HOUSE / "docs" / "typed.md").read_text("utf-8")


def test_the_example_aidefile_is_read(tmp_path: Path) -> None:
    """The Aidefile of the guide says what the guide says."""
    example = next(block for block in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL) if "[memory]" in block)
    found = read_aidefile(tmp_path, example.encode())
    assert (found.compact_after, [one.written for one in found.core]) == (
        200_000,
        ["memory/persona.md", "memory/rules.md"],
    )
