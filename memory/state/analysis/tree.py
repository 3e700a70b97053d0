"""The files of a repository: listed within bounds and without following links, read within bounds."""

from __future__ import annotations

import errno
import os
import stat
from bisect import bisect_left
from collections import Counter, deque

from memory.errors import MemdeckError
from memory.state.files.model import ENTRY_FILES, PROJECTIONS
from memory.state.projections.entry_block import without_blocks
from memory.storage.safe_open import open_beneath

from .ignored import Ignore, is_foreign_folder, is_generated
from .languages import is_test_folder, language_of

ENTRY_WORDS = "<!-- agent-memory:entry "

MOST_FILES = 20_000
"""How many files are listed; those nearest to the root come first."""

MOST_BYTES = 256 * 1024
"""How many bytes of a file are read."""

_MOST_IN_FOLDER = 5_000
_DEPTH = 12
_MOST_READ = 64 << 20
_SAMPLES = frozenset(("example", "examples", "sample", "samples", "demo", "demos", "templates", "template", "snippets"))
_DOMAINS = frozenset(("com", "org", "net", "io", "dev"))
_ASIDE = frozenset(("bench", "benches", "benchmark", "benchmarks", "fuzz", "fuzzing"))


class Tree:
    """The files and folders of a repository that are its own work. Paths are relative, with `/`, in a fixed order.

    `files` maps each file to its size, `folders` each folder to the files directly in it (`""` is the root; a folder
    that holds only folders has none), `complete` is true where all files were listed. `unread` maps files and folders
    that could not be read so far to the reason.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        """List the files; what cannot be listed is left out."""
        self.root = os.path.realpath(root)
        self.files: dict[str, int] = {}
        self.unread: dict[str, str] = {}
        self.complete = True
        self._texts: dict[str, str] = {}
        self._read = 0
        ignore = Ignore(self._load(".gitignore") or "")
        found: dict[str, int] = {}
        folders = deque([("", 0)])
        while folders:
            folder, depth = folders.popleft()
            for name, size in self._entries(folder):
                path = f"{folder}/{name}" if folder else name
                if size is None:
                    if depth < _DEPTH and self._is_own(path, name, ignore):
                        folders.append((path, depth + 1))
                elif len(found) >= MOST_FILES:
                    self.complete = False
                    folders.clear()
                    break
                elif name != ".git" and not ignore.ignores(path, folder=False):
                    found[path] = size
        self.files = dict(sorted(found.items(), key=lambda item: item[0].split("/")))
        for path in ENTRY_FILES:
            # A file that contains only the block was made for it.
            if path in self.files and not self.text(path).strip() and ENTRY_WORDS in (self._load(path) or ""):
                del self.files[path]
        self.folders: dict[str, list[str]] = {"": []}
        self._paths = list(self.files)
        self._keys = [path.split("/") for path in self._paths]
        self._inner: dict[str, list[str]] = {}
        self._named: dict[str, list[str]] = {}
        self._languages: Counter[str] = Counter()
        for path in self.files:
            self._index(path)

    @staticmethod
    def _is_own(path: str, name: str, ignore: Ignore) -> bool:
        """Return whether a folder is the repository's own work: not built, downloaded, or written from the bundle."""
        return path != PROJECTIONS and not is_foreign_folder(name) and not ignore.ignores(path, folder=True)

    def _index(self, path: str) -> None:
        above, _, name = path.rpartition("/")
        self._named.setdefault(name, []).append(path)
        language = language_of(path)
        if language is not None and not is_generated(name) and not self.is_sample(above) and not _is_hidden(path):
            self._languages[language] += 1
        folder = above
        while folder not in self.folders:
            self.folders[folder] = []
            around = folder.rpartition("/")[0]
            self._inner.setdefault(around, []).append(folder)
            folder = around
        self.folders[above].append(path)

    def _entries(self, folder: str) -> list[tuple[str, int | None]]:
        """Return names and sizes (None: a folder) of regular files and folders, sorted, without links."""
        entries: list[tuple[str, int | None]] = []
        try:
            with os.scandir(os.path.join(self.root, folder)) as found:
                for entry in found:
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISDIR(status.st_mode):
                        entries.append((entry.name, None))
                    elif stat.S_ISREG(status.st_mode):
                        entries.append((entry.name, status.st_size))
        except OSError as error:
            self._miss(folder or ".", error)
            return []
        entries = [(name, size) for name, size in entries if _is_plain(name)]
        if len(entries) > _MOST_IN_FOLDER:
            self.complete = False
        return sorted(entries)[:_MOST_IN_FOLDER] if len(entries) > 1 else entries

    def has(self, path: str) -> bool:
        """Return whether a file is listed."""
        return path in self.files

    def has_folder(self, path: str) -> bool:
        """Return whether a folder holds a listed file."""
        return path in self.folders

    def named(self, name: str) -> list[str]:
        """Return the paths of all files of that name."""
        return self._named.get(name, [])

    def top_files(self) -> list[str]:
        """Return the files at the root."""
        return self.folders[""]

    def count(self, language: str) -> int:
        """Return the number of files in a language, without tests and samples."""
        return self._languages[language]

    def languages(self) -> list[str]:
        """Return the languages of the files, the most frequent first."""
        return sorted(self._languages, key=lambda language: (-self._languages[language], language))

    def is_sample(self, folder: str) -> bool:
        """Return whether a folder holds tests, fixtures, examples or templates rather than the work itself."""
        parts = folder.split("/")
        # `org.example` is the name of a package.
        names = {part for around, part in zip(["", *parts], parts, strict=False) if around not in _DOMAINS}
        return is_test_folder(folder) or not _SAMPLES.isdisjoint(names)

    def is_aside(self, folder: str) -> bool:
        """Return whether a folder is a sample, or holds benchmarks or fuzz targets."""
        return self.is_sample(folder) or not _ASIDE.isdisjoint(folder.split("/"))

    def sources(self) -> list[str]:
        """Return the source files, without those in hidden folders, which belong to tools."""
        return [path for path in self._paths if language_of(path) is not None and not _is_hidden(path)]

    def below(self, folder: str) -> list[str]:
        """Return all files in a folder and its subfolders."""
        if not folder:
            return list(self._paths)
        *above, name = folder.split("/")
        # No file name contains NUL, so all names in the folder sort before this key.
        return self._paths[bisect_left(self._keys, [*above, name, ""]) : bisect_left(self._keys, [*above, f"{name}\0"])]

    def inner(self, folder: str) -> list[str]:
        """Return the folders directly in a folder."""
        return self._inner.get(folder, [])

    def text(self, path: str) -> str:
        """Return the beginning of a listed file as text; empty where it is binary or cannot be read."""
        if path not in self.files:
            return ""
        if path not in self._texts:
            text = (self._load(path) or "") if self._read < _MOST_READ else ""
            if path in ENTRY_FILES and ENTRY_WORDS in text:
                # The block is written from the bundle and adds nothing new.
                text = without_blocks(text.encode()).decode()
            self._texts[path] = text
        return self._texts[path]

    def _miss(self, path: str, error: OSError) -> None:
        """Record what could not be read; a missing file or a broken link is not recorded."""
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            self.unread[path] = error.strerror or type(error).__name__

    def _load(self, path: str) -> str | None:
        try:
            with os.fdopen(open_beneath(path, self.root), "rb") as file:
                data = file.read(MOST_BYTES)
        except OSError as error:
            self._miss(path, error)
            return None
        except (ValueError, MemdeckError):
            return None
        self._read += len(data)
        if b"\0" in data[:8192]:
            return None
        return data.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def _is_hidden(path: str) -> bool:
    """Return whether a file is in a hidden folder, such as `.github`."""
    return path.startswith(".") and "/" in path


def _is_plain(name: str) -> bool:
    """Return whether a name can be listed: it is UTF-8 and has no control characters."""
    return name.isprintable() and len(name) < 200
