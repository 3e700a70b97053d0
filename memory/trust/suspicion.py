"""Characters that hide or reorder what a person reads; a command that contains one is shown with it, and refused."""

from __future__ import annotations

import unicodedata

from memory.base.safe_text import escape, visible

_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"})
# Letters and marks that are displayed as nothing.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")


def revealed(text: str) -> str:
    r"""Return text of several lines in which every character is visible: hidden ones are written `\u202e`."""
    return "".join(escape(char) if _hides(char) else char for char in visible(text, newlines=True))


def hidden_in(text: str) -> str:
    """Return the escape of the first hidden character of a command, "" if none; line ends and tabs are allowed."""
    if text.isascii() and text.isprintable():
        return ""
    return next((escape(char) for char in text if _hides(char)), "")


def hidden_in_name(text: str) -> str:
    """Return the escape of the first hidden character of a name, "" if there is none; joined emoji are allowed."""
    plain = text.replace("\n", " ").replace("\t", " ")
    if visible(plain) == plain:
        return ""
    return next((escape(char) for char in text if visible(char) != char and char not in "\n\t\u200d"), "\\u200d")


def unusual_in(text: str) -> tuple[str, ...]:
    """Return the characters of a command beyond ASCII, each once: some look like others."""
    return tuple(dict.fromkeys(char for char in text if not char.isascii() and not _hides(char)))


def _hides(char: str) -> bool:
    if " " <= char <= "~" or char in "\n\t":
        return False

    code = ord(char)
    selector = 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF
    return selector or char in _BLANK or unicodedata.category(char) in _CATEGORIES
