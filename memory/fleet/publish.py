"""Publishing the workspaces of a host: only changed files, and of those only the entries that are new or removed.

All text leaves the host through `cleared`: detected secrets are removed from it first.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from memory.base.secrets import find_secrets, replaced
from memory.errors import BusyError, MemdeckError
from memory.fleet.catalogue import Database, vector_of
from memory.fleet.local import LocalWorkspaces, WorkspaceFailure, stamp_of, watched_of
from memory.search.index import tags_of
from memory.search.rank import day_number
from memory.search.records import FileRecords, Record
from memory.system import System
from memory.systems.at_rest import read_at_rest
from memory.workspace import Workspace

LONGEST = 100_000
"""Characters of an entry that are published."""
REFRESH_SECONDS = 300
"""Seconds after which a workspace that could not be opened is tried again."""
ROUND_SECONDS = 0.4
"""How long a round reads workspaces that did not change: so long an edit elsewhere may have to wait."""
_COLUMNS = "file, digest, host, kind, title, text, date, day, ref, tags, words"
_PUT_ENTRY = f"INSERT INTO entry ({_COLUMNS}) VALUES ({', '.join(['%s'] * 11)}) ON CONFLICT DO NOTHING"
_PUT_FILE = """
INSERT INTO file (host, workspace, name, stamp, digests, lines) VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (workspace, name) DO UPDATE
SET stamp = excluded.stamp, digests = excluded.digests, lines = excluded.lines RETURNING id
"""


class _File(NamedTuple):
    """A published file: its stamp, and the digests of its entries in their order."""

    stamp: str
    digests: list[int]


class _Change(NamedTuple):
    """A file that changed: its new state, the lines of its entries, the new entries, and the digests that are gone."""

    file: _File
    lines: list[int]
    new: dict[int, Record]
    gone: list[int]


@dataclass(slots=True)
class _Workspace:
    id: int
    mode: str
    files: dict[str, _File]
    watched: tuple[str, ...] = ()
    stamp: int = 0
    until: datetime | None = None
    """When its status changes although no file does."""


class Published(NamedTuple):
    """The result of one round: workspaces that changed, entries that were new, and entries that were removed."""

    workspaces: int
    added: int
    removed: int
    left: int
    """How many workspaces were not read since the start."""


class Publisher:
    """Publishes the workspaces of one host over one connection, for one thread; after an error it is unusable.

    What is published already is read from the catalogue: after a restart only changes are sent.
    """

    def __init__(self, connection: Database, local: LocalWorkspaces, host: int) -> None:
        """`host` is the host's number in the catalogue."""
        self._connection = connection
        self._local = local
        self._host = host
        self._generation = self._one("SELECT generation FROM catalogue")
        self._known: dict[Path, _Workspace] = {}
        by_id = {}
        rows = connection.execute("SELECT id, path, mode FROM workspace WHERE host = %s", (host,))
        for number, path, mode in rows.fetchall():
            self._known[Path(os.fsdecode(path))] = by_id[number] = _Workspace(number, mode, {})
        files = connection.execute("SELECT workspace, name, stamp, digests FROM file WHERE host = %s", (host,))
        for workspace, name, stamp, digests in files:
            by_id[workspace].files[name] = _File(stamp, digests)

    def round(
        self, wanted: Mapping[Path, str], now: datetime, go_on: Callable[[], bool] = lambda: True, *, whole: bool = True
    ) -> Published:
        """Update the catalogue with the workspaces that are `wanted` (path → `full` or `names`).

        Changed workspaces come first. Then come those that were not read since the start, and those whose status is
        due: all of them if `whole`, else for a moment, at least one. BusyError `fleet.anew`: the catalogue was made
        anew. psycopg.Error; what was sent before stays.
        """
        self._check_generation()
        known, counts = self._known, Counter[str]()
        for path in [path for path in known if path not in wanted]:
            counts["removed"] += sum(len(one.digests) for one in known[path].files.values())
            self._forget(path)
        changed, unread, late = [], [], []
        for path, mode in wanted.items():
            held = known.get(path)
            if held is None or held.mode != mode:
                held = self._register(path, mode)
            if not held.watched:
                unread.append(path)
            elif stamp_of(held.watched) != held.stamp:
                changed.append(path)
            elif held.until is None or now >= held.until:
                late.append(path)
        start = monotonic()
        # The status takes longer than what changed: edits elsewhere must not wait for it.
        edits = [(path, False) for path in changed]
        for done, (path, status) in enumerate([*edits, *((path, True) for path in (*unread, *changed, *late))]):
            long = done > len(changed) and monotonic() - start >= ROUND_SECONDS
            if not go_on() or (long and not whole):
                break
            added, removed = self._publish(path, known[path], now, status=status)
            counts.update(workspaces=bool(added or removed), added=added, removed=removed)
        left = sum(not known[path].watched for path in unread)
        return Published(counts["workspaces"], counts["added"], counts["removed"], left)

    def _register(self, path: Path, mode: str) -> _Workspace:
        if path in self._known:
            self._forget(path)  # the published data may contain more than the new mode allows
        words = "INSERT INTO workspace (host, path, mode) VALUES (%s, %s, %s) RETURNING id"
        self._known[path] = _Workspace(self._one(words, (self._host, os.fsencode(path), mode)), mode, {})
        return self._known[path]

    def _forget(self, path: Path) -> None:
        """Delete a workspace, with its files, entries and jobs: their answers contain titles and texts, too."""
        self._connection.execute("DELETE FROM workspace WHERE id = %s", (self._known.pop(path).id,))

    # -- one workspace ----------------------------------------------------------------------------------------

    def _publish(self, path: Path, held: _Workspace, now: datetime, *, status: bool) -> tuple[int, int]:
        """Send what changed in a workspace, and its status; return how many entries are new, and how many are gone."""
        import psycopg
        from psycopg.types.json import Jsonb

        counts = (0, 0)

        def read(workspace: Workspace) -> dict[str, Any] | None:
            nonlocal counts
            watched = (*watched_of(workspace), *self._local.beside(workspace))
            # Taken before the files are read: changes meanwhile are noticed in the next round.
            stamp = stamp_of(watched)
            if stamp != held.stamp:
                counts = self._send(held, *read_at_rest(workspace, lambda systems: self._read(systems, held)))
            held.watched, held.stamp, held.until = watched, stamp, None
            if not status:
                return None
            overview, held.until = self._local.overview(workspace, now)
            return overview.json()

        done = self._local.one(path, read, (psycopg.Error, BusyError))
        if done is None:
            return counts
        if isinstance(done, WorkspaceFailure):
            done = {"error": dict(done)}
            held.until = now + timedelta(seconds=REFRESH_SECONDS)
            held.watched, held.stamp = (str(path),), stamp_of((str(path),))
        if held.mode == "names":
            done = without_quotes(done)
        overview = {key: value for key, value in cleared_json(done).items() if key not in ("path", "host")}
        self._connection.execute("UPDATE workspace SET overview = %s WHERE id = %s", (Jsonb(overview), held.id))
        return counts

    def _read(self, systems: Iterable[System], held: _Workspace) -> tuple[dict[str, _Change], list[str]]:
        """Return the changed files of a workspace, and the names of those that are gone."""
        changes: dict[str, _Change] = {}
        refused: dict[str, MemdeckError] = {}
        names = set()
        for system in systems:
            for source in system.records_by_file(refused):
                if source.file.startswith(("~", "/")):
                    continue  # A file outside of the workspace is its person's own, and stays on this host.
                names.add(source.file)
                known = held.files.get(source.file)
                if known is not None and source.stamp and source.stamp == known.stamp:
                    continue
                try:
                    records = source.records()
                except MemdeckError:  # its published data stays; the overview reports the problem
                    continue
                changes[source.file] = _change(known, source, records, names_only=held.mode == "names")
        return changes, [] if refused else [name for name in held.files if name not in names]

    def _send(self, held: _Workspace, changes: dict[str, _Change], gone: list[str]) -> tuple[int, int]:
        """Send the changes of a workspace, all of them or none; return how many entries are new, and how many gone."""
        removed = sum(len(held.files[name].digests) for name in gone)
        with self._connection.transaction(), self._connection.cursor() as cursor:
            self._check_generation()
            if gone:
                words = "DELETE FROM file WHERE workspace = %s AND name = ANY (%s)"
                cursor.execute(words, (held.id, [plain(name) for name in gone]))
            for name, change in changes.items():
                file = change.file
                row = (self._host, held.id, plain(name), file.stamp, file.digests, change.lines)
                number = self._one(_PUT_FILE, row)
                if change.gone:
                    cursor.execute("DELETE FROM entry WHERE file = %s AND digest = ANY (%s)", (number, change.gone))
                if change.new:
                    rows = [_row(number, self._host, digest, one) for digest, one in change.new.items()]
                    cursor.executemany(_PUT_ENTRY.encode(), rows)
        for name in gone:
            del held.files[name]
        held.files |= {name: change.file for name, change in changes.items()}
        removed += sum(len(change.gone) for change in changes.values())
        return sum(len(change.new) for change in changes.values()), removed

    def _check_generation(self) -> None:
        """Raise BusyError `fleet.anew` if the catalogue was made anew; in a transaction, that has to wait from now."""
        if self._one("SELECT generation FROM catalogue") != self._generation:
            raise BusyError("fleet.anew", "the catalogue was rebuilt", "everything is published again")

    def _one(self, words: str, values: Sequence[Any] = ()) -> int:
        row = self._connection.execute(words.encode(), values).fetchone()
        assert row is not None
        return int(row[0])


def _change(known: _File | None, source: FileRecords, records: Sequence[Record], *, names_only: bool) -> _Change:
    """Return how a file changed."""
    going = _going(records, names_only=names_only)
    seen: Counter[int] = Counter()
    digests = []
    for one in going:
        digest = _digest_of(one, 0)
        digests.append(_digest_of(one, seen[digest]) if seen[digest] else digest)
        seen[digest] += 1
    old = set(() if known is None else known.digests)
    new = {digest: one for digest, one in zip(digests, going, strict=True) if digest not in old}
    file = _File(source.stamp, digests)
    return _Change(file, [one.line for one in records], new, list(old.difference(digests)))


def _digest_of(one: Record, place: int) -> int:
    """Return a number that changes with any part of an entry that leaves the host; `place` tells equal ones apart."""
    data = "\0".join((str(place), one.kind, one.title, one.text, one.date, one.ref or "", *one.tags))
    return int.from_bytes(blake2b(data.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)


def _row(file: int, host: int, digest: int, one: Record) -> tuple[Any, ...]:
    day, words = day_number(one.date), vector_of(one.title, one.text)
    return (file, digest, host, one.kind, one.title, one.text, one.date, day, one.ref, list(one.tags), words)


def _going(records: Sequence[Record], *, names_only: bool) -> list[Record]:
    """Return records as they leave the host: without secrets, and with `names_only` without their text."""
    found = []
    for record in records:
        # The whole text is scanned even if it is not sent: only there a value may be next to its name.
        title, *tags, text = cleared(record.title, *record.tags, record.text)
        # Tags are scanned as they are written: in the form in which they are compared, no secret is recognised.
        whole = tuple(tag for tag, raw in zip(tags, record.tags, strict=True) if tag == plain(raw))
        sent = "" if names_only else text[:LONGEST]
        found.append(record._replace(title=title, text=sent, date=plain(record.date), tags=tags_of(whole)))
    return found


# -- without secrets -------------------------------------------------------------------------------------------------

_NO_TEXT = {0: "\ufffd"}


def plain(text: str) -> str:
    """Return a text that the database can store: bytes that are no UTF-8, and NUL, become a replacement character."""
    if text.isascii():
        return text.translate(_NO_TEXT) if "\0" in text else text
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text.translate(_NO_TEXT) if "\0" in text else text


def cleared(*texts: str) -> tuple[str, ...]:
    """Return related texts without the secrets in any of them: a value found in one is removed from all."""
    found: dict[str, str] = {}
    longest = max(texts, key=len, default="")
    whole = "\n".join([longest, *(text for text in texts if text and text not in longest)])
    for one in find_secrets(whole, plain_words=True):
        value = whole[one.start : one.end]
        if value.strip():
            found.setdefault(value, one.kind)
    if not found:
        return tuple(map(plain, texts))
    # The longest first: one may contain another.
    for value in sorted(found, key=len, reverse=True):
        texts = tuple(text.replace(value, f"[{found[value]} left out]") for text in texts)
    # A text may hold the beginning of one only: a title that is cut, for instance.
    return tuple(plain(_alone(text)) for text in texts)


def _alone(text: str) -> str:
    """Return a text without the secrets that are found in it alone."""
    return replaced(text, lambda kind: f"[{kind} left out]", plain_words=True)


def cleared_json(value: Any) -> Any:
    """Return JSON data without the secrets in any of its texts."""
    # All texts first: a value that is found in one is removed from all.
    texts: list[str] = []
    _with_texts(value, texts.append)
    texts = list(dict.fromkeys(texts))
    return _with_texts(value, dict(zip(texts, cleared(*texts), strict=True)).__getitem__)


def without_quotes(value: Any) -> Any:
    """Return JSON data without messages about lines of a file, which may quote them: the code stays."""
    if isinstance(value, Mapping):
        kept = {key: [] if key == "warnings" else without_quotes(one) for key, one in value.items()}
        return {**kept, "message": kept["code"]} if {"code", "message"} <= kept.keys() else kept
    return [without_quotes(one) for one in value] if isinstance(value, (list, tuple)) else value


def _with_texts(value: Any, change: Callable[[str], object]) -> Any:
    """Return JSON data with each of its texts replaced by the result of `change`, names included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {_with_texts(key, change): _with_texts(one, change) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_texts(one, change) for one in value]
    return value
