"""Every word of a command that a shell might take for a file, found by looking too widely rather than too closely.

No shell is asked and nothing is expanded but file name patterns. Quoted words are looked into again, for `sh -c`,
`env` and `eval` run what stands in them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from .patterns import expanded, is_pattern, with_groups_open

_SPACE = frozenset(" \t\n")
_OPERATORS = frozenset(";&|()<>{}`")
_ESCAPED = '$`"\\\n'
# Wherever a word could begin or end, quotes and expansions not looked at.
_COARSE = re.compile(r"""[^\s;&|()<>{}`'"$=:,@\[\]\\]+""")
_INSIDE = re.compile(r"[=:,@]")
_DEFAULTS = ("-", "+", "?")  # as in `${NAME:-run.sh}`
_MOST_OPTIONS = 7
_DEPTH = 5
_MOST_TAILS = 16


@dataclass(frozen=True, slots=True)
class Word:
    """One word; `pattern` tells that the shell would expand `*`, `?` or `[` in it, `open` that it holds a `$`."""

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
    """Tell whether a word of the command becomes another one only when it runs."""
    return any(word.open for word in (*_cut(command), *_braced(command))) or "`" in command


def _braced(command: str) -> list[Word]:
    """Return the words that braces make; not every shell makes them."""
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
        # Several short options may stand in one word, the last with its value: `-umtools.probe`.
        parts += [text[begin:] for begin in range(2, min(len(text), _MOST_OPTIONS))]
    pieces = _INSIDE.split(text)
    if len(pieces) > 1:
        parts += pieces
        parts += [piece.lstrip("-+?") for piece in pieces if piece[:1] in _DEFAULTS]
        # A path may hold such a character itself.
        parts += [text[match.end() :] for match in islice(_INSIDE.finditer(text), _MOST_TAILS)]
    return [part for part in parts if part]


def _cut(command: str, operators: frozenset[str] = _OPERATORS) -> list[Word]:
    """Cut a command into words as a shell does: quotes and backslashes taken away, operators between words."""
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
