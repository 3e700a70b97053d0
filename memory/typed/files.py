"""The memory files of one agent, none of which is opened: type, size and age of each, and what is beside them."""

from __future__ import annotations

import os
import stat as st
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, get_args

from memory.base.problems import original_of
from memory.errors import MemdeckError, RefusedError, file_kind
from memory.storage import safe_open as beneath

from .aidefile import BYTES_PER_TOKEN, LOCK, NAME, PRIVATE, Aidefile, moment_of, read_aidefile
from .registry import Agent, Holder, holder_of

Type = Literal["core", "procedural", "episodic"]
TYPES: tuple[Type, ...] = get_args(Type)
MAX_AGE: Mapping[Type, timedelta] = {"procedural": timedelta(days=90), "episodic": timedelta(days=7)}
"""The greatest age of files of a type; core files have no limit."""
MARKDOWN = (".md", ".markdown")
"""The endings of Markdown files."""
_HOME = "memory"
"""The folder of an agent in which its memory always is, whether or not its Aidefile names it."""


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """One file: its path from the agent's folder on (links of folders resolved), type, bytes and last change.

    `locked` is true where its `.lock` exists.
    """

    path: str
    type: Type
    size: int
    changed: datetime
    locked: bool = False

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]

    def age(self, now: datetime) -> timedelta:
        """Return how long ago it was changed; negative for a time in the future."""
        return now - self.changed

    def too_old(self, now: datetime) -> bool:
        """Return whether a prune deletes it: strictly older than the greatest age of its type."""
        limit = MAX_AGE.get(self.type)
        return limit is not None and self.age(now) > limit


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is not a memory file or cannot be read, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class AgentLook:
    """A snapshot of one agent: all memory files by type and path, what was skipped, and what failed.

    `error` says why the agent could not be read, and then all else is empty. `sentinels` are the `.lock` files in the
    two folders, `locks` the holders of all locks, `missing` the listed core files that do not exist, `copies` the files
    that another program left beside the one they are a copy of, each with that: they are no memory.
    """

    agent: Agent
    aidefile: Aidefile | None = None
    files: tuple[MemoryFile, ...] = ()
    passed: tuple[LeftOut, ...] = ()
    failed: tuple[LeftOut, ...] = ()
    sentinels: tuple[str, ...] = ()
    locks: tuple[Holder, ...] = ()
    missing: tuple[str, ...] = ()
    copies: tuple[tuple[str, str], ...] = ()
    error: MemdeckError | None = field(default=None, compare=False)

    def of(self, kind: Type) -> tuple[MemoryFile, ...]:
        """Return the files of one type."""
        return tuple(file for file in self.files if file.type == kind)

    def size(self, kind: Type | None = None) -> int:
        """Return the bytes of one type, or of all."""
        return sum(file.size for file in self.files if kind in (None, file.type))

    @property
    def tokens(self) -> int:
        """Roughly how many tokens all files have together, rounded up."""
        return -(-self.size() // BYTES_PER_TOKEN)

    @property
    def limit(self) -> int | None:
        """How many tokens the Aidefile allows before memory should be compacted; None where it sets no limit."""
        return self.aidefile.compact_after if self.aidefile else None

    @property
    def fill(self) -> float | None:
        """The used fraction of the limit; 1.0 is all of it."""
        return None if self.limit is None else self.tokens / self.limit


def aidefile_of(folder: Path) -> Aidefile:
    """Return the Aidefile of a folder, the defaults where there is none.

    Errors as in `read_aidefile`; RefusedError `file.*` for one that must not be read, such as a link that leads out.
    """
    return read_aidefile(folder, beneath.read(NAME, folder).base)


def refuse_foreign(folder: Path, path: str) -> None:
    """Raise RefusedError `typed.not_memory` unless a path, relative to the agent's folder, is a file of its memory.

    That is a Markdown file below `memory/`, below the procedural or the episodic folder, or listed as core. No part of
    its path is hidden or a link. Every operation that writes checks this, for every caller.
    """
    aidefile = aidefile_of(folder)
    # A place that the Aidefile reaches through a link may be anything: sources, the settings of a program.
    places = [_HOME, *(place.real for place in aidefile.places if place.real == place.written)]
    parts = path.split("/")
    inside = any(path.startswith(place + "/") for place in places) or path in places
    if (
        not inside
        or not path.casefold().endswith(MARKDOWN)
        or any(part[:1] in ("", ".") for part in parts)
        or any(os.path.islink(folder.joinpath(*parts[:count])) for count in range(1, len(parts) + 1))
    ):
        raise RefusedError(
            "typed.not_memory",
            f"{path[:80]!r} is not a Markdown file of the agent's memory",
            f"name one in {_HOME}/, {aidefile.procedural.real}/ or {aidefile.episodic.real}/",
            path=path,
        )


def look_at(agent: Agent) -> AgentLook:
    """Read which files an agent has; a fault of the agent as a whole is returned as `error`.

    Links are not followed, and failures are recorded and skipped. One of the two folders may be inside the other; a
    file in both has the type of the inner one.
    """
    try:
        if not agent.folder.is_dir():
            raise MemdeckError("typed.no_folder", f"{agent.folder} is not a folder", "fix its path in the registry")
        aidefile = aidefile_of(agent.folder)
    except MemdeckError as error:
        return AgentLook(agent, error=error)
    top = os.path.realpath(agent.folder)
    kinds: dict[str, Type] = {aidefile.procedural.real: "procedural", aidefile.episodic.real: "episodic"}
    found: dict[str, MemoryFile] = {}
    passed: list[LeftOut] = []
    failed: list[LeftOut] = []
    sentinels: list[str] = []
    # The inner folder comes first, and the outer one does not enter it.
    for start in sorted(kinds, key=len, reverse=True):
        for path, status in _below(top, start, kinds, passed, failed):
            if st.S_ISLNK(status.st_mode):
                passed.append(LeftOut(path, "a link is not followed"))
            elif not st.S_ISREG(status.st_mode):
                passed.append(LeftOut(path, f"it is {file_kind(status.st_mode)}, not a regular file"))
            elif path.endswith(LOCK):
                sentinels.append(path)
            else:
                found[path] = _file(top, path, "core" if aidefile.is_core(path) else kinds[start], status)
    for _, real in aidefile.core:
        for path, status in _below(top, real, (), [], []):
            if st.S_ISREG(status.st_mode) and path not in found and not path.endswith(LOCK):
                found[path] = _file(top, path, "core", status)
    copies = [(path, original) for path in found if (original := _original(path, found))]
    for path, original in copies:
        del found[path]
        passed.append(LeftOut(path, f"it is a copy of {original} that another program left"))
    files = sorted(found.values(), key=lambda file: (TYPES.index(file.type), file.path))
    # The locks of core files may be outside of the two folders.
    held = {path.removesuffix(LOCK) for path in sentinels} | {file.path for file in files if file.locked}
    return AgentLook(
        agent,
        aidefile,
        files=tuple(files),
        passed=tuple(passed),
        failed=tuple(failed),
        sentinels=tuple(sentinels),
        locks=tuple(holder for path in sorted(held) if (holder := holder_of(top, path)) is not None),
        missing=tuple(written for written, real in aidefile.core if not os.path.lexists(os.path.join(top, real))),
        copies=tuple(copies),
    )


def _original(path: str, known: Collection[str]) -> str | None:
    """Return the file beside a file that it is a copy of, by its name."""
    folder, slash, name = path.rpartition("/")
    original = original_of(name, lambda one: folder + slash + one in known)
    return None if original is None else folder + slash + original


def _file(top: str, path: str, kind: Type, status: os.stat_result) -> MemoryFile:
    locked = os.path.lexists(os.path.join(top, path + LOCK))
    return MemoryFile(path, kind, status.st_size, moment_of(status.st_mtime_ns), locked)


def _below(
    top: str, start: str, apart: Collection[str], passed: list[LeftOut], failed: list[LeftOut]
) -> Iterator[tuple[str, os.stat_result]]:
    """Yield a file, or all files below a folder, each with its status, without the folders `apart`.

    Hidden folders and errors go to the lists. A missing file or folder is no error: it may be removed at any time.
    """
    try:
        status = os.lstat(os.path.join(top, start))
        if not st.S_ISDIR(status.st_mode):
            yield start, status
            return
        names = sorted(os.listdir(os.path.join(top, start)))
    except FileNotFoundError:
        return
    except OSError as error:
        failed.append(LeftOut(start, error.strerror or str(error)))
        return
    for name in names:
        path = f"{start}/{name}"
        if path in apart or name == PRIVATE:
            continue
        if name.startswith(".") and os.path.isdir(os.path.join(top, path)):
            passed.append(LeftOut(path, "a hidden folder holds no memory"))
        else:
            yield from _below(top, path, apart, passed, failed)
