"""File name patterns of all shells, read so that they stand for too much rather than too little."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

MOST_BRACES = 64
"""So many words one word with braces becomes at most; of more, the braces stand for anything."""
_INNERMOST = re.compile(r"\{([^{}]*)\}")
# Groups of patterns: `@(a|b).sh` of ksh and bash, `(a|b).sh` of zsh.
_GROUP = re.compile(r"(?<=[?*+@!])\([^()]*\)|(?<!\$)\([^()]*\)(?=[\w./~*?\[-])")
_MOST_STEPS = 512
_OPEN, _CLOSE = "\x01", "\x02"


def is_pattern(text: str) -> bool:
    """Tell whether a shell would look for files that fit a text."""
    return any(char in text for char in "*?[")


def fits(name: str, pattern: str) -> bool:
    """Tell whether one name may fit one part of a pattern, in any shell and under any of its options.

    What stands in brackets fits anything, and case makes no difference: shells disagree about classes and ranges.
    """
    first, last = pattern.find("["), pattern.rfind("]")
    if 0 <= first < last:
        pattern = f"{pattern[:first]}*{pattern[last + 1 :]}"
    return fnmatchcase(name.casefold(), pattern.casefold()) or name == pattern


def with_groups_open(command: str) -> str:
    """Return a command whose groups of patterns are stars, so that they can be cut into words."""
    for _ in range(5):
        opened = _GROUP.sub("*", command)
        if opened == command:
            break
        command = opened
    return command


def expanded(word: str) -> tuple[list[str], bool]:
    """Return the words that braces make of one, and whether they may make others that are not among them."""
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
