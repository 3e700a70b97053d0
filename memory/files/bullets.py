"""Edits of one bullet in a list: add, replace or take out, checked so that every other bullet reads as before."""

from __future__ import annotations

import re

from memory.document import Document
from memory.document.lines import insert_line, read_bullets
from memory.errors import UsageError

from .edit import with_end

_PREFIX = re.compile(r"[-*+](?:[ \t]{1,4}|$)")


def add_bullet(body: str, text: str, document: Document, index: int, number: int | None, code: str) -> str:
    """Return the body of a section, or of an entry of it, with a bullet behind its last one, or at its end.

    `text` is the bullet's text with line feeds. Raises UsageError `code` where it would not stay one bullet.
    """
    bullets = read_bullets(body)
    if bullets:
        last = bullets[-1]
        line = _written(_prefix(body[last.start : last.end]), text, document.newline)
        new = insert_line(body, last.end, line, document.newline)
    else:
        new = with_end(body, _written("- ", text, "\n"), document, index, number)
    return _checked(body, new, len(bullets), text, code)


def replace_bullet(body: str, place: int, text: str | None, newline: str, code: str) -> str:
    """Return the body with another text in a bullet, or (None) without it; raises UsageError `code` as `add_bullet`."""
    bullet = read_bullets(body)[place]
    if text == bullet.text:
        return body
    source = body[bullet.start : bullet.end]
    written = ""
    if text is not None:
        written = _written(_prefix(source), text, newline) + source[len(source.rstrip("\r\n")) :]
    return _checked(body, body[: bullet.start] + written + body[bullet.end :], place, text, code)


def _prefix(source: str) -> str:
    """Return the marker of a bullet with the blanks behind it."""
    found = _PREFIX.match(source)
    prefix = found[0] if found else "- "
    return prefix if prefix[-1:].isspace() else f"{prefix} "


def _written(prefix: str, text: str, newline: str) -> str:
    first, *rest = text.split("\n")
    indent = " " * max(2, len(prefix))
    return newline.join([prefix + first, *(indent + line if line.strip() else "" for line in rest)])


def _checked(old: str, new: str, place: int, text: str | None, code: str) -> str:
    """Return the new body if it reads as the old one with one bullet put in, replaced or (None) taken out."""
    before = [bullet.text for bullet in read_bullets(old)]
    after = [bullet.text for bullet in read_bullets(new)]
    is_read = text is None or (place < len(after) and after.pop(place).split() == text.split())
    del before[place : place + 1]
    if not is_read or before != after:
        raise UsageError(
            code, "the text would not stay one bullet of the list", "leave out HTML and code fences that stay open"
        )
    return new
