"""Modal: what all modal screens share, whatever they show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen

if TYPE_CHECKING:
    Mixin = ModalScreen[Any]
else:
    Mixin = object


class Modal(Mixin):
    """Mixin of modal screens: whoever leaves one twice, with two keys in one burst, leaves nothing below it."""

    letters_leave: ClassVar[bool] = False
    """Whether a letter may leave the screen; what is typed behind it then waits until that is clear."""

    def dismiss(self, result: object = None) -> AwaitComplete:
        """Leave with a result, unless that is done. Textual would take the screen below away, and end."""
        return super().dismiss(result) if self.is_active else AwaitComplete.nothing()  # type: ignore[no-untyped-call]
