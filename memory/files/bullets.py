"""Edits of bullets in a list: add some, replace or take out one; every other bullet reads as before."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.document import Bullet, Document
from memory.document.lines import insert_line, read_bullets, split_lines
from memory.errors import UsageError

from .dress import plain_bullets
from .edit import with_end

_PREFIX = re.compile(r"[-*+](?:[ \t]{1,4}|$)")


def with_bullets(
    document: Document, index: int, number: int | None, texts: Sequence[str], code: str, source: str = ""
) -> Document:
    """Return the document with bullets behind the last one of a section, or of an entry of it, or at its end.

    `texts` are those of the bullets, with line feeds, `source` is how they are written elsewhere. Raises UsageError
    `code` where one would not stay one bullet.
    """
    block = document.block(index, number)
    body = block.body
    bullets = read_bullets(body)
    if bullets:
        last = bullets[-1]
        prefix = _prefix(body[last.start : last.end])
        source = source or "\n".join(_written(prefix, text, "\n") for text in texts)
        lines = document.newline.join(line for line, _ in split_lines(source))
        new = insert_line(body, last.end, lines, document.newline)
    else:
        source = source or "\n".join(_written("- ", text, "\n") for text in texts)
        new = with_end(body, source, document, index, number)
    _check(bullets, new, len(bullets), texts, code)
    return document.with_block(index, number, block.with_body(new))


def with_bullet(document: Document, at: tuple[int, int | None, int], text: str | None, code: str) -> Document:
    """Return the document with another text in a bullet, or (None) without it; the others of its list become plain.

    `at` is (section, entry or None, bullet). UsageError `code` as in `with_bullets`.
    """
    index, number, place = at
    block = document.block(index, number)
    body = plain_bullets(block.body).body
    bullets = read_bullets(body)
    bullet = bullets[place]
    if text == bullet.text:
        return document
    source = body[bullet.start : bullet.end]
    written = ""
    if text is not None:
        written = _written(_prefix(source), text, document.newline) + source[len(source.rstrip("\r\n")) :]
    new = body[: bullet.start] + written + body[bullet.end :]
    _check(bullets, new, place, [] if text is None else [text], code)
    return document.with_block(index, number, block.with_body(new))


def bullet_source(document: Document, at: tuple[int, int | None, int]) -> str:
    """Return how a bullet of a list in plain bullets is written; `at` as in `with_bullet`."""
    index, number, place = at
    body = plain_bullets(document.block(index, number).body).body
    bullet = read_bullets(body)[place]
    return body[bullet.start : bullet.end]


def _prefix(source: str) -> str:
    """Return the marker of a bullet with the blanks behind it."""
    found = _PREFIX.match(source)
    prefix = found[0] if found else "- "
    return prefix if prefix[-1:].isspace() else f"{prefix} "


def _written(prefix: str, text: str, newline: str) -> str:
    first, *rest = text.split("\n")
    indent = " " * max(2, len(prefix))
    return newline.join([prefix + first, *(indent + line if line.strip() else "" for line in rest)])


def _check(old: Sequence[Bullet], new: str, place: int, texts: Sequence[str], code: str) -> None:
    """Raise UsageError unless a body reads as the old bullets, with these texts at a place instead of the one there."""
    before = [bullet.text for bullet in old]
    after = [bullet.text for bullet in read_bullets(new)]
    are_read = [one.split() for one in after[place : place + len(texts)]] == [one.split() for one in texts]
    del before[place : place + 1], after[place : place + len(texts)]
    if are_read and before == after:
        return
    if not texts:
        raise UsageError(code, "without this bullet others would read differently", "use an editor")
    raise UsageError(
        code, "the text would not stay one bullet of the list", "leave out HTML and code fences that stay open"
    )
