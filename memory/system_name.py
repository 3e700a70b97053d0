"""What is known of a memory system before anything of it is imported."""

from __future__ import annotations

import os

from memory.named_tuple import NamedTuple


class VerbName(NamedTuple):
    """One verb or group of verbs of the command line before anything of it is imported.

    `place` is the click command as `module:attribute`, `text` the line of `memdeck --help`.
    """

    name: str
    place: str
    text: str


class PaneEntry(NamedTuple):
    """One pane of the application before anything of it is imported.

    `place` is its class as `module:class` (see `widgets.pane.base.Pane`), `files` what it shows: memory files,
    `archive/` for all archives, files of another system as seen from the workspace. `key` opens it, or `letter` after
    `g` (default: the first letter of its title).
    """

    id: str
    title: str
    place: str
    files: tuple[str, ...] = ()
    key: str = ""
    letter: str = ""


class SystemName(NamedTuple):
    """One memory system before anything of it is imported.

    `mark` is the file or folder, from the workspace on, by which a workspace is recognised; `place` its class as
    `module:class` (see `memory.systems.System`); `kinds` what can be found in it, in the order in which equally good
    finds are listed; `title` what people call it. `verbs` and `panes` are what the command line and the application
    have for it.

    `listed` is a file of the home folder that may name further folders of the system, which lie anywhere in a
    workspace. A folder of such a system, found by its mark, is a workspace itself only where no other one is around it.
    `outside` is a function as `module:function`: given the workspace's folder, the home folder and the state home, it
    yields the stores of the system that lie outside of the workspace, each with a change log of its own.
    `is_file` says that the mark is a file; that of a `listed` system always is.
    """

    name: str
    title: str
    mark: str
    place: str
    kinds: tuple[str, ...]
    listed: str = ""
    verbs: tuple[VerbName, ...] = ()
    panes: tuple[PaneEntry, ...] = ()
    is_file: bool = False
    outside: str = ""

    def marks(self, folder: str) -> bool:
        """Tell whether a folder has the mark of the system."""
        place = f"{folder}/{self.mark}"
        return os.path.isfile(place) if self.listed or self.is_file else os.path.isdir(place)


class BrokenSystem(NamedTuple):
    """A system of another package that cannot be used: the name of its entry point, the package, and the reason."""

    name: str
    package: str
    why: str
