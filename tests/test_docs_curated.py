"""The guide to curated memory: its example is a memory."""

from __future__ import annotations

import re
from pathlib import Path

from memory.curated.files import read
from memory.curated.model import Root

HOUSE = Path(__file__).parents[1]
PAGE = (HOUSE / "docs" / "curated.md").read_text("utf-8")


def test_the_example_memory_is_read() -> None:
    """The file of the guide is a memory."""
    example = re.findall(r"```markdown\n(.*?)```", PAGE, re.DOTALL)[0]
    header, body = read(example.encode(), Root("global", None, None, "global", "memory", 0))
    assert (header.name, header.provenance.confidence) == ("Test Integrity", "high")
    assert body.startswith("If a test")
