"""A snapshot of the project state for panes: its content, its problems, and the events that a recall would take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from typing import NamedTuple, TypeVar

from memory.errors import MemdeckError

from .diff import SectionDiff, diff_bundles
from .files.model import Json
from .files.reading import StateFiles
from .status import Status, status_of

STATE_NAME = "state"
"""The name that selects the bundle of the state instead of a checkpoint."""
T = TypeVar("T")


class CheckpointLine(NamedTuple):
    """A checkpoint in a list, without its bundle; `why` says why it cannot be read."""

    id: str
    created: str = ""
    event: str | None = None
    summary: str = ""
    why: str = ""

    def json(self) -> Json:
        """Return it for programs."""
        names = {"createdAt": self.created, "eventId": self.event, "summary": self.summary}
        return {"id": self.id, **names, "problem": self.why or None}


class StateLook:
    """A snapshot; it reads a file when first needed. The error of what cannot be read is in `problem`."""

    def __init__(self, memory: StateFiles, key: object) -> None:
        """`key` distinguishes snapshots of different file versions."""
        self.memory = memory
        self.key = key
        self.problem: MemdeckError | None = None
        """Why the state or its history cannot be read, None where they can."""
        try:
            _ = memory.state, memory.events, memory.config, memory.sources
        except MemdeckError as error:
            self.problem = error
        self.state: Json | None = _read(lambda: memory.state, None)
        """The state, None where it cannot be read."""
        self.bundle: Json | None = None if self.state is None else self.state["bundle"]
        self.events: Sequence[Json] = _read(lambda: memory.found_events.items, ())
        """The events that can be read, the oldest first."""
        self.sources: list[Json] = _read(lambda: memory.sources, [])
        self.backlog: Sequence[Json] = () if self.problem else memory.unrecalled()
        """The events that were not recalled yet."""

    @cached_property
    def checkpoints(self) -> Sequence[CheckpointLine]:
        """The checkpoints, the newest first."""
        return checkpoint_lines(self.memory)

    def diff(self, before: str, after: str) -> tuple[SectionDiff, ...]:
        """Return the diff of two checkpoints by their ids, section by section; `state` names the present bundle."""
        return diff_of(self.memory, before, after)

    def status(self, now: datetime) -> Status:
        """Return the status at an aware time; errors as `status_of`."""
        return status_of(self.memory, now, work=True)


def _read(read: Callable[[], T], other: T) -> T:
    with suppress(MemdeckError):
        return read()
    return other


def checkpoint_lines(memory: StateFiles) -> Sequence[CheckpointLine]:
    """Return the checkpoints for a list, the newest first."""
    lines = []
    for name in reversed(memory.checkpoint_ids):
        try:
            one = memory.checkpoint(name)
            lines.append(CheckpointLine(name, one["createdAt"], one["eventId"], one["summary"]))
        except MemdeckError as error:
            lines.append(CheckpointLine(name, why=error.message))
    return lines


def diff_of(memory: StateFiles, before: str, after: str) -> tuple[SectionDiff, ...]:
    """Return the diff of two checkpoints, in the order of the sections; NotFoundError `state.checkpoint.missing`."""
    bundles = [memory.bundle if one == STATE_NAME else memory.checkpoint(one)["bundle"] for one in (before, after)]
    return diff_bundles(*bundles)
