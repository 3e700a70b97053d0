"""How many lines a link reference definition takes: what follows it starts afresh."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.base.patterns import late

_LABEL = late(r"(?:[^\\\[\]]|\\.)*+", re.DOTALL)
_ANGLED = late(r"<(?:[^\n<>\\]|\\.)*+>", re.DOTALL)
_BARE = late(r"(?:[^\x00-\x20\x7f\\()]|\\[^ ])*+")
_SPACES = late(r"[ \t]*+")
# An opening parenthesis inside a title in parentheses ends the attempt: it is no part of its pattern.
_TITLES = {
    '"': ('"', late(r'(?:[^"\\]|\\.)*+', re.DOTALL)),
    "'": ("'", late(r"(?:[^'\\]|\\.)*+", re.DOTALL)),
    "(": (")", late(r"(?:[^()\\]|\\.)*+", re.DOTALL)),
}
_LABEL_BLANKS = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_BAD_PROTOCOL = late(r"(?ai:vbscript|javascript|file|data):")
_GOOD_DATA = late(r"(?ai:data:image/(?:gif|png|jpeg|webp);)")
_ESCAPE = late(r"\\([!-/:-@\[-`{-~])|&[A-Za-z#][A-Za-z0-9]{1,31};")
_DEEPEST_PARENTHESES = 32


def definition_lines(first: str, following: Iterator[str]) -> int:
    """Return how many lines the link reference definition takes that `first` begins; 0 if it is none.

    `first` starts with `[`. `following` yields the lines that may continue it, lazily and without their
    indentation and line ends; it ends where a blank line or another block ends the paragraph.
    """
    text = _mend(first)
    taken = 1
    # The label, over as many lines as it needs.
    position = 1
    named = False
    while True:
        end = _match_end(_LABEL, text, position)
        named = named or bool(text[position:end].strip(_LABEL_BLANKS))
        position = end
        if end < len(text):
            break
        following_line = next(following, None)
        if following_line is None:
            return 0
        text, taken, position = _mend(following_line), taken + 1, 0
    if not named or not text.startswith("]:", position):
        return 0
    # The destination, at the latest on the next line.
    position = _match_end(_SPACES, text, position + 2)
    if text[position] == "\n":
        following_line = next(following, None)
        if following_line is None:
            return 0
        text, taken, position = _mend(following_line), taken + 1, 0
    end = _destination_end(text, position)
    if end < 0:
        return 0
    with_title = _title_lines(text, end, following)
    if with_title is None:
        return 0
    if with_title >= 0:
        return taken + with_title
    # No title, or none that ends its line: the destination has to end its line then.
    end = _match_end(_SPACES, text, end)
    return taken if end == len(text) or text[end] == "\n" else 0


def _mend(line: str) -> str:
    """Return the line as the definition is read: with its line end, and NUL replaced."""
    return line.replace("\0", "\ufffd") + "\n"


def _match_end(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Return where a pattern that always matches ends."""
    found = pattern.match(text, position)
    return found.end() if found else position


def _destination_end(text: str, start: int) -> int:
    """Return where the destination that begins at `start` ends; -1 if there is none or it is refused."""
    if text[start] == "<":
        found = _ANGLED.match(text, start)
        return found.end() if found and _is_allowed(text[start + 1 : found.end() - 1]) else -1
    depth = 0
    end = start
    while True:
        end = _match_end(_BARE, text, end)
        here = text[end : end + 1]
        if here == "(":
            depth += 1
            if depth > _DEEPEST_PARENTHESES:
                return -1
        elif here == ")" and depth:
            depth -= 1
        else:
            break
        end += 1
    return end if end > start and not depth and _is_allowed(text[start:end]) else -1


def _is_allowed(destination: str) -> bool:
    """Return whether a link may lead there: the oracle makes no definition of `javascript:` and its like."""
    if ":" not in destination and "&" not in destination:
        return True
    destination = _ESCAPE.sub(_unescape, destination).strip()
    return not _BAD_PROTOCOL.match(destination) or bool(_GOOD_DATA.match(destination))


def _unescape(found: re.Match[str]) -> str:
    """Return what an escape or a character reference stands for."""
    if found[1]:
        return found[1]
    from html import unescape

    return unescape(found[0])


def _title_lines(text: str, start: int, following: Iterator[str]) -> int | None:
    """Return how many lines after `text` the title takes; -1 without a title, None for no definition at all.

    `start` is where the destination ended in `text`.
    """
    more = 0
    position = _match_end(_SPACES, text, start)
    apart = position > start
    if text[position : position + 1] == "\n":
        following_line = next(following, None)
        if following_line is None:
            return -1
        text, more, position, apart = _mend(following_line), 1, 0, True
    opener = text[position : position + 1]
    if opener not in _TITLES or not opener:
        return -1
    closer, pattern = _TITLES[opener]
    position += 1
    end = _match_end(pattern, text, position)
    empty = end == position
    while end == len(text):
        following_line = next(following, None)
        if following_line is None:
            return -1
        # A title over several lines needs no space before it: a habit of the oracle.
        text, more, empty, apart = _mend(following_line), more + 1, False, True
        end = _match_end(pattern, text, 0)
    if text[end] != closer or not apart:
        return -1
    end = _match_end(_SPACES, text, end + 1)
    if text[end] == "\n":
        return more
    # Text after an empty title spoils the definition as a whole: a habit of the oracle.
    return None if empty else -1
