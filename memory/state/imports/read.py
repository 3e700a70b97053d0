"""Reading one session: line by line, masked, and with a hash of all that was said."""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, BinaryIO

from memory.base.git import is_elsewhere
from memory.base.safe_text import one_line
from memory.errors import MemdeckError
from memory.state.files.json_text import digest
from memory.state.files.model import SIGNALS, stamp
from memory.storage.safe_open import open_beneath

from .discover import SourceItem, lines_of
from .privacy import Cleaner
from .shapes import PERSON, Said, SessionRecord, read_record
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
    as `~`. Secrets are masked. Time is proportional to the file, memory to what was said and to its longest line, up to
    `MOST_LINE`. Raises `MemdeckError` (`state.import.unreadable`), never for a bad line.
    """
    made, clean = ImportedItem(), Cleaner(root, home)
    try:
        with os.fdopen(open_beneath(item.path.name, item.path.parent), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise MemdeckError("state.import.unreadable", f"{item.name} is not a regular file", file=item.name)
            records = [*_records(file, item.type, made)]
    except OSError as error:
        words = f"{item.name} cannot be read: {error.strerror}"
        raise MemdeckError("state.import.unreadable", words, file=item.name) from error
    records = [one for one in records if not (one.alone and one.folder and is_elsewhere(one.folder, root))]
    said = [] if any(one.aside for one in records) else [*_said(records, clean, made)]
    made.messages = len(said)
    made.content_hash = digest({"payload": "\n\n".join(text for _, text in said)})
    folder = next((one.folder for one in records if one.folder and not one.alone), None)
    made.elsewhere = folder if folder and is_elsewhere(folder, root) else None
    made.created_at = stamp(
        next((one.time for one in records if one.time), datetime.fromtimestamp(found.st_mtime, UTC))
    )
    session = next((one.session for one in records if one.session), None) if item.type == "codex-local" else None
    name = session or item.path.stem
    made.external_item_id = one_line(clean.text(name))[:200] or item.path.stem
    made.source_ref = _reference(item, root, clean)
    title = item.titles.get(name) or next((one.title for one in reversed(records) if one.title), "")
    first = next((text for who, text in said if who == PERSON), "")
    lines = (one_line(line) for text in (title, first) for line in text.split("\n"))
    made.summary = clean.text(next(filter(None, lines), f"Session {one_line(name)}"))
    if len(made.summary) > _SUMMARY:
        made.summary = made.summary[: _SUMMARY - 1].rstrip() + "…"
    return made


def _records(file: BinaryIO, source_type: str, made: ImportedItem) -> Iterator[SessionRecord]:
    """Yield the records of a file; a line that is none is counted, unless it is still being written."""
    for number, raw in enumerate(lines_of(file), 1):
        try:
            record: Any = json.loads(raw.decode("utf-8-sig", "replace")) if raw.strip(b"\xef\xbb\xbf \t\r\n") else {}
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict):
            yield read_record(record, source_type)
        elif raw.endswith(b"\n"):
            made.bad_lines += 1
            made.first_bad_line = made.first_bad_line or number


def _said(records: Iterable[SessionRecord], clean: Cleaner, made: ImportedItem) -> Iterator[Said]:
    """Yield what was said, cleaned, and add its signals."""
    seen: set[Said] = set()
    for record in records:
        for who, text in record.said:
            told = who, clean.text(text)
            # The same message occurs as an item of the answer and as an event.
            if record.echo and told in seen:
                continue
            seen.add(told)
            yield told
            for kind, signal in find_signals(told[1]):
                if kind != "keyPaths":
                    _add(made, kind, one_line(signal))
            # Paths are taken from the original text, as cleaning changes those that lead out of the repository.
            for kind, signal in find_signals(text):
                if kind == "keyPaths" and (path := clean.path(signal)) is not None:
                    _add(made, kind, clean.text(path))


def _add(made: ImportedItem, kind: str, text: str) -> None:
    """Add a signal, of which only the last ones are kept; a repeated text moves to its last position."""
    texts = made.signals[kind]
    if text in texts:
        texts.remove(text)
    texts.append(text)
    if len(texts) > MOST:
        del texts[0]
        made.dropped[kind] += 1


def _reference(item: SourceItem, root: str | os.PathLike[str], clean: Cleaner) -> str:
    """Return a reference to the session file: relative to the repository, else to its source."""
    real, top = os.path.realpath(item.path), os.path.realpath(root)
    if real.startswith(top.rstrip("/") + "/"):
        return one_line(os.path.relpath(real, top))
    return one_line(f"{item.type}:{clean.text(item.name)}")
