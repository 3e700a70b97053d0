"""Reading one session: line by line, bounded, masked, and with a hash of all that was said."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from memory.errors import MemdeckError
from memory.state.files.model import SIGNALS
from memory.state.git import is_elsewhere
from memory.state.projections.markdown import one_line
from memory.storage.safe_open import open_beneath

from .discover import SourceItem
from .privacy import Cleaner
from .shapes import PERSON, SessionRecord, read_record
from .signals import Signals, find_signals

MOST_LINE = 32 << 20
"""How many bytes one line may have; a longer one counts as bad and is skipped."""

_CHUNK = 1 << 20
_MOST_BYTES = 64 << 20


def title_of(index: Path, session: str) -> str | None:
    """Return the title of a session from an index; None where the index has none or cannot be read."""
    try:
        found = os.stat(index)
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return _titles(str(index), (found.st_mtime_ns, found.st_size)).get(session)


@lru_cache(maxsize=4)
def _titles(index: str, version: tuple[int, int]) -> dict[str, str]:
    """Read an index once for each of its versions; of equal ids the last line counts."""
    titles: dict[str, str] = {}
    path = Path(index)
    try:
        with os.fdopen(open_beneath(path.name, path.parent), "rb") as file:
            for line in read_lines(file, min(version[1], _MOST_BYTES)):
                record = line.record or {}
                name, title = record.get("id"), record.get("thread_name")
                if isinstance(name, str) and isinstance(title, str) and title.strip():
                    titles[name] = title
    except OSError:
        return {}
    return titles


MOST_BYTES = 2 << 30
"""The largest size of a session, in bytes."""

_SUMMARY = 160


@dataclass(frozen=True, slots=True)
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

    external_item_id: str
    source_ref: str
    created_at: str
    content_hash: str
    summary: str
    signals: Mapping[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in SIGNALS})
    messages: int = 0
    bad_lines: int = 0
    first_bad_line: int | None = None
    elsewhere: str | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)


def read_item(
    item: SourceItem, *, root: str | os.PathLike[str], home: str | os.PathLike[str] | None = None
) -> ImportedItem:
    """Return the content of a session; its last line may still be incomplete.

    `root` is the repository: paths in it become relative to it, paths elsewhere are no signals, and `home` is written
    as `~`. Secrets are masked. Time is proportional to the file, memory to its longest line. Raises `MemdeckError`
    (`state.import.missing`, `state.import.unreadable`, `state.import.not_regular`, `state.import.too_large`), never for
    a bad line.
    """
    try:
        fd = open_beneath(item.path.name, item.path.parent)
        with os.fdopen(fd, "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise MemdeckError("state.import.not_regular", f"{item.name} is not a regular file", file=item.name)
            if found.st_size > MOST_BYTES:
                raise MemdeckError("state.import.too_large", f"{item.name} is too large to import", file=item.name)
            session = _Session(item, root, home)
            for line in read_lines(file, found.st_size):
                if line.record is not None:
                    session.take(read_record(line.record, item.type))
                elif not line.unfinished:
                    session.count_bad(line.number)
            return session.done(datetime.fromtimestamp(found.st_mtime, UTC))
    except FileNotFoundError as error:
        raise MemdeckError("state.import.missing", f"{item.name} is gone", file=item.name) from error
    except OSError as error:
        why = os.strerror(error.errno or errno.EIO)
        raise MemdeckError("state.import.unreadable", f"{item.name} cannot be read: {why}", file=item.name) from error


class _Session:
    """The content of a session read so far."""

    def __init__(self, item: SourceItem, root: str | os.PathLike[str], home: str | os.PathLike[str] | None) -> None:
        """Begin with nothing."""
        self._item, self._root = item, root
        self._clean = Cleaner(root, home)
        self._hash = hashlib.sha256(b'{\n  "payload": "')
        self._signals = Signals()
        self._seen: set[bytes] = set()
        self._messages = self._bad = 0
        self._aside = False
        self._first_bad: int | None = None
        self._id: str | None = None
        self._folder: str | None = None
        self._title: str | None = None
        self._first_text: str | None = None
        self._time: datetime | None = None

    def count_bad(self, number: int) -> None:
        """Count a line that is not a record."""
        self._bad += 1
        self._first_bad = number if self._first_bad is None else self._first_bad

    def take(self, record: SessionRecord) -> None:
        """Add the content of one line."""
        self._aside = self._aside or record.aside
        if record.alone:
            if record.folder and is_elsewhere(record.folder, self._root):
                return
        else:
            self._folder = self._folder or record.folder
        self._id = self._id or record.session
        self._title = record.title or self._title
        self._time = self._time or record.time
        for said in () if self._aside else record.said:
            self._say(said.who, said.text, echo=record.echo)

    def _say(self, who: str, text: str, *, echo: bool) -> None:
        clean = self._clean.text(text)
        piece = json.dumps(clean, ensure_ascii=False)[1:-1].encode()
        if echo:
            # The same message occurs as an item of the answer and as an event.
            mark = hashlib.sha256(who.encode() + b"\0" + piece).digest()
            if mark in self._seen:
                return
            self._seen.add(mark)
        self._hash.update((b"\\n\\n" if self._messages else b"") + piece)
        self._messages += 1
        if self._first_text is None and who == PERSON:
            self._first_text = clean
        for kind, signal in find_signals(clean):
            if kind != "keyPaths":
                self._signals.add(kind, one_line(signal))
        # Paths are taken from the original text, because cleaning changes those that lead out of the repository.
        for kind, signal in find_signals(text):
            if kind == "keyPaths" and (path := self._clean.path(signal)) is not None:
                self._signals.add(kind, self._clean.text(path))

    def done(self, changed: datetime) -> ImportedItem:
        """Return the session; `changed` is the time of its file."""
        item = self._item
        name = self._id if item.type == "codex-local" and self._id else Path(item.name).stem
        self._hash.update(b'"\n}')
        title = title_of(item.index, name) if item.index is not None else None
        moment = (self._time or changed).astimezone(UTC).isoformat("T", "milliseconds")[:23] + "Z"
        elsewhere = self._folder if self._folder and is_elsewhere(self._folder, self._root) else None
        return ImportedItem(
            external_item_id=one_line(self._clean.text(name))[:200] or item.path.stem,
            source_ref=self._reference(),
            created_at=moment,
            content_hash=self._hash.hexdigest(),
            summary=self._summary(title or self._title, name),
            signals=self._signals.lists(),
            messages=self._messages,
            bad_lines=self._bad,
            first_bad_line=self._first_bad,
            elsewhere=elsewhere,
            dropped=dict(self._signals.dropped),
        )

    def _reference(self) -> str:
        """Return a reference to the session file: relative to the repository, else to its source."""
        real, root = os.path.realpath(self._item.path), os.path.realpath(self._root)
        if real.startswith(root.rstrip("/") + "/"):
            return one_line(os.path.relpath(real, root))
        return one_line(f"{self._item.type}:{self._clean.text(self._item.name)}")

    def _summary(self, title: str | None, name: str) -> str:
        for text in (title, self._first_text):
            line = next((line for line in map(one_line, (text or "").split("\n")) if line.strip()), "")
            if line:
                clean = self._clean.text(line)
                return clean if len(clean) <= _SUMMARY else clean[: _SUMMARY - 1].rstrip() + "…"
        return f"Session {one_line(name)[:_SUMMARY]}"


# -- lines -------------------------------------------------------------------------------------------------------


class SessionLine(NamedTuple):
    """One line: its number from 1, its record (None for a bad line), and whether its line end is missing."""

    number: int
    record: dict[str, Any] | None
    unfinished: bool = False


def read_lines(file: BinaryIO, most: int) -> Iterator[SessionLine]:
    """Yield the lines of a file up to `most` bytes, without blank ones; only `\\n` ends a line."""
    number = 0
    while most > 0:
        raw = file.readline(min(MOST_LINE, most) + 1)
        if not raw:
            return
        number += 1
        most -= len(raw)
        if len(raw) > MOST_LINE and not raw.endswith(b"\n"):
            most -= _pass_over(file, most)
            yield SessionLine(number, None)
        elif raw.strip(b"\xef\xbb\xbf \t\r\n"):
            yield SessionLine(number, _record(raw), not raw.endswith(b"\n"))


def _pass_over(file: BinaryIO, most: int) -> int:
    """Skip to the end of a line; return the number of bytes skipped."""
    passed = 0
    while passed < most:
        raw = file.readline(_CHUNK)
        passed += len(raw)
        if not raw or raw.endswith(b"\n"):
            break
    return passed


def _record(raw: bytes) -> dict[str, Any] | None:
    """Read one object; None for anything else, or for one that is nested too deeply or too large."""
    try:
        record = json.loads(raw.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
