"""jrnl: the JSON that `jrnl --format json` writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memory.base.items import Item, Skipped
from memory.convert.outside import one_line, read_json, rest_of
from memory.errors import UsageError

_READ = frozenset({"title", "body", "date", "time", "tags"})


def read(path: Path) -> Iterator[Item | Skipped]:
    """Yield the entries."""
    found = read_json(path)
    entries = found.get("entries") if isinstance(found, dict) else None
    if not isinstance(entries, list):
        raise UsageError("convert.unreadable", f"{path}:1: it has no entries", "write it with `jrnl --format json`")
    for number, entry in enumerate(entries, 1):
        where = f"{path}:{number}"
        title = entry.get("title") if isinstance(entry, dict) else None
        if not isinstance(title, str) or not title.strip():
            yield Skipped(where, "it has no title")
            continue
        tags = entry.get("tags") or []
        fields = {key: one_line(entry[key]) for key in ("date", "time") if entry.get(key)}
        fields |= rest_of(entry, _READ)
        body = entry.get("body")
        yield Item(
            "journal",
            " ".join(title.split()),
            body.strip("\n") if isinstance(body, str) else "",
            where,
            " ".join(fields[key] for key in ("date", "time") if key in fields),
            tuple(one.lstrip("@") for one in tags if isinstance(one, str)) if isinstance(tags, list) else (),
            fields,
        )
