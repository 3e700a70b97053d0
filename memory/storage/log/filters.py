"""Filters for listings of changes, and following an entry through its names."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from memory.storage.changes import ChangeRecord

from . import rows


def listed(
    db: sqlite3.Connection,
    limit: int,
    actor: str | None,
    file: str | None,
    entry: str | None,
    since: datetime | None,
    until: datetime | None,
    before: int | None = None,
    without: str | None = None,
) -> Sequence[ChangeRecord]:
    """Return the changes that fit all conditions; the conditions are those of `History.list`."""
    conditions: list[str] = []
    values: list[object] = []
    if actor is not None:
        conditions.append("actor GLOB ?" if "*" in actor else "actor = ?")
        values.append(actor)
    if without is not None:
        conditions.append("actor NOT GLOB ?")
        values.append(without)
    if file is not None:
        pattern = file if "*" in file else _escaped(file)
        conditions.append("seq IN (SELECT seq FROM file WHERE path GLOB ? OR path GLOB ?)")
        values += [pattern, f"*/{pattern}"]
    if since is not None:
        conditions.append("time >= ?")
        values.append(rows.time_text(since))
    if until is not None:
        conditions.append("time <= ?")
        values.append(rows.time_text(until))
    if before is not None:
        conditions.append("seq < ?")
        values.append(before)
    if entry is not None:
        condition, more = _touching(entry)
        conditions.append(condition)
        values += more
    return rows.records(db, " AND ".join(conditions) or "1", values, limit)


_TOUCHING = """seq IN (
    WITH RECURSIVE name (ref) AS (
        SELECT ref FROM touched WHERE ref GLOB ? UNION SELECT old_ref FROM touched WHERE old_ref GLOB ?
        UNION SELECT old_ref FROM touched JOIN name USING (ref) WHERE old_ref IS NOT NULL
    )
    SELECT seq FROM touched WHERE ref IN name OR old_ref IN name
)"""
"""The condition of changes that touch an entry, under its older names too; its values are a pattern of refs, twice."""


def _touching(entry: str) -> tuple[str, list[object]]:
    """Return the condition of changes that touch an entry, by its ref, its hex digits or a part of its title."""
    kind, mark, digits = entry.strip().rpartition("#")
    digits = digits[:10].lower()
    if not (mark or (len(digits) >= 7 and all(one in "0123456789abcdef" for one in digits))):
        return "seq IN (SELECT seq FROM touched WHERE instr(lower(title), ?) > 0)", [entry.strip().lower()]
    pattern = f"{_escaped(kind) or '*'}#{_escaped(digits)}*"
    return _TOUCHING, [pattern, pattern]


def _escaped(text: str) -> str:
    """Return text that GLOB takes literally."""
    return "".join(f"[{one}]" if one in "*?[" else one for one in text)


def newer_name(db: sqlite3.Connection, ref: str) -> str | None:
    """Return the ref that an entry has now by its last renaming, None where it never got another one."""
    found, seen = None, {ref}
    while True:
        row = db.execute(
            "SELECT ref FROM touched WHERE old_ref = ? AND ref IS NOT NULL ORDER BY seq DESC LIMIT 1", (found or ref,)
        ).fetchone()
        if row is None or row[0] in seen:
            return found
        found = row[0]
        seen.add(found)
