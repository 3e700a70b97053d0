"""The files of the workspace that a command names, with the hashes of their bytes: they are approved with it.

Which those are is guessed widely: every word of the command, and every end of a path in it, is looked for in the
workspace and in each of its folders that the command names. A file too many costs another question some day; a file
too few would run unasked.
"""

from __future__ import annotations

import errno
import os
import stat as st
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from memory.errors import MemdeckError
from memory.storage.files.safe_open import open_beneath
from memory.storage.files.version import Version

from .words import Word, words_of

_MOST_LOOKS = 20_000
_MOST_FOLDERS = 64
_MOST_FILES = 200
_MOST_ENDS = 64
_LARGEST = 256 << 20
_CHUNK = 1 << 20
_RUNNERS = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "gmake": ("Makefile", "makefile", "GNUmakefile"),
    "npm": ("package.json",),
    "npx": ("package.json",),
    "pnpm": ("package.json",),
    "yarn": ("package.json",),
    "bun": ("package.json",),
    "just": ("justfile", "Justfile", ".justfile"),
    "rake": ("Rakefile", "rakefile"),
    "composer": ("composer.json",),
    "docker-compose": ("docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"),
    "compose": ("docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"),
}
"""What runners read without being told its name."""


@dataclass(frozen=True, slots=True)
class Script:
    """A file that a command names: its path in the workspace, and what tells its bytes (or where its link leads)."""

    path: str
    hash: str


class CannotPin(Exception):
    """A command names files that cannot be held on to; the text says why."""


class Scripts:
    """Finds and hashes the files that commands name in one workspace; a file that did not change is hashed once."""

    def __init__(self, workspace: Path) -> None:
        """Nothing is looked at yet."""
        self.root = workspace
        self._known: dict[str, tuple[Version, str]] = {}

    def named_by(self, command: str) -> tuple[Script, ...]:
        """Return the files that a command names, sorted by path.

        CannotPin where one cannot be read or is too large, or where there are too many places to look at.
        """
        return tuple(_Search(self, command).run())

    def hash_of(self, path: str, fd: int) -> str:
        """Return the hash of an open file."""
        version = Version.of(os.fstat(fd))
        known = self._known.get(path)
        if known is not None and known[0] == version:
            return known[1]
        if version.size > _LARGEST:
            raise CannotPin(f"{path} is too large to be held on to ({version.size >> 20} MB)")
        import time
        from hashlib import sha256

        began = time.time_ns()
        digest = sha256()
        position = 0
        while chunk := os.pread(fd, _CHUNK, position):
            digest.update(chunk)
            position += len(chunk)
            if position > _LARGEST:
                raise CannotPin(f"{path} grows while it is read")
        found = digest.hexdigest()
        if version.settled(began) and Version.of(os.fstat(fd)) == version:
            self._known[path] = (version, found)
        return found


class _Search:
    """One look through a command."""

    def __init__(self, scripts: Scripts, command: str) -> None:
        self.scripts = scripts
        self.root = scripts.root
        self.words = words_of(command)
        self.folders: list[str] = [""]
        self.found: dict[str, Script] = {}
        self.looks = 0
        self._seen: set[str] = set()
        self._names: dict[str, frozenset[str]] = {}
        self._folded_names: dict[str, frozenset[str]] = {}

    def run(self) -> Iterable[Script]:
        # Words that name folders are places where later (and, to be sure, earlier) words may lie.
        done = 0
        while done < len(self.folders):
            folder = self.folders[done]
            done += 1
            for word in self.words:
                self._look_for(word, folder)
        return sorted(self.found.values(), key=lambda script: script.path)

    def _look_for(self, word: Word, folder: str) -> None:
        for path in _ends(word.text):
            if word.pattern and any(char in path for char in "*?["):
                for match in self._matches(folder, path):
                    self._look_at(match)
            elif path.split("/", 1)[0].casefold() in self._folded(folder):
                self._look_at(_joined(folder, path))
        for name in _RUNNERS.get(word.text.rpartition("/")[2], ()):
            if name in self._entries(folder):
                self._look_at(_joined(folder, name))

    def _folded(self, folder: str) -> frozenset[str]:
        """Return the names in a folder without upper case: some file systems make no difference."""
        if folder not in self._folded_names:
            self._folded_names[folder] = frozenset(name.casefold() for name in self._entries(folder))
        return self._folded_names[folder]

    def _entries(self, folder: str) -> frozenset[str]:
        """Return the names in a folder of the workspace."""
        if folder not in self._names:
            try:
                fd = open_beneath(folder, self.root) if folder else os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
                try:
                    self._names[folder] = frozenset((".", "..", *os.listdir(fd)))
                finally:
                    os.close(fd)
            except (OSError, MemdeckError):
                self._names[folder] = frozenset()
        return self._names[folder]

    def _matches(self, folder: str, pattern: str) -> Iterator[str]:
        """Yield what a file name pattern stands for, the hidden files among it."""
        first, _, rest = pattern.partition("/")
        plain = not any(char in first for char in "*?[")
        for name in sorted(self._entries(folder)):
            if name != first if plain else name in (".", "..") or not fnmatchcase(name, first):
                continue
            self._count()
            path = _joined(folder, name)
            if rest:
                yield from self._matches(path, rest)
            else:
                yield path

    def _count(self) -> None:
        self.looks += 1
        if self.looks > _MOST_LOOKS:
            raise CannotPin("it names too many places to look at")

    def _look_at(self, path: str) -> None:
        """Hold on to what lies under a path of the workspace, if anything does."""
        if path in self._seen:
            return
        self._seen.add(path)
        self._count()
        self._note_links(path)
        try:
            fd = open_beneath(path, self.root)
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL):
                return
            raise CannotPin(f"{path} cannot be read ({error.strerror})") from None
        except MemdeckError:
            return  # a link that leads out of the workspace, which is noted, or a pipe
        try:
            mode = os.fstat(fd).st_mode
            if st.S_ISDIR(mode):
                self._add_folder(path)
            elif st.S_ISREG(mode):
                self._add(Script(path, self.scripts.hash_of(path, fd)))
        except OSError as error:
            raise CannotPin(f"{path} cannot be read ({error.strerror})") from None
        finally:
            os.close(fd)

    def _note_links(self, path: str) -> None:
        """Hold on to where the first link of a path leads, and look there, as long as that is in the workspace."""
        top = os.fspath(self.root)
        parts = path.split("/")
        for depth, part in enumerate(parts, 1):
            if part == "..":
                return
            here = "/".join(parts[:depth])
            try:
                target = os.readlink(f"{top}/{here}")
            except OSError:
                continue
            self._add(Script(here, f"link to {target}"))
            if target.startswith("/"):
                within = self._within(target)
            else:
                within = os.path.normpath("/".join((*parts[: depth - 1], target)))
            if within is not None and not within.startswith(".."):
                self._look_at("/".join((within, *parts[depth:])))
            return

    def _within(self, path: str) -> str | None:
        """Return an absolute path relative to the workspace, None where it lies elsewhere."""
        for top in (os.path.realpath(self.root), os.path.abspath(self.root)):
            if path.startswith(top.rstrip("/") + "/"):
                return os.path.normpath(path[len(top.rstrip("/")) + 1 :])
        return None

    def _add(self, script: Script) -> None:
        key = script.path if not script.hash.startswith("link to ") else f"{script.path}\0"
        self.found[key] = script
        if len(self.found) > _MOST_FILES:
            raise CannotPin(f"it names more than {_MOST_FILES} files")

    def _add_folder(self, path: str) -> None:
        # `cd` takes `..` away before it looks for links, the system after that.
        for one in (os.path.normpath(path), *((path,) if ".." in path else ())):
            if one == "." or one.startswith("..") or one in self.folders:
                continue
            if len(self.folders) >= _MOST_FOLDERS:
                raise CannotPin(f"it names more than {_MOST_FOLDERS} folders")
            self.folders.append(one)


def _joined(folder: str, path: str) -> str:
    return f"{folder}/{path}" if folder else path


def _ends(text: str) -> Iterator[str]:
    """Yield a relative path and every end of it: what stands before may be the workspace, a variable, or a link."""
    if "\0" in text:
        return
    parts = [part for part in text.split("/") if part not in ("", ".")]
    for index in (0, *range(max(1, len(parts) - _MOST_ENDS), len(parts))):
        if index >= len(parts):
            return
        if parts[index] != "..":
            yield "/".join(parts[index:])
        elif index == 0:
            yield "/".join(parts)
