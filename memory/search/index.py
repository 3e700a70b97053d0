"""The index of memory files: its tables, writing what changed in a file, and answering queries.

One index may hold several workspaces: `room` is the number of the one that a file belongs to, 0 if there is only one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from hashlib import blake2b
from heapq import nsmallest

from memory.base.words import tokens
from memory.errors import MemdeckError
from memory.registry import kinds
from memory.storage.database import in_transaction

from . import word_index
from .hits import Hit, SearchAnswer, body_of, hit_of
from .needs import Need, exact_need, needs_of
from .query import Query, fits_place, unknown_places
from .rank import WEIGHED, Document, Evidence, Weigher, day_number, named_days
from .records import FileRecords, FoundEntry, Record
from .word_index import Filter, IndexedText, WordIndex, insert_rows, readable, storable

VERSION = f"7/{word_index.VERSION}"
TABLES = f"""
CREATE TABLE file (
    id INTEGER PRIMARY KEY,
    room INTEGER NOT NULL,
    name TEXT NOT NULL,
    stamp TEXT NOT NULL DEFAULT '',
    UNIQUE (room, name)
);
CREATE TABLE entry (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    date TEXT NOT NULL,
    day INTEGER NOT NULL,
    ref TEXT,
    line INTEGER NOT NULL,
    tags TEXT NOT NULL,
    tag_words TEXT NOT NULL,
    mark BLOB NOT NULL
);
CREATE TABLE body (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE INDEX entry_file ON entry (file);
CREATE INDEX entry_day ON entry (day);
{word_index.TABLES}
"""

MOST = 100
"""Maximum entries with some of the words if there is no limit."""
NEWEST = 16
"""How many of the newest entries with all words are weighed as well."""
_ARCHIVED = 0.9
_PLACE = "FROM file WHERE room = ? AND name = CAST(? AS TEXT)"


def tags_of(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags in the form in which they are compared."""
    return tuple(word for word in ("".join(tokens(tag)) for tag in tags) if word)


class SearchIndex:
    """The index over one connection; for one thread at a time. All methods may raise sqlite3.Error."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read nothing yet."""
        self.connection = connection
        self._words = WordIndex(connection)
        connection.text_factory = readable

    # -- writing -------------------------------------------------------------------------------------------------------

    def stamps(self, room: int = 0) -> dict[str, str]:
        """Return the stamps of the files as they were indexed; an empty stamp is unknown."""
        return dict(self.connection.execute("SELECT name, stamp FROM file WHERE room = ?", (room,)))

    def update(
        self,
        sources: Iterable[FileRecords],
        refused: dict[str, MemdeckError],
        go_on: Callable[[], bool] = lambda: True,
        *,
        room: int = 0,
    ) -> bool:
        """Index the files of one room that changed; False: `go_on` stopped it before everything was done.

        Files that cannot be read are removed from the index and added to `refused`.
        """
        stamps = self.stamps(room)
        gone = set(stamps)
        for source in sources:
            gone.discard(source.file)
            if not go_on():
                return False
            if source.stamp and stamps.get(source.file) == source.stamp:
                continue
            try:
                records = source.records()
            except MemdeckError as error:
                refused[source.file] = error
                gone.add(source.file)
            else:
                self._together(partial(self._update_file, room, source, records))
        for name in gone:
            self._together(partial(self._drop, room, name))
        return True

    def _together(self, work: Callable[[], object]) -> None:
        """Do some work in one transaction, or as a part of the one that is open."""
        if self.connection.in_transaction:
            work()
        else:
            in_transaction(self.connection, lambda _: work())

    def _update_file(self, room: int, source: FileRecords, records: Sequence[Record]) -> None:
        """Bring the rows of a file up to date: entries whose content is the same keep theirs."""
        named = (room, storable(source.file))
        db = self.connection
        db.execute("INSERT OR IGNORE INTO file (room, name) VALUES (?, CAST(? AS TEXT))", named)
        (file,) = db.execute(f"SELECT id {_PLACE}", named).fetchone()
        rows: dict[bytes, list[tuple[int, str | None, int]]] = {}
        for number, mark, ref, line in db.execute("SELECT id, mark, ref, line FROM entry WHERE file = ?", (file,)):
            rows.setdefault(mark, []).append((number, ref, line))
        new, moved = [], []
        for record in records:
            mark = _mark_of(record)
            if not rows.get(mark):
                new.append((record, mark))
                continue
            number, *was = rows[mark].pop()
            place = [record.ref, record.line]
            if was != place:
                moved.append((*place, number))
        self._take_out([number for known in rows.values() for number, *_ in known])
        self._put_in(file, new)
        db.executemany("UPDATE entry SET ref = ?, line = ? WHERE id = ?", moved)
        db.execute("UPDATE file SET stamp = ? WHERE id = ?", (source.stamp, file))

    def _put_in(self, file: int, some: Sequence[tuple[Record, bytes]]) -> None:
        (last,) = self.connection.execute("SELECT coalesce(max(id), 0) FROM entry").fetchone()
        rows, bodies, texts = [], [], []
        for number, (one, mark) in enumerate(some, last + 1):
            tags = ("\n".join(one.tags), f" {' '.join(tags_of(one.tags))} ")
            day = day_number(one.date)
            rows.append((number, file, one.kind, one.title, one.date, day, one.ref, one.line, *tags, mark))
            bodies.append((number, one.text))
            texts.append(IndexedText(number, one.title, body_of(one.title, one.text)))
        insert_rows(self.connection, "entry", rows)
        insert_rows(self.connection, "body", bodies)
        self._words.add(texts)

    def _take_out(self, numbers: Sequence[int]) -> None:
        db = self.connection
        for number in numbers:
            row = db.execute("SELECT title, text FROM entry JOIN body USING (id) WHERE id = ?", (number,)).fetchone()
            self._words.remove([IndexedText(number, row[0], body_of(*row))])
            for table in ("entry", "body"):
                db.execute(f"DELETE FROM {table} WHERE id = ?", (number,))

    def _drop(self, room: int, name: str) -> None:
        """Remove a file from the index."""
        db = self.connection
        row = db.execute(f"SELECT id {_PLACE}", (room, storable(name))).fetchone()
        if row is not None:
            self._take_out([number for (number,) in db.execute("SELECT id FROM entry WHERE file = ?", row).fetchall()])
            db.execute("DELETE FROM file WHERE id = ?", row)

    # -- answering -----------------------------------------------------------------------------------------------------

    def ask(self, query: Query, limit: int) -> SearchAnswer:
        """Return the best entries; `limit` 0 is all, an empty query matches nothing.

        Those with all words come first, then those with some of them, as far as the limit leaves room. Words that say
        little are not required. A query without words gives what passes its filters, the newest first.
        """
        if query.empty:
            return SearchAnswer(query)
        unknown = unknown_places(query, self._places()) if query.placed else ()
        only = self._filter(query)
        if not query.terms:
            return self._newest(query, only, limit)._replace(unknown=unknown)
        needs = needs_of(query, self._words)
        wanted = [need for need in needs if not need.minor]
        strict = [need.expression for need in wanted if need.strict]
        known = [need.expression for need in wanted if need.known]
        never = _never(query)
        every = f"{' AND '.join(known)}{never}" if len(known) == len(wanted) else ""
        some = " AND ".join([*strict, word_index.either(known)]) + never if known else ""
        count = self._words.matches(every, only) if every else 0
        room = limit or max(count, MOST)
        numbers = self._words.best(every, only, max(room, WEIGHED)) if every else []
        if count > len(numbers):
            numbers += self._words.newest(every, only, NEWEST)
        loose = any(not need.strict for need in wanted)
        if some and loose and count < room:
            numbers += self._words.best(some, only, max(room, WEIGHED) if limit else WEIGHED + MOST)
        found = self._weighed(query, needs, list(dict.fromkeys(numbers)), room if limit else 0)
        full = tuple(hit for hit in found if hit.fits_all)
        part = tuple(hit for hit in found if not hit.fits_all)[: None if limit else MOST]
        also = tuple((need.text, tuple(need.words)) for need in wanted if need.guessed)
        explained = (f"index: {every or some or 'no word is in any entry'}", *(_told(need) for need in wanted))
        return SearchAnswer(query, full, max(count, len(full)), False, also, unknown, explained=explained, partial=part)

    def _newest(self, query: Query, only: Filter, limit: int) -> SearchAnswer:
        where = f"WHERE {only.on('id')}"
        (count,) = self.connection.execute(f"SELECT count(*) FROM entry {where}", only.values).fetchone()
        text = f"SELECT id FROM entry {where} ORDER BY day DESC, id LIMIT ?"
        numbers = [number for (number,) in self.connection.execute(text, (*only.values, limit or -1))]
        entries = self._entries(numbers)
        ordered = sorted(entries.values(), key=lambda entry: (-day_number(entry.date), *_place(entry)))
        hits = tuple(hit_of(entry, Evidence(0, 0.5, 0.5, 0.5, {}, True), ()) for entry in ordered)
        return SearchAnswer(query, hits, count, explained=("by date, the newest first: the query has no words",))

    def _weighed(self, query: Query, needs: Sequence[Need], numbers: Sequence[int], most: int) -> list[Hit]:
        (newest,) = self.connection.execute("SELECT coalesce(max(day), 0) FROM entry").fetchone()
        weigher = Weigher(needs, newest, self._words.total(), named_days(query.text))
        found = []
        for number, entry in self._entries(numbers).items():
            factor = _ARCHIVED if entry.file.startswith("archive/") else 1.0
            day = day_number(entry.date)
            evidence = weigher.weigh(Document(number, entry.title, body_of(entry.title, entry.text), day, factor))
            if any(not needs[at].minor for at in evidence.found):
                order = (not evidence.fits_all, -round(evidence.score, 6), -day, *_place(entry))
                found.append((order, entry, evidence))
        chosen = nsmallest(most, found, key=lambda one: one[0]) if most else sorted(found, key=lambda one: one[0])
        return [hit_of(entry, evidence, needs) for _, entry, evidence in chosen]

    def _entries(self, numbers: Sequence[int]) -> dict[int, FoundEntry]:
        marks = ",".join("?" * len(numbers))
        rows = self.connection.execute(
            "SELECT entry.id, kind, name, title, text, date, ref, line, tags, room FROM entry JOIN body USING (id)"
            f" JOIN file ON file.id = entry.file WHERE entry.id IN ({marks})",
            numbers,
        )
        found = {}
        for number, *about, tags, room in rows:
            found[number] = FoundEntry._make((*about, tuple(tags.split("\n")) if tags else (), room))
        return found

    def _filter(self, query: Query) -> Filter:
        """Return the filters of a query as a condition on entries."""
        parts: list[str] = []
        values: list[str | int] = []

        def within(places: Sequence[str]) -> str:
            pairs = self._places()
            fitting = [pair for pair in pairs if any(fits_place(one, *pair) for one in places)]
            values.extend(value for pair in fitting for value in pair)
            return f"(kind, name) IN (VALUES {', '.join(['(?, ?)'] * len(fitting))})" if fitting else "0"

        def tagged(tags: Sequence[str]) -> str:
            values.extend(f"% {tag[:-1]}%" if tag.endswith("*") else f"% {tag} %" for tag in tags)
            return f"({' OR '.join(['tag_words LIKE ?'] * len(tags))})"

        parts += [within(places) for places in query.places]
        parts += [f"NOT {within(query.not_places)}"] if query.not_places else []
        parts += [tagged(tags) for tags in query.tags]
        parts += [f"NOT {tagged(query.not_tags)}"] if query.not_tags else []
        if query.dated:
            parts.append("day >= ?")
            values.append(max(day_number(query.after), 1))
        if query.before:
            parts.append("day < ?")
            values.append(day_number(query.before))
        if not parts:
            return Filter()
        inside = f"SELECT entry.id FROM entry JOIN file ON file.id = entry.file WHERE {' AND '.join(parts)}"
        return Filter(f"@ IN ({inside})", tuple(values))

    def _places(self) -> list[tuple[str, str]]:
        """Return the kinds and the files that entries are in."""
        return self.connection.execute("SELECT DISTINCT kind, name FROM entry JOIN file ON file.id = file").fetchall()


def _mark_of(one: Record) -> bytes:
    """Return a hash of a record's content; its line and its ref do not count."""
    content = repr((one.kind, one.title, one.text, one.date, one.tags))
    return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=12).digest()


def _never(query: Query) -> str:
    """Return the end of an expression of FTS5 that leaves out what must not match; empty for nothing."""
    return "".join(f" NOT {exact_need(term).expression}" for term in query.without)


def _place(entry: FoundEntry) -> tuple[int, str, int]:
    """Return the order of equally good entries: by kind, file and line."""
    known = kinds()
    return known.index(entry.kind) if entry.kind in known else len(known), entry.file, entry.line


def _told(need: Need) -> str:
    """Return a need in words: its value, and what serves it."""
    served = [f"{word} {worth:.2f}" for word, worth in need.words.items()]
    served += [f"{' '.join(words)} {worth:.2f}" for words, worth in need.phrases.items()]
    served += [f"{need.head}… {need.longer:.2f}"] if need.head else []
    return f"{need.text!r} has weight {need.worth:.1f}: {', '.join(served) or 'in no entry'}"
