"""CONTRIBUTING.md names files and folders that exist."""

from __future__ import annotations

import re
from pathlib import Path

HOUSE = Path(__file__).parents[1]
PAGE = (HOUSE / "CONTRIBUTING.md").read_text("utf-8")


def test_the_files_it_names_exist() -> None:
    """Every path of the house in it is one, but those of the system that it makes up."""
    named = set(re.findall(r"`((?:app|widgets|memory|tests|docs)/[\w/.]*)`", PAGE)) - {"memory/notes/"}
    assert len(named) >= 12
    assert sorted(name for name in named if not (HOUSE / name).exists()) == []
