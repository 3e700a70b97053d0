"""The guide to project state: every test that its table names is there, and every setting and default."""

from __future__ import annotations

import re
from pathlib import Path

from memory.state.files.config import KEYS

HOUSE = Path(__file__).parents[1]
PAGE = (HOUSE / "docs/state.md").read_text("utf-8")


def test_every_sentence_names_tests_that_exist() -> None:
    """Each row of the table has at least one test, and each test it names is one."""
    rows = [line for line in PAGE.partition("## Sentence by sentence")[2].splitlines() if line.startswith("| ")][1:]
    written = {
        name
        for path in (HOUSE / "tests").rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
    }
    assert len(rows) > 30
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row)
        assert named, row
        assert set(named) <= written, row


def test_every_setting_is_in_the_guide() -> None:
    """The table of settings leaves none out."""
    for key in KEYS:
        shown = re.sub(r"templates\.\w+\.", "templates.MODE.", key)
        assert f"`{shown}`" in PAGE, key


def test_every_code_is_in_the_guide() -> None:
    """Each code that validate gives is listed beside its family."""
    source = "".join((HOUSE / "memory/state/checks" / name).read_text("utf-8") for name in ("check.py", "history.py"))
    codes = set(re.findall(r'Finding\(\s*"(?:warn|fail)",\s*f?"([a-z]+:[a-z-]+)', source))
    assert len(codes) > 25
    for code in codes:
        family, _, name = code.partition(":")
        row = next(line for line in PAGE.splitlines() if line.startswith("| `" + family + ":"))
        assert re.search(rf"`(?:{family}:)?{name}[`:]", row), code
