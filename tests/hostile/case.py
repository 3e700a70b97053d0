"""A case: a hostile workspace, and what memdeck must say about what it asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .ground import Ground

BLOCKED = 3
"""The exit code of what needs an approval."""
FILES = Path(__file__).parent / "files"


@dataclass(frozen=True, slots=True)
class Case:
    """One hostile workspace; no two with the same mechanism.

    `name` is `group/name`, `says` what it does, `build` makes it from the sample workspace. `asks` are
    `STATE ROLE NAME` that `trust list` must show, which proves that what is hostile was read at all. `program` plays
    some verbs as programs of their own too, started in the workspace; `mounts` gives the case its own mounts.
    `sample` chooses it for every test run, `ends` is the exit code of `monitors check` where commands or addresses
    wait.
    """

    name: str
    says: str
    build: Callable[[Ground], object]
    asks: tuple[str, ...] = ()
    program: bool = False
    mounts: bool = False
    sample: bool = False
    ends: int = BLOCKED


def laid(file: str) -> Callable[[Ground], object]:
    """Return a builder that takes a checked-in file of `files/` for the memory file of its name after the dash."""
    return lambda ground: ground.put(file.partition("-")[2], (FILES / file).read_bytes())
