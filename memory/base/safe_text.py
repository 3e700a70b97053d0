"""Text from files made safe for a screen, and measured in terminal cells.

File content never controls the terminal: control characters, bidirectional controls and invisible characters are shown
as readable escapes. Widths agree with the tables that the terminal application draws with.
"""

from __future__ import annotations

import re

_ELLIPSIS = "…"
_TAB = " " * 4
_LONG_GLYPH = 16
"""Characters of a glyph that is drawn in one cell, at most, in most texts."""

_HIDDEN = (
    "\x7f-\x9f"  # DEL and C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks, embeddings, overrides, isolates
    "\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"  # zero width and other characters without a glyph
    "\u115f\u1160\u3164\uffa0\u17b4\u17b5\u180e"  # blank letters, whose width differs between terminals
    "\u2028\u2029"  # line ends to a terminal program, not to a memory file
    "\ud800-\udfff"  # bytes that are not UTF-8, and halves of pairs
    "\U000e0000-\U000e007f"  # tag characters
)
# Emoji are made of joiners (U+200D) and variation selectors (U+FE0F), so those stay; a joiner without characters to
# join would swallow the padding after it.
_JOINER = "\u200d"
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u17b4\u17b5")
"""The hidden characters that Python calls printable."""
_SUSPECT = f"[\x00-\x1f{_JOINER}{_HIDDEN}]"


def visible(text: str, *, newlines: bool = False) -> str:
    r"""Return the text with all characters that control a terminal or are invisible as escapes (`\x1b`, `\u202e`).

    Undecodable bytes are shown as the bytes they were (`\xff`). On one line (the default) a tab or a line end becomes
    one space; with `newlines` lines stay (all ending in `\n`) and a tab becomes four spaces. Text without such
    characters is returned as the same object, and a second call changes nothing.
    """
    # The pattern takes as long to compile as a few modules to import, and most texts are told without it.
    if text.isprintable() and (text.isascii() or _BLANK_LETTERS.isdisjoint(text)):
        return text
    if newlines and "\n" in text and "\r" not in text:
        # Most lines are plain, so checking them one by one is quick.
        lines = text.split("\n")
        shown = [visible(line, newlines=True) for line in lines]
        return text if shown == lines else "\n".join(shown)
    if not re.search(_SUSPECT, text):
        return text
    return re.sub(_SUSPECT, _show_in_lines if newlines else _show, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Return a text on one line, with runs of white space as one space, and hiding or control characters as escapes."""
    return visible(" ".join(text.split()))


def _show(match: re.Match[str]) -> str:
    found = match[0]
    if found == _JOINER and _joins(match.string, match.start()):
        return found
    return " " if found in "\t\n" else escape(found)


def _show_in_lines(match: re.Match[str]) -> str:
    found = match[0]
    if found in "\r\n":
        return "\n"
    return _TAB if found == "\t" else _show(match)


def _joins(text: str, place: int) -> bool:
    """Return whether a joiner is between two characters that may form one glyph."""
    around = text[max(place - 1, 0) : place], text[place + 1 : place + 2]
    return all(char > "\x7f" and not re.match(_SUSPECT, char) for char in around)


def cut(text: str, most: int = 60) -> str:
    """Return a text of at most `most` characters: a longer one is cut, with "…" as its last."""
    return text if len(text) <= most else text[: most - 1] + _ELLIPSIS


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: `1 event`, `2,000 entries`, `3 days`, `2 batches`."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        many = f"{noun[:-1]}ies"
    else:
        many = f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"
    return f"{count:,} {noun if count == 1 else many}"


_VERBS = (
    "add advance append archive change clear complete convert create delete edit import merge move postpone process"
    " promote prune queue recall record remove rename reopen repair restore revert start store update"
)
_REQUESTS = {f"{verb}{'d' if verb.endswith('e') else 'ed'}": verb for verb in _VERBS.split()}


def as_request(text: str) -> str:
    """Return what a change did as what it is to do: `add 'Pay Ada'` for `added 'Pay Ada'`."""
    verb, space, rest = text.partition(" ")
    return f"{_REQUESTS.get(verb, verb)}{space}{rest}"


def escape(char: str) -> str:
    r"""Return the escape that shows a character, such as `\x1b` or `\u202e`; one that is not UTF-8 as its byte."""
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}"


def cell_width(text: str) -> int:
    """Return how many terminal cells the text takes; control characters take none."""
    if text.isascii() and text.isprintable():
        return len(text)
    from rich.cells import cell_len  # Most texts are plain: its tables take as long to load as a few modules.

    return cell_len(text)


def clip(text: str, width: int) -> str:
    """Return the text if it fits into `width` cells, else its beginning with "…", never half a glyph."""
    if len(text) <= width and text.isascii():
        return text
    if width <= 0:
        return ""
    if text.isascii() and text.isprintable():
        return text[: width - 1] + _ELLIPSIS
    from rich.cells import split_graphemes

    # Find the last glyph that leaves a cell for the ellipsis; a long text is not measured to its end.
    for part in dict.fromkeys((text[: width * _LONG_GLYPH], text)):
        used = kept = 0
        for _, end, cells in split_graphemes(part)[0]:
            used += cells
            if used > width:
                return text[:kept] + _ELLIPSIS
            if used < width:
                kept = end
    return text


def pad(text: str, width: int) -> str:
    """Return the text with spaces after it up to `width` cells; longer text is returned unchanged."""
    return text + " " * (width - cell_width(text))


def fit(text: str, width: int) -> str:
    """Return the text clipped and padded to exactly `width` cells."""
    return pad(clip(text, width), width)
