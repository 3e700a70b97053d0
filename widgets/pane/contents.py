"""What a pane read in a worker."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from memory.errors import MemdeckError
    from memory.files.snapshot import Snapshot

    from .filter_cache import Sieve
    from .rows import Rows
    from .visible_rows import Order


class Contents(NamedTuple):
    """What a pane read in a worker, for `Pane.put`."""

    snapshot: Snapshot
    now: datetime
    zone: tzinfo
    rows: Rows
    remark: str = ""
    order: Order | None = None
    """The rows as they are sorted, where that is not their own order."""
    refusal: MemdeckError | None = None
    """Why a file of the pane cannot be read; its rows are missing then."""
    sieve: Sieve | None = None
    """The rows made ready for the filter; None: that is done when it is needed, or by `Pane.warm`."""
    beside: Any = None
    """What the pane worked out beside its rows, if it has anything of that kind; it is shown with them."""
