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
    from memory.document.compare import Region
    from memory.files.snapshot import Snapshot
    from memory.storage import Change, History
    from memory.storage.records import Record
    from memory.workspace import Workspace
    from widgets.panes.changes import SeenChange

    from .memdeck_app import MemdeckApp

INSIDE = "memory/"
"""What paths of the store begin with where files of the memory folder have their plain names."""

RECENT = 200
"""How many of the newest changes are looked through for our own."""
LONGEST_MATCH = 3000
"""The most lines that are compared with each other; more are shown as one block."""
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
        self._looked = False

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

    def compare(self, workspace: Workspace, snapshot: Snapshot, now: datetime) -> bool:
        """Find out which of the files that changed were written by others; in the thread that reads.

        True when something new stands in the list.
        """
        from memory.storage.log import digest
        from memory.workspace import MEMORY_FOLDER

        names, self._suspects = self._suspects, set()
        others = {name for name in names if "/" in name and not name.startswith("archive/")}
        # A folder of another system may hold more than memory, such as locks.
        found = self._compare_others(workspace, {name for name in others if workspace.together.knows(name)}, now)
        names -= others
        if not names:
            return found
        with self.lock:
            ours = _identities(workspace.store.history)
        for name in sorted(names):
            old = self._known.get(name)
            new = snapshot.document(name)
            self._known[name] = new
            data = new.dump()
            if old is new or (f"{MEMORY_FOLDER}/{name}", digest(data)) in ours:
                continue
            if old is not None and old.dump() == data:
                continue
            self._number += 1
            self._changes.append(_foreign(f"outside-{self._number}", name, old, new, now))
            found = True
        return found

    def _compare_others(self, workspace: Workspace, names: set[str], now: datetime) -> bool:
        """Note what others did to files of other systems; the first look only learns how they are."""
        if not self._looked:
            self._looked = True
            names = {name for system in workspace.systems() if system.name != "files" for name in system.files()}
        if not names:
            return False
        history = workspace.store.history
        with self.lock:
            known = {record.id for record in history.list(RECENT)}
            if not history.notice(sorted(names), now):
                return False
            new = [record for record in history.list(RECENT) if record.id not in known]
        self._changes += [_recorded(history, record) for record in reversed(new) if record.actor == "outside"]
        return True

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
        for record in history.list(RECENT)
        for file in record.files
        for state in (file.before, file.after)
    }


def _recorded(history: History, record: Record) -> SeenChange:
    """A change that the log has, with its lines read when somebody looks."""
    from widgets.panes.changes import FileLines, SeenChange

    def files() -> Sequence[FileLines]:
        return [
            FileLines(file.path, tuple(line for one in history.regions(record, file) for line in _both(one)))
            for file in record.files
        ]

    titles = tuple(one.title for one in record.touched)
    return SeenChange(
        record.id, record.time, record.actor, record.summary, record.operation, titles=titles, files=files
    )


def _both(region: Region) -> tuple[str, ...]:
    return line_difference(region.before, region.after)


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
    """The lines that differ, removed ones with `-`, added ones with `+` in front, the headings around them with a
    space; at most `LONGEST_DIFF`.
    """
    from difflib import SequenceMatcher

    old, new = _split(before), _split(after)
    head = next((index for index, (one, two) in enumerate(zip(old, new, strict=False)) if one != two), None)
    if head is None:
        head = min(len(old), len(new))
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(middle_old), len(middle_new)) > LONGEST_MATCH:
        changes = [("replace", 0, len(middle_old), 0, len(middle_new))]
    else:
        changes = list(SequenceMatcher(None, middle_old, middle_new, autojunk=False).get_opcodes())
    lines: list[str] = []
    shown = -1  # the last heading that was shown, so that each comes once
    for kind, start, end, start_new, end_new in changes:
        if kind == "equal":
            continue
        heading = next((at for at in range(head + start_new - 1, -1, -1) if new[at].startswith("### ")), -1)
        opens = [*middle_old[start : start + 1], *middle_new[start_new : start_new + 1]]
        if heading > shown and not any(text.startswith("#") for text in opens):
            shown = heading
            lines.append(" " + new[heading])
        lines += ["-" + text for text in middle_old[start:end]]
        lines += ["+" + text for text in middle_new[start_new:end_new]]
        if len(lines) > LONGEST_DIFF:
            break
    return tuple(lines[:LONGEST_DIFF])


def _split(data: bytes) -> list[str]:
    text = data.decode("utf-8", "surrogateescape")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []
