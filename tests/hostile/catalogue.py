"""All hostile workspaces, by group."""

from __future__ import annotations

from . import addresses, commands, contents, reached, things
from .case import Case

PARTS: dict[str, tuple[str, tuple[Case, ...]]] = {
    "command": ("Commands that want to run", commands.CASES),
    "reached": ("What approved commands reach without naming it", reached.CASES),
    "address": ("Addresses that want to be asked", addresses.CASES),
    "file": ("Files, links, records and programs of the repository", things.CASES),
    "text": ("What stands in the fields", contents.CASES),
}
"""The groups: their heading and their cases."""
CASES: tuple[Case, ...] = tuple(case for _, cases in PARTS.values() for case in cases)
"""Every case, group by group."""
BY_NAME = {case.name: case for case in CASES}


def listing() -> str:
    """Return every case with its sentence, below the heading of its group."""
    parts = []
    for heading, cases in PARTS.values():
        parts.append(f"{heading} ({len(cases)})\n" + "".join(f"  {case.name:28} {case.says}\n" for case in cases))
    return "\n".join(parts)
