"""The standing of a proposal (how it relates to the current files), and its form for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from memory.storage.changes import FileChange

if TYPE_CHECKING:
    from pathlib import Path

    from memory.document.merge import Conflict
    from memory.files.diff import ChangeView
    from memory.storage.review.proposals import Proposal
    from memory.storage.store import SharedLog

_MEMORY = ".aiter/memory/"
State = Literal["ready", "moved", "conflict", "gone", "decided"]
WORDS: dict[State, str] = {
    "ready": "the files are as the agent saw them",
    "moved": "the files moved on; both changes go together",
    "conflict": "the same was changed since",
    "gone": "what it would change is not there any more, or is so already",
    "decided": "somebody decided already",
}
"""The states of a proposal, in words."""


@dataclass(frozen=True, slots=True)
class ProposalClash:
    """A part that both a proposal and another change modified; `file` is relative to the workspace."""

    file: str
    conflict: Conflict

    def json(self) -> dict[str, Any]:
        """Return it for programs: base, `ours` (the proposal) and `theirs` (the current file)."""
        return {"file": self.file.removeprefix(_MEMORY), **self.conflict.json()}


@dataclass(frozen=True, slots=True)
class ProposalStanding:
    """The standing of a proposal: what accepting it would write, and what was changed on both sides.

    `files` have the current bytes and those to write, with paths relative to the workspace.
    """

    state: State
    files: tuple[FileChange, ...] = ()
    clashes: tuple[ProposalClash, ...] = ()
    reasons: tuple[str, ...] = ()

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "state": self.state,
            "conflicts": [one.json() for one in self.clashes],
            "reasons": list(self.reasons),
        }


class WaitingProposal(NamedTuple):
    """A waiting proposal, as lists show it; `ref` is its id, `place` the folder of its files if that is outside the
    workspace.
    """

    ref: str
    time: datetime
    actor: str
    operation: str
    summary: str
    kinds: tuple[str, ...]
    files: tuple[str, ...]
    entries: tuple[str, ...]
    edited: bool
    place: str = ""

    @classmethod
    def of(cls, proposal: Proposal, home: Path | None = None) -> WaitingProposal:
        """Return the list form of a proposal; files outside the workspace are shown relative to `home`."""
        place = place_words(proposal.place, home)
        within = f"{place}/" if place else ""
        return cls(
            proposal.id,
            proposal.time,
            proposal.actor,
            proposal.operation,
            proposal.summary or proposal.operation,
            proposal.kinds,
            tuple(f"{within}{path.removeprefix(_MEMORY)}" for path in proposal.paths),
            tuple(f"{one.title} {one.ref or ''}" for one in proposal.touched),
            proposal.edited,
            place,
        )


class Judged(NamedTuple):
    """What a proposal would do now, entry by entry, and whether it is compatible with the files."""

    views: Sequence[ChangeView]
    standing: ProposalStanding


def place_words(place: str, home: Path | None) -> str:
    """Return a folder outside the workspace in display form; empty for the workspace itself."""
    if home is not None and place.startswith(f"{home}/"):
        return f"~{place.removeprefix(str(home))}"
    return place


def row(proposal: Proposal) -> dict[str, Any]:
    """Return a proposal under the keys of the interface; `file` and `ref` are those of its first entry."""
    named = [one for one in proposal.touched if one.ref is not None]
    first = next((one for one in named if not one.file.endswith("/journal.md")), named[0] if named else None)
    files = [path.removeprefix(_MEMORY) for path in proposal.paths]
    return {
        "id": proposal.id,
        "time": proposal.time.isoformat().replace("+00:00", "Z"),
        "actor": proposal.actor,
        "operation": proposal.operation,
        "file": first.file.removeprefix(_MEMORY) if first else (files[0] if files else None),
        "ref": None if first is None else first.old_ref or first.ref,
        "summary": proposal.summary,
        "state": proposal.state,
        "kinds": list(proposal.kinds),
        "files": files,
        "store": proposal.place or None,
        "entries": [
            {"file": one.file.removeprefix(_MEMORY), "ref": one.ref, "title": one.title, "kind": one.kind}
            for one in proposal.touched
        ],
        "edited": proposal.edited,
        "decidedBy": proposal.decided_by,
        "decidedAt": None if proposal.decided_at is None else proposal.decided_at.isoformat().replace("+00:00", "Z"),
        "note": proposal.note or None,
        "change": proposal.change_id,
    }


# -- the effect of accepting a proposal ---------------------------------------------------------------------------

Side = Literal["proposal", "file", "before"]
Key = tuple[str, str, str]
Take = Callable[[ProposalClash], Side]
"""Returns which side of a conflict counts: the proposal, the current file, or the version before both."""


def standing_of(
    together: SharedLog,
    files: Sequence[FileChange],
    read: Callable[[str], bytes | None],
    now: datetime,
    take: Take | None = None,
) -> ProposalStanding:
    """Return the standing of a proposal; `read` gets a path relative to the workspace and returns its current bytes.

    `take` settles conflicts if given. Nothing is written.
    """
    found: list[FileChange] = []
    clashes: list[ProposalClash] = []
    reasons: list[str] = []
    states: set[str] = set()
    for file in files:
        current = read(file.path)
        if together.derived(file.path):
            found += _derived(file, current)
        elif current == file.after:
            states.add("same")
        elif current == file.before:
            states.add("ready")
            found.append(FileChange(file.path, current, _stamped(together, file.path, file.after, now), file.mode))
        else:
            states.add("moved")
            match _merged(together, file, current, now, take):
                case str() as why:
                    reasons.append(f"{file.path}: {why}")
                case bytes() as data:
                    found.append(FileChange(file.path, current, data, file.mode))
                case both:
                    clashes += both
    if clashes or reasons:
        return ProposalStanding("conflict", (), tuple(clashes), tuple(reasons))
    if not states & {"ready", "moved"}:
        return ProposalStanding("gone")
    if "same" in states:
        # A part of it was already done in another way: doing the rest would add an entry a second time.
        written = {one.path for one in found}
        done = [file.path for file in files if file.path not in written and not together.derived(file.path)]
        return ProposalStanding("conflict", (), (), tuple(f"{path}: it says so already" for path in done))
    return ProposalStanding("moved" if "moved" in states else "ready", tuple(found))


def _derived(file: FileChange, current: bytes | None) -> list[FileChange]:
    """Return a file made from others as it is after a proposal: with its lines, or as it is where they do not fit."""
    from memory.document.compare import take_over

    data = file.after
    if current != file.before:
        data = take_over(file.before or b"", file.after or b"", current or b"")
        if data is None:
            return []
    return [] if data == current else [FileChange(file.path, current, data or None, file.mode)]


def _merged(
    together: SharedLog, file: FileChange, current: bytes | None, now: datetime, take: Take | None
) -> bytes | str | list[ProposalClash]:
    """Return a file that changed since with the proposal merged into it; why that cannot be done; or the parts that
    both changed, none where there is nothing left to do.
    """
    from memory.document.compare import is_lines, take_over
    from memory.document.merge import apply_mine, kind_of, merge

    path, before, after = file.path, file.before, file.after
    if before is None:
        return "there is such a file now"
    if current is None:
        return "the file is gone"
    if after is None:
        return "the file was changed since"
    if is_lines(path):
        data = take_over(before, after, current)
        if data is None:
            return "the same lines were changed since"
        return data if data != current else []
    base, ours, theirs = (together.document(path, data) for data in (before, after, current))
    if base is None or ours is None or theirs is None:
        return "the file was changed since, and it is merged by hand only"
    # Different times of the change are no conflict.
    base, ours, theirs = (together.stamp(path, one, now) for one in (base, ours, theirs))
    result = merge(base, ours, theirs, kind_of(path), strict=True)
    clashes = [ProposalClash(path, conflict) for conflict in result.conflicts]
    if take is None and clashes:
        return clashes
    document = result.document
    for clash in clashes:
        if take is not None and (side := take(clash)) != "file":
            document = apply_mine(document, clash.conflict if side == "proposal" else _before(clash.conflict))
    merged = document.dump()
    return merged if merged not in (current, theirs.dump()) else []


def _stamped(together: SharedLog, path: str, data: bytes | None, now: datetime) -> bytes | None:
    if data is None:
        return None
    document = together.document(path, data)
    return data if document is None else together.stamp(path, document, now).dump()


def _before(conflict: Conflict) -> Conflict:
    """Return a conflict settled with the version before both."""
    return replace(conflict, clash=replace(conflict.clash, ours=conflict.clash.base))


def taking(side: Side | None) -> Take | None:
    """Return a function that settles all conflicts by one side, None if no side is given."""
    return None if side is None else lambda _: side


def taking_each(chosen: Mapping[Key, Side]) -> Take:
    """Return a function that settles each conflict by the person's choice for it; others stay as in the file."""
    return lambda clash: chosen.get(key_of(clash), "file")


def key_of(clash: ProposalClash) -> Key:
    """Return a key that is unique among the conflicts of a proposal."""
    return (
        clash.file,
        f"{clash.conflict.section}/{clash.conflict.entry}/{clash.conflict.spot.nth}",
        clash.conflict.field,
    )
