"""Entries on their way from one memory to another: what an entry says, what was left behind, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Item:
    """One entry, free of the form of its file.

    `kind` is one of task, journal, contact, fact, decision, note, next-step, gotcha, or a word of its source. `where`
    is the file and line, for people. `fields` are texts under the names that memdeck gives them (`due`, `assigned`),
    else under those of the source, in its order; `created` and `tags` are understood, and stand in the fields too
    where the source has a form of its own for them.
    """

    kind: str
    title: str
    text: str = ""
    where: str = ""
    created: str = ""
    tags: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def what(self) -> str:
        """Where it is and what it is called, for a report."""
        return f"{self.where}: {self.title}" if self.where else self.title


class Skipped(NamedTuple):
    """An entry that does not come along, and why."""

    what: str
    reason: str


class Loss(NamedTuple):
    """A field of an entry that came along without it, and why."""

    what: str
    field: str
    reason: str


class Committed(NamedTuple):
    """What was written: the ids of the changes, and the items that were refused after all, each with the reason."""

    changes: Sequence[str]
    refused: Sequence[tuple[Item, str]] = ()


class Taken(NamedTuple):
    """What a memory makes of items: those that it takes, what it leaves out, and `commit`, which writes.

    Nothing is written before `commit` is called.
    """

    converted: Sequence[Item]
    skipped: Sequence[Skipped]
    losses: Sequence[Loss]
    commit: Callable[[], Committed]


NO_HOME = "it has no such field"


def losses_of(item: Item, known: Sequence[str], reason: str = NO_HOME) -> list[Loss]:
    """Return a loss for each field of an item that is not among the known ones."""
    return [Loss(item.what, key, reason) for key in item.fields if key not in known]
