"""What lies beside the memory files: copies that a sync left, archives under other names, links to nothing.

None of it is read or touched. It is reported where entries may be in two files at once, or in one that nobody sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from memory.base.problems import Problem
from memory.storage.files.listing import Unlisted

from . import ARCHIVE_KINDS, MEMORY_FILES
from .reader import Files

if TYPE_CHECKING:
    from memory.errors import MemdeckError

_ARCHIVE = re.compile(rf"(?:{'|'.join(ARCHIVE_KINDS)})-[0-9]{{4}}-(?:0[1-9]|1[0-2])\.md")
# Dropbox, Nextcloud, OneDrive; Syncthing; Resilio; a second download or a copy in a file manager.
_COPY = re.compile(
    r"(?P<name>[a-z]+(?:-[0-9]{4}-[0-9]{2})?)(?: \([^)]*(?:conflict|copy|[0-9])[^)]*\)|\.sync-conflict-[0-9A-Za-z-]+"
    r"|[._ -]conflict[^/]*| copy(?: [0-9]+)?)\.md",
    re.IGNORECASE,
)
_EVICTED = re.compile(r"\.(?P<name>[a-z]+\.md)\.icloud")
_SWAP = re.compile(r"\.(?P<name>[a-z]+\.md)\.sw[a-p]|\.#(?P<other>[a-z]+\.md)|#(?P<saved>[a-z]+\.md)#")


@dataclass(frozen=True, slots=True)
class Folder:
    """What lies in the memory folder and in its `archive/`, sorted."""

    names: tuple[str, ...] | Unlisted
    archive: tuple[str, ...] | Unlisted


class ListedFiles(Files, Protocol):
    """A look at the memory files that also knows what lies in their folder."""

    @property
    def folder(self) -> Folder | None:
        """What lies in the memory folder; None where the files lie in none."""

    def refused(self, name: str) -> MemdeckError | None:
        """Return why a file could not be read, None where it could."""


def neighbour_problems(snapshot: ListedFiles) -> Iterator[Problem]:
    """Yield what is wrong with the folders and with what lies beside the memory files; a `readable` look."""
    folder = snapshot.folder
    if folder is None:
        return
    if isinstance(folder.names, Unlisted):
        yield Problem("error", ".", 0, folder.names.code, f"the memory folder is {folder.names.what}")
    else:
        for name in folder.names:
            yield from _beside(snapshot, name)
    if isinstance(folder.archive, Unlisted):
        message = f"archive is {folder.archive.what}: nothing is read from it or moved to it"
        yield Problem("error", "archive", 0, folder.archive.code, message)
        return
    for name in folder.archive:
        if name.endswith(".md") and name[0] != "." and not _ARCHIVE.fullmatch(name):
            shown = f"archive/{name}"
            if (found := _COPY.fullmatch(name)) is not None:
                yield _copy(shown, f"archive/{found['name']}.md")
            else:
                message = "no name of an archive, which is such as tasks-2024-01.md: nothing is ever moved into it"
                yield Problem("warning", shown, 0, "file.archive_name", message)


def _beside(snapshot: ListedFiles, name: str) -> Iterator[Problem]:
    if name in MEMORY_FILES:
        if not snapshot.exists(name) and snapshot.refused(name) is None:
            yield Problem("error", name, 0, "file.link_dangling", f"{name} is a link to nothing")
    elif (found := _COPY.fullmatch(name)) is not None and f"{found['name']}.md".lower() in MEMORY_FILES:
        yield _copy(name, f"{found['name']}.md")
    elif (found := _EVICTED.fullmatch(name)) is not None and found["name"] in MEMORY_FILES:
        message = f"{found['name']} was moved into the cloud; this is what is left of it here"
        yield Problem("error", name, 0, "file.evicted", message)
    elif (found := _SWAP.fullmatch(name)) is not None:
        file = found["name"] or found["other"] or found["saved"]
        if file in MEMORY_FILES:
            yield Problem("note", name, 0, "file.swap", f"an editor has {file} open, or ended without saving it")
    elif name.strip().casefold() in MEMORY_FILES:
        message = f"not {name.strip().casefold()}, whose name differs in case or blanks: nothing reads it"
        yield Problem("warning", name, 0, "file.similar_name", message)


def _copy(name: str, original: str) -> Problem:
    message = f"a copy of {original} that a sync or a person made: what differs in it is seen nowhere"
    return Problem("warning", name, 0, "file.conflicted_copy", message)
