"""Many workspaces at once: one place to find, view and maintain them all. The files stay where they are."""

from __future__ import annotations

from .catalogue.central import CentralFleet
from .embedded import EmbeddedFleet
from .model import FleetHit, FleetHost, FleetWorkspace, WorkResult, WorkspaceOverview

Fleet = EmbeddedFleet | CentralFleet
"""The workspaces of this machine, or of many hosts; a broken one is reported as such and never stops the others."""

__all__ = [
    "CentralFleet",
    "EmbeddedFleet",
    "Fleet",
    "FleetHit",
    "FleetHost",
    "FleetWorkspace",
    "WorkResult",
    "WorkspaceOverview",
]
