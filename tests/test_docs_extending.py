"""The tutorial of a system of one's own agrees with the package that the tests install, and with the protocol."""

from __future__ import annotations

import re
from pathlib import Path

from memory import extension
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
    assert named == {name for name in dir(System) if not name.startswith("_")}


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
        'found = system_of(context.workspace, "notes", Notes).look().notes',
        'self._folder = workspace.root / ".notes"',
        'self._store = workspace.add_store(".notes", Reading())',
    }


def test_the_names_for_other_packages_stay() -> None:
    """`memory.extension` has these names; more may come, and none may go."""
    assert {
        *("AmbiguousError", "BlockedError", "BriefLine", "BusyError", "ConfigError", "ConflictError", "Contribution"),
        *("Gone", "MemdeckError", "NotFoundError", "Outcome", "PlainReading", "Problem", "Record"),
        *(
            "RefusedError",
            "Report",
            "RuleReport",
            "Snapshot",
            "System",
            "UsageError",
            "Workspace",
            "act",
            "names_in",
            "system_of",
        ),
    } <= set(extension.__all__)
    assert all(hasattr(extension, name) for name in extension.__all__)


def test_the_package_needs_no_other_name_of_the_core() -> None:
    """What the package imports of `memory` comes from there, the registry, or the table of operations."""
    source = "\n".join(path.read_text("utf-8") for path in sorted(TOY.rglob("*.py")))
    modules = set(re.findall(r"^ *from (memory[\w.]*) import", source, re.MULTILINE))
    assert modules == {"memory.extension", "memory.operations", "memory.registry"}
