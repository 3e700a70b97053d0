"""Entries that are converted from one memory to another: their content, what was lost, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Item(NamedTuple):
    """One entry, independent of the format of its file.

    `kind` is one of task, journal, contact, fact, decision, note, next-step, gotcha, or a word of its source. `where`
    is the file and line, for the user. `fields` are texts by memdeck's names (`due`, `assigned`), else by those of the
    source, in its order; `created` and `tags` are parsed, and are in `fields` too where the source has its own form for
    them. `raw` is the exact source of an entry of the memory files, for a target that is memory files too.
    """

    kind: str
    title: str
    text: str = ""
    where: str = ""
    created: str = ""
    tags: tuple[str, ...] = ()
    fields: Mapping[str, str] = {}
    raw: bytes = b""

    @property
    def what(self) -> str:
        """Its place and title, for a report."""
        return f"{self.where}: {self.title}" if self.where else self.title


class Skipped(NamedTuple):
    """An entry that is not converted, and why."""

    what: str
    reason: str


def skipped_text(where: str, text: str, reason: str) -> Skipped:
    """Return a text that is not converted, named by its place and its first words."""
    words = " ".join(text.split())
    return Skipped(f"{where}: {words if len(words) <= 60 else words[:59] + '…'}", reason)


class Loss(NamedTuple):
    """A field that was lost when its entry was converted, and why."""

    what: str
    field: str
    reason: str


class Committed(NamedTuple):
    """The result of a commit: the ids of the changes, and the items that were still refused, each with the reason."""

    changes: Sequence[str]
    refused: Sequence[tuple[Item, str]] = ()


class Taken(NamedTuple):
    """The conversion of items into a memory: the accepted items, the skipped ones, and `commit`, which writes.

    Nothing is written before `commit` is called.
    """

    converted: Sequence[Item]
    skipped: Sequence[Skipped]
    losses: Sequence[Loss]
    commit: Callable[[], Committed]


NO_HOME = "it has no such field"


def losses_of(item: Item, known: Sequence[str], reason: str = NO_HOME) -> list[Loss]:
    """Return a loss for each field of an item that is not in `known`."""
    return [Loss(item.what, key, reason) for key in item.fields if key not in known]


def comma_losses(item: Item) -> list[Loss]:
    """Return a loss for each tag with a comma, for memories that write tags with commas between them."""
    return [Loss(item.what, "tags", f"commas separate tags: {one!r} is several") for one in item.tags if "," in one]
