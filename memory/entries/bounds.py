"""Limits for input: valid texts, small values, pages and cursors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memory.base.safe_text import visible
from memory.errors import UsageError

if TYPE_CHECKING:
    from .model import EntryItem

LONGEST = 100_000
"""Maximum characters of one text."""
LONGEST_TEXT = 20_000
"""Characters of an entry's text in an answer."""
MOST = 50
"""Maximum results and entries of one answer."""
FEW = 20
"""The default number of results and entries."""
MOST_VALUES = 60
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_CURSOR = re.compile(r"([0-9]{1,7})(?::(\S{1,300}))?")


def check_text(name: str, text: Any) -> None:
    """Raise UsageError `entry.text` for a text that a file cannot contain: no UTF-8, control characters, or more than
    `LONGEST` characters.
    """
    if not isinstance(text, str):
        raise UsageError("entry.text", f"{name[:40]} is no text", "send a text")
    if len(text) > LONGEST:
        raise UsageError("entry.text", f"{name[:40]} is longer than {LONGEST:,} characters", "send less")
    if _CONTROL.search(text):
        raise UsageError("entry.text", f"{name[:40]} holds control characters", "send plain text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError("entry.text", f"{name[:40]} is not valid Unicode", "send plain text") from None


def check_values(values: Mapping[str, Any]) -> None:
    """Raise UsageError `entry.value` for values that are too many, too deep, or contain invalid text."""
    _check("fields", values, 0)


def _check(name: str, value: Any, depth: int) -> None:
    if isinstance(value, str):
        check_text(name, value)
    elif isinstance(value, (Mapping, list)):
        if len(value) > MOST_VALUES or depth > 3:
            raise UsageError("entry.value", f"{name[:40]} holds too much", f"send at most {MOST_VALUES} values")
        for key in value:
            if isinstance(value, Mapping):
                check_text("a name", key)
                _check(str(key), value[key], depth + 1)
            else:
                _check(name, key, depth + 1)
    elif isinstance(value, float) and value != value:
        raise UsageError("entry.value", f"{name[:40]} is no number", "send a number")
    elif isinstance(value, int) and abs(value) > 10**15:
        raise UsageError("entry.value", f"{name[:40]} is too large", "send a smaller number")


def cut(text: str, most: int) -> str:
    """Return a text, or its beginning with "…" if it is longer than `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def refuse_cut(item: EntryItem, text: str) -> None:
    """Raise UsageError `entry.cut` for a text that is the shortened form of the entry's own text from an answer:
    writing it would lose the rest. An entry whose text does not fit into an answer accepts no text at all.
    """
    shown = visible(item.text, newlines=True)
    sent = text.rstrip()
    if len(shown) > LONGEST_TEXT or (sent.endswith("…") and len(sent) < len(shown) and shown.startswith(sent[:-1])):
        raise UsageError(
            "entry.cut", f"the text of {item.ref} is longer than what was sent", "read it by its ref, or set fields"
        )


def page_of(limit: int | None) -> int:
    """Return the size of a page: as many as requested, at least one and at most `MOST`."""
    return FEW if limit is None else max(1, min(limit, MOST))


def read_cursor(cursor: str | None) -> tuple[int, str | None]:
    """Return the start of a page and the entry before it; UsageError `entry.cursor`."""
    if cursor is None or not cursor:
        return 0, None
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise UsageError("entry.cursor", f"{cursor[:40]!r} is no cursor", "send back the one of the page before")
    return int(found[1]), found[2]
