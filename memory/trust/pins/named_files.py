"""The files of the workspace that a command names, with the hashes of their bytes: they are approved with it.

Which those are is guessed widely: every word of the command, and every end of a path in it, is looked for in the
workspace and in each of its folders that the command names; so are the files that its programs read without being
told, and the modules that those files load by name. A file too many costs another question some day; a file too few
would run unasked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from memory.errors import MemdeckError
from memory.storage.files.safe_open import open_beneath
from memory.storage.files.version import FileVersion

from .held_files import CannotPin, Pinned, PinnedFile, Script, read_held
from .loading import Reference
from .patterns import is_pattern
from .places import Places, fold, joined
from .resolve import Led, Resolver
from .runners import ENDINGS, READS, languages_of, plain_name
from .unknown import unknown_of
from .words import Word, words_of

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
    """Finds and hashes the files that commands name in one workspace; a file that did not change is hashed once."""

    def __init__(self, workspace: Path) -> None:
        """Nothing is looked at yet."""
        self.root = workspace
        self._known: dict[str, tuple[FileVersion, tuple[str, ...], PinnedFile]] = {}

    def pinned(self, command: str) -> Pinned:
        """Return the files that a command names, and what is said about those that cannot be known.

        CannotPin where one lies outside, cannot be read or is too large, or where there are too many to look at.
        """
        return _Search(self, command).run()

    def named_by(self, command: str) -> tuple[Script, ...]:
        """Return the files alone, sorted by path; raises as `pinned`."""
        return self.pinned(command).scripts

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
    """One look through a command.

    `words` and `loads` are what is looked for, `folders` where; each grows while things are found.
    """

    def __init__(self, scripts: Scripts, command: str) -> None:
        self.scripts = scripts
        self.command = command
        self.resolver = Resolver(scripts.root)
        self.places = Places(self.resolver, self._count)
        self.words: list[Word] = list(words_of(command))
        self.loads: list[Reference] = []
        self.folders: list[str] = [""]
        self.named: set[str] = set()
        self.found: dict[str, Script] = {}
        self.looks = self.pairs = 0
        self.loading = False
        # A path to the workspace itself, which its ends are looked for in, is none that leads out.
        tops = tuple(f"{one}/" for one in {self.resolver.root, os.path.abspath(scripts.root)})
        self.named_outside = [word.text for word in self.words if not word.open and not word.text.startswith(tops)]
        self.programs = frozenset(plain_name(word.text) for word in self.words)
        self.languages = set(languages_of(self.programs))
        self.reads = sorted({file for name in self.programs for file in READS.get(name, ())})
        # What an interpreter is given without an ending is in its language; what is started, for the shell to run.
        self.taken_for = tuple(sorted({*self.languages, "shell"}))
        self._wanted: dict[Reference, None] = {}
        self._known_words = set(self.words)
        self._named_files = self._sought = 0
        self._seen: set[str] = set()
        for language in sorted(self.languages):
            self._want_modules(language)

    def run(self) -> Pinned:
        done: dict[str, tuple[int, int]] = {}
        changed = True
        while changed:
            changed = False
            for folder in list(self.folders):
                words, loads = done.get(folder, (0, 0))
                if folder not in done:
                    self._look_for_read(folder)
                seen = (len(self.words), len(self.loads))
                for word in self.words[words : seen[0]]:
                    self._look_for(word, folder)
                self.loading = True
                for one in self.loads[loads : seen[1]]:
                    self._look_for_loaded(one, folder)
                self.loading = False
                done[folder] = seen
            # Each may have found more to look for, and more places.
            ends = (len(self.words), len(self.loads))
            changed = len(done) < len(self.folders) or any(seen != ends for seen in done.values())
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

    def _want_modules(self, language: str) -> None:
        """Let each word of the command be a module as well, as an interpreter of a language finds it."""
        if language in ("shell", "make"):
            return
        for word in list(self.words):
            if not word.open and len(word.text) < 500:
                self._load(Reference(language, word.text))  # type: ignore[arg-type]

    def _load(self, reference: Reference) -> None:
        if reference not in self._wanted:
            self._wanted[reference] = None
            self.loads.append(reference)

    def _look_for(self, word: Word, folder: str) -> None:
        self._pair()
        for path in _ends(word.text):
            if word.pattern and is_pattern(path):
                for match in self.places.matches(folder, path):
                    self._look_at(match)
            elif fold(path.split("/", 1)[0]) in self.places.folded(folder):
                self._look_at(joined(folder, path))

    def _look_for_read(self, folder: str) -> None:
        """Look for what the programs of the command read without being told."""
        for pattern in self.reads:
            for match in self.places.matches(folder, pattern):
                self._look_at(match)
        if "python" in self.languages:
            self._look_for_shadows(folder)
        if "node" in self.languages:
            self._ended(folder, "index", ENDINGS["node"])

    def _look_for_sources(self, folder: str, name: str) -> None:
        """Look for what make would make a file from before it reads it."""
        for beside in sorted(self.places.entries(folder)):
            if beside.startswith((f"{name}.", f"{name},")):
                self._look_at(joined(folder, beside))
        for beside in (f"RCS/{name},v", f"RCS/{name}", f"SCCS/s.{name}"):
            self._look_at(joined(folder, beside))

    def _look_for_shadows(self, folder: str) -> None:
        """Look for what Python runs of a folder, and for what older versions take for modules of their own."""
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
        """Look at a file whose ending is left out, or is that of what it is compiled to."""
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
        """Look at a module of Python by the parts of its name, and at the packages that it lies in."""
        for number, part in enumerate(parts):
            if not part.isidentifier():
                return
            # With its ending may stand the version that it was made for: `a.cpython-311-x86_64-linux-gnu.so`.
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
        """Hold on to the links of a folder that modules lie in; CannotPin where it lies elsewhere."""
        if self.places.leads_away(folder):
            self._look_at(folder)
            raise CannotPin(f"{folder} is a link that leads to another folder for each process")

    # -- what is there --------------------------------------------------------------------------------------------

    def _look_at(self, path: str) -> None:
        """Hold on to what a path of the workspace leads to, and to each link on the way."""
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
            case _:
                pass

    def _want(self, led: Led) -> None:
        """Look, from now on, in every folder for what a link seeks in the one that the command is in."""
        word = Word(led.path)
        if led.path and word not in self._known_words:
            self._sought += 1
            if self._sought > _MOST_FOLDERS:
                raise CannotPin("its links lead to too many places")
            self._known_words.add(word)
            self.words.append(word)

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
        """Look for what a file loads, from its own folder on, whichever way it was reached."""
        if not held.references:
            return
        # In this order, so that another process finds the same.
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
                for word in words_of(one.text):
                    if word not in self._known_words:
                        self._known_words.add(word)
                        self.words.append(word)
            else:
                self._load(Reference(one.how, one.text))

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
        # `cd` takes `..` away before it looks for links, the system after that.
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
