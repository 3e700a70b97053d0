"""The names in the folders of a workspace, in the forms a command may use; each folder is listed once."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator

from memory.errors import MemdeckError
from memory.storage.safe_open import open_beneath

from .loading import CannotPin
from .resolve import Resolver
from .runners import ENDINGS
from .words import fits, is_pattern


class Places:
    """The folders of one workspace during one search; `count` is called with the cost of a pattern."""

    def __init__(self, resolver: Resolver, count: Callable[[int], object]) -> None:
        """List nothing yet."""
        self.resolver = resolver
        self._count = count
        self._in: dict[str, frozenset[str]] = {}
        self._folded_names: dict[str, frozenset[str]] = {}
        self._by_stem: dict[str, dict[str, list[str]]] = {}

    def folded(self, folder: str) -> frozenset[str]:
        """Return the names in a folder in the form of `fold`."""
        if folder not in self._folded_names:
            self._folded_names[folder] = frozenset(fold(name) for name in self.entries(folder))
        return self._folded_names[folder]

    def stems(self, folder: str) -> dict[str, list[str]]:
        """Return the Python modules in a folder by their names."""
        if folder not in self._by_stem:
            found = self._by_stem[folder] = {}
            for name in sorted(self.entries(folder)):
                stem, dot, _ = name.partition(".")
                if dot and name.endswith(ENDINGS["python"]):
                    found.setdefault(stem, []).append(name)
        return self._by_stem[folder]

    def entries(self, folder: str) -> frozenset[str]:
        """Return the names in a folder of the workspace, none if it does not exist.

        CannotPin if it may not be listed: a file in it could still be run.
        """
        if folder not in self._in:
            try:
                led = self.resolver.resolve(folder)
                if led.kind != "folder":
                    raise NotADirectoryError(errno.ENOTDIR, folder)
                root = self.resolver.root
                fd = open_beneath(led.path, root) if led.path else os.open(root, os.O_RDONLY | os.O_DIRECTORY)
                try:
                    self._in[folder] = frozenset((".", "..", *os.listdir(fd)))
                finally:
                    os.close(fd)
            except PermissionError as error:
                raise CannotPin(f"{folder or 'the workspace'} cannot be read ({error.strerror})") from None
            except (OSError, MemdeckError):
                self._in[folder] = frozenset()
        return self._in[folder]

    def leads_away(self, path: str) -> bool:
        """Return whether a path leads to a place that is not listed here: outside, or the command's current folder."""
        try:
            return self.resolver.resolve(path).kind in ("outside", "running")
        except OSError:
            return True

    def matches(self, folder: str, pattern: str) -> Iterator[str]:
        """Yield what a file name pattern matches, including hidden files, and any path on the way that leads away."""
        first, _, rest = pattern.partition("/")
        if not is_pattern(first):
            if fold(first) in self.folded(folder):
                path = joined(folder, first)
                if not rest or self.leads_away(path):
                    yield path
                if rest:
                    yield from self.matches(path, rest)
            return
        if first == "**" and rest:
            yield from self.matches(folder, rest)
        for name in sorted(self.entries(folder) - {".", ".."}):
            if not fits(name, first):
                continue
            path = joined(folder, name)
            self._count(1 + path.count("/"))
            if rest:
                if self.leads_away(path):
                    yield path
                yield from self.matches(path, rest)
                if first == "**":
                    yield from self.matches(path, pattern)
            else:
                yield path


def fold(name: str) -> str:
    """Return a name in the form compared by file systems that ignore case and Unicode variants."""
    if name.isascii():
        return name.casefold()
    import unicodedata

    return unicodedata.normalize("NFC", name).casefold()


def joined(folder: str, path: str) -> str:
    """Return a path in a folder of the workspace; "" is the workspace itself."""
    return f"{folder}/{path}" if folder else path
