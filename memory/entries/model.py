"""An entry as agents get it: ref, hash, kind, title, fields and text; and the hash that an edit has to name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memory.errors import ConflictError

if TYPE_CHECKING:
    from memory.search import Record

Json = dict[str, Any]
_PLACES = frozenset({"ref", "line", "file", "title", "problems"})
"""Keys of an item's JSON that say where it is, not what it says."""
_NAMES = frozenset({"text", "name", "channel", "key"})
"""Keys that repeat the title or the text."""
_ABSENT: tuple[Any, ...] = (None, "", [], {}, ())


@dataclass(frozen=True, slots=True)
class EntryItem:
    """One entry of any system; `fields` are without absent ones, `text` is its source, raw as it stands in the file."""

    ref: str
    hash: str
    kind: str
    title: str
    file: str
    line: int
    fields: Mapping[str, Any]
    text: str
    date: str = ""

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
    """What an edit is to do: `set` and `unset` fields, or give the whole `text`; the values are text, or JSON where a
    kind says so.
    """

    set: Mapping[str, Any] = field(default_factory=dict)
    unset: tuple[str, ...] = ()
    text: str | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing is asked for."""
        return not self.set and not self.unset and self.text is None


@dataclass(frozen=True, slots=True)
class Made:
    """What a change did: the entry as it is now (None: it is gone), and the change's id, None where nothing was to be
    written.
    """

    item: EntryItem | None
    change: str | None
    summary: str


Check = Callable[[EntryItem], object]
"""Raises ConflictError `entry.stale` where an entry is not the one that was read."""


def item_of(record: Record, ref: str | None = None) -> EntryItem:
    """Return the entry of a record; `ref` for one that has none of its own."""
    told = record.item.json() if hasattr(record.item, "json") else {}
    text = record.text.rstrip("\r\n")
    values = {
        key: _present(value)
        for key, value in told.items()
        if key not in _PLACES and value not in _ABSENT and not (key in _NAMES and value in (record.title, text))
    }
    name = ref or record.ref or derived_ref(record)
    found = record._replace(text=text)
    return EntryItem(
        name, hash_of(found, values), record.kind, record.title, record.file, record.line, values, text, record.date
    )


def _present(value: Any) -> Any:
    """Return a value without what is absent in it."""
    if isinstance(value, Mapping):
        return {key: _present(one) for key, one in value.items() if one not in _ABSENT}
    if isinstance(value, (list, tuple)):
        return [_present(one) for one in value]
    return value


def derived_ref(record: Record) -> str:
    """Return the ref of what has none of its own: it is known by its file and its title."""
    from memory.files.refs.refs import identity_hex

    return f"{record.kind}#{identity_hex(record.kind, record.file, record.title)}"


def hash_of(record: Record, fields: Mapping[str, Any]) -> str:
    """Return twelve hex digits made of all that an entry says; its place in the file is no part of it."""
    from memory.files.refs.refs import identity_hex

    said = json.dumps(fields, sort_keys=True, default=str)
    return identity_hex(record.kind, record.title, said, record.text)[:10] + identity_hex("more", record.text, said)[:2]


def stale(item: EntryItem, seen: EntryItem | None) -> ConflictError:
    """Return the error for an edit of an entry that was changed since it was read.

    `seen` is the entry as it was handed out, None where nobody remembers. The details hold the entry as it is now and,
    where that is known, each field and line that differs.
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
    """Return what differs between two versions of an entry, field by field, and line by line where only text does."""
    found: list[Json] = []
    if before.title != after.title:
        found.append({"field": "title", "was": before.title, "is": after.title})
    for key in [*before.fields, *(key for key in after.fields if key not in before.fields)]:
        was, now = before.fields.get(key), after.fields.get(key)
        if was != now:
            found.append({"field": key, "was": was, "is": now})
    if before.text != after.text and not found:
        import difflib

        lines = difflib.unified_diff(before.text.splitlines(), after.text.splitlines(), lineterm="", n=0)
        found.append({"field": "text", "diff": [line for line in lines if not line.startswith(("---", "+++", "@@"))]})
    return found
