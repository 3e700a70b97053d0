"""Memory files that are gone or empty although they held something when they were seen last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from memory.base.problems import Problem
from memory.document import parse
from memory.document.compare import is_lines, lines_of
from memory.document.lines_and_headings import is_blank
from memory.errors import MemdeckError
from memory.storage.log.taken_back_rows import FILE

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
    """A file that is gone (or `empty`): its name, what it held, the change that brings it back and when that was.

    Both are None where that is too fresh to be in the change log: programs leave such states behind for a moment.
    """

    name: str
    empty: bool
    held: str
    change: str | None
    time: datetime | None

    def sentence(self, since: str = "") -> str:
        """Return what is the matter in one sentence; `since` is a time in words."""
        words = f"{self.name} is {'empty' if self.empty else 'gone'}"
        return f"{words} since {since}, {self.held} in it" if since else f"{words}, {self.held} in it"

    def problem(self) -> Problem:
        """Return it as a finding of `check`."""
        how = f"`memdeck changes revert {self.change[:16]}`" if self.change else "`memdeck changes list` has what"
        code = "file.empty" if self.empty else "file.gone"
        return Problem("error", self.name, 0, code, f"{self.sentence()} when it was seen last; {how} brings it back")


def lost_files(workspace: Workspace) -> tuple[LostFile, ...]:
    """Return the files that are gone or empty and were neither meant to be nor left so by a person.

    A file that memdeck never saw is not lost, and one that memdeck itself took away is none of these.
    """
    try:
        with workspace.together.glance():
            return tuple(_lost(workspace))
    except MemdeckError:
        return ()  # `doctor` says what is wrong with the state folder.


def _lost(workspace: Workspace) -> Iterator[LostFile]:
    history = workspace.store.history
    # The newest of each file counts: what it held then is brought back first.
    noted = {one.path: one.by for one in reversed(history.taken_back()) if one.kind == FILE}
    for path in history.seen():
        if not workspace.together.lasts(path):
            continue
        found = workspace.together.find(path)
        assert found is not None
        try:
            stored = found[0].read(found[1])
        except MemdeckError:
            continue  # What cannot be read is told by whoever reads it.
        if not is_blank(stored.data):
            continue
        if path in noted:
            record = history.get(noted[path])
            before = history.before(record.id, path)
            yield LostFile(file_name(path), stored.exists, _held(path, before), record.id, record.time)
            continue
        before = history.last_bytes(path)
        if before is not None and not is_blank(before):
            yield LostFile(file_name(path), stored.exists, _held(path, before), None, None)


def _held(path: str, data: bytes | None) -> str:
    """Return how much a file held, in words."""
    if data is None:
        return "an unknown number of entries"
    name = file_name(path)
    if is_lines(path):
        count = sum(bool(line.strip()) for line in lines_of(data))
        return "1 line" if count == 1 else f"{count:,} lines"
    one, many = _NOUNS.get(name, ("line", "lines"))
    count = _count(name, data)
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
