"""Snapshots of memory files that are given as texts, and edits carried on from one to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from memory.document import Document, parse
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot
from memory.files.versions.restore import restore_entry
from memory.workspace import Outcome, Workspace

NOW = datetime(2024, 1, 15, 12, 0, tzinfo=UTC)
"""Monday noon, an hour and a half after the last entry of the format's sample."""


class TextFiles:
    """A source of documents made of texts by file name; what is not named does not exist."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        """Keep the documents."""
        self.documents = dict(documents)

    def document(self, name: str) -> Document | None:
        """Return the document of a file."""
        return self.documents.get(name)

    def archives(self) -> Sequence[str]:
        """Return the names of the archive files."""
        return sorted(name for name in self.documents if name.startswith("archive/"))


def snapshot_of(files: Mapping[str, str | bytes], zone: tzinfo = UTC) -> Snapshot:
    """Return a snapshot of files given as text or bytes."""
    parsed = {
        name: parse(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text)
        for name, text in files.items()
    }
    return Snapshot(TextFiles(parsed), lambda: zone)


def after(snapshot: Snapshot, edit: Edit) -> Snapshot:
    """Return the snapshot that an edit leads to; its documents must read as they were built."""
    source = snapshot._source
    assert isinstance(source, TextFiles)
    for document in edit.documents.values():
        again = parse(document.dump())
        assert document.headings() == again.headings()
    return Snapshot(TextFiles({**source.documents, **edit.documents}), snapshot._machine_zone)


def left_by(snapshot: Snapshot, edit: Edit) -> Any:
    """Return the entry that an edit shows next, in the snapshot that it leads to."""
    assert edit.at is not None
    return snapshot.item(*edit.at)


def text_of(snapshot: Snapshot, name: str = "tasks.md") -> str:
    """Return the text of one file."""
    return snapshot.document(name).dump().decode("utf-8", "surrogateescape")


def changed_lines(before: str, now: str) -> tuple[list[str], list[str]]:
    """Return the lines that are gone and those that came, in order."""
    from difflib import ndiff

    lines = list(ndiff(before.splitlines(keepends=True), now.splitlines(keepends=True)))
    return [line[2:] for line in lines if line[0] == "-"], [line[2:] for line in lines if line[0] == "+"]


def restore(workspace: Workspace, ref: str, *, actor: str, now: datetime) -> Outcome:
    """Bring an archived entry back in a change of a workspace."""
    return workspace.change("restore", lambda snapshot: restore_entry(snapshot, ref, now=now), actor=actor, now=now)


def contents(root: Path) -> dict[str, bytes]:
    """Return the bytes of all files below a folder but those of memdeck's own folders."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".memdeck" not in path.parts
    }
