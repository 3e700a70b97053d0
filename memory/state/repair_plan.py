"""The plan of a repair: its steps, what files get, and what is kept aside."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from memory.errors import MemdeckError

from .checks.finding import Finding
from .files.model import Json
from .files.reading import StateFiles


@dataclass(frozen=True, slots=True)
class Mend:
    """One step of a repair: the file, what is done to it, and the codes of the findings that it answers."""

    file: str
    action: str
    why: str

    def json(self) -> Json:
        """Return it for programs."""
        return {"file": self.file, "action": self.action, "why": self.why}


@dataclass(slots=True)
class RepairPlan:
    """A repair: its steps, the bytes that files get (None: the file goes), and what is kept aside, by its name.

    `lost` are the ids of events that cannot be read in what is kept aside; `left` what no step answers.
    """

    steps: list[Mend] = field(default_factory=list)
    files: dict[str, bytes | None] = field(default_factory=dict)
    aside: list[tuple[str, bytes]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    left: list[Finding] = field(default_factory=list)

    @property
    def id(self) -> str:
        """What tells this plan from another: the hash of what it would write."""
        told = hashlib.sha256()
        for path, data in sorted(self.files.items()):
            told.update(repr((path, None if data is None else hashlib.sha256(data).hexdigest())).encode())
        return told.hexdigest()

    def json(self) -> Json:
        """Return it for programs."""
        return {"steps": [one.json() for one in self.steps], "left": [one.json() for one in self.left]}


def keep_aside(plan: RepairPlan, path: str, data: bytes) -> None:
    """Keep the bytes of a damaged file aside, under its own name."""
    if data:
        plan.aside.append((f"damaged/{path.replace('/', '+')}", data))


def write(plan: RepairPlan, path: str, data: bytes, action: str, why: str) -> None:
    """Plan the bytes of a file."""
    plan.files[path] = data
    plan.steps.append(Mend(path, action, why))


def archived_ids(memory: StateFiles, batch: str) -> list[str]:
    """Return the ids of the events of a batch, none where its manifest cannot be read."""
    try:
        ids: list[str] = memory.manifest(batch)["archivedEventIds"]
    except MemdeckError:
        return []
    return ids
