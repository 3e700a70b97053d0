"""What is held on to with a command: files by their bytes, links by where they lead; a file is read once."""

from __future__ import annotations

import os
from dataclasses import dataclass

from memory.storage.files.version import FileVersion

from .loading import LARGEST, Reference, references_of
from .runners import language_of_file

_LARGEST = 256 << 20
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Script:
    """A file that a command names: its real path in the workspace, and what tells its bytes (or where a link leads)."""

    path: str
    hash: str


@dataclass(frozen=True, slots=True)
class Pinned:
    """The files of a command, sorted by path, and which others it may reach (`memory.trust.pins.unknown`)."""

    scripts: tuple[Script, ...] = ()
    unknown: tuple[str, ...] = ()


class CannotPin(Exception):
    """A command names files that cannot be held on to; the text says why."""


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file that was read: the hash of its bytes, and what it loads; `language` is "" for what is no program."""

    hash: str
    language: str = ""
    references: tuple[Reference, ...] = ()


def read_held(path: str, fd: int, languages: tuple[str, ...]) -> tuple[PinnedFile, bool]:
    """Read an open file; it is taken for one of `languages` where neither its name nor its first line says.

    Return it, and whether it will be the same as long as its version is; CannotPin for one that is too large.
    """
    import time
    from hashlib import sha256

    version = FileVersion.of(os.fstat(fd))
    if version.size > _LARGEST:
        raise CannotPin(f"{path} is too large to be held on to ({version.size >> 20} MB)")
    began = time.time_ns()
    digest, head = sha256(), b""
    position = 0
    while chunk := os.pread(fd, _CHUNK, position):
        digest.update(chunk)
        if len(head) < LARGEST:
            head += chunk
        position += len(chunk)
        if position > _LARGEST:
            raise CannotPin(f"{path} grows while it is read")
    known = language_of_file(path, head)
    found = [one for language in ((known,) if known else languages) for one in references_of(head, language)]
    if head.startswith(b"#!"):
        # The interpreter, and what it is told there, may lie in the workspace as well.
        found.append(Reference("word", head[2:512].partition(b"\n")[0].decode("utf-8", "replace")))
    runs = known if known and not path.endswith(".json") else ""
    held = PinnedFile(digest.hexdigest(), runs, tuple(dict.fromkeys(found)))
    return held, version.settled(began) and FileVersion.of(os.fstat(fd)) == version
