"""Merging as the memory files need it: whole files, single entries, and the error that carries the conflicts."""

from __future__ import annotations

from collections.abc import Iterable

from memory.document import Document, Entry
from memory.document.merge import Conflict, Merged, kind_of, merge
from memory.document.merge_bodies import Clash
from memory.document.merge_conflicts import Spot
from memory.document.merge_entries import merge_entry
from memory.errors import ConflictError

_SHOWN = 3


class MergeConflict(ConflictError):
    """Both sides changed the same; `details["conflicts"]` lists it for programs, nothing was written.

    For people who choose side by side, `merged` is the merge itself (its document keeps theirs, `apply_mine` puts
    ours) and `current` what stands in the file.
    """

    def __init__(self, name: str, merged: Merged, current: Document) -> None:
        """Say what conflicts in the file `name`."""
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
    from .refs import identity_hex

    known = spot.identity
    if spot.kind == "journal":
        from .journal import read_date, split_heading

        time, title = split_heading(spot.entry)
        known = (read_date(spot.section) or "", time or "", title)
    return f"{spot.kind}#{identity_hex(spot.kind, *known)}"


def merge_file(name: str, base: Document, ours: Document, current: Document) -> Merged:
    """Merge an edit of the file `name` (relative to the memory folder), made from `base`, into what is there now.

    Raises MergeConflict (`document.conflict`) where both sides changed the same.
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


def edit_conflict(title: str, clashes: Iterable[Clash], ref: str | None = None) -> ConflictError:
    """Return the error for what both sides changed in one entry.

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
