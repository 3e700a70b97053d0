"""Pinned files by their bytes, and the modules and files that their text says they load, by keywords of a language.

Nothing is run, and nothing is fully parsed: only the plain forms are recognised. A name that a program builds while it
runs cannot be found; the question to the person says so.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from memory.storage.safe_open import FileVersion

from .runners import language_of_file

MOST = 2000
"""Maximum references that are returned for one file."""
LARGEST = 4 << 20
"""Maximum bytes of a file that are searched."""
_LARGEST_HELD = 256 << 20
_CHUNK = 1 << 20
# Each begins with letters, and the lookbehind comes after them: a long text is then skipped through, not tried at each
# place.
_PYTHON_FROM = re.compile(
    r"from(?<!\wfrom)([.\s]+)(?![.\s])((?!import\b)[\w.]+(?![\w.]))?\s*import\b[ \t]*(\([^()]{0,4000}|[^\n;#]{0,1000})"
)
# The names are matched by a lookahead, because the next import may be among them.
_PYTHON_IMPORT = re.compile(r"import(?<!\wimport)[ \t\f]+(?=([\w.][\w., \t\f]{0,300}))")
_PYTHON_PATH = re.compile(r"sys\.path(?<!\wsys\.path)\b[^'\"\n]{0,80}['\"]([^'\"\n]{1,300})['\"]")
_QUOTED = re.compile(
    r"\b(?:require(?:_relative|_once|_dependency)?|load|autoload|do|dofile|loadfile|include(?:_once)?|import|from|source"
    r"|import_module|__import__|run_path|run_module|export|eval_file|instance_eval|importScripts|Worker|fork|resolve)\b"
    r"[^'\"`]{0,60}['\"`]([^'\"`\n]{1,300})['\"`]"
)
_PERL = re.compile(
    r"\b(?:use|require|no|parent|base)[ \t]{1,20}(?:-norequire)?[ \t,'\"(qw/]{0,20}([A-Za-z_][\w:]{0,200})"
)
_SHELL = re.compile(
    r"(?:^|[;&|({!]|\b(?:then|do|else|if|while|builtin|command))[ \t]{0,200}(?:\.|source)[ \t]{1,20}([^\n;&|]{1,500})",
    re.M,
)
# Each line that matches the pattern above also contains one of these, which are found in a fraction of the time.
_SOURCE = re.compile(r"source[ \t]")
_DOT = re.compile(
    r"\.[ \t](?:(?<=[;&|({! \t\n]\.[ \t])|"
    + "|".join(rf"(?<={word}\.[ \t])" for word in ("then", "do", "else", "if", "while", "builtin", "command"))
    + ")"
)
_MAKE = re.compile(r"^[ \t]{0,20}(?:-?include|sinclude|-?load)[ \t]{1,20}([^\n]{1,2000})", re.M)
How = Literal["word", "python", "node", "ruby", "perl", "php", "lua", "java"]


@dataclass(frozen=True, slots=True)
class Reference:
    """One thing that a file loads: `text` in the form of the language `how`, `up` folders above the file's own.

    A `word` is one that a shell could take for a file.
    """

    how: How
    text: str
    up: int = 0


@dataclass(frozen=True, slots=True)
class Script:
    """A file that a command names: its real path in the workspace, and the hash of its bytes (or a link's target)."""

    path: str
    hash: str


@dataclass(frozen=True, slots=True)
class Pinned:
    """The files of a command, sorted by path, and which others it may reach (`memory.trust.pins.unknown`)."""

    scripts: tuple[Script, ...] = ()
    unknown: tuple[str, ...] = ()


class CannotPin(Exception):
    """A command names files that cannot be pinned; the text is the reason."""


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file that was read: the hash of its bytes, and what it loads; `language` is "" if it is no program."""

    hash: str
    language: str = ""
    references: tuple[Reference, ...] = ()


def read_held(path: str, fd: int, languages: tuple[str, ...]) -> tuple[PinnedFile, bool]:
    """Read an open file; it is searched as each of `languages` if neither its name nor its first line gives one.

    Return it, and whether it stays the same as long as its version does; CannotPin for one that is too large.
    """
    import time
    from hashlib import sha256

    version = FileVersion.of(os.fstat(fd))
    if version.size > _LARGEST_HELD:
        raise CannotPin(f"{path} is too large to be held on to ({version.size >> 20} MB)")
    began = time.time_ns()
    digest, head = sha256(), b""
    position = 0
    while chunk := os.pread(fd, _CHUNK, position):
        digest.update(chunk)
        if len(head) < LARGEST:
            head += chunk
        position += len(chunk)
        if position > _LARGEST_HELD:
            raise CannotPin(f"{path} grows while it is read")
    known = language_of_file(path, head)
    found = [one for language in ((known,) if known else languages) for one in references_of(head, language)]
    if head.startswith(b"#!"):
        # The interpreter, and its arguments there, may also be files of the workspace.
        found.append(Reference("word", head[2:512].partition(b"\n")[0].decode("utf-8", "replace")))
    runs = known if known and not path.endswith(".json") else ""
    held = PinnedFile(digest.hexdigest(), runs, tuple(dict.fromkeys(found)))
    return held, version.settled(began) and FileVersion.of(os.fstat(fd)) == version


def references_of(data: bytes, language: str) -> tuple[Reference, ...]:
    """Return what a file of a language loads, each once, at most `MOST`."""
    text = data[:LARGEST].decode("utf-8", "replace")
    found: dict[Reference, None] = {}

    def add(how: How, one: str, up: int = 0) -> None:
        if one and len(found) < MOST:
            found.setdefault(Reference(how, one, up))

    match language:
        case "python":
            _python(text, add)
            for match in _found(_QUOTED, text):
                add("python" if _is_module(match[1]) else "word", match[1])
            for match in _found(_PYTHON_PATH, text):
                add("word", match[1])
        case "program":
            for match in _found(_QUOTED, text):
                add("word", match[1])
        case "package":
            for one in _entries(data):
                add("node", one)
        case "make":
            for match in _found(_MAKE, text.replace("\\\n", " ")):
                add("word", match[1])
        case "shell":
            for match in islice(_sourced(text.replace("\\\n", " ")), 2 * MOST):
                add("word", match[1])
        case "perl" | "ruby" | "php" | "lua" | "node":
            how: How = language
            for match in _found(_QUOTED, text):
                add(how, match[1])
            for match in _found(_PERL, text) if language == "perl" else ():
                add(how, match[1])
    return tuple(found)


def _python(text: str, add: object) -> None:
    assert callable(add)
    # Python normalises names to this form.
    text = unicodedata.normalize("NFKC", text).replace("\\\r\n", " ").replace("\\\n", " ")
    for match in _found(_PYTHON_FROM, text):
        dots = match[1].count(".")
        base, up = (match[2] or "").strip("."), max(0, dots - 1)
        if base:
            add("python", base, up)
        for name in re.findall(r"\w+", match[3])[:200]:
            if base or dots:
                add("python", f"{base}.{name}" if base else name, up)
    for match in _found(_PYTHON_IMPORT, text):
        for piece in match[1].split(","):
            name = piece.split(" as ")[0].strip().strip(".")
            add("python", name.split()[0] if name.split() else "")


def _sourced(text: str) -> Iterator[re.Match[str]]:
    """Yield the files that a shell would source; in a long text only lines with `.` or `source` are searched."""
    stop = text.find("\n") + 1 or len(text)
    yield from _SHELL.finditer(text, 0, stop)
    ahead = {_DOT: -1, _SOURCE: -1}
    while stop < len(text):
        for pattern, place in ahead.items():
            if place < stop:
                found = pattern.search(text, stop)
                ahead[pattern] = len(text) if found is None else found.start()
        if (place := min(ahead.values())) == len(text):
            return
        start, stop = text.rfind("\n", 0, place) + 1, text.find("\n", place) + 1 or len(text)
        yield from _SHELL.finditer(text, start, stop)


def _found(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    return islice(pattern.finditer(text), 2 * MOST)


def _entries(data: bytes) -> list[str]:
    """Return the entry points that a package.json names."""
    import json

    try:
        whole = json.loads(data)
    except (ValueError, RecursionError):
        return []
    waiting = (
        [whole.get(key) for key in ("main", "module", "exports", "imports", "bin")] if isinstance(whole, dict) else []
    )
    found: list[str] = []
    while waiting and len(found) < MOST:
        one = waiting.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, list | dict):
            waiting += one.values() if isinstance(one, dict) else one
    return found


def _is_module(text: str) -> bool:
    return all(part.isidentifier() for part in text.strip(".").split(".")) and bool(text.strip("."))
