"""Which journal entries mention a task, a plan or a monitor: those that quote its title."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from memory.files.links import journal_naming, quoted
from memory.files.refs import fits

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot

    from .model import JournalEntry

_DIGITS = re.compile(r"[0-9a-f]{7,}")


def mentions(snapshot: Snapshot, title: str) -> tuple[JournalEntry, ...]:
    """Return the entries of journal.md that quote a title, the newest first."""
    return tuple(journal_naming(snapshot, title))


def digits_of(ref: str) -> str:
    """Return the part of a ref that a filter is given: `about:` and these digits."""
    return ref.rpartition("#")[2]


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


def names_in(entry: JournalEntry) -> tuple[str, ...]:
    """Return what an entry quotes: titles of tasks, plans and monitors, and what somebody said."""
    return tuple(quoted(entry.entry.text))
