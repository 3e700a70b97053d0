"""Keys that overtake: what a priority key does must wait for the letters that were typed before it."""

from __future__ import annotations

from collections.abc import Callable

from textual.screen import Screen
from textual.widget import Widget


def after_typing(screen: Screen[object], do: Callable[[], object]) -> None:
    """Call `do` when every key pressed so far stands in the focused editor, and what its change sets off is done.

    A priority binding runs as soon as its key comes in, while letters may still wait in the editor's queue; saving
    right away would save half a word.
    """
    editor = screen.focused
    if editor is None:
        do()
        return
    # Behind the keys, then behind the messages that the keys cause, then behind these on the screen.
    _chain([editor, editor, screen], do)


def _chain(queues: list[Widget], do: Callable[[], object]) -> None:
    if queues:
        queues[0].call_later(_chain, queues[1:], do)
    else:
        do()
