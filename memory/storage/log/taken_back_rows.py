"""The statements on what changes from outside took back; each is called inside of a transaction of the database."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from memory.document.lines_and_headings import decode, encode
from memory.named_tuple import NamedTuple

from . import rows
from .records import MOST_BEHIND, OUTSIDE

if TYPE_CHECKING:
    import sqlite3

    from memory.document.compare import Region

    from .records import ChangeRecord
    from .taken_back import StaleSave

_MOST_TITLES = 400

KEPT = "kept"
"""What settles it where a person left everything as it is."""


FILE = "file"
"""The kind of what is a whole file, which another program removed or emptied."""


class TakenBack(NamedTuple):
    """One entry that a change from outside (`by`) put back to what it was before memdeck's change (`change`).

    `since` is the oldest change that the save lacks, `path` as seen from the workspace. `ref` is None where the entry
    has none; then `title` is that of its section. `kind` is what memdeck's change had done, or `FILE` where a whole
    file went (`change` is `by` then). `whole` tells whether the save did nothing else to the entry, `again` that it
    was brought back once, which was undone.
    """

    by: str
    path: str
    since: str
    change: str
    ref: str | None
    title: str
    kind: str
    whole: bool
    again: bool


def add(db: sqlite3.Connection, seq: int, number: int, stale: StaleSave) -> None:
    """Note what one file of a change took back."""
    db.executemany(
        "INSERT INTO taken_back VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)",
        [(seq, number, stale.since, one.change, one.ref, encode(one.title), one.kind, one.whole) for one in stale.lost],
    )


def open_ones(db: sqlite3.Connection, change_id: str | None = None) -> Sequence[TakenBack]:
    """Return what was taken back and neither brought back nor left so, newest first; of one change if one is named.

    What brought it back and was itself undone settles nothing.
    """
    query = (
        "SELECT change.id, file.path, since, change_id, ref, title, kind, whole, settled FROM taken_back"
        " JOIN change USING (seq) JOIN file USING (seq, n)"
        " LEFT JOIN change AS settling ON settling.id = taken_back.settled"
        " WHERE change.status = 'done' AND change.undone_by IS NULL AND (?1 IS NULL OR change.id = ?1)"
        " AND (settled IS NULL OR settling.undone_by IS NOT NULL)"
        " ORDER BY taken_back.seq DESC, taken_back.rowid"
    )
    return [
        TakenBack(by, rows.path_of(path), since, change, ref, decode(title), kind, bool(whole), settled is not None)
        for by, path, since, change, ref, title, kind, whole, settled in db.execute(query, (change_id,)).fetchall()
    ]


def settle(db: sqlite3.Connection, change_id: str, by: str) -> None:
    """Note that all that a change took back was brought back by another one, or stays so (`KEPT`)."""
    db.execute("UPDATE taken_back SET settled = ? WHERE seq = (SELECT seq FROM change WHERE id = ?)", (by, change_id))


def reach(db: sqlite3.Connection, path: str, before: int, titles: Collection[str] | None) -> int:
    """Return how many changes of a file before a place in the log are to be looked at, newest first; 0 for none.

    The oldest of them is one of memdeck's own that touched an entry of one of the titles, or whose entries were not
    named; any of memdeck's own where there are no titles.
    """
    if titles is None or len(titles) > _MOST_TITLES:
        counts, values = "1", []
    else:
        named = "SELECT title FROM touched WHERE touched.seq = file.seq AND touched.n = file.n"
        counts = f"named = 0 OR EXISTS ({named} AND title IN ({', '.join('?' * len(titles))}))"
        values = [encode(title).decode("utf-8", "replace") for title in titles]
    query = (
        f"SELECT actor <> ? AND ({counts}) FROM file JOIN change USING (seq)"
        " WHERE path = ? AND seq < ? ORDER BY seq DESC LIMIT ?"
    )
    found = db.execute(query, (OUTSIDE, *values, rows.key(path), before, MOST_BEHIND)).fetchall()
    return max((number for number, (own,) in enumerate(found, 1) if own), default=0)


def newest(db: sqlite3.Connection, path: str, before: int) -> Iterator[tuple[ChangeRecord, Sequence[Region]]]:
    """Yield the changes of a file before a place in the log, newest first, with what was different.

    It ends where a change made the file, or where its bytes are no longer kept.
    """
    query = "SELECT seq, n, before_size, kept FROM file WHERE path = ? AND seq < ? ORDER BY seq DESC LIMIT ?"
    for seq, number, size, kept in db.execute(query, (rows.key(path), before, MOST_BEHIND)).fetchall():
        found = rows.records(db, "seq = ?", (seq,), 1)
        if kept is None or size is None or not found:
            return
        yield found[0], rows.regions_of(db, seq, number)
