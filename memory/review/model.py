"""A proposal in words, in lists, and in its form for programs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memory.files.diff import ChangeView
from memory.storage.log.merging import MergedChange, State
from memory.storage.review.proposals import Proposal

_MEMORY = ".aiter/memory/"
WORDS: dict[State, str] = {
    "ready": "the files are as the agent saw them",
    "moved": "the files moved on; both changes go together",
    "conflict": "the same part was changed since",
    "gone": "the text to change is gone, or is changed so already",
    "decided": "already decided",
}
"""The states of a proposal, in words."""


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
    standing: MergedChange


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
