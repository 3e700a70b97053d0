"""Changes: what a transaction did, with the bytes of every file before and after, and as the change log lists it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple, Protocol, TypeVar

from memory.base.safe_text import cut
from memory.document.lines import decode
from memory.document.model import Document, parse
from memory.document.nodes import Entry
from memory.errors import AmbiguousError, NotFoundError

TouchKind = Literal["added", "removed", "edited", "moved"]

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class FileChange(NamedTuple):
    """One file of a change: `path` relative to the store's root, None for bytes if there was no file.

    `mode` holds the permission bits of a removed file, or those to give to a restored file.
    """

    path: str
    before: bytes | None
    after: bytes | None
    mode: int | None = None


class Change(NamedTuple):
    """One committed change; `files` is empty when nothing differed.

    `id` is a ULID, `time` aware, `actor` one of `human`, `cli`, `maintain`, `agent:<name>`, `outside`. `undoes` and
    `redoes` are the id of the change that this one undoes or redoes, `undone_by` the one that undid this one. For a
    reviewed change, `reviewer` accepted it and `proposal` is the accepted proposal.
    """

    id: str
    time: datetime
    actor: str
    operation: str
    summary: str
    files: tuple[FileChange, ...]
    undone_by: str | None = None
    undoes: str | None = None
    redoes: str | None = None
    reviewer: str | None = None
    proposal: str | None = None


def new_id(now: datetime) -> str:
    """Return a ULID: 26 characters that sort by `now` (to the millisecond), then by 10 random bytes."""
    number = (int(now.timestamp() * 1000) & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10), "big")
    return "".join([_CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5)])


AGENT = "agent:"
"""The prefix of an agent's name."""
PERSONS = frozenset({"human", "cli"})
"""The actor names of the user."""
OWN = frozenset({"outside", "maintain", "monitor", "recover", "replay"})
"""The actor names of memdeck's own work, and of recorded changes of other programs."""


def is_agent(actor: str) -> bool:
    """Return whether an actor name is that of an agent."""
    return actor.strip().casefold().startswith(AGENT)


_MEMORY = ".aiter/memory/"


def file_name(path: str) -> str:
    """Return the displayed name of a file: its name in the memory folder, or its path in the workspace."""
    return path.removeprefix(_MEMORY)


_TITLE = 200
OUTSIDE = "outside"
"""The actor of changes that another program made."""


class Touched(NamedTuple):
    """One entry of a change: `ref` after the change (None: a part without a ref), `old_ref` where it was different."""

    file: str
    ref: str | None
    title: str
    kind: TouchKind
    old_ref: str | None = None

    def row(self) -> dict[str, str | None]:
        """Return it with the keys of the interface."""
        return {"file": file_name(self.file), "ref": self.ref, "title": self.title, "kind": self.kind}


def subject(touched: Sequence[Touched]) -> Touched | None:
    """Return the entry that a change is about: not the journal note that a change of a task adds."""
    named = [one for one in touched if one.ref is not None]
    return next((one for one in named if not one.file.endswith("/journal.md")), named[0] if named else None)


class RecordedFile(NamedTuple):
    """One file of a recorded change; `before` and `after` are (size, hash), None where there was no file.

    `kept` is how many bytes of it are kept, None where they were thinned out; `mode` holds the permission bits of a
    file that was removed, None where they are not known.
    """

    path: str
    before: tuple[int, bytes] | None
    after: tuple[int, bytes] | None
    kept: int | None
    mode: int | None = None


class ChangeRecord(NamedTuple):
    """A change as the history lists it; the names are those of `Change`, `seq` is the order of all changes.

    `files` lists its files; where their bytes were thinned out, the change can no longer be undone. `touched` lists its
    entries; `named` says that the list is complete, else there were too many.
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
        """The files, as paths in the workspace."""
        return tuple(file.path for file in self.files)

    @property
    def kept(self) -> bool:
        """Whether the bytes of all its files are kept, so that it can be undone; a mere note has no files."""
        return bool(self.files) and all(file.kept is not None for file in self.files)

    @property
    def size(self) -> int:
        """How many bytes of files it keeps."""
        return sum(file.kept or 0 for file in self.files)


def is_by_place(actor: str, operation: str) -> bool:
    """Return whether an entry in the place of one that a change removed is the same entry with a new title.

    It is, after memdeck's operations on one entry. Other programs and operations on whole files may have removed one
    entry and added another.
    """
    return actor != OUTSIDE and operation not in ("revert", "merge")


class PlainReading:
    """Interprets the files of one store for the history; paths are relative to the store's root.

    This one reads Markdown without knowing what it is about; that of a system says more of its files.
    """

    own = False
    """Whether the store is the user's own memory: its changes are listed and taken back from any workspace."""
    writer = OUTSIDE
    """The actor of the changes that memdeck did not make."""

    def knows(self, path: str) -> bool:  # noqa: ARG002
        """Return whether changes of the file at a path can be undone: here of any file of the store."""
        return True

    def lasts(self, path: str) -> bool:  # noqa: ARG002
        """Return whether a path is that of a permanent file: that it is missing or empty is never intended."""
        return False

    def authored(self, path: str, data: bytes) -> bytes:  # noqa: ARG002
        """Return what people and agents wrote in a file, without what memdeck makes of that by itself."""
        return data

    def owner(self, path: str) -> str | None:  # noqa: ARG002
        """Return the agent whose own memory a file is: text of an unknown writer in it counts as its own."""
        return None

    def document(self, path: str, data: bytes) -> Document | None:
        """Return the document of a file's bytes, None for a file that has no sections and entries."""
        return parse(data) if path.endswith(".md") else None

    def line(self, path: str, line: bytes) -> tuple[str | None, str]:  # noqa: ARG002
        """Return the ref (None: it has none) and the title of one line of a file of lines."""
        return None, decode(line.rstrip(b"\r\n"))[:_TITLE]

    def ref(self, path: str, section: str | None, entry: Entry) -> str | None:  # noqa: ARG002
        """Return the ref of an entry by its file and the title of its section, None where it has none."""
        return None

    def stamp(self, document: Document, now: datetime) -> Document:  # noqa: ARG002
        """Return the document with the time of its change set to `now`, where the file says that."""
        return document


def touched_in(units: Sequence[Touched]) -> str:
    """Return a sentence about some entries, for a change without a summary."""
    if not units:
        return "changed"
    first = units[0]
    title = cut(first.title)
    more = f" and {len(units) - 1} more" if len(units) > 1 else ""
    return f"{first.kind} {title!r}{more}"


class _Named(Protocol):
    """What has an id."""

    @property
    def id(self) -> str:
        """The id, a ULID."""


N = TypeVar("N", bound=_Named)


def the_one(found: Sequence[N], begun: str, noun: str) -> N:
    """Return the one of some changes or proposals that an id or its beginning means.

    NotFoundError `….not_found`, AmbiguousError `….ambiguous`, by the noun.
    """
    text = begun.strip().upper()
    fitting = [one for one in found if text and one.id.startswith(text)]
    exact = [one for one in fitting if one.id == text]
    if len(exact) == 1 or len(fitting) == 1:
        return (exact or fitting)[0]
    code = "review" if noun == "proposal" else noun
    if not fitting:
        raise NotFoundError(f"{code}.not_found", f"no {noun} has the id {begun[:40]!r}", "list them", id=begun[:80])
    raise AmbiguousError(
        f"{code}.ambiguous",
        f"{len(fitting)} {noun}s have ids that begin with {text[:30]}",
        "write more of the id",
        candidates=[one.id for one in fitting],
    )
