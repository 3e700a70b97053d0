"""What a pane read in a worker."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from memory.errors import MemdeckError
    from memory.files.snapshot import Snapshot

    from .rows import Rows


Order: TypeAlias = tuple[str, Sequence[Hashable]]
"""The name of a sort order and the keys in it."""


class Contents(NamedTuple):
    """What a pane read in a worker, for `Pane.put`."""

    snapshot: Snapshot
    now: datetime
    zone: tzinfo
    rows: Rows
    remark: str = ""
    order: Order | None = None
    """The sorted rows; None where they are in their own order."""
    refusal: MemdeckError | None = None
    """Why a file of the pane cannot be read; its rows are missing then."""
    beside: Any = None
    """Anything else that the pane computed to show with its rows; None where it has nothing."""
