"""A case of the corpus: what is wrong, how it is built, and what memdeck has to do about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from .place import Place

FILES = Path(__file__).parent / "files"
Needs = Literal["", "ordinary user", "root", "mounts"]


EVERY = "check status view other add note maintain"
"""Every verb that a case is played with."""


def refuses(end: str, verbs: str = "add note maintain") -> Mapping[str, str]:
    """Return that some verbs, by default those that change, all end with the same code and exit code."""
    return dict.fromkeys(verbs.split(), end)


@dataclass(frozen=True, slots=True)
class Case:
    """One bad input; no two have the same mechanism.

    `name` is `group/name`, `says` its line in the README, `file` the memory file that it is about. Without `build`
    the checked-in file `files/GROUP/NAME.md` takes the place of `file`. `finds` are all errors and warnings of
    `check`, as `FILE:LINE CODE`; "..." as the last one: and others. `expect` gives for a verb the code and exit code
    with which it refuses, `file.link 1`; verbs that are not named exit with 0, `check` with 4 where it finds errors.
    `seconds` is the CPU time that any verb may take. `screen` chooses the case for the sample that is opened in the
    application with every test run, `planted` compares with what happens without it, `changing` says that another
    program writes meanwhile, `generated` that the full size is for the long run.
    """

    name: str
    says: str
    finds: tuple[str, ...] = ()
    expect: Mapping[str, str] = field(default_factory=dict)
    file: str = "tasks.md"
    build: Callable[[Place], object] | None = None
    needs: Needs = ""
    seconds: float = 2.0
    screen: bool = False
    planted: bool = False
    changing: bool = False
    generated: bool = False

    @property
    def path(self) -> Path:
        """The checked-in file of a case that has one."""
        return FILES / f"{self.name}.md"

    def prepare(self, place: Place) -> None:
        """Build the situation in a sample workspace."""
        if self.build is not None:
            self.build(place)
        else:
            place.put(self.file, self.path.read_bytes())
