"""jrnl: the JSON that `jrnl --format json` writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path

from memory.base.items import Item, Skipped
from memory.convert.outside import one_line, read_json, rest_of, title_of
from memory.errors import UsageError

_READ = frozenset({"title", "body", "date", "time", "tags"})


def read(path: Path, _zone: tzinfo) -> Iterator[Item | Skipped]:
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
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", fields.get("date", "")):
            yield Skipped(f"{where}: {title_of(title)}", "its date is not written as YYYY-MM-DD")
            continue
        if "time" in fields:
            fields["time"] = _clock(fields["time"])
        fields |= rest_of(entry, _READ, "jrnl")
        body = entry.get("body")
        yield Item(
            "journal",
            title_of(title),
            body.strip("\n") if isinstance(body, str) else "",
            where,
            " ".join(fields[key] for key in ("date", "time") if key in fields),
            tuple(one.lstrip("@") for one in tags if isinstance(one, str)) if isinstance(tags, list) else (),
            fields,
        )


def _clock(text: str) -> str:
    """Return a time of twelve hours as one of 24; another text as it is."""
    found = re.fullmatch(r"(\d{1,2})(:\d\d) ?([AaPp])\.?[Mm]\.?", text.strip())
    if found is None:
        return text
    return f"{int(found[1]) % 12 + (12 if found[3] in 'Pp' else 0):02}{found[2]}"
