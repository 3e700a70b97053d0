"""The guide to project state: every setting, default and code is in it."""

from __future__ import annotations

import re
from pathlib import Path

from memory.state.files.schema import SETTINGS

HOUSE = Path(__file__).parents[1]
PAGE = (HOUSE / "docs/state.md").read_text("utf-8")


def test_every_setting_is_in_the_guide() -> None:
    """The table of settings leaves none out."""
    for key in SETTINGS:
        shown = re.sub(r"templates\.\w+\.", "templates.MODE.", key)
        assert f"`{shown}`" in PAGE, key


def test_every_code_is_in_the_guide() -> None:
    """Each code that validate gives is listed beside its family."""
    source = (HOUSE / "memory/state/check.py").read_text("utf-8")
    codes = set(re.findall(r'(?:"fail",|"warn",)\s*f?"([a-z]+:[a-z-]+)', source))
    assert len(codes) > 25
    for code in codes:
        family, _, name = code.partition(":")
        row = next(line for line in PAGE.splitlines() if line.startswith("| `" + family + ":"))
        assert re.search(rf"`(?:{family}:)?{name}[`:]", row), code
