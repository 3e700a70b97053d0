"""What may come in: texts that are text, values that are small, pages and cursors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memory.errors import UsageError

if TYPE_CHECKING:
    from .model import EntryItem

LONGEST = 100_000
"""Characters of one text."""
MOST_VALUES = 60
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_CURSOR = re.compile(r"([0-9]{1,7})(?::(\S{1,300}))?")


def check_text(name: str, text: Any) -> None:
    """Raise UsageError `entry.text` for what is no text that can stand in a file: no UTF-8, control characters, or
    more than `LONGEST` characters.
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
    """Raise UsageError `entry.value` for values that are too many, too deep, or hold what is no text."""
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
    """Return a text, or its beginning with "…" where it is longer than `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def refuse_cut(item: EntryItem, text: str, most: int) -> None:
    """Raise UsageError `entry.cut` for a text that is the beginning of the entry's own as an answer showed it: to
    write it would lose the rest. An entry whose text no answer shows whole takes no text at all.
    """
    from memory.base.safe_text import visible

    shown = visible(item.text, newlines=True)
    sent = text.rstrip()
    if len(shown) > most or (sent.endswith("…") and len(sent) < len(shown) and shown.startswith(sent[:-1])):
        raise UsageError(
            "entry.cut", f"the text of {item.ref} is longer than what was sent", "read it by its ref, or set fields"
        )


def page_of(limit: int | None, usual: int, most: int) -> int:
    """Return how many an answer holds: as many as asked for, at least one and at most `most`."""
    return usual if limit is None else max(1, min(limit, most))


def read_cursor(cursor: str | None) -> tuple[int, str | None]:
    """Return where a page begins and the entry before it; UsageError `entry.cursor`."""
    if cursor is None or not cursor:
        return 0, None
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise UsageError("entry.cursor", f"{cursor[:40]!r} is no cursor", "send back the one of the page before")
    return int(found[1]), found[2]


def check_day(text: str) -> str:
    """Return a time as it was sent, checked as a text."""
    check_text("since", text)
    return text
