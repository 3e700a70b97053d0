"""The entries of all systems in the form for programs: ref, hash, kind, title, fields and text; how a kind of them is
found and changed, and the hash that an edit has to name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from memory.base.safe_text import visible
from memory.base.values import folded
from memory.errors import ConflictError, UsageError
from memory.files.refs import identity_hex
from memory.search.records import Record, derived_ref, path_of

if TYPE_CHECKING:
    from memory.workspace import Workspace

Json = dict[str, Any]
_PLACES = frozenset({"ref", "line", "file", "title", "problems"})
"""Keys of an item's JSON for its position, not its content."""
_NAMES = frozenset({"text", "name", "channel", "key"})
"""Keys that repeat the title or the text."""
_ABSENT: tuple[Any, ...] = (None, "", [], {}, ())


class EntryItem(NamedTuple):
    """One entry of any system; `fields` has no absent ones, `text` is its source, unchanged from the file."""

    ref: str
    hash: str
    kind: str
    title: str
    file: str
    fields: Mapping[str, Any]
    text: str

    def json(self, *, text: bool = True) -> Json:
        """Return the entry for programs; without `text` that key is empty."""
        return {**self._asdict(), "fields": dict(self.fields), "text": self.text if text else ""}


class Changes(NamedTuple):
    """The changes of an edit: `set` and `unset` fields, replace the whole `text`, or `append` to what an entry says;
    the values are text, or JSON if a kind says so.
    """

    set: Mapping[str, Any] = {}
    unset: tuple[str, ...] = ()
    text: str | None = None
    append: str | None = None

    @property
    def values(self) -> Json:
        """The fields that change, with None for those that are unset."""
        return {**self.set, **dict.fromkeys(self.unset)}


class Made(NamedTuple):
    """The result of a change: the new entry (None: it was removed), and the change's id, None if nothing had to be
    written.
    """

    item: EntryItem | None
    change: str | None
    summary: str


Check = Callable[[EntryItem], object]
"""Raises ConflictError `entry.stale` if an entry is not the one that was read."""


def item_of(record: Record) -> EntryItem:
    """Return the entry of a record."""
    told = record.item.json() if hasattr(record.item, "json") else {}
    text = record.text.rstrip("\r\n")
    values = {
        key: _present(value)
        for key, value in told.items()
        if key not in _PLACES and value not in _ABSENT and not (key in _NAMES and value in (record.title, text))
    }
    return EntryItem(
        record.ref or derived_ref(record),
        hash_of(record._replace(text=text), values),
        record.kind,
        record.title,
        path_of(record.kind, record.file),
        values,
        text,
    )


def _present(value: Any) -> Any:
    """Return a value without its absent parts."""
    if isinstance(value, Mapping):
        return {key: _present(one) for key, one in value.items() if one not in _ABSENT}
    if isinstance(value, (list, tuple)):
        return [_present(one) for one in value]
    return value


def hash_of(record: Record, fields: Mapping[str, Any]) -> str:
    """Return a hash of twelve hex digits over the content of an entry; its position in the file does not count."""
    said = json.dumps(fields, sort_keys=True, default=str)
    return identity_hex(record.kind, record.title, said, record.text)[:10] + identity_hex("more", record.text, said)[:2]


def stale(item: EntryItem, seen: EntryItem | None) -> ConflictError:
    """Return the error for an edit of an entry that was changed since it was read.

    `seen` is the entry as it was returned, None if it is not remembered. The details contain the current entry and, if
    `seen` is known, each field and line that differs.
    """
    details: Json = {"ref": item.ref, "hash": item.hash, "entry": item.json()}
    if seen is not None:
        details["changed"] = differences(seen, item)
    return ConflictError(
        "entry.stale",
        f"{item.ref} was changed since it was read",
        "look at details, then send the edit again with the new hash",
        **details,
    )


def differences(before: EntryItem, after: EntryItem) -> list[Json]:
    """Return the differences of two versions of an entry, by field, and by line if only the text differs."""
    found: list[Json] = []
    if before.title != after.title:
        found.append({"field": "title", "was": before.title, "is": after.title})
    for key in [*before.fields, *(key for key in after.fields if key not in before.fields)]:
        was, now = before.fields.get(key), after.fields.get(key)
        if was != now:
            found.append({"field": key, "was": was, "is": now})
    if before.text != after.text and not found:
        from difflib import unified_diff

        lines = unified_diff(before.text.splitlines(), after.text.splitlines(), lineterm="", n=0)
        found.append({"field": "text", "diff": [line for line in lines if not line.startswith(("---", "+++", "@@"))]})
    return found


# -- a kind of entries -----------------------------------------------------------------------------------------------


class EntryCall(NamedTuple):
    """The context of a call: workspace, actor and time; `now` is aware.

    `reason` is for the change log; empty if none was given.
    """

    workspace: Workspace
    actor: str
    now: datetime
    reason: str = ""

    def because(self, summary: str) -> str:
        """Return the summary of a change followed by the reason, on one line."""
        return f"{summary}: {' '.join(self.reason.split())[:200]}" if self.reason.strip() else summary


class EntryKind(Protocol):
    """The entries of one kind; a method that cannot serve a request raises UsageError or RefusedError.

    Where the fields contain everything (`compact`), a list leaves the text out.
    """

    @property
    def compact(self) -> bool:
        """Whether the fields contain everything."""

    @property
    def filters(self) -> tuple[str, ...]:
        """The filters of the kind beside its fields."""

    def find(self, call: EntryCall, ref: str) -> Record:
        """Return the record of a ref, archives included; NotFoundError or AmbiguousError."""

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002 - the name of the argument
        """Yield the records that pass a filter, in the usual order of a listing."""

    def add(self, call: EntryCall, title: str, fields: Mapping[str, Any], text: str | None) -> Made:
        """Add an entry."""

    def edit(self, call: EntryCall, ref: str, changes: Changes, check: Check) -> Made:
        """Change an entry that passes the check, under the lock."""

    def remove(self, call: EntryCall, ref: str, check: Check) -> Made:
        """Remove an entry that passes the check, under the lock."""


# -- values that programs send ---------------------------------------------------------------------------------------


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
    raise UsageError("entry.value", f"{key[:40]!r} is neither text, a number nor a list of strings", "send text")


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
        text = folded(str(value))
        if key == "match":
            if text not in folded(record.text) and text not in folded(record.title):
                return False
        elif key in ("since", "until"):
            day = record.date
            if not day or (day < str(value) if key == "since" else day > str(value)):
                return False
        elif key == "tag":
            if text not in map(folded, record.tags):
                return False
        elif key == "title":
            if folded(record.title) != text:
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
        return any(folded(str(one)) == text for one in value)
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    return value is not None and folded(str(value)) == text
