"""Archive, prune and maintain: the operations of the command line, shown before anything moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.maintenance import operations

from .operations import call

if TYPE_CHECKING:
    from app.tui.spine import Spine


def archive(app: Spine) -> None:
    """Archive tasks that were completed a while ago; shows its plan first."""
    return call(app, operations.archive, {"force": False})


def prune(app: Spine) -> None:
    """Move old journal entries to the archive; shows its plan first."""
    return call(app, operations.prune, {"force": False})


def maintain(app: Spine) -> None:
    """All maintenance rules at once, those of facts, agents and the project's state too; shows its plan first."""
    return call(app, operations.maintain, {"folder": None, "no_exec": True, "force": False})
