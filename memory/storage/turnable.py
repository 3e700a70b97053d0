"""What can be undone and redone: asked before a key is offered, without changing anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .history import _STANDS

if TYPE_CHECKING:
    from .history import History


def turnable(history: History, actor: str) -> tuple[bool, bool]:
    """Return whether `undo` and `redo` would find a change of this actor; both False where the log cannot be read.

    Whether it can be taken back is another question, which only trying answers.
    """
    return bool(history._own(actor, 1, _STANDS)), history._undone(actor) is not None
