"""The files of the workspace that a command names, with the hashes of their bytes: they are approved with it.

The search is deliberately wide. Every word of the command, and every trailing part of a path in it, is looked up in the
workspace and in each of its folders that the command names. Files that its programs read implicitly are included, and
so are the modules that these files load by name. A file too many causes one more question some day; a file too few
would run without approval.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from memory.errors import MemdeckError
from memory.storage.safe_open import FileVersion, open_beneath

from .loading import CannotPin, Pinned, PinnedFile, Reference, Script, read_held
from .places import Places, fold, joined
from .resolve import Led, Resolver
from .runners import ENDINGS, LANGUAGES, READS, plain_name
from .unknown import unknown_of
from .words import Word, is_pattern, words_of

__all__ = ["CannotPin", "Pinned", "Script", "Scripts"]

_MOST_LOOKS = 50_000
_MOST_PAIRS = 400_000
_MOST_FOLDERS = 64
_MOST_BASES = 400
_MOST_FILES = 200
_MOST_LOADED = 2000
_MOST_ENDS = 64
_STANDARD = frozenset(sys.stdlib_module_names) | {"sitecustomize", "usercustomize"}


class Scripts:
    """Finds and hashes the files that commands name in one workspace; an unchanged file is hashed once."""

    def __init__(self, workspace: Path) -> None:
        """Read nothing yet."""
        self.root = workspace
        self._known: dict[str, tuple[FileVersion, tuple[str, ...], PinnedFile]] = {}

    def pinned(self, command: str) -> Pinned:
        """Return the files that a command names, and a description of those that cannot be determined.

        CannotPin if one is outside, cannot be read or is too large, or if there are too many to check.
        """
        return _Search(self, command).run()

    def held(self, path: str, fd: int, languages: tuple[str, ...]) -> PinnedFile:
        """Return the hash of an open file, and what it loads; see `read_held`."""
        version = FileVersion.of(os.fstat(fd))
        known = self._known.get(path)
        if known is not None and known[:2] == (version, languages):
            return known[2]
        held, settled = read_held(path, fd, languages)
        if settled:
            self._known[path] = (version, languages, held)
        return held


class _Search:
    """One search for the files of a command.

    `words` and `loads`, each once in the order of finding, are searched for in `folders`; all grow during the search.
    """

    def __init__(self, scripts: Scripts, command: str) -> None:
        self.scripts = scripts
        self.command = command
        self.resolver = Resolver(scripts.root)
        self.places = Places(self.resolver, self._count)
        self.words = dict.fromkeys(words_of(command))
        self.loads: dict[Reference, None] = {}
        self.folders: list[str] = [""]
        self.named: set[str] = set()
        self.found: dict[str, Script] = {}
        self.looks = self.pairs = 0
        self.loading = False
        # A path into the workspace does not lead out: its trailing parts are looked up in the workspace.
        tops = tuple(f"{one}/" for one in {self.resolver.root, os.path.abspath(scripts.root)})
        self.named_outside = [word.text for word in self.words if not word.open and not word.text.startswith(tops)]
        self.programs = frozenset(plain_name(word.text) for word in self.words)
        self.languages = {LANGUAGES[name] for name in self.programs if name in LANGUAGES}
        self.reads = sorted({file for name in self.programs for file in READS.get(name, ())})
        # An argument of an interpreter without an extension is in its language; a started file may be a shell script.
        self.taken_for = tuple(sorted({*self.languages, "shell"}))
        self._named_files = self._sought = 0
        self._seen: set[str] = set()
        # Each word of the command may be a module, as an interpreter of a language finds it.
        for language in sorted(self.languages - {"shell", "make"}):
            for word in self.words:
                if not word.open and len(word.text) < 500:
                    self.loads.setdefault(Reference(language, word.text))  # type: ignore[arg-type]

    def run(self) -> Pinned:
        done: dict[str, tuple[int, int]] = {}
        # Each step may find more words and more folders.
        while any(done.get(folder) != (len(self.words), len(self.loads)) for folder in self.folders):
            for folder in list(self.folders):
                words, loads = done.get(folder, (0, 0))
                if folder not in done:
                    self._look_for_read(folder)
                seen = (len(self.words), len(self.loads))
                for word in list(self.words)[words : seen[0]]:
                    self._look_for(word, folder)
                self.loading = True
                for one in list(self.loads)[loads : seen[1]]:
                    self._look_for_loaded(one, folder)
                self.loading = False
                done[folder] = seen
        unknown = unknown_of(
            self.command,
            self.named_outside,
            self.programs,
            self.languages,
            self.named - {""},
            scripts=bool(self.found),
        )
        return Pinned(tuple(sorted(self.found.values(), key=lambda script: script.path)), unknown)

    # -- what is looked for ---------------------------------------------------------------------------------------

    def _look_for(self, word: Word, folder: str) -> None:
        self._pair()
        for path in _ends(word.text):
            if word.pattern and is_pattern(path):
                for match in self.places.matches(folder, path):
                    self._look_at(match)
            elif fold(path.split("/", 1)[0]) in self.places.folded(folder):
                self._look_at(joined(folder, path))

    def _look_for_read(self, folder: str) -> None:
        """Search for the files that the programs of the command read implicitly."""
        for pattern in self.reads:
            for match in self.places.matches(folder, pattern):
                self._look_at(match)
        if "python" in self.languages:
            self._look_for_shadows(folder)
        if "node" in self.languages:
            self._ended(folder, "index", ENDINGS["node"])

    def _look_for_sources(self, folder: str, name: str) -> None:
        """Search for the files from which make would create a file before it reads it."""
        for beside in sorted(self.places.entries(folder)):
            if beside.startswith((f"{name}.", f"{name},")):
                self._look_at(joined(folder, beside))
        for beside in (f"RCS/{name},v", f"RCS/{name}", f"SCCS/s.{name}"):
            self._look_at(joined(folder, beside))

    def _look_for_shadows(self, folder: str) -> None:
        """Search for files that Python runs in a folder, and for modules that shadow those of the standard library."""
        for stem in sorted((self.places.stems(folder).keys() & _STANDARD) | {"__main__"}):
            self._module(folder, [stem])

    def _look_for_loaded(self, one: Reference, folder: str) -> None:
        self._pair()
        text = one.text
        if "\0" in text:
            return
        if one.how == "python":
            parts = text.strip(".").split(".") if "/" not in text else []
            self._module(folder, parts)
            return
        if one.how == "perl" and "::" in text:
            text = text.replace("::", "/")
        if one.how == "lua" and "/" not in text:
            text = text.replace(".", "/")
        for path in _ends(text):
            if fold(path.split("/", 1)[0]) in self.places.folded(folder) or "/" not in path:
                self._ended(folder, path, ("", *ENDINGS[one.how]))

    def _ended(self, folder: str, path: str, endings: Iterable[str]) -> None:
        """Check a file whose extension is left out, or is that of its compiled form."""
        parent, _, name = path.rpartition("/")
        if name.endswith(("js", "jsx")) and "." in name:
            self._ended(folder, path.rpartition(".")[0], (".ts", ".tsx", ".mts", ".cts"))
        if parent:
            self._refuse_away(joined(folder, parent))
        beside = self.places.entries(joined(folder, parent) if parent else folder)
        for ending in endings:
            if name + ending in beside:
                self._look_at(joined(folder, path + ending))

    def _module(self, folder: str, parts: list[str]) -> None:
        """Check a Python module by the parts of its name, and the packages that contain it."""
        for number, part in enumerate(parts):
            if not part.isidentifier():
                return
            # The extension may include the version that it was built for: `a.cpython-311-x86_64-linux-gnu.so`.
            for name in self.places.stems(folder).get(part, ()):
                self._look_at(joined(folder, name))
            if part not in self.places.entries(folder):
                return
            folder = joined(folder, part)
            self._refuse_away(folder)
            for stem in ("__init__", "__main__") if number == len(parts) - 1 else ("__init__",):
                for name in self.places.stems(folder).get(stem, ()):
                    self._look_at(joined(folder, name))

    def _refuse_away(self, folder: str) -> None:
        """Pin the links to a folder of modules; CannotPin if it leads outside or differs between processes."""
        if self.places.leads_away(folder):
            self._look_at(folder)
            raise CannotPin(f"{folder} is a link that leads to another folder for each process")

    # -- what is there --------------------------------------------------------------------------------------------

    def _look_at(self, path: str) -> None:
        """Pin what a path of the workspace leads to, and each link on the way."""
        if path in self._seen:
            return
        self._seen.add(path)
        self._count(1 + path.count("/"))
        try:
            led = self.resolver.resolve(path)
        except OSError as error:
            raise CannotPin(f"{path} cannot be read ({error.strerror})") from None
        for link, target in led.links:
            self._add(Script(link, f"link to {target}"))
        match led.kind:
            case "outside":
                link = led.links[-1][0] if led.links else path
                raise CannotPin(
                    f"{link} is a link that leads out of the workspace ({led.path}), where nothing can be held on to"
                )
            case "special":
                raise CannotPin(f"{path} is a pipe or a device: what it will give cannot be held on to")
            case "running":
                self._want(led)
            case "folder":
                self._add_folder(path, led.path)
            case "file":
                self._hold(path, led)

    def _want(self, led: Led) -> None:
        """From now on, also search every folder for the path that a link opens in the command's current folder."""
        word = Word(led.path)
        if led.path and word not in self.words:
            self._sought += 1
            if self._sought > _MOST_FOLDERS:
                raise CannotPin("its links lead to too many places")
            self.words.setdefault(word)

    def _hold(self, path: str, led: Led) -> None:
        try:
            fd = open_beneath(led.path, self.resolver.root)
        except (OSError, MemdeckError) as error:
            why = error.message if isinstance(error, MemdeckError) else error.strerror
            raise CannotPin(f"{path} cannot be read ({why})") from None
        try:
            status = os.fstat(fd)
            if (status.st_dev, status.st_ino) != led.node:
                raise CannotPin(f"{path} is changed while it is looked at")
            held = self.scripts.held(led.path, fd, self.taken_for)
        except OSError as error:
            raise CannotPin(f"{path} cannot be read ({error.strerror})") from None
        finally:
            os.close(fd)
        new = led.path not in self.found
        self._add(Script(led.path, held.hash))
        if held.language == "python":
            self._look_for_shadows(os.path.dirname(path))
        if held.language in ENDINGS:
            self.languages.add(held.language)
        if "zsh" in self.programs:
            self._look_at(f"{path}.zwc")
        if "make" in self.languages:
            self._look_for_sources(*os.path.split(path))
        if new:
            self._follow(path, led.path, held)

    def _follow(self, path: str, real: str, held: PinnedFile) -> None:
        """Search for what a file loads, from its own folder, by each path that leads to it."""
        if not held.references:
            return
        # In a fixed order, so that another process finds the same.
        for place in dict.fromkeys((path, real)):
            folder = os.path.dirname(place)
            self._add_base(folder)
            for one in held.references:
                base = folder
                for _ in range(one.up):
                    base = os.path.dirname(base)
                self._add_base(base)
        for one in held.references:
            if one.how == "word":
                self.words |= dict.fromkeys(words_of(one.text))
            else:
                self.loads.setdefault(Reference(one.how, one.text))

    # -- limits ---------------------------------------------------------------------------------------------------

    def _count(self, looks: int) -> None:
        self.looks += looks
        if self.looks > _MOST_LOOKS:
            raise CannotPin("it names too many places to look at")

    def _pair(self) -> None:
        self.pairs += 1
        if self.pairs > _MOST_PAIRS:
            raise CannotPin("it and the files that it names load too much to look for")

    def _add(self, script: Script) -> None:
        key = script.path if not script.hash.startswith("link to ") else f"{script.path}\0"
        if key in self.found:
            return
        self.found[key] = script
        self._named_files += not self.loading
        if self._named_files > _MOST_FILES:
            raise CannotPin(f"it names more than {_MOST_FILES} files")
        if len(self.found) > _MOST_LOADED:
            raise CannotPin(f"it loads more than {_MOST_LOADED:,} files")

    def _add_folder(self, path: str, real: str) -> None:
        if not self.loading:
            self.named.add(real)
            if len(self.named) > _MOST_FOLDERS:
                raise CannotPin(f"it names more than {_MOST_FOLDERS} folders")
        # `cd` resolves `..` before links, the system resolves links first.
        for one in (os.path.normpath(path), real):
            if one not in (".", "") and not one.startswith(".."):
                self._add_base(one)

    def _add_base(self, folder: str) -> None:
        if folder in self.folders:
            return
        if len(self.folders) >= _MOST_BASES:
            raise CannotPin(f"it leads to more than {_MOST_BASES} folders")
        self.folders.append(folder)


def _ends(text: str) -> Iterator[str]:
    """Yield a relative path and each trailing part of it: what precedes may be the workspace, a variable, or a link."""
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
