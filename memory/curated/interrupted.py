"""What a crash interrupted, finished before anything else is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .control.replay import replay
from .dreaming.settle import settle

if TYPE_CHECKING:
    from datetime import datetime

    from .curated import Curated


def finish_interrupted(curated: Curated, now: datetime) -> None:
    """Finish the changes, decisions and dreams that a crash interrupted, unless another process is at work."""
    for side in curated.sides.values():
        side.store.recover()
        replay(side, now)
        settle(side, now)
