"""What an operation on memory files gives back: new documents, a sentence, and the entry it was about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memory.named_tuple import NamedTuple

if TYPE_CHECKING:
    from memory.document import Document, Entry


class Edit(NamedTuple):
    """A change that is not made yet; `Workspace.change` writes it.

    `documents` maps file names relative to the memory folder (`tasks.md`, `archive/tasks-2024-01.md`) to their
    new content, in the order in which they are to be put in place: a file that receives an entry before the one
    that loses it. `summary` is one line for people, `ref` the entry that a caller goes on with (None: none), `entry`
    that entry itself where it is at hand: it is found again among many without working out their refs. `moves`
    says that entries only change files, which was counted: nothing comes that did not stand in one of them.
    """

    documents: Mapping[str, Document]
    summary: str
    ref: str | None = None
    entry: Entry | None = None
    moves: bool = False
