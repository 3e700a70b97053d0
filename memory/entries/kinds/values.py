"""Values sent by agents: those of fields, converted to the text of a file, and those of filters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memory.base.safe_text import visible
from memory.errors import UsageError

if TYPE_CHECKING:
    from memory.entries.model import Changes
    from memory.search.records import Record


def text_of(key: str, value: Any) -> str:
    """Return a value as the text of a field; UsageError `entry.value` for any other type."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    raise UsageError("entry.value", f"{key[:40]!r} is no text, number or list of texts", "send text")


def texts_of(values: Mapping[str, Any]) -> dict[str, str]:
    """Return values as the texts of fields; None becomes empty, which removes a field."""
    return {key: "" if value is None else text_of(key, value) for key, value in values.items()}


def list_of(key: str, value: Any) -> list[str]:
    """Return a list of texts; a single text is split at its commas."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return list(value)
    return [part.strip() for part in text_of(key, value).split(",") if part.strip()]


def lines_of(text: str) -> list[str]:
    """Return the non-empty lines of a text, without a leading bullet."""
    return [line.removeprefix("- ") for line in text.replace("\r\n", "\n").split("\n") if line.strip()]


def refuse_unknown(values: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    """Raise UsageError `entry.field` for a key that such an entry does not have."""
    for key in values:
        if key not in known:
            raise UsageError("entry.field", f"{what} has no field {key[:40]!r}", f"use {', '.join(known)}")


def unescaped(text: str, before: str) -> str:
    """Return a text in which each line that is the escaped form of an old line is replaced by that old line.

    Control and invisible characters are shown escaped; sending such a line back unchanged changes no byte.
    """
    shown = {visible(line): line for line in before.split("\n") if visible(line) != line}
    return "\n".join(shown.get(line, line) for line in text.split("\n")) if shown else text


def sent_source(record: Record, changes: Changes) -> str | None:
    """Return the new source of an entry, which keeps its heading if none is sent; None if fields change."""
    if changes.text is None:
        return None
    if changes.set or changes.unset:
        raise UsageError("entry.arguments", "text replaces the whole entry", "send either text, or set and unset")
    source = record.item.entry.text
    text = unescaped(changes.text, source)
    return text if text.lstrip().startswith("### ") else "{}\n{}".format(source.split("\n", 1)[0].rstrip("\r"), text)


def passes(record: Record, wanted: Mapping[str, Any]) -> bool:
    """Return whether a record matches each part of a filter.

    `match` is a text in it, `since` and `until` are ISO days (inclusive), `tag` is one of its tags; any other key is a
    field, compared without case. `section: all` and `section: archived` select where to search, not what.
    """
    told: Mapping[str, Any] | None = None
    for key, value in wanted.items():
        text = str(value).casefold()
        if key == "match":
            if text not in record.text.casefold() and text not in record.title.casefold():
                return False
        elif key in ("since", "until"):
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
