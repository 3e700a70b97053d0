"""A proposal: what an agent wants to change, in words, in lists, and in its form for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from memory.base.clock import exact_utc
from memory.storage.changes import Touched, file_name

if TYPE_CHECKING:
    from memory.files.versions.diff import ChangeView
    from memory.storage.merging import MergedChange
    from memory.storage.merging import State as Standing

State = Literal["waiting", "accepted", "rejected"]
STATES: tuple[State, ...] = ("waiting", "accepted", "rejected")
WORDS: dict[Standing, str] = {
    "ready": "the files are as the agent saw them",
    "moved": "the files moved on; both changes go together",
    "conflict": "the same part was changed since",
    "gone": "the text to change is gone, or is changed so already",
    "decided": "already decided",
}
"""What accepting a proposal would meet, in words."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that waits, or waited, for a person; its bytes go when it is accepted, or a while after it is rejected.

    `kinds` say why it waits, `folder` is that of the store whose files it is about, as seen from the workspace, and so
    are all paths. `change_id` is the change that it became. `edited` says that a person changed it before. `place` is
    the folder that the paths count from where that is not the workspace; the record itself does not hold it.
    """

    id: str
    time: datetime
    actor: str
    operation: str
    summary: str
    kinds: tuple[str, ...]
    folder: str
    paths: tuple[str, ...]
    touched: tuple[Touched, ...]
    undoes: str | None = None
    redoes: str | None = None
    edited: bool = False
    decided_by: str | None = None
    decided_at: datetime | None = None
    note: str = ""
    change_id: str | None = None
    seq: int = 0
    state: State = "waiting"
    place: str = ""

    @property
    def waiting(self) -> bool:
        """Whether it is not decided yet."""
        return self.state == "waiting"

    @property
    def files(self) -> tuple[str, ...]:
        """The files by their names in the memory folder; those outside the workspace with their folder."""
        within = f"{self.place}/" if self.place else ""
        return tuple(f"{within}{file_name(path)}" for path in self.paths)


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
    first = subject(proposal.touched)
    files = [file_name(path) for path in proposal.paths]
    return {
        "id": proposal.id,
        "time": exact_utc(proposal.time),
        "actor": proposal.actor,
        "operation": proposal.operation,
        "file": file_name(first.file) if first else (files[0] if files else None),
        "ref": None if first is None else first.old_ref or first.ref,
        "summary": proposal.summary,
        "state": proposal.state,
        "kinds": list(proposal.kinds),
        "files": files,
        "store": proposal.place or None,
        "entries": entry_rows(proposal.touched),
        "edited": proposal.edited,
        "decidedBy": proposal.decided_by,
        "decidedAt": None if proposal.decided_at is None else exact_utc(proposal.decided_at),
        "note": proposal.note or None,
        "change": proposal.change_id,
    }


def subject(touched: Sequence[Touched]) -> Touched | None:
    """Return the entry that a change is about: not the journal note that a change of a task adds."""
    named = [one for one in touched if one.ref is not None]
    return next((one for one in named if not one.file.endswith("/journal.md")), named[0] if named else None)


def entry_rows(touched: Sequence[Touched]) -> list[dict[str, Any]]:
    """Return the entries of a change with the keys of the interface."""
    return [{"file": file_name(one.file), "ref": one.ref, "title": one.title, "kind": one.kind} for one in touched]
