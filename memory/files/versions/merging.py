"""Merging of memory files: whole files, single entries, and the error with the conflicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory.document import Document, Entry
from memory.document.merge import Conflict, MergeResult, kind_of, merge, reading, source
from memory.document.merge.entry import merge_entry
from memory.errors import ConflictError
from memory.files.journal.model import identity_of
from memory.files.journal.reading import read_date, split_heading
from memory.files.refs import identity_hex

_SHOWN = 3


class MergeConflict(ConflictError):
    """Both sides changed the same part; `details["conflicts"]` lists it for programs, nothing was written.

    For a side-by-side choice, `merged` is the merge itself, whose document keeps theirs, and `current` the document now
    in the file.
    """

    def __init__(self, name: str, merged: MergeResult, current: Document) -> None:
        """Build the message and details from the conflicts in the file `name`."""
        conflicts = merged.conflicts
        what = [f"{one.field} of {one.entry[:60]!r}" if one.entry else one.field for one in conflicts]
        shown = ", ".join(what[:_SHOWN]) + (f" and {len(what) - _SHOWN} more" if len(what) > _SHOWN else "")
        super().__init__(
            "document.conflict",
            f"another writer changed {shown} in {name} as well",
            "look at both versions and make the change again",
            file=name,
            fields=[one.field for one in conflicts],
            conflicts=[{**one.json(), "ref": _ref(one)} for one in conflicts],
        )
        self.merged = merged
        self.current = current


def _ref(conflict: Conflict) -> str | None:
    """Return the ref of a task or journal entry, in its short form."""
    if conflict.entry is None or conflict.kind not in ("tasks", "journal"):
        return None
    if conflict.kind == "journal":
        return f"journal#{identity_of(read_date(conflict.section), split_heading(conflict.entry))}"

    return f"tasks#{identity_hex('tasks', *conflict.identity)}"


def merge_file(name: str, base: Document, ours: Document, current: Document) -> MergeResult:
    """Merge an edit of the file `name` (relative to the memory folder), made from `base`, into its current version.

    Raises MergeConflict (`document.conflict`) where both sides changed the same part.
    """
    merged = merge(base, ours, current, kind_of(name))
    if merged.conflicts:
        raise MergeConflict(name, merged, current)
    return merged


def merge_changed_entry(base: Entry, ours: Entry, theirs: Entry, title: str) -> Entry:
    """Merge two versions of one entry that come from `base`; raises ConflictError `document.conflict` as edits do."""
    merged, conflicts = merge_entry(base, ours, theirs, theirs.newline)
    if conflicts:
        raise edit_conflict(title, conflicts)
    return merged


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between two versions of an entry, as shown to the user; None where a side has nothing."""

    conflict: Conflict
    base: str | None
    ours: str | None
    theirs: str | None

    @property
    def name(self) -> str:
        """The field's key, the row's key cell, else `title`, `text`, `entry`."""
        return self.conflict.field


@dataclass(frozen=True, slots=True)
class OpenEntry:
    """A merge of one entry that waits for the user: `settled` takes one answer for each of the `differences`."""

    base: Entry
    ours: Entry
    theirs: Entry
    differences: tuple[Difference, ...]

    def settled(self, answers: Sequence[str | None]) -> Entry:
        """Return the merged entry with the answers; UsageError where one would not stay in its entry."""
        chosen = {
            one.conflict: one.conflict.theirs if answer == one.theirs else source(one.conflict, answer)
            for one, answer in zip(self.differences, answers, strict=True)
        }
        return merge_entry(self.base, self.ours, self.theirs, self.theirs.newline, chosen.__getitem__)[0]


def open_entry(base: Entry, ours: Entry, theirs: Entry) -> OpenEntry:
    """Merge two versions of an entry as far as possible; what both changed becomes a difference."""
    _, conflicts = merge_entry(base, ours, theirs, theirs.newline)
    found = []
    for one in conflicts:
        found.append(Difference(one, *[reading(one.what, one.name, text) for text in (one.base, one.ours, one.theirs)]))
    return OpenEntry(base, ours, theirs, tuple(found))


def edit_conflict(title: str, clashes: Iterable[Conflict]) -> ConflictError:
    """Return the error for parts of one entry that both sides changed.

    `details` hold `fields` (each once) and `conflicts` (each with entry, what, field, base, ours, theirs).
    """
    conflicts = [clash._replace(entry=title) for clash in clashes]
    fields = list(dict.fromkeys(one.field for one in conflicts))
    return ConflictError(
        "document.conflict",
        f"another writer changed {', '.join(fields)} of {title[:60]!r} meanwhile",
        "look at it and make the change again",
        fields=fields,
        conflicts=[one.json() for one in conflicts],
    )
