"""Writes text of a bundle as Markdown that shows any text literally."""

from __future__ import annotations

import re

from memory.base.safe_text import one_line

_SPAN = re.compile(r"(?<![`\\])`([^`]+)`(?!`)")
_COMMENT = re.compile(r"<!--|-->|<!|\?>")
# An underscore or a number sign inside a word means nothing to Markdown.
_SPECIAL = re.compile(r"[\\`*\[<|~]|(?<=<)!|\A>|(?<![^\W_])_|_(?![^\W_])|(?<!\S)#|#(?=\s|\Z)|&(?=#?\w{1,40};)")
_OPENING = re.compile(r"([-+=]|\d{1,9}(?=[.)]))")


def inline(text: str) -> str:
    """Return one line of Markdown that shows a text; code spans stay code, all other signs are literal."""
    line = one_line(text)
    pieces: list[str] = []
    done = 0
    for span in _SPAN.finditer(line):
        if _COMMENT.search(span[1]) or not span[1].strip():
            continue
        pieces += [_escape(line[done : span.start()]), span[0]]
        done = span.end()
    pieces.append(_escape(line[done:]))
    result = "".join(pieces)
    opening = _OPENING.match(result)
    if opening is None:
        return result
    # A number opens a list only with the sign after it.
    place = 0 if not opening[1].isdigit() else opening.end()
    return f"{result[:place]}\\{result[place:]}"


def code(text: str) -> str:
    """Return a code span that shows a text, with as many backticks as it needs."""
    line = one_line(text)
    longest = max(map(len, re.findall("`+", line)), default=0)
    ticks = "`" * (longest + 1)
    space = " " if line.startswith("`") or line.endswith("`") or (line[:1] == " " == line[-1:]) else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def _escape(text: str) -> str:
    return _SPECIAL.sub(lambda found: "&amp;" if found[0] == "&" else "\\" + found[0], text)
