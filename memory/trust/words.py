"""The words of a command, split as a shell would split them; nothing is run and no variable is known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from glob import escape
from itertools import islice

_TOKEN = re.compile(
    r"""(?P<operator>`|&?[<>]+&?|[;&|()\n]+)|(?:\\.|'[^']*'|"(?:[^"\\]|\\.)*"|[^\s;&|()`<>'"\\]|['"\\])+""", re.S
)
_QUOTED = re.compile(r"""\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)\"""", re.S)
_ESCAPED = re.compile(r'\\([$`"\\])')
_BRACKET = re.compile(r"\[(?:\[:\w+:\]|[^\]])+\]")
_ASSIGNED = re.compile(r"\w+=")
_NUMBER = re.compile(r"[\d.]+[smhd]?")
_WRAPPERS = "if then elif else while until do ! { time env timeout nice nohup command exec sudo doas"
_BEFORE = frozenset(_WRAPPERS.split())
"""Words that a program's name may follow."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word without its quotes; `pattern` is its glob pattern where a shell would expand it, else empty.

    `after` is the word or the redirection before it. `depth` counts the quotes around the text it was found in.
    """

    text: str
    pattern: str = ""
    after: str = ""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """The words between two operators; `piped`: a pipe leads to the next one."""

    words: tuple[Word, ...]
    piped: bool = False

    @property
    def program(self) -> Word | None:
        """The first word that is no keyword, assignment, wrapper or redirected file: a program."""
        for word in self.words:
            if "<" in word.after or ">" in word.after:
                continue
            if not (word.text in _BEFORE or _NUMBER.fullmatch(word.text) or _ASSIGNED.match(word.text)):
                return word
        return None


def split(command: str, depth: int = 0) -> Iterator[SimpleCommand]:
    """Yield the simple commands of a command, in their order; quoted text is split by `nested`."""
    words: list[Word] = []
    before = ""
    opened = False
    for token in _TOKEN.finditer(command.replace("\\\n", "")):
        operator = token["operator"]
        if operator is None:
            words.append(_word(token[0], before, depth))
        elif operator == "`":
            # The older spelling of `$(` and `)`.
            opened = not opened
            yield SimpleCommand((*words, Word("$", "", before, depth)) if opened else tuple(words))
            words, before = [], "(" if opened else ")"
            continue
        elif "<" not in operator and ">" not in operator:
            yield SimpleCommand(tuple(words), piped=operator.startswith("|") and not operator.startswith("||"))
            words = []
        before = token[0]
    yield SimpleCommand(tuple(words))


def nested(word: Word) -> Iterator[SimpleCommand]:
    """Yield the simple commands in a quoted word: `sh -c`, `eval` and `env -S` run them."""
    if any(char in " \t\n;&|()<>" for char in word.text):
        yield from split(word.text, word.depth + 1)


def substituted(word: Word) -> Iterator[SimpleCommand]:
    """Yield the simple commands of the command substitutions in a word: every shell runs them."""
    places = [place for mark in ("$(", "`") if (place := word.text.find(mark)) >= 0]
    if places:
        yield from islice(split(word.text[min(places) :], word.depth + 1), 1, None)


def _word(token: str, after: str, depth: int) -> Word:
    parts: list[str] = []
    pattern: list[str] = []
    at = 0
    for quoted in _QUOTED.finditer(token):
        plain = token[at : quoted.start()]
        text = next(part for part in quoted.groups() if part is not None)
        text = _ESCAPED.sub(r"\1", text) if quoted[3] is not None else text
        parts += [plain, text]
        pattern += [plain, escape(text)]
        at = quoted.end()
    parts.append(token[at:])
    pattern.append(token[at:])
    # Shells disagree about classes and ranges: a bracket counts as any character.
    pattern = [_BRACKET.sub("?", part) if number % 2 == 0 else part for number, part in enumerate(pattern)]
    wild = not depth and any(char in "*?[" for char in _QUOTED.sub("", token))
    return Word("".join(parts), "".join(pattern) if wild else "", after, depth)
