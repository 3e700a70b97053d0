"""The files of one folder of memories, read one by one, and its index `MEMORY.md`.

The index has one line for each memory, the newest at the top; hand-written lines are kept below.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from memory.base.problems import original_of
from memory.base.scan import why_not
from memory.curated.files.header import BadFile, read
from memory.curated.model import INDEX, Invalid, Memory, Root
from memory.errors import MemdeckError
from memory.storage import Store

INDEX_KIND = "curated"

_OURS = re.compile(r"- \[(?P<name>.*)\]\((?P<file>[A-Za-z0-9._-]+\.md)\)(?: (?:—|-) .*)?")


def index_line(name: str, filename: str, description: str) -> str:
    """Return the line of a memory in the index: `- [Name](file) — description`."""
    name = " ".join(name.split()).replace("[", "(").replace("]", ")")
    description = " ".join(description.split())
    return f"- [{name}]({filename})" + (f" — {description}" if description else "")


def index_lines(memories: Iterable[Memory]) -> dict[str, str]:
    """Return the index lines of some memories, by their file names."""
    return {one.filename: index_line(one.header.name, one.filename, one.header.description) for one in memories}


def suspicious_passages(text: str, own: Collection[str]) -> list[tuple[int, str]]:
    """Return the parts of an index that break the content scan, with their lines (from 0), but for the lines `own`.

    Those are lines; where only several together break it, all others are one part.
    """
    others = [(number, line) for number, line in enumerate(text.splitlines()) if line not in own]
    if not why_not(INDEX_KIND, INDEX, "\n".join(line for _, line in others)):
        return []
    bad = [(number, line) for number, line in others if why_not(INDEX_KIND, INDEX, line)]
    left = "\n".join(one[1] for one in others if one not in bad)
    return [*bad, (0, left)] if why_not(INDEX_KIND, INDEX, left) else bad


def hand_written(text: str, there: Collection[str]) -> Iterator[tuple[int, str, str]]:
    """Yield the lines of an index that are not of the memories `there`, with their numbers (from 0).

    The last value is the file that such a line links to as if it were a memory, empty for another one.
    """
    for number, line in enumerate(text.splitlines()):
        found = _OURS.fullmatch(line)
        if line.strip() and (found is None or found["file"] not in there):
            yield number, line, "" if found is None else found["file"]


def strangers(store: Store, root: Root) -> list[str]:
    """Return the names in a folder of memories that nothing reads: other files than memories, and folders."""
    try:
        names = sorted(os.listdir(store.root / root.folder))
    except OSError:
        return []
    return [
        name
        for name in names
        if name[0] not in "._"
        and name != INDEX
        and (not is_memory_name(name) or os.path.isdir(store.root / root.folder / name))
    ]


def rendered(data: bytes, lines: Mapping[str, str], gone: Sequence[str] = ()) -> bytes:
    """Return the index with these lines at the top, and below them all lines of `data` that memdeck did not write.

    `lines` are those of the memories, by their file names. A line counts as memdeck's if it has its form and links to a
    listed memory or to one of the files `gone`. Any other line belongs to a person and stays byte for byte.
    """
    ours = {*lines, *gone}
    # `surrogateescape`: bytes that are not UTF-8 stay as they are.
    kept = []
    for text in data.decode("utf-8", "surrogateescape").split("\n"):
        found = _OURS.fullmatch(text.rstrip("\r"))
        if found is None or found["file"] not in ours:
            kept.append(text)
    below = "\n".join(kept).strip("\n")
    parts = ["\n".join(lines.values())] if lines else []
    if below.strip():
        parts.append(below)
    return ("\n\n".join(parts) + "\n").encode("utf-8", "surrogateescape") if parts else b""


def capped(text: str, max_lines: int, max_bytes: int) -> tuple[str, int]:
    """Return a text cut at a line to the limits, and how many lines are left out; a first line too long is cut too."""
    lines = text.splitlines()
    kept: list[str] = []
    size = 0
    for line in lines[:max_lines]:
        size += len(line.encode("utf-8", "surrogateescape")) + 1
        if size > max_bytes:
            break
        kept.append(line)
    if not kept and lines:
        cut = lines[0].encode("utf-8", "surrogateescape")[: max(max_bytes - 1, 0)].decode("utf-8", "ignore")
        return cut, len(lines) - 1
    return "\n".join(kept), len(lines) - len(kept)


LARGEST = 1024 * 1024
"""The largest file, in bytes, that is read as a memory."""


UNREADABLE = "memory.file.unreadable"
"""The code of a file that cannot be read: the next look tries again."""


_SLUG = re.compile(r"(?:(?!conflict)[a-z0-9_-])+\.md")
"""The names of most memories, which are no copies."""


class ListedFile(NamedTuple):
    """One file as the folder lists it, with the values that show whether it changed."""

    filename: str
    mtime_ns: int
    size: int
    inode: int


def seen_in(store: Store, root: Root) -> Iterator[ListedFile]:
    """Yield the files of a folder that may be memories: `*.md` except the index, names that begin with a dot or `_`,
    and the copies that syncing programs leave.

    Folders such as `_system` and `_inbox` are not entered.
    """
    try:
        entries = os.scandir(store.root / root.folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    with entries:
        listed = {entry.name: entry for entry in entries}
        for name, entry in listed.items():
            if not is_memory_name(name) or (_SLUG.fullmatch(name) is None and original_of(name, listed.__contains__)):
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
        return Invalid(root, name, 0, UNREADABLE, error.strerror or "the file cannot be read")
    except MemdeckError as error:
        return Invalid(root, name, 0, UNREADABLE, error.message)
    finally:
        store.forget(path)  # Otherwise thousands of files would stay in memory.
    if not stored.exists:
        return None

    try:
        header, body = read(stored.data, root)
    except BadFile as bad:
        return Invalid(root, name, bad.line, bad.code, bad.reason)
    return Memory(root, name, header, body, digest(stored.data), found.st_mtime_ns)


def read_first(store: Store, root: Root, names: Iterable[str]) -> Memory | Invalid | None:
    """Return the first existing file of some names, as in `read_file`."""
    for name in names:
        found = read_file(store, root, name)
        if found is not None:
            return found
    return None


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes in hex."""
    return str(sha256(data).hexdigest())
