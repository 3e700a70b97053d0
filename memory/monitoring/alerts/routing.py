"""Which way a notification would go now: the channels in the order in which they are tried, and what each could do.

The decision is that of `read_route` and of quiet hours, which messages really go by. Addresses are secrets: nothing of
them is kept here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from .channels import read_route
from .windows import ends_at

if TYPE_CHECKING:
    from memory.files.contacts.model import Channel as Row
    from memory.files.snapshot import Snapshot

    from .channels import Addresses


@dataclass(frozen=True, slots=True)
class RouteStep:
    """One channel of the way, by id and name; `why` says why nothing can be sent there, empty where it can."""

    id: str
    name: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Reach:
    """The way of a notification: `steps` in the order of trying, `quiet` until when (UTC) all but urgent ones wait."""

    steps: tuple[RouteStep, ...] = ()
    quiet: datetime | None = None
    problems: tuple[str, ...] = ()

    @property
    def usable(self) -> tuple[RouteStep, ...]:
        """The channels that would take a message: the first is used, the others are what it falls back to."""
        return tuple(step for step in self.steps if not step.why)

    @property
    def first(self) -> RouteStep | None:
        """The channel that a message would go by."""
        return next(iter(self.usable), None)

    @property
    def fallback(self) -> RouteStep | None:
        """The channel that is tried when the first does not take it."""
        return next(iter(self.usable[1:]), None)

    def step(self, row: Row) -> RouteStep | None:
        """Return the step that a channel of contacts.md is; None: it is not on the way."""
        return next((one for one in self.steps if one.id == row.id or (not row.id and one.name == row.name)), None)


def reach_of(snapshot: Snapshot, addresses: Addresses, now: datetime) -> Reach:
    """Return the way that a notification would go at a moment; reads the person's file of addresses, never fails."""
    route = read_route(snapshot, addresses)
    steps = tuple(RouteStep(channel.id, channel.name, channel.why) for channel in route.channels)
    return Reach(steps, ends_at(route.quiet, now, snapshot.zone), route.problems)
