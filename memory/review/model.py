"""How a proposal stands to the files as they are now, and its form for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from memory.document.merge import Conflict
from memory.named_tuple import NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from memory.files.diff import ChangeView
    from memory.storage.changes import FileChange
    from memory.storage.review.proposals import Proposal

_MEMORY = ".aiter/memory/"
State = Literal["ready", "moved", "conflict", "gone", "decided"]
WORDS: dict[State, str] = {
    "ready": "the files are as the agent saw them",
    "moved": "the files moved on; both changes go together",
    "conflict": "the same was changed since",
    "gone": "what it would change is not there any more, or is so already",
    "decided": "somebody decided already",
}
"""How a proposal stands, in words."""


@dataclass(frozen=True, slots=True)
class ProposalClash:
    """One thing that a proposal and somebody else changed; `file` is as seen from the workspace."""

    file: str
    conflict: Conflict

    def json(self) -> dict[str, Any]:
        """Return it for programs: base, `ours` (the proposal) and `theirs` (the file now)."""
        return {"file": self.file.removeprefix(_MEMORY), **self.conflict.json()}


@dataclass(frozen=True, slots=True)
class ProposalStanding:
    """How a proposal stands: what accepting it would write, and what was changed on both sides.

    `files` have the bytes of now and those to write, with their paths as seen from the workspace.
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
    """A proposal that waits, as lists show it; `ref` is its id, `place` the folder that its files lie in where that is
    outside of the workspace.
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
        """Return what is listed of a proposal; files outside of the workspace are named from `home` on."""
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
    """What a proposal would do now, entry by entry, and whether it goes together with the files."""

    views: Sequence[ChangeView]
    standing: ProposalStanding


def place_words(place: str, home: Path | None) -> str:
    """Return a folder outside of the workspace as people write it; empty for the workspace itself."""
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
