"""Filters for listings of changes, and following an entry through its names."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from . import rows


def conditions(
    *,
    actor: str | None = None,
    file: str | None = None,
    entry: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    before: int | None = None,
    without: str | None = None,
) -> tuple[str, Sequence[object]]:
    """Return the SQL condition of changes that fit all filters, and its values; without filters of every change.

    `before` is the `seq` that a page goes on from. `actor` may end in `*`, and so may `without`, whose changes are left
    out; `file` is a path, its end from a `/` on, or a part with `*`; `entry` is a ref, its hex digits, or a part of a
    title, and follows an entry through its renames; `since` and `until` are aware and inclusive.
    """
    pattern = "" if file is None else file if "*" in file else _escaped(file)
    found: list[tuple[str, Sequence[object]]] = [("1", ())]
    if actor is not None:
        found.append(("actor GLOB ?" if "*" in actor else "actor = ?", (actor,)))
    if without is not None:
        found.append(("actor NOT GLOB ?", (without,)))
    if file is not None:
        found.append(("seq IN (SELECT seq FROM file WHERE path GLOB ? OR path GLOB ?)", (pattern, f"*/{pattern}")))
    if since is not None:
        found.append(("time >= ?", (rows.time_text(since),)))
    if until is not None:
        found.append(("time <= ?", (rows.time_text(until),)))
    if before is not None:
        found.append(("seq < ?", (before,)))
    if entry is not None:
        found.append(_touching(entry))
    return " AND ".join(one for one, _ in found), [value for _, values in found for value in values]


_TOUCHING = """seq IN (
    WITH RECURSIVE name (ref) AS (
        SELECT ref FROM touched WHERE ref GLOB ? UNION SELECT old_ref FROM touched WHERE old_ref GLOB ?
        UNION SELECT old_ref FROM touched JOIN name USING (ref) WHERE old_ref IS NOT NULL
    )
    SELECT seq FROM touched WHERE ref IN name OR old_ref IN name
)"""
"""The condition of changes that touch an entry, under its older names too; its values are a pattern of refs, twice."""


def _touching(entry: str) -> tuple[str, Sequence[object]]:
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
