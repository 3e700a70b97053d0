"""An entry in the form for agents: ref, hash, kind, title, fields and text; and the hash that an edit has to name."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memory.errors import ConflictError
from memory.files.refs import identity_hex
from memory.search.records import FILE_KINDS, derived_ref
from memory.workspace import MEMORY_FOLDER

if TYPE_CHECKING:
    from memory.search.records import Record

Json = dict[str, Any]
_PLACES = frozenset({"ref", "line", "file", "title", "problems"})
"""Keys of an item's JSON for its position, not its content."""
_NAMES = frozenset({"text", "name", "channel", "key"})
"""Keys that repeat the title or the text."""
_ABSENT: tuple[Any, ...] = (None, "", [], {}, ())


@dataclass(frozen=True, slots=True)
class EntryItem:
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
        return {
            "ref": self.ref,
            "hash": self.hash,
            "kind": self.kind,
            "title": self.title,
            "file": self.file,
            "fields": dict(self.fields),
            "text": self.text if text else "",
        }


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of an edit: `set` and `unset` fields, replace the whole `text`, or `append` to what an entry says;
    the values are text, or JSON if a kind says so.
    """

    set: Mapping[str, Any] = field(default_factory=dict)
    unset: tuple[str, ...] = ()
    text: str | None = None
    append: str | None = None

    @property
    def values(self) -> Json:
        """The fields that change, with None for those that are unset."""
        return {**self.set, **dict.fromkeys(self.unset)}


@dataclass(frozen=True, slots=True)
class Made:
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


def path_of(kind: str, file: str) -> str:
    """Return the path of a record's file in the workspace, which resources and people take."""
    return f"{MEMORY_FOLDER}/{file}" if kind in FILE_KINDS else file


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
        lines = difflib.unified_diff(before.text.splitlines(), after.text.splitlines(), lineterm="", n=0)
        found.append({"field": "text", "diff": [line for line in lines if not line.startswith(("---", "+++", "@@"))]})
    return found
