"""What accepting a proposal would do to the files as they are now: as planned, merged, or not without a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from memory.document.compare import is_lines, take_over
from memory.document.merge import Conflict, apply_mine, kind_of, merge
from memory.storage.changes import FileChange

from .model import ProposalClash, ProposalStanding

if TYPE_CHECKING:
    from memory.storage.shared_log import SharedLog

Side = Literal["proposal", "file", "before"]
Key = tuple[str, str, str]
Take = Callable[[ProposalClash], Side]
"""Tells which side of a conflict counts: the proposal's, what stands in the file, or what was there before both."""


def standing_of(
    together: SharedLog,
    files: Sequence[FileChange],
    read: Callable[[str], bytes | None],
    now: datetime,
    take: Take | None = None,
) -> ProposalStanding:
    """Return how a proposal stands; `read` gets a path as seen from the workspace and returns its bytes of now.

    With `take` conflicts are settled by it. Nothing is written.
    """
    found: list[FileChange] = []
    clashes: list[ProposalClash] = []
    reasons: list[str] = []
    states: set[str] = set()
    for file in files:
        current = read(file.path)
        if current == file.after:
            states.add("same")
        elif current == file.before:
            states.add("ready")
            found.append(FileChange(file.path, current, _stamped(together, file.path, file.after, now), file.mode))
        else:
            _merged(together, file, current, now, take, found, clashes, reasons)
            states.add("moved")
    if clashes or reasons:
        return ProposalStanding("conflict", (), tuple(clashes), tuple(reasons))
    if not found:
        return ProposalStanding("gone")
    if "same" in states:
        # A part of it was done in another way: to do the rest would put an entry in its place a second time.
        done = [file.path for file in files if file.path not in {one.path for one in found}]
        return ProposalStanding("conflict", (), (), tuple(f"{path}: it says so already" for path in done))
    return ProposalStanding("moved" if "moved" in states else "ready", tuple(found))


def _merged(
    together: SharedLog,
    file: FileChange,
    current: bytes | None,
    now: datetime,
    take: Take | None,
    found: list[FileChange],
    clashes: list[ProposalClash],
    reasons: list[str],
) -> None:
    """Merge a proposal into a file that moved on; what does not go together becomes a clash or a reason."""
    path, before, after = file.path, file.before, file.after
    if before is None:
        reasons.append(f"{path}: there is such a file now")
        return
    if current is None:
        reasons.append(f"{path}: the file is gone")
        return
    if after is None:
        reasons.append(f"{path}: the file was changed since")
        return
    if is_lines(path):
        data = take_over(before, after, current)
        if data is None:
            reasons.append(f"{path}: the same lines were changed since")
        elif data != current:
            found.append(FileChange(path, current, data, file.mode))
        return
    documents = [together.document(path, data) for data in (before, after, current)]
    base, ours, theirs = documents
    if base is None or ours is None or theirs is None:
        reasons.append(f"{path}: the file was changed since, and it is merged by hand only")
        return
    # The time of the change is not what anybody disagrees about.
    unstamped = [together.stamp(path, one, now) for one in (base, ours, theirs)]
    result = merge(unstamped[0], unstamped[1], unstamped[2], kind_of(path), strict=True)
    document = result.document
    for conflict in result.conflicts:
        clash = ProposalClash(path, conflict)
        if take is None:
            clashes.append(clash)
        elif (side := take(clash)) != "file":
            chosen = conflict if side == "proposal" else _before(conflict)
            document = apply_mine(document, chosen)
    if take is None and clashes:
        return
    if document.dump() not in (current, unstamped[2].dump()):
        found.append(FileChange(path, current, document.dump(), file.mode))


def _stamped(together: SharedLog, path: str, data: bytes | None, now: datetime) -> bytes | None:
    if data is None:
        return None
    document = together.document(path, data)
    return data if document is None else together.stamp(path, document, now).dump()


def _before(conflict: Conflict) -> Conflict:
    """Return a conflict that is settled by what was there before both."""
    return replace(conflict, clash=replace(conflict.clash, ours=conflict.clash.base))


def taking(side: Side | None) -> Take | None:
    """Return what settles all conflicts by one side, None where nothing does."""
    return None if side is None else lambda _: side


def taking_each(chosen: Mapping[Key, Side]) -> Take:
    """Return what settles each conflict by what a person chose for it; others stay as in the file."""
    return lambda clash: chosen.get(key_of(clash), "file")


def key_of(clash: ProposalClash) -> Key:
    """Return what tells a conflict from the others of its proposal."""
    return (
        clash.file,
        f"{clash.conflict.section}/{clash.conflict.entry}/{clash.conflict.spot.nth}",
        clash.conflict.field,
    )
