"""Noticing: what changed since the start and who did it, told apart by the bytes that we wrote ourselves."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from .part import Part

if TYPE_CHECKING:
    from memory.document import Document
    from memory.files.snapshot import Snapshot
    from memory.storage import Change, History
    from widgets.panes.changes import SeenChange

    from .memdeck_app import MemdeckApp

INSIDE = "memory/"
"""What paths of the store begin with where files of the memory folder have their plain names."""

_RECENT = 200
LONGEST_DIFF = 400
"""Lines of one change that are kept to be looked at."""


class Noticing(Part):
    """Keeps the list of changes of this session; `lock` is held while we write, so that we know our own."""

    def __init__(self, app: MemdeckApp) -> None:
        """Nothing changed yet."""
        super().__init__(app)
        self.lock = threading.Lock()
        self._changes: list[SeenChange] = []
        self._known: dict[str, Document] = {}
        self._suspects: set[str] = set()
        self._number = 0

    @property
    def count(self) -> int:
        """How many changes there were."""
        return len(self._changes)

    def newest_first(self) -> tuple[SeenChange, ...]:
        """Return all changes; safe in any thread."""
        return tuple(reversed(self._changes))

    def files_changed(self, names: Iterable[str]) -> None:
        """Files to compare with the next look."""
        self._suspects.update(names)

    def wrote(self, change: Change) -> None:
        """Note a change of our own; in the thread that wrote it, under the lock."""
        from widgets.panes.changes import FileLines, SeenChange

        if not change.files:
            return
        files = tuple(
            FileLines(file.path.removeprefix(INSIDE), line_difference(file.before or b"", file.after or b""))
            for file in change.files
        )
        self._mark(change.undoes, True)
        self._mark(change.redoes, False)
        self._changes.append(
            SeenChange(change.id, change.time, change.actor, change.summary, change.operation, files=lambda: files)
        )

    def maintained(self, change_id: str, time: datetime, summary: str, titles: Sequence[str]) -> None:
        """Note what maintenance moved; its files are too long to keep their lines."""
        from widgets.panes.changes import SeenChange

        self._changes.append(SeenChange(change_id, time, "human", summary, "maintain", titles=tuple(titles)))

    def compare(self, snapshot: Snapshot, history: History, now: datetime) -> bool:
        """Find out which of the files that changed were written by others; in the thread that reads.

        True when something new stands in the list.
        """
        from memory.storage.log import digest

        names, self._suspects = self._suspects, set()
        if not names:
            return False
        found = False
        with self.lock:
            ours = _identities(history)
        for name in sorted(names):
            old = self._known.get(name)
            new = snapshot.document(name)
            self._known[name] = new
            data = new.dump()
            if old is new or (INSIDE + name, digest(data)) in ours:
                continue
            if old is not None and old.dump() == data:
                continue
            self._number += 1
            self._changes.append(_foreign(f"outside-{self._number}", name, old, new, now))
            found = True
        return found

    def remember(self, documents: Mapping[str, Document]) -> None:
        """Keep what files look like, to tell later what is different."""
        for name, document in documents.items():
            self._known[name] = document

    def _mark(self, change_id: str | None, undone: bool) -> None:
        for index, change in enumerate(self._changes):
            if change.ref == change_id:
                self._changes[index] = replace(change, undone=undone)


def _identities(history: History) -> set[tuple[str, tuple[int, bytes] | None]]:
    """All states of files that this process wrote or started from."""
    return {
        (file.path, state)
        for record in history.list(_RECENT)
        for file in record.files
        for state in (file.before, file.after)
    }


def _foreign(ref: str, name: str, old: Document | None, new: Document, now: datetime) -> SeenChange:
    """What somebody else did to a file: the entries that are different, and their lines."""
    from widgets.panes.changes import FileLines, SeenChange

    if old is None:
        return SeenChange(ref, now, "outside", f"changed {name}")
    before, after = _entries(old), _entries(new)
    added = [title for text, title in after.items() if text not in before]
    gone = [title for text, title in before.items() if text not in after]
    titles = tuple(dict.fromkeys((*added, *(title for title in gone if title not in added))))
    lines = line_difference(old.dump(), new.dump())
    what = titles[0] if len(titles) == 1 else f"{len(titles)} entries" if titles else name
    summary = f"{name}: {what}" if titles else f"changed {name}"
    return SeenChange(ref, now, "outside", summary, titles=titles, files=lambda: (FileLines(name, lines),))


def _entries(document: Document) -> dict[bytes, str]:
    return {entry.raw.rstrip(): entry.title for _, section in document.all_sections() for entry in section.entries}


def line_difference(before: bytes, after: bytes) -> tuple[str, ...]:
    """The lines that differ, removed ones with `-`, added ones with `+` in front; at most `LONGEST_DIFF`."""
    from memory.storage.delta import Delta

    lines: list[str] = []
    shift = 0
    for start, old, new in Delta.between(before, after).parts:
        lines += _whole_lines("-", before, start, start + len(old))
        lines += _whole_lines("+", after, start + shift, start + shift + len(new))
        shift += len(new) - len(old)
        if len(lines) > LONGEST_DIFF:
            break
    return tuple(lines[:LONGEST_DIFF])


def _whole_lines(sign: str, data: bytes, start: int, end: int) -> list[str]:
    """The lines that a span of bytes lies in."""
    start = data.rfind(b"\n", 0, start) + 1
    if end <= start:
        return []
    if not data[:end].endswith(b"\n"):
        stop = data.find(b"\n", end)
        end = len(data) if stop < 0 else stop
    text = data[start : min(end, start + 200_000)].decode("utf-8", "surrogateescape")
    return [sign + line for line in text.rstrip("\r\n").split("\n")]
