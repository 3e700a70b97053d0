"""Edits of bullets in a list: add some, replace or take out one; every other bullet reads as before."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.document import Bullet, Document
from memory.document.lines import insert_line, read_bullets
from memory.errors import UsageError

from .edit import with_end

_PREFIX = re.compile(r"[-*+](?:[ \t]{1,4}|$)")


def add_bullets(body: str, texts: Sequence[str], document: Document, index: int, number: int | None, code: str) -> str:
    """Return the body of a section, or of an entry of it, with bullets behind its last one, or at its end.

    `texts` are those of the bullets, with line feeds. Raises UsageError `code` where one would not stay one bullet.
    """
    bullets = read_bullets(body)
    if bullets:
        last = bullets[-1]
        prefix = _prefix(body[last.start : last.end])
        lines = document.newline.join(_written(prefix, text, document.newline) for text in texts)
        new = insert_line(body, last.end, lines, document.newline)
    else:
        new = with_end(body, "\n".join(_written("- ", text, "\n") for text in texts), document, index, number)
    return _checked(bullets, new, len(bullets), texts, code)


def replace_bullet(body: str, place: int, text: str | None, newline: str, code: str) -> str:
    """Return the body with another text in a bullet, or (None) without it; UsageError `code` as in `add_bullets`."""
    bullets = read_bullets(body)
    bullet = bullets[place]
    if text == bullet.text:
        return body
    source = body[bullet.start : bullet.end]
    written = ""
    if text is not None:
        written = _written(_prefix(source), text, newline) + source[len(source.rstrip("\r\n")) :]
    new = body[: bullet.start] + written + body[bullet.end :]
    return _checked(bullets, new, place, [] if text is None else [text], code)


def _prefix(source: str) -> str:
    """Return the marker of a bullet with the blanks behind it."""
    found = _PREFIX.match(source)
    prefix = found[0] if found else "- "
    return prefix if prefix[-1:].isspace() else f"{prefix} "


def _written(prefix: str, text: str, newline: str) -> str:
    first, *rest = text.split("\n")
    indent = " " * max(2, len(prefix))
    return newline.join([prefix + first, *(indent + line if line.strip() else "" for line in rest)])


def _checked(old: Sequence[Bullet], new: str, place: int, texts: Sequence[str], code: str) -> str:
    """Return the new body if it reads as the old bullets, with these texts at a place instead of the one there."""
    before = [bullet.text for bullet in old]
    after = [bullet.text for bullet in read_bullets(new)]
    are_read = [one.split() for one in after[place : place + len(texts)]] == [one.split() for one in texts]
    del before[place : place + 1], after[place : place + len(texts)]
    if are_read and before == after:
        return new
    if not texts:
        raise UsageError(code, "without this bullet others would read differently", "use an editor")
    raise UsageError(
        code, "the text would not stay one bullet of the list", "leave out HTML and code fences that stay open"
    )
