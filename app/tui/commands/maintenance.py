"""Archive, prune and maintain: the operations of the command line, shown before anything moves."""

from __future__ import annotations

from memory.maintenance import operations

from .context import Context, Step
from .operations import call


def archive(context: Context) -> Step:
    """Archive tasks that were completed a while ago; shows its plan first."""
    return call(context, operations.archive, {"force": False})


def prune(context: Context) -> Step:
    """Move old journal entries to the archive; shows its plan first."""
    return call(context, operations.prune, {"force": False})


def maintain(context: Context) -> Step:
    """All maintenance rules at once, those of facts, agents and the project's state too; shows its plan first."""
    return call(context, operations.maintain, {"folder": None, "no_exec": True, "force": False})
