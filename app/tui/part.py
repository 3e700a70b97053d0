"""Part: a piece of the application that does one kind of thing. It gets the parts below it when it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .shell import Shell


class Part:
    """Builds on the shell; `MemdeckApp` makes every part and tells it which others it may use."""

    def __init__(self, app: Shell) -> None:
        """Keep the shell."""
        self.app = app
