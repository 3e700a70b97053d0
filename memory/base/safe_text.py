"""Text from files made safe for a screen, and measured in terminal cells.

File content never controls the terminal: control characters, bidirectional controls and invisible characters are shown
as readable escapes. Widths agree with the tables that the terminal application draws with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_ELLIPSIS = "…"
_TAB = " " * 4

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
_SUSPECT = re.compile(f"[\x00-\x1f{_JOINER}{_HIDDEN}]")


def visible(text: str, *, newlines: bool = False) -> str:
    r"""Return the text with all characters that control a terminal or are invisible as escapes (`\x1b`, `\u202e`).

    Undecodable bytes are shown as the bytes they were (`\xff`). On one line (the default) a tab or a line end becomes
    one space; with `newlines` lines stay (all ending in `\n`) and a tab becomes four spaces. Text without such
    characters is returned as the same object, and a second call changes nothing.
    """
    # The pattern takes as long to compile as a few modules to import, and most texts are told without it.
    if text.isprintable() and (text.isascii() or not _has_blank_letters(text)):
        return text
    if newlines and "\n" in text and "\r" not in text:
        # Most lines are plain, so checking them one by one is quick.
        lines = text.split("\n")
        shown = [visible(line, newlines=True) for line in lines]
        return text if shown == lines else "\n".join(shown)
    if not _SUSPECT.search(text):
        return text
    return _SUSPECT.sub(_show_in_lines if newlines else _show, text.replace("\r\n", "\n"))


def _has_blank_letters(text: str) -> bool:
    """Return whether a text has one of the hidden characters that Python calls printable."""
    return any(letter in text for letter in "\u115f\u1160\u3164\uffa0\u17b4\u17b5")


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
    return all(char > "\x7f" and not _SUSPECT.match(char) for char in around)


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
    if text.isascii():
        return len(text) if text.isprintable() else sum(map(_width, text))
    if "\u200d" not in text and "\ufe0f" not in text:
        return sum(map(_width, text))
    return sum(width for _, width in _clusters(text))


def clip(text: str, width: int) -> str:
    """Return the text if it fits into `width` cells, else its beginning with "…", never half a glyph."""
    if len(text) <= width and text.isascii():
        return text
    if width <= 0:
        return ""
    if text.isascii() and text.isprintable():
        return text[: width - 1] + _ELLIPSIS
    # Find the last glyph that leaves a cell for the ellipsis; a long text is not measured to its end.
    used = kept = 0
    for end, cells in _clusters(text):
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


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Yield the clusters that a terminal draws as one glyph: the index after each, and its cells."""
    end, cells, base = 0, 0, ""
    open_cluster = False
    index, size = 0, len(text)
    while index < size:
        char = text[index]
        if char == "\u200d":
            # The character after a joiner is drawn into the glyph before it.
            index += 1
        elif char == "\ufe0f":
            cells += base in _EMOJI_OF_SIGNS
            base = ""
        elif width := _width(char):
            if open_cluster:
                yield end, cells
            cells, base = width, char
        index += 1
        end, open_cluster = min(index, size), True
    if open_cluster:
        yield end, cells


# Characters that a variation selector turns into emoji of two cells.
_EMOJI_OF_SIGNS = frozenset(
    "#*0123456789©®‼⁉™ℹ↔↕↖↗↘↙↩↪⌨⏏⏭⏮⏯⏱⏲⏸⏹⏺Ⓜ▪▫▶◀◻◼☀☁☂☃☄☎☑☘☝☠☢☣☦☪☮☯☸☹☺♀♂♟♠♣♥♦♨♻♾⚒⚔⚕"
    "⚖⚗⚙⚛⚜⚠⚧⚰⚱⛈⛏⛑⛓⛩⛰⛱⛴⛷⛸⛹✂✈✉✌✍✏✒✔✖✝✡✳✴❄❇❣❤➡⤴⤵⬅⬆⬇🅰🅱🅾🅿🌡🌤🌥🌦🌧🌨🌩🌪🌫🌬🌶🍽🎖🎗🎙🎚🎛🎞🎟🏋🏌🏍🏎🏔🏕🏖🏗🏘"
    "🏙🏚🏛🏜🏝🏞🏟🏳🏵🏷🐿👁📽🕉🕊🕯🕰🕳🕴🕵🕶🕷🕸🕹🖇🖊🖋🖌🖍🖐🖥🖨🖱🖲🖼🗂🗃🗄🗑🗒🗓🗜🗝🗞🗡🗣🗨🗯🗳🗺🛋🛍🛎🛏🛠🛡🛢🛣🛤🛥🛩🛰🛳"
)


class _Widths(dict[str, int]):
    """The cells of single characters, computed on first use."""

    def __missing__(self, char: str) -> int:
        width = self[char] = _measure(char)
        return width


# At most one small entry for each existing character.
_width = _Widths().__getitem__

# Since Unicode 16 these symbols are wide; the tables of older Pythons do not know it.
_WIDE = ((0x2630, 0x2637), (0x268A, 0x268F), (0x4DC0, 0x4DFF), (0x1D300, 0x1D356), (0x1D360, 0x1D376))
# Planes and blocks in which characters unknown to Python's tables are wide.
_WIDE_UNASSIGNED = ((0x1F300, 0x1F64F), (0x1F680, 0x1F6FF), (0x1F900, 0x1FAFF), (0x20000, 0x3FFFD))
_FORMAT_WITH_PICTURE = (0xAD, 0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2)


def _measure(char: str) -> int:
    import unicodedata

    code = ord(char)
    if code < 0x20 or 0x7F <= code < 0xA0:
        return 0
    if code < 0x300:
        return 1
    category = unicodedata.category(char)
    if category == "Cn":
        return 2 if _within(code, _WIDE_UNASSIGNED) else 1
    if category == "Cf":
        return int(code in _FORMAT_WITH_PICTURE or code in (0x110BD, 0x110CD))
    # Marks, the second and third parts of Hangul syllables, fillers, separators and skin tones take no cell.
    if category in ("Mn", "Me", "Mc", "Zl", "Zp") or 0x1160 <= code <= 0x11FF or 0xD7B0 <= code <= 0xD7FF:
        return 0
    if code in (0x3164, 0xFFA0) or 0x1F3FB <= code <= 0x1F3FF:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" or _within(code, _WIDE) else 1


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)
