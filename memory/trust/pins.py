"""The files of a workspace that the words of a command name: an approval covers the bytes of programs and scripts.

`Pins.pinned` is the one place that says which they are. What these load or include is not covered: anyone who can write
to the workspace can change it. The question says so.
"""

from __future__ import annotations

import os
import re
import stat as st
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import escape, iglob
from hashlib import file_digest
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from memory.base.programs import passes
from memory.base.safe_text import clip, visible
from memory.errors import MemdeckError
from memory.storage.own_folders import MEMORY_FOLDERS
from memory.storage.safe_open import FileVersion, open_beneath

PRIVATE = "-"
"""The folder of a command that runs in an empty private one; any other is a path in the workspace."""
_PROGRAMMED = {"awk", "gawk", "mawk", "jq", "sed", "sqlite3"}
"""Readers whose options and quoted words may hold a program."""
_PLAIN = (
    "basename cat cksum cmp comm cut date diff dirname du echo egrep exit false fgrep file grep head ls md5sum nl od"
    " paste printf readlink realpath sha1sum sha256sum sort stat tac tail test tr true uniq wc [ :"
)
_READERS = frozenset((*_PLAIN.split(), *_PROGRAMMED))
"""Programs that only read the files that they get."""
_IN_FOLDERS = _READERS | {"cd", "find"}
_GROUPS = re.compile(r"[(){}`]|\b(?:if|for|while|until|case)\b")
_RENAMES = re.compile(r"\(\s*\)|\b(?:alias|function)\b|PATH=")
"""Functions, aliases and paths may give the names of readers to other programs."""
_TOKEN = re.compile(
    r"""(?P<operator>`|&?[<>]+&?|[;&|()\n]+)|(?:\\.|'[^']*'|"(?:[^"\\]|\\.)*"|[^\s;&|()`<>'"\\]|['"\\])+""", re.S
)
_SUBSTITUTION = re.compile(r"\$\(|`")
_INNER = re.compile(r"\\+`")
"""A substitution within another one, or a plain character."""
_QUOTED = re.compile(r"""\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)\"""", re.S)
_ESCAPED = re.compile(r'\\([$`"\\])')
_BRACKET = re.compile(r"\[(?:\[:\w+:\]|[^\]])+\]")
_BEFORE = re.compile(
    r"\w+=.*|\.?\d[\d.]*[smhd]?|if|then|elif|else|while|until|do|!|\{|time|env|timeout|nice|nohup|command|exec|sudo|doas",
    re.S,
)
"""Words that a program's name may follow: assignments, keywords, programs that start another, and their numbers."""
_NOWHERE = "/."
_DOTS = re.compile(r"(?<![^/])\.[.?*]+(?![^/])")
"""A part of a path that is `..`, or a pattern that some shells let be `..`."""
_UP = re.compile(r"(?:\.\.(?:/|$))+")
_OWN_ENDINGS = (".md", ".jsonl", ".json")
_MOST = 200
_LARGEST = 256 << 20


@dataclass(frozen=True, slots=True)
class Script:
    """A file that a command names: its path in the workspace, and the hash of its bytes (or where a link leads)."""

    path: str
    hash: str


@dataclass(frozen=True, slots=True)
class Pinned:
    """The files that an approval of a command covers, sorted by path.

    `reads` are files of the workspace that only known readers get, and memdeck's own: they are not covered. `inside`:
    the command runs in the workspace or names something in it.
    """

    scripts: tuple[Script, ...] = ()
    reads: tuple[str, ...] = ()
    inside: bool = False


NOTHING = Pinned()
"""No file at all."""


class CannotPin(Exception):
    """A command names files that cannot be covered; the text is the reason."""


class _Named(NamedTuple):
    """Something in the workspace that a word names: its real path there ("" for the workspace itself).

    `full` is its path as named, `word` as written; `data` says that only readers get it, `listed` that a program that
    works on folders does. `path` is "" as well for a link that leads out.
    """

    path: str
    full: str
    word: str
    data: bool
    listed: bool


class Pins:
    """Finds and hashes the files that commands name in one workspace; an unchanged file is hashed once."""

    def __init__(self, workspace: Path, person: Path | None = None) -> None:
        """`person` is the user's home folder, for `~`; nothing is read yet."""
        self.root = os.path.realpath(workspace)
        self._names = (self.root, os.path.abspath(workspace))
        self._above = list(dict.fromkeys(os.fspath(above) for name in self._names for above in Path(name).parents))
        self._home = None if person is None else os.fspath(person)
        self._known: dict[str, tuple[FileVersion, str]] = {}

    def pinned(self, command: str, folder: str) -> Pinned:
        """Return the files that a command names where it runs in a folder of the workspace, or in `PRIVATE`.

        CannotPin if one cannot be read or is too large, or if there are too many.
        """
        scripts: dict[str, Script] = {}
        reads: set[str] = set()
        inside = folder != PRIVATE
        for number, named in enumerate(self._named(command, folder)):
            if number >= _MOST:
                raise CannotPin(f"it names more than {_MOST} files")
            inside = True
            script = self._script(named)
            if script is not None and not named.data and not _is_own(script.path):
                scripts[script.path] = script
            elif script is not None:
                reads.add(script.path)
        found = sorted(scripts.values(), key=lambda script: script.path)
        return Pinned(tuple(found), tuple(sorted(reads - scripts.keys())), inside)

    def lost(self, command: str) -> str:
        """Return the first word that names a file of the workspace if the command runs there, and does not in an empty
        private folder; "" for none.
        """
        known = {(one.path, one.word) for one in self._named(command, PRIVATE)}
        for one in self._named(command, "."):
            if (one.path, one.word) not in known and (
                one.listed or os.path.isfile(one.full) or "/" in one.word or one.word == "."
            ):
                return one.word
        return ""

    # -- what the words name --------------------------------------------------------------------------------------

    def _named(self, command: str, folder: str) -> Iterator[_Named]:
        """Yield what exists in the workspace under the name of a word, from the folder or one that the words name."""
        words = [one for text in dict.fromkeys((command, _INNER.sub(";", command))) for one in _words(text)]
        bases = [_NOWHERE if folder == PRIVATE else os.path.join(self.root, folder)]
        if self._home is not None and re.search(r"\bcd\b", command):
            # Without a folder it leads there.
            bases.append(self._home)
        seen = {os.path.realpath(base) for base in bases if base != _NOWHERE}
        for word, _, _ in words:
            for full in tuple(self._paths(word, bases)):
                if os.path.isdir(full) and (real := os.path.realpath(full)) not in seen and len(bases) < _MOST:
                    seen.add(real)
                    bases.append(full)
        for word, data, listed in words:
            for full in self._paths(word, bases):
                path = _beneath(os.path.realpath(full), self.root)
                if path is not None or self._inside(os.path.normpath(full)):
                    yield _Named(path or "", full, word.text, data, listed)

    def _paths(self, word: Word, bases: Iterable[str]) -> Iterator[str]:
        """Yield the existing paths that a word may mean, also behind its first and its last `=`."""
        behind = {word.text.partition("=")[2], word.text.rpartition("=")[2]} - {word.text}
        for text, pattern in ((word.text, word.pattern), *((one, "") for one in behind)):
            text, pattern = (re.sub("^/+", "/", self._with_home(one)) for one in (text, pattern))
            if not text or "\0" in text:
                continue
            for base in ("/",) if text.startswith("/") else bases:
                if base != _NOWHERE:
                    yield from self._existing(base, text, pattern)
                elif _UP.match(path := os.path.normpath(_DOTS.sub("..", pattern or text))):
                    # A private folder is empty; only `..` leads out of it, to one that may be above the workspace.
                    rest = _UP.sub("", path, count=1)
                    for above in self._above:
                        yield from self._existing(above, rest, rest if pattern else "")

    def _existing(self, base: str, text: str, pattern: str) -> Iterator[str]:
        """Yield what exists by a text, and in the workspace by a pattern, which may name the folders above it, too."""
        if pattern:
            parts = os.path.normpath(os.path.join(escape(base), pattern)).split("/")
            for name in self._names:
                top = name.rstrip("/").split("/")
                if len(parts) >= len(top) and all(map(fnmatchcase, top, parts)):
                    yield from iglob("/".join((*map(escape, top), *parts[len(top) :])))
        if os.path.lexists(full := os.path.join(base, text)):
            yield full

    def _with_home(self, text: str) -> str:
        for name in ("~", "$HOME", "${HOME}"):
            if self._home is not None and (text == name or text.startswith(f"{name}/")):
                return self._home + text.removeprefix(name)
        return os.path.expanduser(text) if text[1:2] not in ("", "/") else text

    def _inside(self, path: str) -> bool:
        return any(_beneath(path, name) is not None for name in self._names)

    # -- their bytes ----------------------------------------------------------------------------------------------

    def _script(self, named: _Named) -> Script | None:
        """Return a file with the hash of its bytes, a link out of the workspace with its target; None for a folder."""
        if os.path.isdir("/proc") and passes(named.full, "/proc"):
            raise CannotPin(f"{named.word} is a link that leads to another file for each process")
        real = os.path.realpath(named.full)
        if _beneath(real, self.root) is None:
            name = os.path.normpath(named.full)
            path = next(found for one in self._names if (found := _beneath(name, one)) is not None)
            return Script(path, f"link to {real}")
        try:
            mode = os.stat(real).st_mode
            if st.S_ISDIR(mode):
                return None
            if not st.S_ISREG(mode):
                raise CannotPin(f"{named.path} is a pipe or a device: what it will give cannot be covered")
            return Script(named.path, "" if named.data else self._hash(named.path))
        except FileNotFoundError:
            return None
        except (OSError, MemdeckError) as error:
            why = error.message if isinstance(error, MemdeckError) else error.strerror
            raise CannotPin(f"{named.path} cannot be read ({why})") from None

    def _hash(self, path: str) -> str:
        with os.fdopen(open_beneath(path, self.root), "rb") as stream:
            version = FileVersion.of(os.fstat(stream.fileno()))
            known = self._known.get(path)
            if known is not None and known[0] == version:
                return known[1]
            if version.size > _LARGEST:
                raise CannotPin(f"{path} is too large to be covered ({version.size >> 20} MB)")
            began, digest = time.time_ns(), file_digest(stream, "sha256").hexdigest()
            if version.settled(began) and FileVersion.of(os.fstat(stream.fileno())) == version:
                self._known[path] = (version, digest)
            return digest


def _is_own(path: str) -> bool:
    """Return whether a file is one of memory: it changes with each entry, and is no program."""
    parts = path.split("/")
    return (parts[0] in MEMORY_FOLDERS or ".memdeck" in parts) and path.endswith(_OWN_ENDINGS)


def lost_words(word: str) -> str:
    """Return the problem of a command that names a file of the workspace, and runs in an empty private folder."""
    return f"{clip(visible(word), 20)} needs the workspace: add folder: . or write its absolute path"


def _beneath(path: str, folder: str) -> str | None:
    """Return a path relative to a folder, "" for the folder itself; None if it is elsewhere."""
    top = folder.rstrip("/") + "/"
    return "" if path == folder else path.removeprefix(top) if path.startswith(top) else None


# -- the words of a command, split as a shell would split them; no variable is known -----------------------------


class Word(NamedTuple):
    """One word without its quotes; `pattern` is its glob pattern where a shell would expand it, else empty; `after` is
    the word or operator before it.
    """

    text: str
    pattern: str
    after: str


def _words(command: str, *, quoted: bool = False) -> Iterator[tuple[Word, bool, bool]]:
    """Yield the words that may name a file, whether only known readers get it, and whether folders are meant too.

    `quoted`: the command is in the quotes of another one, and no shell expands its patterns.
    """
    pipelines = _pipelines(command, quoted)
    if _GROUPS.search(command):
        # What a group or a substitution prints may reach any program of the command.
        pipelines = [list(chain(*pipelines))]
    for pipeline in pipelines:
        programs = [_program(words) for words in pipeline]
        renames = _RENAMES.search(command)
        reading = all(_is_reader(one.text) for one in programs) and not renames
        for program, words in zip(programs, pipeline, strict=True):
            name = program.text.rpartition("/")[2]
            programmed = name in _PROGRAMMED
            # What sqlite3 gets on its stdin is a program with commands of the shell.
            fed = name != "sqlite3" and any(one.text.rpartition("/")[2] == "sqlite3" for one in programs)
            for word in words:
                option = word.after.startswith("--" if not programmed else "-") or (
                    name == "sqlite3" and "<" in word.after
                )
                written = ">" in word.after and "<" not in word.after
                data = written or (reading and not fed and not option and "=" not in word.text)
                # A plain name of a program is looked up in PATH, where nothing of the workspace is.
                if word is not program or renames or "/" in word.text or word.text.startswith("-"):
                    yield word, data, name in _IN_FOLDERS
                runs = programmed or program.text == ":" or not _is_reader(program.text)
                if runs and any(char in " \t\n;&|()<>" for char in word.text):
                    # `sh -c`, `eval` and `env -S` run quoted text.
                    yield from ((one, False, also) for one, _, also in _words(word.text, quoted=True))
                elif begin := _SUBSTITUTION.search(word.text):
                    found = _words(f": {word.text[begin.start() :]}", quoted=True)
                    yield from ((one, inner and reading, also) for one, inner, also in found)


def _pipelines(command: str, quoted: bool) -> list[list[list[Word]]]:
    """Return the words of a command: by pipelines, and in these by programs."""
    found: list[list[list[Word]]] = [[[]]]
    before = ""
    opened = False
    for token in _TOKEN.finditer(command.replace("\\\n", "")):
        operator = token["operator"]
        if operator is None:
            found[-1][-1].append(_word(token[0], before, quoted))
        elif operator == "`":
            # The older spelling of `$(` and `)`.
            opened = not opened
            if opened:
                found[-1][-1].append(Word("$", "", before))
            found.append([[]])
            before = "(" if opened else ")"
            continue
        elif operator in ("|", "|&"):
            found[-1].append([])
        elif "<" not in operator and ">" not in operator:
            found.append([[]])
        before = token[0]
    return [[words for words in pipeline if words] for pipeline in found]


def _program(words: Iterable[Word]) -> Word:
    """Return the first word that is no redirected file and may be a program, an empty one if there is none; `:` after a
    substitution, where the words are those of the command around it.
    """
    for word in words:
        if word.after.endswith(")"):
            return Word(":", "", "")
        if not ("<" in word.after or ">" in word.after or _BEFORE.fullmatch(word.text)):
            return word
    return Word("", "", "")


def _is_reader(program: str) -> bool:
    folder, _, name = program.rpartition("/")
    return name in _READERS and folder in ("", "/bin", "/usr/bin")


def _word(token: str, after: str, quoted: bool) -> Word:
    text, pattern, at = "", "", 0
    for found in (*_QUOTED.finditer(token), None):
        # Shells disagree about classes and ranges: a bracket counts as any character.
        plain = token[at : found.start() if found else None]
        text, pattern = text + plain, pattern + _BRACKET.sub("?", plain)
        if found:
            inner = next(part for part in found.groups() if part is not None)
            inner = _ESCAPED.sub(r"\1", inner) if found[3] is not None else inner
            text, pattern, at = text + inner, pattern + escape(inner), found.end()
    wild = not quoted and any(char in "*?[" for char in _QUOTED.sub("", token))
    return Word(text, pattern if wild else "", after)
