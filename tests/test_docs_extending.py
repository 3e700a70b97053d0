"""The tutorial of a system of one's own agrees with the package that the tests install, and with the protocol."""

from __future__ import annotations

import re
from pathlib import Path

from memory.systems import System

HOUSE = Path(__file__).parents[1]
TOY = HOUSE / "tests" / "extension" / "toy_notes"
PAGE = (HOUSE / "docs" / "extending.md").read_text("utf-8")


def test_the_methods_are_those_of_the_protocol() -> None:
    """The table names every method of the protocol and no other."""
    table = PAGE.partition("| method | who asks |")[2].partition("\n\n")[0]
    named = {
        name for row in table.splitlines() for name in re.findall(r"`(\w+)\(", row.split("|")[1] if "|" in row else "")
    }
    assert named | {"name"} == {name for name in dir(System) if not name.startswith("_")}


def test_the_code_is_that_of_the_package() -> None:
    """Each line of code on the page stands in the package, but for names that the page makes plain."""
    source = "\n".join(path.read_text("utf-8") for path in [TOY / "pyproject.toml", *sorted(TOY.rglob("*.py"))])
    blocks = re.findall(r"```(?:python|toml)\n(.*?)```", PAGE, re.DOTALL)
    wanted = {line.strip() for block in blocks for line in block.splitlines() if line.strip()}
    known = {line.strip() for line in source.splitlines()}
    plain = {
        line
        for line in wanted - known
        if not re.search(r"shopping|ClassVar|^def |^class |^(pane_id|title|files|item_name) =", line)
    }
    assert plain <= {
        'found = system_of(session.workspace, "notes", Notes).look().notes',
        'self._folder = workspace.root / ".notes"',
        'self._store = workspace.add_store(".notes", Reading())',
    }
