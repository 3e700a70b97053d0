"""What the text of a program says that it loads: modules and files, by the words of its language.

Nothing is run and nothing is parsed to the end: these are the plain ways to write it. What a program puts together
while it runs is found by nobody, and the question about it says so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

MOST = 2000
"""The most references that are taken from one file."""
LARGEST = 4 << 20
"""So many bytes of a file are looked through."""
# Each begins with letters and looks behind them only then: so a long text is skipped through, not tried at each place.
_PYTHON_FROM = re.compile(
    r"from(?<!\wfrom)([.\s]++)((?!import\b)[\w.]++)?\s*+import\b[ \t]*+(\([^()]{0,4000}|[^\n;#]{0,1000})"
)
# What follows is looked at and left, for the next import may stand in it.
_PYTHON_IMPORT = re.compile(r"import(?<!\wimport)[ \t\f]++(?=([\w.][\w., \t\f]{0,300}))")
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
# One of these stands in each line that has one of those; they are found in a fraction of the time.
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
    """One thing that a file loads: `text` as its language `how` finds it, `up` folders above the file's own.

    A `word` is one that a shell could take for a file.
    """

    how: How
    text: str
    up: int = 0


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
    # Names in Python are what they become in this form.
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
    """Yield what a shell would read as well: of a long text only the lines that may say so are looked into."""
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
    """Return the files that a package.json names as those to begin with."""
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
