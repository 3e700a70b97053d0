"""Merging of memory files: whole files, single entries, and the error with the conflicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.document.merge import Conflict, MergeResult, kind_of, merge
from memory.document.merge.apply import apply_to_entry
from memory.document.merge.conflicts import Spot, reading
from memory.document.merge.merge_entry import merge_entry
from memory.errors import ConflictError

if TYPE_CHECKING:
    from memory.document import Document, Entry
    from memory.document.merge.bodies import BodyClash

_SHOWN = 3


class MergeConflict(ConflictError):
    """Both sides changed the same part; `details["conflicts"]` lists it for programs, nothing was written.

    For a side-by-side choice, `merged` is the merge itself (its document keeps theirs, `apply_mine` applies ours) and
    `current` the document now in the file.
    """

    def __init__(self, name: str, merged: MergeResult, current: Document) -> None:
        """Build the message and details from the conflicts in the file `name`."""
        conflicts = merged.conflicts
        what = [f"{one.field} of {one.entry[:60]!r}" if one.entry else one.field for one in conflicts]
        shown = ", ".join(what[:_SHOWN]) + (f" and {len(what) - _SHOWN} more" if len(what) > _SHOWN else "")
        super().__init__(
            "document.conflict",
            f"somebody else changed {shown} in {name} as well",
            "look at both versions and make the change again",
            file=name,
            fields=[one.field for one in conflicts],
            conflicts=[{**one.json(), "ref": _ref(one.spot)} for one in conflicts],
        )
        self.merged = merged
        self.current = current


def _ref(spot: Spot) -> str | None:
    """Return the ref of a task or journal entry, in its short form."""
    if spot.entry is None or spot.kind not in ("tasks", "journal"):
        return None
    if spot.kind == "journal":
        from .journal.model import identity_of
        from .journal.reading import read_date, split_heading

        return f"journal#{identity_of(read_date(spot.section), split_heading(spot.entry))}"
    from .refs import identity_hex

    return f"tasks#{identity_hex('tasks', *spot.identity)}"


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
    merged = merge_entry(base, ours, theirs, theirs.newline)
    if merged.clashes:
        raise edit_conflict(title, merged.clashes)
    return merged.entry


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between two versions of an entry, as shown to the user; None where a side has nothing."""

    clash: BodyClash
    base: str | None
    ours: str | None
    theirs: str | None

    @property
    def name(self) -> str:
        """The field's key, the row's key cell, else `title`, `text`, `entry`."""
        return self.clash.name or self.clash.what


@dataclass(frozen=True, slots=True)
class OpenEntry:
    """A merge of one entry that waits for the user: `settled` takes one answer for each of the `differences`."""

    entry: Entry
    differences: tuple[Difference, ...]

    def settled(self, answers: Sequence[str | None]) -> Entry:
        """Return the entry with the answers applied; UsageError where one would not stay in its entry."""
        entry = self.entry
        for difference, answer in zip(self.differences, answers, strict=True):
            if answer != difference.theirs:
                entry = apply_to_entry(entry, difference.clash, answer)
        return entry


def open_entry(base: Entry, ours: Entry, theirs: Entry) -> OpenEntry:
    """Merge two versions of an entry as far as possible; what both changed becomes a difference."""
    merged = merge_entry(base, ours, theirs, theirs.newline)
    found = []
    for clash in merged.clashes:
        sides = [reading(clash.what, clash.name, text) for text in (clash.base, clash.ours, clash.theirs)]
        found.append(Difference(clash, *sides))
    return OpenEntry(merged.entry, tuple(found))


def edit_conflict(title: str, clashes: Iterable[BodyClash], ref: str | None = None) -> ConflictError:
    """Return the error for parts of one entry that both sides changed.

    `details` hold `fields` (each once), `conflicts` (each with entry, what, field, base, ours, theirs) and the `ref`
    where one is given.
    """
    conflicts = [
        Conflict(Spot("", entry=title), clash, f"both changed {clash.name or clash.what}") for clash in clashes
    ]
    fields = list(dict.fromkeys(one.field for one in conflicts))
    details = {"ref": ref} if ref is not None else {}
    return ConflictError(
        "document.conflict",
        f"somebody else changed {', '.join(fields)} of {title[:60]!r} meanwhile",
        "look at it and make the change again",
        fields=fields,
        conflicts=[one.json() for one in conflicts],
        **details,
    )
