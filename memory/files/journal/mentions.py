"""What a filter `about:` and the digits of a ref mean: the task, plan or monitor that journal entries quote."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from memory.files.refs import fits

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot

_DIGITS = re.compile(r"[0-9a-f]{7,}")


def subject(snapshot: Snapshot, digits: str) -> Any | None:
    """Return the task, plan or monitor whose ref has these digits (seven or more); None: nothing has, or no digits."""
    if _DIGITS.fullmatch(digits) is None:
        return None
    pools: tuple[Iterable[Any], ...] = (snapshot.tasks.tasks, snapshot.plans.plans, snapshot.monitors.monitors)
    for pool in pools:
        found = next((one for one in pool if fits(one, digits)), None)
        if found is not None:
            return found
    return None
