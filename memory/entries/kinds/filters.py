"""Which records a listing shows: words of their text, days, and fields that have a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory.search import Record

DATES = ("since", "until")


def passes(record: Record, wanted: Mapping[str, Any]) -> bool:
    """Tell whether a record fits each part of a filter.

    `match` is a text in it, `since` and `until` are ISO days (inclusive), `tag` is one of its tags; any other key is a
    field, compared in any case. `section: all` and `section: archived` say where, not what.
    """
    told: Mapping[str, Any] | None = None
    for key, value in wanted.items():
        text = str(value).casefold()
        if key == "match":
            if text not in record.text.casefold() and text not in record.title.casefold():
                return False
        elif key in DATES:
            day = record.date
            if not day or (day < str(value) if key == "since" else day > str(value)):
                return False
        elif key == "tag":
            if text not in (tag.casefold() for tag in record.tags):
                return False
        elif key == "title":
            if record.title.casefold() != text:
                return False
        elif key == "section" and (text == "all" or (text == "archived" and record.file.startswith("archive/"))):
            continue
        else:
            if told is None:
                told = record.item.json() if hasattr(record.item, "json") else {}
            if not _holds(told.get(key, (told.get("extra") or {}).get(key)), text):
                return False
    return True


def _holds(value: Any, text: str) -> bool:
    if isinstance(value, (list, tuple)):
        return any(str(one).casefold() == text for one in value)
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    return value is not None and str(value).casefold() == text
