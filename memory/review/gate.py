"""The gate that every change of an agent passes, right before its files would move."""

from __future__ import annotations

from memory.storage.changes import Change, is_agent
from memory.storage.store import SharedLog


def pass_or_hold(change: Change, folder: str, log: SharedLog) -> None:
    """Return where a change may be made at once: any change that is not an agent's; else as `proposals.hold`."""
    if is_agent(change.actor):
        from .proposals import hold  # loads what a person's change does not need

        hold(change, folder, log)
