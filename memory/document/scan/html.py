"""The seven kinds of HTML blocks: how a line begins one, and what ends it."""

from __future__ import annotations

from memory.base.patterns import late

_RAW_START = late(r"<(?ai:script|pre|style|textarea)(?=[\s>]|$)")
_RAW_END = late(r"</(?ai:script|pre|style|textarea)>")
_NAMES = (
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir"
    " div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html"
    " iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section summary"
    " table tbody td tfoot th thead title tr track ul"
)
_BLOCK_TAG = late(rf"</?(?ai:{'|'.join(_NAMES.split())})(?=\s|/?>|$)")
_WHOLE_TAG = late(
    r"(?:<[A-Za-z][A-Za-z0-9-]*"
    r"""(?:\s+[A-Za-z_:][A-Za-z0-9_:.-]*(?:\s*=\s*(?:[^"'=<>`\x00-\x20]+|'[^']*'|"[^"]*"))?)*"""
    r"\s*/?>|</[A-Za-z][A-Za-z0-9-]*\s*>)\s*$"
)
# Such a space may be part of an unquoted value or come after it: each doubles the ways to read a line.
_WIDE_SPACE = late(r"[^\x00-\x7f\S]")
_MOST_WIDE_SPACES = 64

BLANK = ""
"""The end of kinds 6 and 7: a blank line."""

RAW = "</"
"""The end of kind 1: any of four closing tags, see `ends`."""


def html_end(line: str, start: int, *, in_paragraph: bool) -> str | None:
    """Return what ends the HTML block that `line` begins at `start` (where a `<` is); None if it begins none.

    `in_paragraph` leaves out kind 7, the only one that cannot interrupt a paragraph. Pass the result to
    `ends`.
    """
    second = line[start + 1 : start + 2]
    if second == "!":
        if line.startswith("--", start + 2):
            return "-->"
        if line.startswith("[CDATA[", start + 2):
            return "]]>"
        third = line[start + 2 : start + 3]
        return ">" if third.isascii() and third.isalpha() else None
    if second == "?":
        return "?>"
    if _RAW_START.match(line, start):
        return RAW
    if _BLOCK_TAG.match(line, start) or (not in_paragraph and _is_whole_tag(line[start:])):
        return BLANK
    return None


def ends(line: str, start: int, end: str) -> bool:
    """Return whether the line, read from `start`, holds the end of an HTML block; `BLANK` is never held."""
    if end == RAW:
        return _RAW_END.search(line, start) is not None
    return end != BLANK and line.find(end, start) >= 0


def _is_whole_tag(text: str) -> bool:
    """Return whether the text is one complete opening or closing tag and nothing else (kind 7)."""
    if not text.isascii() and len(_WIDE_SPACE.findall(text)) > _MOST_WIDE_SPACES:
        return False
    return _WHOLE_TAG.match(text.replace("\0", "\ufffd")) is not None
