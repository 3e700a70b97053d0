"""What the catalogue holds, read back: memories, files that are none, the lines of an index."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING

from memory.curated.model import Header, Invalid, Json, Memory, Provenance, Root, changed_at

if TYPE_CHECKING:
    import sqlite3

    from memory.curated.files.index_file import IndexLine

COLUMNS = "id, root, filename, header, body, content_hash, mtime_ns"


def memory_of(row: Sequence[object], roots: dict[str, Root]) -> Memory:
    """Return the memory of a row of `COLUMNS`."""
    header = header_of(json.loads(str(row[3])))
    return Memory(roots[str(row[1])], str(row[2]), header, str(row[4]), str(row[5]), int(row[6]))  # type: ignore[call-overload]


def header_of(values: Json) -> Header:
    """Return a header that `Header.json` gave."""
    source = values["provenance"]
    return Header(
        values["name"],
        values["description"],
        values["type"],
        values["scope"],
        values["agent_name"],
        values["agent_tier"],
        Provenance(
            source["source_actor"],
            tuple(source["source_session_ids"]),
            source["confidence"],
            source["superseded_by"],
            source["created_at"],
            source["updated_at"],
        ),
    )


def memories(
    db: sqlite3.Connection, roots: Iterable[Root], where: str = "1", values: Sequence[object] = ()
) -> list[Memory]:
    """Return the memories of some folders that a condition fits, the newest first, then by name."""
    known = {root.key: root for root in roots}
    # A folder holds many memories and a condition fits few: the plus keeps SQLite from going through the folder.
    inside = f"{'root' if where == '1' else '+root'} IN ({','.join('?' * len(known))})"
    rows = db.execute(
        f"SELECT {COLUMNS} FROM memory_catalog_entries WHERE error IS NULL AND {inside}"
        f" AND {where} ORDER BY mtime_ns DESC, filename",
        [*known, *values],
    )
    return [memory_of(row, known) for row in rows]


def stamps(db: sqlite3.Connection, roots: Iterable[Root]) -> list[tuple[Root, str, str]]:
    """Return folder and file name of the memories of some folders, each with what is another text after a change."""
    known = {root.key: root for root in roots}
    rows = db.execute(
        "SELECT root, filename, content_hash, mtime_ns FROM memory_catalog_entries WHERE error IS NULL"
        f" AND root IN ({','.join('?' * len(known))}) ORDER BY root, filename",
        [*known],
    )
    return [(known[root], name, f"{digest}-{time}") for root, name, digest, time in rows]


def same_slug(
    db: sqlite3.Connection, roots: Iterable[Root], keys: Sequence[tuple[str, str]], found: Container[tuple[str, str]]
) -> list[tuple[tuple[str, str], Memory]]:
    """Return the memories of some folders that have one of these types and slugs, each with both.

    Those `found` already (key of the folder, file name) are left out.
    """
    known = {root.key: root for root in roots}
    columns = ", ".join(f"e.{name}" for name in COLUMNS.split(", "))
    rows = db.execute(
        f"WITH k(type, slug) AS (VALUES {','.join(['(?, ?)'] * len(keys))}) SELECT e.type, e.slug, {columns} FROM k"
        " JOIN memory_catalog_entries e ON e.type = k.type AND e.slug = k.slug WHERE e.error IS NULL"
        f" AND e.root IN ({','.join('?' * len(known))})",
        [*(part for key in keys for part in key), *known],
    )
    return [((row[0], row[1]), memory_of(row[2:], known)) for row in rows if (row[3], row[4]) not in found]


def index_lines(db: sqlite3.Connection, root: Root, most: int = -1) -> list[IndexLine]:
    """Return what the index of a folder says of its memories, the newest first; `most` of them, -1 for all."""
    from memory.curated.files.index_file import IndexLine

    rows = db.execute(
        "SELECT name, filename, description FROM memory_catalog_entries WHERE error IS NULL AND root = ?"
        " ORDER BY mtime_ns DESC, filename LIMIT ?",
        (root.key, most),
    )
    return [IndexLine(*row) for row in rows]


def newest_change(db: sqlite3.Connection, root: Root) -> float:
    """Return when a memory of a folder was changed last, in seconds as `Memory.changed`; 0 where there is none."""
    rows = db.execute(
        "SELECT mtime_ns, json_extract(header, '$.provenance.updated_at') FROM memory_catalog_entries"
        " WHERE error IS NULL AND root = ? ORDER BY mtime_ns DESC",
        (root.key,),
    )
    newest = 0.0
    for mtime_ns, updated in rows:
        # No older file can have been changed later.
        if mtime_ns / 1e9 <= newest:
            break
        newest = max(newest, changed_at(mtime_ns, updated))
    return newest


def index_hash(db: sqlite3.Connection, root: Root) -> str | None:
    """Return the hash of the index as memdeck wrote it last; None where files were changed by others since."""
    row = db.execute("SELECT index_hash FROM memory_catalog_state WHERE root = ?", (root.key,)).fetchone()
    return None if row is None else str(row[0])


def lists_others(db: sqlite3.Connection, root: Root, names: Sequence[str]) -> bool:
    """Tell whether a folder has memories besides some files."""
    marks = ",".join("?" * len(names))
    text = (
        f"SELECT 1 FROM memory_catalog_entries WHERE error IS NULL AND root = ? AND filename NOT IN ({marks}) LIMIT 1"
    )
    return db.execute(text, (root.key, *names)).fetchone() is not None


def roots_in(db: sqlite3.Connection) -> list[str]:
    """Return the keys of all folders in the catalogue."""
    found: list[str] = []
    while True:
        after = found[-1] if found else ""
        (key,) = db.execute("SELECT min(root) FROM memory_catalog_entries WHERE root > ?", (after,)).fetchone()
        if key is None:
            return found
        found.append(key)


def invalid_files(db: sqlite3.Connection, roots: Iterable[Root]) -> list[Invalid]:
    """Return the files of some folders that are no memories."""
    known = {root.key: root for root in roots}
    rows = db.execute(
        "SELECT root, filename, error_line, error_code, error FROM memory_catalog_entries WHERE error IS NOT NULL"
        f" AND root IN ({','.join('?' * len(known))}) ORDER BY root, filename",
        [*known],
    )
    return [Invalid(known[row[0]], *row[1:]) for row in rows]
