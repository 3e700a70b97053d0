"""What the history lists: changes with their files, and the entries that they touched."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from memory.document import Document, parse
from memory.document.lines_and_headings import decode
from memory.named_tuple import NamedTuple

if TYPE_CHECKING:
    from memory.document.nodes import Entry

TouchKind = Literal["added", "removed", "edited", "moved"]
_TITLE = 200
MOST_BEHIND = 256
"""So many changes of a file a copy of another program may be behind and is still known as one."""
OUTSIDE = "outside"
"""The actor of changes that another program made."""


class Touched(NamedTuple):
    """One entry of a change: `ref` as it is now (None: a part without one), `old_ref` where it was another."""

    file: str
    ref: str | None
    title: str
    kind: TouchKind
    old_ref: str | None = None


class RecordedFile(NamedTuple):
    """One file of a recorded change; `before` and `after` are (size, hash), None where there was no file.

    `kept` is how many bytes of it are kept, None where they were thinned out.
    """

    path: str
    before: tuple[int, bytes] | None
    after: tuple[int, bytes] | None
    kept: int | None


class ChangeRecord(NamedTuple):
    """A change as the history lists it; the names are those of `Change`, `seq` is the order of all changes.

    `files` tell which files; where their bytes were thinned out the change cannot be taken back any more.
    `touched` are its entries; `named` says that these are all, else they were too many to be listed.
    """

    seq: int
    id: str
    time: datetime
    actor: str
    operation: str
    summary: str
    files: tuple[RecordedFile, ...]
    touched: tuple[Touched, ...] = ()
    named: bool = True
    undone_by: str | None = None
    undoes: str | None = None
    redoes: str | None = None
    reviewer: str | None = None
    proposal: str | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """The files, as seen from the workspace."""
        return tuple(file.path for file in self.files)

    @property
    def kept(self) -> bool:
        """Whether the bytes of all its files are kept, so that it can be taken back; a mere note has none."""
        return bool(self.files) and all(file.kept is not None for file in self.files)

    @property
    def size(self) -> int:
        """How many bytes of files it keeps."""
        return sum(file.kept or 0 for file in self.files)


def is_by_place(actor: str, operation: str) -> bool:
    """Tell whether an entry that stands where a change took another one out is that one with a new title.

    It is after an operation of memdeck's on one entry; other programs and what goes by whole files may have done both.
    """
    return actor != OUTSIDE and operation not in ("revert", "merge", "reapply")


class PlainReading:
    """Reads Markdown without knowing what it is about."""

    def knows(self, path: str) -> bool:  # noqa: ARG002
        """Take any file of the store."""
        return True

    def lasts(self, path: str) -> bool:  # noqa: ARG002
        """Tell that any file may go."""
        return False

    def document(self, path: str, data: bytes) -> Document | None:
        """Return the document of a Markdown file."""
        return parse(data) if path.endswith(".md") else None

    def line(self, path: str, line: bytes) -> tuple[str | None, str]:  # noqa: ARG002
        """Return no ref, and the line as its title."""
        return None, decode(line.rstrip(b"\r\n"))[:_TITLE]

    def ref(self, path: str, section: str | None, entry: Entry) -> str | None:  # noqa: ARG002
        """Return no ref."""
        return None

    def stamp(self, document: Document, now: datetime) -> Document:  # noqa: ARG002
        """Return the document as it is."""
        return document


def touched_in(units: Sequence[Touched]) -> str:
    """Return a sentence on some entries, for a change that came without one."""
    if not units:
        return "changed"
    first = units[0]
    title = first.title if len(first.title) <= 60 else first.title[:59] + "…"
    more = f" and {len(units) - 1} more" if len(units) > 1 else ""
    return f"{first.kind} {title!r}{more}"
