"""Reading one session: line by line, masked, and with a hash of all that was said."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from memory.errors import MemdeckError
from memory.state.files.model import SIGNALS, stamp
from memory.state.git import is_elsewhere
from memory.state.projections.markdown import one_line
from memory.storage.safe_open import open_beneath

from .discover import SourceItem, lines_of
from .privacy import Cleaner
from .shapes import PERSON, SessionRecord, read_record
from .signals import MOST, find_signals

_SUMMARY = 160


@dataclass(slots=True)
class ImportedItem:
    """The content of one session, ready to become an event.

    `created_at` is ISO 8601 with milliseconds and Z: the first time in the session, else that of the file.
    `content_hash` is the SHA-256 of `{"payload": TEXT}` in canonical form, where TEXT is all messages joined by blank
    lines: a session that grew has another hash. `signals` has the five lists of an event. `messages` counts the texts
    of people and agents; without one there is nothing to import. `bad_lines` counts lines that are not records, and
    `first_bad_line` is the number of the first (from 1); a last line that is still being written does not count.
    `elsewhere` is the folder of a session of another project that exists on this machine: such a session must not be
    imported. `dropped` counts the signals of each kind that were too many.
    """

    external_item_id: str = ""
    source_ref: str = ""
    created_at: str = ""
    content_hash: str = ""
    summary: str = ""
    signals: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in SIGNALS})
    messages: int = 0
    bad_lines: int = 0
    first_bad_line: int | None = None
    elsewhere: str | None = None
    dropped: Counter[str] = field(default_factory=Counter)


def read_item(
    item: SourceItem, *, root: str | os.PathLike[str], home: str | os.PathLike[str] | None = None
) -> ImportedItem:
    """Return the content of a session; its last line may still be incomplete.

    `root` is the repository: paths in it become relative to it, paths elsewhere are no signals, and `home` is written
    as `~`. Secrets are masked. Time is proportional to the file, memory to its longest line, up to `MOST_LINE`. Raises
    `MemdeckError` (`state.import.unreadable`), never for a bad line.
    """
    try:
        with os.fdopen(open_beneath(item.path.name, item.path.parent), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise MemdeckError("state.import.unreadable", f"{item.name} is not a regular file", file=item.name)
            session = _Session(item, root, Cleaner(root, home))
            for number, raw in enumerate(lines_of(file), 1):
                session.line(number, raw)
            return session.done(datetime.fromtimestamp(found.st_mtime, UTC))
    except OSError as error:
        words = f"{item.name} cannot be read: {error.strerror}"
        raise MemdeckError("state.import.unreadable", words, file=item.name) from error


class _Session:
    """The content of a session read so far."""

    def __init__(self, item: SourceItem, root: str | os.PathLike[str], clean: Cleaner) -> None:
        """Begin with nothing."""
        self._item, self._root, self._clean = item, root, clean
        self._made = ImportedItem()
        self._hash = hashlib.sha256(b'{\n  "payload": "')
        self._seen: set[tuple[str, bytes]] = set()
        self._aside = False
        self._id: str | None = None
        self._folder: str | None = None
        self._title: str | None = None
        self._first_text = ""
        self._time: datetime | None = None

    def line(self, number: int, raw: bytes) -> None:
        """Read one line; one that is no record is counted, unless it is still being written."""
        try:
            record: Any = json.loads(raw.decode("utf-8-sig", "replace")) if raw.strip(b"\xef\xbb\xbf \t\r\n") else {}
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict):
            self._take(read_record(record, self._item.type))
        elif raw.endswith(b"\n"):
            self._made.bad_lines += 1
            self._made.first_bad_line = self._made.first_bad_line or number

    def _take(self, record: SessionRecord) -> None:
        self._aside = self._aside or record.aside
        if record.alone and record.folder and is_elsewhere(record.folder, self._root):
            return
        self._folder = self._folder or (None if record.alone else record.folder)
        self._id = self._id or record.session
        self._title = record.title or self._title
        self._time = self._time or record.time
        for who, text in () if self._aside else record.said:
            self._say(who, text, echo=record.echo)

    def _say(self, who: str, text: str, *, echo: bool) -> None:
        clean = self._clean.text(text)
        piece = json.dumps(clean, ensure_ascii=False)[1:-1].encode()
        mark = who, hashlib.sha256(piece).digest()
        # The same message occurs as an item of the answer and as an event.
        if echo and mark in self._seen:
            return
        self._seen.add(mark)
        self._hash.update((b"\\n\\n" if self._made.messages else b"") + piece)
        self._made.messages += 1
        if who == PERSON:
            self._first_text = self._first_text or clean
        for kind, signal in find_signals(clean):
            if kind != "keyPaths":
                self._add(kind, one_line(signal))
        # Paths are taken from the original text, because cleaning changes those that lead out of the repository.
        for kind, signal in find_signals(text):
            if kind == "keyPaths" and (path := self._clean.path(signal)) is not None:
                self._add(kind, self._clean.text(path))

    def _add(self, kind: str, text: str) -> None:
        """Add a signal, of which only the last ones are kept; a repeated text moves to its last position."""
        texts = self._made.signals[kind]
        if text in texts:
            texts.remove(text)
        texts.append(text)
        if len(texts) > MOST:
            del texts[0]
            self._made.dropped[kind] += 1

    def done(self, changed: datetime) -> ImportedItem:
        """Return the session; `changed` is the time of its file."""
        item, made = self._item, self._made
        name = self._id if item.type == "codex-local" and self._id else item.path.stem
        self._hash.update(b'"\n}')
        made.external_item_id = one_line(self._clean.text(name))[:200] or item.path.stem
        made.source_ref = self._reference()
        made.created_at = stamp(self._time or changed)
        made.content_hash = self._hash.hexdigest()
        made.summary = self._summary(item.titles.get(name) or self._title or "", name)
        made.elsewhere = self._folder if self._folder and is_elsewhere(self._folder, self._root) else None
        return made

    def _reference(self) -> str:
        """Return a reference to the session file: relative to the repository, else to its source."""
        real, root = os.path.realpath(self._item.path), os.path.realpath(self._root)
        if real.startswith(root.rstrip("/") + "/"):
            return one_line(os.path.relpath(real, root))
        return one_line(f"{self._item.type}:{self._clean.text(self._item.name)}")

    def _summary(self, title: str, name: str) -> str:
        lines = (one_line(line) for line in (*title.split("\n"), *self._first_text.split("\n")))
        clean = self._clean.text(next((line for line in lines if line), f"Session {one_line(name)}"))
        return clean if len(clean) <= _SUMMARY else clean[: _SUMMARY - 1].rstrip() + "…"
