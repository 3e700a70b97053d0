"""The files of one folder of memories, read one by one: memories, and the reason for files that are not."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from memory.curated.model import INDEX, Invalid, Memory, Root
from memory.errors import MemdeckError
from memory.storage import Store
from memory.storage.safe_open import sha256

from .header import BadFile, read

LARGEST = 1024 * 1024
"""The largest file, in bytes, that is read as a memory."""


PASSING = "memory.file.trouble"
"""The code of a file that cannot be read now: nothing is known about it, and the next refresh tries again."""

_LASTING = frozenset({errno.EACCES, errno.EPERM, errno.ELOOP, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG})
"""Errors for which a file stays unreadable until someone changes it."""


class ListedFile(NamedTuple):
    """One file as the folder lists it, with the values that show whether it changed."""

    filename: str
    mtime_ns: int
    size: int
    inode: int


def seen_in(store: Store, root: Root) -> Iterator[ListedFile]:
    """Yield the files of a folder that may be memories: `*.md` except the index and names that begin with a dot or `_`.

    Folders such as `_system` and `_inbox` are not entered.
    """
    try:
        entries = os.scandir(store.root / root.folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    with entries:
        for entry in entries:
            name = entry.name
            if not is_memory_name(name):
                continue
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if not stat.S_ISDIR(found.st_mode):
                yield ListedFile(name, found.st_mtime_ns, found.st_size, found.st_ino)


def is_memory_name(name: str) -> bool:
    """Return whether a file may be a memory by its name."""
    return name.endswith(".md") and name[0] not in "._" and name != INDEX and ".tmp-" not in name


def listed_names(store: Store, folder: str, kind: Callable[[int], bool], accepts: Callable[[str], object]) -> list[str]:
    """Return the accepted names in a folder, sorted; `kind` tests the mode of each, and links are not followed."""
    try:
        with os.scandir(store.root / folder) as entries:
            return sorted(
                one.name for one in entries if accepts(one.name) and kind(one.stat(follow_symlinks=False).st_mode)
            )
    except OSError:
        return []


def system_files(store: Store, root: Root) -> tuple[str, ...]:
    """Return the Markdown files of `_system`, as paths relative to the folder of memories."""
    top = store.root / root.folder
    found = []
    for folder, folders, files in os.walk(top / "_system"):
        folders.sort()
        found += [os.path.relpath(os.path.join(folder, name), top) for name in sorted(files) if name.endswith(".md")]
    return tuple(found)


def read_file(store: Store, root: Root, name: str) -> Memory | Invalid | None:
    """Return a file as a memory, or why it is not one; None where there is no such file."""
    path = f"{root.folder}/{name}"
    try:
        found = os.lstat(store.root / path)
        if stat.S_ISLNK(found.st_mode):
            return Invalid(root, name, 0, "memory.file.link", "the file is a link")
        if found.st_size > LARGEST:
            return Invalid(root, name, 0, "memory.file.size", f"the file is larger than {LARGEST // 1024} KB")
        stored = store.read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        code = "memory.file.unreadable" if error.errno in _LASTING else PASSING
        return Invalid(root, name, 0, code, error.strerror or "the file cannot be read")
    except MemdeckError as error:
        cause = error.__cause__
        passing = isinstance(cause, OSError) and cause.errno not in _LASTING
        code = PASSING if passing else error.code
        return Invalid(root, name, 0, code, error.message)
    finally:
        store.remember(path, None)  # Otherwise thousands of files would stay in memory.
    if not stored.exists:
        return None

    try:
        header, body = read(stored.data, root)
    except BadFile as bad:
        return Invalid(root, name, bad.line, bad.code, bad.reason)
    return Memory(root, name, header, body, digest(stored.data), found.st_mtime_ns)


def read_first(store: Store, root: Root, names: Iterable[str]) -> Memory | Invalid | None:
    """Return the first file that is there of some names, as in `read_file`."""
    for name in names:
        found = read_file(store, root, name)
        if found is not None:
            return found
    return None


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes in hex."""
    return str(sha256(data).hexdigest())
