"""Part: a piece of the application that does one kind of thing; the App only wires parts together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .app import MemdeckApp


class Part:
    """Holds on to the application; parts reach each other through it."""

    def __init__(self, app: MemdeckApp) -> None:
        """Keep the application."""
        self.app = app
