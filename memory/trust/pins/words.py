"""Every word of a command that a shell might read as a file, and file name patterns of all shells.

Both are read so that they match too much rather than too little.

No shell is run, and only file name patterns are expanded. Quoted words are searched again, because `sh -c`, `env` and
`eval` run their content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice

_SPACE = frozenset(" \t\n")
_OPERATORS = frozenset(";&|()<>{}`")
_ESCAPED = '$`"\\\n'
# Wherever a word could begin or end, ignoring quotes and expansions.
_COARSE = re.compile(r"""[^\s;&|()<>{}`'"$=:,@\[\]\\]+""")
_INSIDE = re.compile(r"[=:,@]")
_DEFAULTS = ("-", "+", "?")  # as in `${NAME:-run.sh}`
_MOST_OPTIONS = 7
_DEPTH = 5
_MOST_TAILS = 16
MOST_BRACES = 64
"""The maximum number of words that one word with braces expands to; beyond that, the braces match anything."""
_INNERMOST = re.compile(r"\{([^{}]*)\}")
# Groups of patterns: `@(a|b).sh` of ksh and bash, `(a|b).sh` of zsh.
_GROUP = re.compile(r"(?<=[?*+@!])\([^()]*\)|(?<!\$)\([^()]*\)(?=[\w./~*?\[-])")
_MOST_STEPS = 512
_OPEN, _CLOSE = "\x01", "\x02"


@dataclass(frozen=True, slots=True)
class Word:
    """One word; `pattern` means that the shell would expand `*`, `?` or `[` in it, `open` that it contains a `$`."""

    text: str
    pattern: bool = False
    open: bool = False


def words_of(command: str) -> tuple[Word, ...]:
    """Return all words of a command that might name a file, in the order of their first place, each once."""
    found: dict[Word, None] = {}
    _collect(command, found, _DEPTH)
    # `\_` is a space for `env -S`.
    for opened in (with_groups_open(command), command.replace("\\_", " ")):
        if opened != command:
            _collect(opened, found, _DEPTH)
    for match in _COARSE.finditer(command.replace("\\\n", "").replace("\\", "")):
        found.setdefault(Word(match[0]))
    for word in list(found):
        for part in _parts(word.text):
            found.setdefault(Word(part, word.pattern, word.open))
    return tuple(found)


def has_expansions(command: str) -> bool:
    """Return whether a word of the command is expanded only when it runs."""
    return any(word.open for word in (*_cut(command), *_braced(command))) or "`" in command


def _braced(command: str) -> list[Word]:
    """Return the words that braces expand to; not every shell expands them."""
    if "{" not in command:
        return []
    found = []
    for word in _cut(command, _OPERATORS - {"{", "}"}):
        if "{" in word.text:
            texts, more = expanded(word.text)
            found += [Word(text, word.pattern or is_pattern(text), word.open or more) for text in texts]
    return found


def _collect(command: str, found: dict[Word, None], depth: int) -> None:
    for word in (*_cut(command), *_braced(command)):
        found.setdefault(word)
        if depth and word.text != command and any(char in _SPACE or char in _OPERATORS for char in word.text):
            _collect(word.text, found, depth - 1)


def _parts(text: str) -> list[str]:
    """Return what may be a file's name within a word: `--file=x`, `-fx`, `@x`, `A=b:c`."""
    parts = []
    if len(text) > 2 and text[0] in "-+":
        # One word may contain several short options, the last with its value: `-umtools.probe`.
        parts += [text[begin:] for begin in range(2, min(len(text), _MOST_OPTIONS))]
    pieces = _INSIDE.split(text)
    if len(pieces) > 1:
        parts += pieces
        parts += [piece.lstrip("-+?") for piece in pieces if piece[:1] in _DEFAULTS]
        # A path may itself contain such a character.
        parts += [text[match.end() :] for match in islice(_INSIDE.finditer(text), _MOST_TAILS)]
    return [part for part in parts if part]


def _cut(command: str, operators: frozenset[str] = _OPERATORS) -> list[Word]:
    """Split a command into words as a shell does: without quotes and backslashes, with operators between words."""
    words: list[Word] = []
    chars: list[str] = []
    begun = pattern = is_open = False
    quote = ""
    index, size = 0, len(command)

    def end() -> None:
        nonlocal begun, pattern, is_open
        if begun:
            words.append(Word("".join(chars), pattern, is_open))
        chars.clear()
        begun = pattern = is_open = False

    while index < size:
        char = command[index]
        index += 1
        if quote == "'":
            if char == "'":
                quote = ""
            else:
                chars.append(char)
        elif char == "\\":
            following = command[index : index + 1]
            index += 1
            if following == "\n":
                continue
            begun = True
            if quote and following not in _ESCAPED:
                chars.append(char)
            chars.append(following)
        elif quote:
            if char == quote:
                quote = ""
            else:
                is_open = is_open or char in "$`"
                chars.append(char)
        elif char in "'\"":
            begun, quote = True, char
        elif char in _SPACE or char in operators:
            end()
        else:
            begun = True
            pattern = pattern or char in "*?["
            is_open = is_open or char == "$"
            chars.append(char)
    end()
    return words


def is_pattern(text: str) -> bool:
    """Return whether a shell would expand a text to matching files."""
    return any(char in text for char in "*?[")


def fits(name: str, pattern: str) -> bool:
    """Return whether one name may match one part of a pattern, in any shell and with any of its options.

    Brackets match anything, and case is ignored: shells disagree about classes and ranges.
    """
    first, last = pattern.find("["), pattern.rfind("]")
    if 0 <= first < last:
        pattern = f"{pattern[:first]}*{pattern[last + 1 :]}"
    return fnmatchcase(name.casefold(), pattern.casefold()) or name == pattern


def with_groups_open(command: str) -> str:
    """Return a command with its pattern groups replaced by stars, so that it can be split into words."""
    for _ in range(5):
        opened = _GROUP.sub("*", command)
        if opened == command:
            break
        command = opened
    return command


def expanded(word: str) -> tuple[list[str], bool]:
    """Return the words that braces expand to, and whether there may be more than these."""
    waiting, done, more = [word], [], False
    for _ in range(_MOST_STEPS):
        if not waiting:
            break
        text = waiting.pop()
        found = _INNERMOST.search(text)
        if found is None:
            done.append(text.replace(_OPEN, "{").replace(_CLOSE, "}"))
            continue
        before, inside, after = text[: found.start()], found[1], text[found.end() :]
        if before.endswith("$") or ("," not in inside and ".." not in inside):
            pieces = [f"{_OPEN}{inside}{_CLOSE}"]
        elif "," in inside and len(waiting) + len(done) + inside.count(",") < MOST_BRACES:
            pieces = inside.split(",")
        else:
            pieces = ["*"]
            more = more or "/" in inside
        waiting += [f"{before}{piece}{after}" for piece in pieces]
    return done, more or bool(waiting)
