"""The memory files of one agent, none of which is opened: type, size and age of each; and their advisory locks.

A lock is a sentinel `<path>.lock` beside a file, made by the first program that asks. Locks are cooperative: a program
that does not check for the sentinel is not stopped by it. memdeck checks before it writes. The content of the sentinel
is for people; only its existence counts.
"""

from __future__ import annotations

import os
import stat as st
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, get_args

from memory.base.programs import is_alive
from memory.base.safe_text import visible
from memory.base.sync_copies import original_of
from memory.errors import BusyError, RefusedError, UsageError, file_kind, write_failed
from memory.storage import Store, fsio
from memory.storage import safe_open as beneath
from memory.storage.safe_open import read_start

from .aidefile import NAME, Aidefile, read_aidefile
from .sizes import span_ns, tokens_of

Type = Literal["core", "procedural", "episodic"]
TYPES: tuple[Type, ...] = get_args(Type)
MAX_AGE: Mapping[Type, timedelta] = {"procedural": timedelta(days=90), "episodic": timedelta(days=7)}
"""The greatest age of files of a type; core files have no limit."""
LOCK = ".lock"
"""The ending of the sentinel file beside a locked file."""
PRIVATE = ".memdeck"
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
    mtime_ns: int
    locked: bool = False

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]

    def age_ns(self, now_ns: int) -> int:
        """Return how long ago it was changed, in nanoseconds; negative for a time in the future."""
        return now_ns - self.mtime_ns

    def too_old(self, now_ns: int) -> bool:
        """Return whether a prune deletes it: strictly older than the greatest age of its type."""
        limit = MAX_AGE.get(self.type)
        return limit is not None and self.age_ns(now_ns) > span_ns(limit)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is not a memory file or cannot be read, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class AgentFiles:
    """All memory files of an agent by type and path; what was skipped, and what failed.

    `sentinels` are the `.lock` files, `missing` the listed core files that do not exist, `copies` the files that
    another program left beside the one they are a copy of, each with that: they are no memory.
    """

    files: tuple[MemoryFile, ...]
    passed: tuple[LeftOut, ...] = ()
    failed: tuple[LeftOut, ...] = ()
    sentinels: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    copies: tuple[tuple[str, str], ...] = ()

    def of(self, kind: Type) -> tuple[MemoryFile, ...]:
        """Return the files of one type."""
        return tuple(file for file in self.files if file.type == kind)

    def size(self, kind: Type | None = None) -> int:
        """Return the bytes of one type, or of all."""
        return sum(file.size for file in self.files if kind in (None, file.type))

    @property
    def tokens(self) -> int:
        """Roughly how many tokens all files have together."""
        return tokens_of(self.size())


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
    written = (*aidefile.core_files, aidefile.procedural_dir, aidefile.episodic_dir)
    real = (*aidefile.core, aidefile.procedural_real, aidefile.episodic_real)
    # A place that the Aidefile reaches through a link may be anything: sources, the settings of a program.
    places = [_HOME, *(one for one, other in zip(real, written, strict=True) if one == os.path.normpath(other))]
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
            f"{path[:80]!r} is no Markdown file of the agent's memory",
            f"name one in {_HOME}/, {aidefile.procedural_real}/ or {aidefile.episodic_real}/",
            path=path,
        )


def look(folder: Path, aidefile: Aidefile) -> AgentFiles:
    """Return the memory files of an agent; links are not followed, and failures are recorded and skipped.

    One of the two folders may be inside the other; a file in both has the type of the inner one.
    """
    top = os.path.realpath(folder)
    kinds: dict[str, Type] = {aidefile.procedural_real: "procedural", aidefile.episodic_real: "episodic"}
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
    missing = []
    for written, real in zip(aidefile.core_files, aidefile.core, strict=True):
        if not os.path.lexists(os.path.join(top, real)):
            missing.append(written)
        for path, status in _below(top, real, (), [], []):
            if st.S_ISREG(status.st_mode) and path not in found and not path.endswith(LOCK):
                found[path] = _file(top, path, "core", status)
    copies = [(path, original) for path in found if (original := _original(path, found))]
    for path, original in copies:
        del found[path]
        passed.append(LeftOut(path, f"it is a copy of {original} that another program left"))
    files = sorted(found.values(), key=lambda file: (TYPES.index(file.type), file.path))
    return AgentFiles(tuple(files), tuple(passed), tuple(failed), tuple(sentinels), tuple(missing), tuple(copies))


def _original(path: str, known: Collection[str]) -> str | None:
    """Return the file beside a file that it is a copy of, by its name."""
    folder, slash, name = path.rpartition("/")
    original = original_of(name, lambda one: folder + slash + one in known)
    return None if original is None else folder + slash + original


def _file(top: str, path: str, kind: Type, status: os.stat_result) -> MemoryFile:
    locked = os.path.lexists(os.path.join(top, path + LOCK))
    return MemoryFile(path, kind, status.st_size, status.st_mtime_ns, locked)


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


# -- locks -----------------------------------------------------------------------------------------------------------

_SHOWN = 400


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of a lock according to its sentinel: process, host, and time as written."""

    path: str
    pid: int | None
    host: str
    time: str

    @property
    def dead(self) -> bool:
        """Whether the process was one of this machine and no longer exists, so that it will never remove the lock."""
        return self.pid is not None and self.host == host_name() and not is_alive(self.pid)

    def text(self) -> str:
        """Return the holder for people to read."""
        if self.pid is None:
            return "an unknown program"
        where = f" on {self.host}" if self.host != host_name() else ""
        since = f" since {self.time}" if self.time else ""
        return visible(f"process {self.pid}{where}{since}{', which is gone' if self.dead else ''}")

    def json(self) -> dict[str, Any]:
        """Return the lock for programs."""
        return {"path": self.path, "pid": self.pid, "host": self.host, "time": self.time, "stale": self.dead}


def host_name() -> str:
    """Return the name of this machine as sentinels name it."""
    return os.uname().nodename


def holder_of(folder: Path | str, path: str) -> Holder | None:
    """Return the holder of the lock of a file (`path` from the folder on), None where it is not locked.

    A link or anything else under the sentinel's name counts as a lock, and is not read.
    """
    place = os.path.join(folder, path + LOCK)
    if not os.path.lexists(place):
        return None
    try:
        words = read_start(place, _SHOWN, follow=False).decode("utf-8", "replace").split()
    except (OSError, RefusedError):
        words = []
    number = words[0] if words else ""
    usable = number.isascii() and number.isdigit() and len(number) < 11 and 0 < int(number) < 1 << 31
    pid = int(number) if usable else None
    return Holder(path, pid, words[1] if len(words) > 1 else "", words[2] if len(words) > 2 else "")


def refuse_locked(folder: Path | str, path: str, owner: int | None = None) -> None:
    """Raise BusyError `typed.locked` where another process holds the lock of a file.

    `owner` is the process that makes the change (default: this one); its own lock does not block it.
    """
    holder = holder_of(folder, path)
    own = (os.getpid() if owner is None else owner, host_name())
    if holder is not None and (holder.pid, holder.host) != own:
        raise held(holder)


def held(holder: Holder) -> BusyError:
    """Return the error for a lock that another process holds."""
    hint = "unlock it if that is so" if holder.dead else "wait until it is unlocked"
    return BusyError("typed.locked", f"{visible(holder.path)} is locked by {holder.text()}", hint, **holder.json())


def lock_file(store: Store, path: str, *, now: datetime, owner: int | None = None) -> Holder:
    """Make the sentinel of a file, which need not exist; BusyError `typed.locked` names the holder.

    The sentinel is made in one step that only one caller can win. It is not a change of memory, so no history has it.
    """
    if path.endswith(LOCK):
        raise UsageError("typed.lock", f"{path} is a lock itself", "lock the file that it belongs to")
    refuse_foreign(store.root, path)
    pid = os.getpid() if owner is None else owner
    time = now.astimezone(UTC).replace(microsecond=0).isoformat()
    text = f"{pid} {host_name()} {time}\n".encode()
    try:
        _beside(store, path, lambda name, folder: os.close(fsio.write_new(name, folder, text, durable=False)), made=[])
    except FileExistsError:
        raise held(holder_of(store.root, path) or Holder(path, None, "", "")) from None
    except OSError as error:
        raise write_failed(error, store.shown(path) + LOCK) from error
    return holder_of(store.root, path) or Holder(path, pid, "", "")


def unlock_file(store: Store, path: str) -> bool:
    """Remove the sentinel of a file, also that of another process, and return whether it existed."""
    refuse_foreign(store.root, path)
    if not os.path.lexists(store.root / (path + LOCK)):
        return False
    try:
        _beside(store, path, fsio.remove)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise write_failed(error, store.shown(path) + LOCK) from error
    return True


def _beside(store: Store, path: str, act: Callable[[str, int], object], made: list[str] | None = None) -> None:
    """Do something with the sentinel of a file: `act` gets its name and its open folder."""
    store.check_path(path)
    *parents, name = store.shown(path).split("/")
    folder = fsio.open_folder(parents, store.workspace, made=made)
    try:
        act(name + LOCK, folder)
    finally:
        os.close(folder)
