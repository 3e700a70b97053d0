"""Losses: entries and whole files that other programs removed and that are still missing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from memory.base.clock import exact_utc
from memory.base.problems import Problem
from memory.base.safe_text import plural
from memory.document import parse
from memory.document.lines import is_blank
from memory.errors import MemdeckError
from memory.files.snapshot import plain_title
from memory.storage.changes import OUTSIDE, ChangeRecord, file_name
from memory.storage.log import ChangeLog
from memory.storage.records import KEEP, NOT_KEPT, OF_FILE, key, time_text
from memory.workspace import Workspace

REMINDED = timedelta(days=7)
"""How long a removal is listed."""
_MOST = 50
_NOUNS = {"tasks.md": "task", "journal.md": "entry", "orchestration.md": "plan", "monitors.md": "monitor"}
"""What the entries of a file are called; of other files lines are counted."""
_MISSING = f"""
actor = '{OUTSIDE}' AND undone_by IS NULL AND time > ? AND {NOT_KEPT}
AND NOT EXISTS (SELECT 1 FROM file WHERE file.seq = change.seq AND COALESCE(after_size, 0) = 0)
AND EXISTS (
    SELECT 1 FROM touched WHERE touched.seq = change.seq AND kind = 'removed' AND NOT EXISTS (
        SELECT 1 FROM touched AS again JOIN change AS later ON later.seq = again.seq
        WHERE again.ref = touched.ref AND again.kind <> 'removed' AND later.undone_by IS NULL
        AND (later.seq > change.seq OR (later.time = change.time AND later.actor = change.actor))
    )
)
"""
"""True of a change by another program that removed an entry which no later change brought back."""


@dataclass(frozen=True, slots=True)
class OutsideRemoval:
    """One change by another program that removed entries: its id, its time, and each file with a title."""

    id: str
    time: datetime
    entries: tuple[tuple[str, str | None, str], ...]

    @property
    def files(self) -> tuple[str, ...]:
        """The files, by their names in the memory folder."""
        return tuple(dict.fromkeys(file for file, _, _ in self.entries))

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the entries."""
        return tuple(title for _, _, title in self.entries)

    @property
    def words(self) -> str:
        """The removed entries, in a few words."""
        more = len(self.entries) - 1
        return f"{self.titles[0]!r}" + (f" and {more} more" if more else "")

    def json(self) -> dict[str, Any]:
        """Return it as a dict with the keys of the JSON interface."""
        return {
            "change": self.id,
            "time": exact_utc(self.time),
            "entries": [{"file": file, "ref": ref, "title": title} for file, ref, title in self.entries],
        }


def outside_removals(workspace: Workspace, now: datetime) -> tuple[OutsideRemoval, ...]:
    """Return the changes by other programs in the last seven days that removed entries, newest first.

    Left out are those whose entries are back or moved to another file, those that a person decided to keep, and those
    of a branch that was switched, reset or pulled: git has those entries.
    """
    found = []
    history = workspace.store.history
    records = history.records(_MISSING, [time_text(now - REMINDED)], _MOST)
    switched = _by_checkout(workspace, history, records) if records else set()
    for record in records:
        if record.id in switched:
            continue
        removed = [one for one in record.touched if one.kind == "removed"]
        entries = [(file_name(one.file), one.ref, plain_title(file_name(one.file), one.title)) for one in removed]
        found.append(OutsideRemoval(record.id, record.time, tuple(entries)))
    return tuple(found)


def _by_checkout(workspace: Workspace, history: ChangeLog, records: Sequence[ChangeRecord]) -> set[str]:
    """Return the ids of changes that left each file as the commit has it that git had just moved the work tree to."""
    from memory.base.git import blob_at, moves_of  # loads what starts programs, which few looks need

    def matches(record: ChangeRecord, commit: str) -> bool:
        versions = [(file.path, history.versions(record, file)) for file in record.files]
        return all(
            known is not None
            and blob_at(workspace.root, commit, path) == (None if known[1] is None else _blob(known[1]))
            for path, known in versions
        )

    moves, found = moves_of(workspace.root), set[str]()
    for record in records:
        until = record.time.timestamp() + 1
        commit = next((commit for moment, commit in moves if moment <= until), None)
        if commit is not None and matches(record, commit):
            found.add(record.id)
    return found


def _blob(data: bytes) -> str:
    """Return the id that git gives to a content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def keep_removal(workspace: Workspace, change_id: str, *, actor: str, now: datetime) -> str:
    """Leave what another program removed as it is, list it no more, return its summary; errors as `ChangeLog.get`."""
    history = workspace.store.history
    record = history.get(change_id)
    history.note(KEEP, f"left as it is: {record.summary}", actor=actor, now=now, undoes=record.id)
    return record.summary


@dataclass(frozen=True, slots=True)
class LostFile:
    """A file that is missing (or `empty`): its name, what it held, the change to revert, and the time of that change.

    Both are None where the loss is too recent to be in the change log: programs leave such states for a moment.
    """

    name: str
    empty: bool
    held: str
    change: str | None
    time: datetime | None

    def sentence(self, since: str = "") -> str:
        """Return the loss in one sentence; `since` is a time in words."""
        words = f"{self.name} is {'empty' if self.empty else 'gone'}"
        return f"{words} since {since}, {self.held} in it" if since else f"{words}, {self.held} in it"

    def problem(self) -> Problem:
        """Return it as a finding of `check`."""
        how = f"`memdeck changes revert {self.change[:16]}`" if self.change else "`memdeck changes list` shows what"
        code = "file.empty" if self.empty else "file.gone"
        return Problem("error", self.name, 0, code, f"{self.sentence()} when memdeck last saw it; {how} brings it back")


def lost_files(workspace: Workspace) -> tuple[LostFile, ...]:
    """Return the files that are missing or empty, except where that was intended or accepted by the user.

    A file that memdeck never saw, or that memdeck itself removed, is not lost.
    """
    try:
        with workspace.together.glance():
            return tuple(_lost(workspace))
    except MemdeckError:
        return ()  # `doctor` reports the problems of the state folder.


def _lost(workspace: Workspace) -> Iterator[LostFile]:
    history = workspace.store.history
    for path in history.seen():
        found = workspace.together.find(path)
        with suppress(MemdeckError):  # Other readers report a file that cannot be read.
            if found is None or not found[0].reading.lasts(found[1]):
                continue
            stored = found[0].read(found[1])
            if not is_blank(stored.data):
                continue
            known = history.last_bytes(path)
            if known is not None and not is_blank(known):
                yield LostFile(file_name(path), stored.exists, _held(path, known), None, None)
            else:
                yield from _removal(history, path, empty=stored.exists)


def _removal(history: ChangeLog, path: str, *, empty: bool) -> Iterator[LostFile]:
    """Yield the loss of a file that another program removed or emptied, if no one accepted it."""
    for record in history.records(OF_FILE, [key(path)], _MOST):
        if record.actor != OUTSIDE or history.records(f"operation = '{KEEP}' AND undoes = ?", [record.id], 1):
            return
        file = next(file for file in record.files if file.path == path)
        if file.before is not None and file.before[0]:
            before = history.before(record.id, path)
            if before is None or not is_blank(before):
                yield LostFile(file_name(path), empty, _held(path, before), record.id, record.time)
                return


def _held(path: str, data: bytes | None) -> str:
    """Return how much a file held, in words."""
    if data is None:
        return "an unknown number of entries"
    noun = _NOUNS.get(file_name(path))
    if noun is None:
        return plural(sum(bool(line.strip()) for line in data.splitlines()), "line")
    return plural(sum(len(section) for _, section in parse(data).all_sections()), noun)
