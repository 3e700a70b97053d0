"""Values as agents send them: numbers, lists and truth values become the text that stands in a file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

from memory.errors import UsageError

if TYPE_CHECKING:
    from memory.entries.model import Changes
    from memory.search import Record


def text_of(key: str, value: Any) -> str:
    """Return a value as the text of a field; UsageError `entry.value` for what is none."""
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
    """Return values as the texts of fields; None is empty, which takes a field away."""
    return {key: "" if value is None else text_of(key, value) for key, value in values.items()}


def list_of(key: str, value: Any) -> list[str]:
    """Return a list of texts; a text is one of parts with commas between."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return list(value)
    return [part.strip() for part in text_of(key, value).split(",") if part.strip()]


def date_of(text: str, now: datetime, zone: tzinfo, *, past: bool = False) -> str:
    """Return a date in words (`tomorrow 14:00`, `fri`) as a file has it; absent values and `recurring: …` stay."""
    from memory.base.dates import parse_when
    from memory.base.remarks import is_absent

    if not text.strip() or is_absent(text) or text.strip().lower().startswith("recurring:"):
        return text
    head, mark, rest = text.partition("(recurring:")
    day = parse_when(head.strip(), now, zone, past=past)
    return f"{day} {mark}{rest}" if mark else day


def lines_of(text: str) -> list[str]:
    """Return the lines of a text that say something, a leading bullet dropped."""
    return [line.removeprefix("- ") for line in text.replace("\r\n", "\n").split("\n") if line.strip()]


def refuse_unknown(values: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    """Raise UsageError `entry.field` for a key that such an entry has not."""
    for key in values:
        if key not in known:
            raise UsageError("entry.field", f"{what} has no field {key[:40]!r}", f"use {', '.join(known)}")


def unescaped(text: str, before: str) -> str:
    """Return a text in which each line that is the shown form of an old line is that old line again.

    Control and invisible characters are shown escaped; sending such a line back unchanged changes no byte.
    """
    from memory.base.safe_text import visible

    shown = {visible(line): line for line in before.split("\n") if visible(line) != line}
    return "\n".join(shown.get(line, line) for line in text.split("\n")) if shown else text


def sent_source(record: Record, changes: Changes) -> str | None:
    """Return the new source of an entry, which keeps its heading where none is sent; None where fields change."""
    if changes.text is None:
        return None
    if changes.set or changes.unset:
        raise UsageError("entry.arguments", "text replaces the whole entry", "send either text, or set and unset")
    source = record.item.entry.text
    text = unescaped(changes.text, source)
    return text if text.lstrip().startswith("### ") else "{}\n{}".format(source.split("\n", 1)[0].rstrip("\r"), text)
