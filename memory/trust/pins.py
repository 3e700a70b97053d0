"""The files of a workspace that the words of a command name: an approval covers their bytes.

A word names a file by its path: from the folder of the command, from a folder that another word names, or from the root
of the disk. The words of quoted text count as well, so more may be covered than a shell would open. What a command
reaches in another way is not covered, and the question says so (`Pinned.reach`).

Files that only known readers get are data, and not covered. That is seen in plain commands only: programs and their
words, joined by `|`, `;`, `&&` and `||`. In any other command every file that is named is covered.
"""

from __future__ import annotations

import os
import re
import stat as st
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from glob import escape, iglob
from hashlib import file_digest
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from memory.base.programs import passes
from memory.base.safe_text import clip, visible
from memory.errors import MemdeckError
from memory.storage.own_folders import MEMORY_FOLDERS
from memory.storage.safe_open import open_beneath

PRIVATE = "-"
"""The folder of a command that runs in an empty private one; any other is a path in the workspace."""
_PROGRAMMED = frozenset({"awk", "gawk", "mawk", "jq", "sed", "sqlite3"})
"""Readers whose quoted words, and the words after their options, may hold a program."""
_READING = (
    "basename cat cd cksum cmp comm cut date diff dirname du echo egrep exit false fgrep file grep head ls md5sum nl od"
    " paste printf readlink realpath sha1sum sha256sum sort stat tac tail test tr true uniq wc ["
)
_READERS = _PROGRAMMED.union(_READING.split())
"""Programs that only read the files that they get."""
_TOKEN = re.compile(
    r"""\|\|?|&&|[;\n]|\d?>>?(?:&\d)?(?![>&|(])|\d?<(?![<>&(])|(?:'[^']*'|"[^"$`\\]*"|[\w./:,%+@^~=*?\[\]!-])+"""
)
"""The operators and words of a plain command."""
_OPERATOR = re.compile(r"[|&;\n]|\d?[<>]")
_INNER = re.compile(r"""("?)\$\(([^()"'`$\\]*)\)\1""")
"""A plain command in `$( )`."""
_PRINTED = "@@"
"""The placeholder for what it prints."""
_WORD = re.compile(r"""(?:\\.|'[^']*'|"(?:[^"\\]|\\.)*"|[^\s;&|()<>`'"\\])+""", re.DOTALL)
_QUOTED = re.compile(r"""\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)"|(\[(?:\[:\w+:\]|[^\]]){1,60}\])""", re.DOTALL)
_ESCAPED = re.compile(r'\\([$`"\\])')
_HOME = re.compile(r"(?:~|\$HOME|\$\{HOME\})(?=/|$)")
_JOINT = re.compile(r"[=:,$]")
"""What may be before or behind a path in a word."""
_CHANGING = (
    ". source alias eval export hash enable set shopt trap declare typeset readonly read builtin command exec coproc"
    " if then else elif fi while until for do done case esac select function time"
)
"""Words of shells that may give the name of a reader to another program, or precede such a word."""
_STARTED = re.compile(r"(?:^|[;&|(`\n])\s*([^\s;&|()`/]+)")
"""The plain names of programs: they are looked up in PATH, where nothing of the workspace is."""
_OWN_ENDINGS = (".md", ".jsonl", ".json")
_MOST = 200
_LARGEST = 256 << 20


class Script(NamedTuple):
    """A file that a command names: its path in the workspace, and the hash of its bytes (or where a link leads)."""

    path: str
    hash: str


class Pinned(NamedTuple):
    """The files that an approval of a command covers, sorted by path.

    `reads` are files of the workspace that only known readers get, and memdeck's own: they are not covered. `reach` is
    what the command has to do with the workspace: `runs in`, `names` or `may reach` it, "" for nothing.
    """

    scripts: tuple[Script, ...] = ()
    reads: tuple[str, ...] = ()
    reach: str = ""


NOTHING = Pinned()
"""No file at all."""


class CannotPin(Exception):
    """A command names files that cannot be covered; the text is the reason."""


class Word(NamedTuple):
    """One word without its quotes; `pattern` is its glob pattern where a shell would expand it, else empty; `data` says
    that only readers get it.
    """

    text: str
    pattern: str
    data: bool = False

    @property
    def climbs(self) -> bool:
        """Whether it may lead out of a private folder: by `..`, a pattern of it, or the home of another user."""
        parts = (*self.text.split("/"), *self.pattern.split("/"))
        return self.text.startswith("~") or any(part[:1] == "." and fnmatchcase("..", part) for part in parts)


class Pins:
    """Finds and hashes the files that commands name in one workspace."""

    def __init__(self, workspace: Path, person: Path | None = None) -> None:
        """`person` is the user's home folder, for `~`; nothing is read yet."""
        self.root = os.path.realpath(workspace)
        self._names = (self.root, os.path.abspath(workspace))
        self._home = None if person is None else os.fspath(person)

    def pinned(self, command: str, folder: str) -> Pinned:
        """Return the files that a command names where it runs in a folder of the workspace, or in `PRIVATE`.

        CannotPin if one cannot be read or is too large, or if there are too many.
        """
        scripts: dict[str, Script] = {}
        reads: set[str] = set()
        words = self._words(command)
        reach = "runs in" if folder != PRIVATE else "may reach" if any(word.climbs for word in words) else ""
        for number, (word, full) in enumerate(self._named(words, folder)):
            if number >= _MOST:
                raise CannotPin(f"it names more than {_MOST} files")
            reach = "names" if folder == PRIVATE else reach
            script = self._script(word, full)
            if script is not None and not word.data and not _is_own(script.path):
                scripts[script.path] = script
            elif script is not None:
                reads.add(script.path)
        found = sorted(scripts.values(), key=lambda script: script.path)
        return Pinned(tuple(found), tuple(sorted(reads - scripts.keys())), reach)

    def lost(self, command: str) -> str:
        """Return the first word that names a file of the workspace if the command runs there, and does not in an empty
        private folder; "" for none.
        """
        words = self._words(command)
        started = _STARTED.findall(command)
        folders = "cd" in started or "find" in started
        known = {word.text for word, _ in self._named(words, PRIVATE)}
        for word, full in self._named([word for word in words if word.text not in started], "."):
            meant = word.data or folders or "/" in word.text or word.text == "." or os.path.isfile(full)
            if meant and word.text not in known and not word.climbs:
                return word.text
        return ""

    # -- what the words name --------------------------------------------------------------------------------------

    def _words(self, command: str) -> list[Word]:
        """Return the words of a command that may name a file, `~` and `$HOME` resolved."""
        words = _words_of(command)
        return [Word(self._with_home(word.text), self._with_home(word.pattern), word.data) for word in words]

    def _with_home(self, text: str) -> str:
        found = None if self._home is None else _HOME.match(text)
        return text if found is None else f"{self._home}{text[found.end() :]}"

    def _named(self, words: list[Word], folder: str) -> Iterator[tuple[Word, str]]:
        """Yield what exists in the workspace under the name of a word, from the folder or one that the words name."""
        bases = [] if folder == PRIVATE else [os.path.join(self.root, folder)]
        if self._home is not None and any(word.text == "cd" for word in words):
            # Without a folder it leads there.
            bases.append(self._home)
        seen = {*map(os.path.realpath, bases)}
        for word in words:
            for full in list(self._paths(word, bases)):
                if os.path.isdir(full) and (real := os.path.realpath(full)) not in seen and len(bases) < _MOST:
                    seen.add(real)
                    bases.append(full)
        for word in words:
            for full in self._paths(word, bases):
                if self._inside(os.path.realpath(full)) is not None or self._inside(os.path.normpath(full)) is not None:
                    yield word, full

    def _paths(self, word: Word, bases: list[str]) -> Iterator[str]:
        """Yield the existing paths that a word may mean; of a pattern, those in the workspace."""
        for base in ["/"] if word.text.startswith("/") else bases:
            if os.path.lexists(full := os.path.join(base, re.sub("^/+", "/", word.text))):
                yield full
            if word.pattern:
                parts = os.path.normpath(os.path.join(escape(base), re.sub("^/+", "/", word.pattern))).split("/")
                for top in (name.rstrip("/").split("/") for name in self._names):
                    if len(parts) >= len(top) and all(map(fnmatchcase, top, parts)):
                        yield from iglob("/".join((*map(escape, top), *parts[len(top) :])))

    def _inside(self, path: str) -> str | None:
        """Return a path as one in the workspace, "" for the workspace itself; None if it is elsewhere."""
        return next((found for name in self._names if (found := _beneath(path, name)) is not None), None)

    # -- their bytes ----------------------------------------------------------------------------------------------

    def _script(self, word: Word, full: str) -> Script | None:
        """Return a file with the hash of its bytes, a link out of the workspace with its target; None for a folder."""
        if os.path.isdir("/proc") and passes(full, "/proc"):
            raise CannotPin(f"{word.text} is a link that leads to another file for each process")
        real = os.path.realpath(full)
        path = _beneath(real, self.root)
        if path is None:
            return Script(self._inside(os.path.normpath(full)) or "", f"link to {real}")
        try:
            mode = os.stat(real).st_mode
            if st.S_ISDIR(mode):
                return None
            if not st.S_ISREG(mode):
                raise CannotPin(f"{path} is a pipe or a device: its content cannot be covered by an approval")
            return Script(path, "" if word.data else self._hash(path))
        except FileNotFoundError:
            return None
        except (OSError, MemdeckError) as error:
            why = error.message if isinstance(error, MemdeckError) else error.strerror
            raise CannotPin(f"{path} cannot be read ({why})") from None

    def _hash(self, path: str) -> str:
        with os.fdopen(open_beneath(path, self.root), "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            if size > _LARGEST:
                raise CannotPin(f"{path} is too large to be covered ({size >> 20} MB)")
            return file_digest(stream, "sha256").hexdigest()


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


# -- the words of a command; no variable is known ------------------------------------------------------------------


@lru_cache(maxsize=256)
def _words_of(command: str) -> tuple[Word, ...]:
    command = command.replace("\\\n", "")
    words = list[Word]()
    for text, data in _plain_words(command) or [(command, False)]:
        words += [_word(text)._replace(data=True)] if data else _split(text)
    return tuple(dict.fromkeys(word for word in words if word.text and "\0" not in word.text))


def _split(text: str, *, quoted: bool = False) -> Iterator[Word]:
    """Yield the words of a text, those in their quotes as well, and their parts around `=` and the like."""
    for raw in _WORD.findall(text):
        word = _word(raw)
        yield Word(word.text, "" if quoted else word.pattern)
        yield from (Word(part, "") for part in _JOINT.split(word.text) if part != word.text)
        if word.text != raw:
            yield from _split(word.text, quoted=True)


def _word(raw: str) -> Word:
    def inner(found: re.Match[str]) -> str:
        return _ESCAPED.sub(r"\1", found[3]) if found[3] is not None else found[1] or found[2] or found[4] or ""

    wild = any(char in "*?[" for char in _QUOTED.sub(lambda found: found[4] or "", raw))
    # Shells disagree about classes and ranges: a bracket counts as any character.
    pattern = _QUOTED.sub(lambda found: "?" if found[4] else escape(inner(found)), raw)
    return Word(_QUOTED.sub(inner, raw), pattern if wild else "")


def _plain_words(command: str) -> list[tuple[str, bool]]:
    """Return the words of a plain command as written, and whether only readers get them; none of any other command."""
    inner = [text for _, text in _INNER.findall(command)]
    plain = "\n".join((_INNER.sub(_PRINTED, command), *inner))
    if _TOKEN.sub("", plain).strip(" \t") or "PATH" in plain:
        return []
    found: list[tuple[str, bool]] = []
    for pipeline in _cut(_TOKEN.findall(plain), "||", "&&", ";", "\n"):
        stages = _cut(pipeline, "|")
        programs = [_program(stage) for stage in stages]
        reading = _READERS.issuperset(programs)
        if not reading and (inner or any(name in _CHANGING.split() or "=" in name for name in programs)):
            return []
        for name, stage in zip(programs, stages, strict=True):
            if name == "sqlite3" and (stage is not stages[0] or any(word.endswith("<") for word in stage)):
                # What it gets on its stdin is a program.
                return []
            option = "-" if name in _PROGRAMMED else "--"
            for before, word in pairwise(("", *stage)):
                program = name in _PROGRAMMED and (word[0] in "'\"" or _PRINTED in word)
                runs = before.startswith(option) or "=" in word or program
                if runs and _PRINTED in word:
                    return []
                if not _OPERATOR.match(word):
                    found.append((word, before.endswith(">") or (reading and not runs)))
    return found


def _cut(tokens: Iterable[str], *at: str) -> list[list[str]]:
    """Return the parts of a list between some tokens, empty ones left out."""
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token in at:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def _program(stage: Iterable[str]) -> str:
    """Return the first word that is no redirected file, "" if there is none."""
    pairs = pairwise(("", *stage))
    words = (word for before, word in pairs if not (_OPERATOR.match(word) or before.endswith(("<", ">"))))
    return next((word for word in words if word != "!"), "")
