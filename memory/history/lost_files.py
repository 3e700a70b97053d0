"""Finds memory files that are missing or empty although they held something when last seen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from memory.base.problems import Problem
from memory.document import parse
from memory.document.compare import is_lines, lines_of
from memory.document.lines import is_blank
from memory.errors import MemdeckError
from memory.storage.log.rows import FILE

from .changes import file_name

if TYPE_CHECKING:
    from memory.workspace import Workspace

_NOUNS = {
    "tasks.md": ("task", "tasks"),
    "journal.md": ("entry", "entries"),
    "knowledge.md": ("fact", "facts"),
    "contacts.md": ("contact", "contacts"),
    "orchestration.md": ("plan", "plans"),
    "monitors.md": ("monitor", "monitors"),
    "config.md": ("setting", "settings"),
}


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
        how = f"`memdeck changes revert {self.change[:16]}`" if self.change else "`memdeck changes list` has what"
        code = "file.empty" if self.empty else "file.gone"
        return Problem("error", self.name, 0, code, f"{self.sentence()} when it was seen last; {how} brings it back")


def lost_files(workspace: Workspace) -> tuple[LostFile, ...]:
    """Return the files that are missing or empty, except where that was intended or accepted by the user.

    A file that memdeck never saw, or that memdeck itself removed, is not lost.
    """
    try:
        with workspace.together.glance():
            return tuple(_lost(workspace))
    except MemdeckError:
        return ()  # `doctor` reports what is wrong with the state folder.


def _lost(workspace: Workspace) -> Iterator[LostFile]:
    history = workspace.store.history
    blank: list[tuple[str, bool]] = []
    for path in history.seen():
        found = workspace.together.lasting(path)
        if found is not None:
            with suppress(MemdeckError):  # Other readers report a file that cannot be read.
                stored = found[0].read(found[1])
                if is_blank(stored.data):
                    blank.append((path, stored.exists))
    if not blank:
        return
    # The newest loss of each file counts: its content is restored first.
    noted = {one.path: one.by for one in reversed(history.taken_back()) if one.kind == FILE}
    for path, exists in blank:
        record = history.get(noted[path]) if path in noted else None
        before = history.last_bytes(path) if record is None else history.before(record.id, path)
        if record is not None or (before is not None and not is_blank(before)):
            held, change, time = _held(path, before), record and record.id, record and record.time
            yield LostFile(file_name(path), exists, held, change, time)


def _held(path: str, data: bytes | None) -> str:
    """Return how much a file held, in words."""
    if data is None:
        return "an unknown number of entries"
    name = file_name(path)
    one, many = _NOUNS.get(name, ("line", "lines"))
    count = sum(bool(line.strip()) for line in lines_of(data)) if is_lines(path) else _count(name, data)
    return f"1 {one}" if count == 1 else f"{count:,} {many}"


def _count(name: str, data: bytes) -> int:
    document = parse(data)
    if name == "knowledge.md":
        from memory.files.knowledge.model import read_knowledge

        return len(read_knowledge(name, document).items)
    if name == "contacts.md":
        from memory.files.contacts.model import read_contacts

        return len(read_contacts(name, document).all())
    if name == "config.md":
        from memory.files.config import read_config

        return len(read_config(name, document).settings)
    if name in _NOUNS:
        return sum(len(section) for _, section in document.all_sections())
    return sum(bool(line.strip()) for line in data.splitlines())
