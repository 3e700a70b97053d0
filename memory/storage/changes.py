"""What a transaction did: one change, with the bytes of every file before and after, and who made it."""

from __future__ import annotations

import os
from datetime import datetime

from memory.named_tuple import NamedTuple

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class FileChange(NamedTuple):
    """One file of a change: `path` relative to the store's root, None for bytes if there was no file.

    `mode` are the permission bits of a file that is removed, or those that a file that comes back is given.
    """

    path: str
    before: bytes | None
    after: bytes | None
    mode: int | None = None


class Change(NamedTuple):
    """One change as it was committed; `files` is empty when nothing was different.

    `id` is a ULID, `time` aware, `actor` one of `human`, `cli`, `maintain`, `agent:<name>`, `outside`.
    `undoes` and `redoes` name the change that this one takes back or brings back, `undone_by` the one that
    took this one back. `reviewer` accepted it and `proposal` is what waited for that, where it was reviewed.
    """

    id: str
    time: datetime
    actor: str
    operation: str
    summary: str
    files: tuple[FileChange, ...]
    undone_by: str | None = None
    undoes: str | None = None
    redoes: str | None = None
    reviewer: str | None = None
    proposal: str | None = None


SERIES = 22
"""How many characters of an id the parts of one series share; changes apart have other ones there."""


def part_id(now: datetime, series: bytes, number: int) -> str:
    """Return the id of one part of a change that is made in several transactions; `series` are 8 random bytes.

    The ids of all parts differ in what stands behind the first `SERIES` characters, by which they are found again.
    """
    return new_id(now, series[:8] + (number & 0xFFFF).to_bytes(2, "big"))


def new_id(now: datetime, randomness: bytes | None = None) -> str:
    """Return a ULID: 26 characters that sort by `now` (to the millisecond), then by 10 random bytes."""
    noise = os.urandom(10) if randomness is None else randomness
    number = (int(now.timestamp() * 1000) & (1 << 48) - 1) << 80 | int.from_bytes(noise[:10], "big")
    return "".join(_CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))


AGENT = "agent:"
"""What the name of an agent begins with."""
PERSONS = frozenset({"human", "cli"})
"""The names under which a person works."""
OWN = frozenset({"outside", "maintain", "monitor", "recover", "replay"})
"""The names of what memdeck does by itself, and notes of other programs."""


def is_agent(actor: str) -> bool:
    """Tell whether a name is one of an agent."""
    return actor.strip().casefold().startswith(AGENT)


def may_need_review(actor: str) -> bool:
    """Tell whether rules can hold for an actor: for all but the person and memdeck itself."""
    return actor not in PERSONS and actor not in OWN
