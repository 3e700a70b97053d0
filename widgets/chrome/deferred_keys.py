"""Keys that overtake: what a priority key does must wait for the letters that were typed before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.message_pump import MessagePump
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
    # Behind the keys, then behind the messages that the keys cause, then behind these on their way up to the screen.
    behind([editor, *(node for node in editor.ancestors_with_self if isinstance(node, Widget))], do)


def behind(queues: Sequence[MessagePump], do: Callable[[], object]) -> None:
    """Call `do` behind what now waits in one queue after the other; one that is closed already is passed over."""
    for number, queue in enumerate(queues):
        if queue.call_later(behind, queues[number + 1 :], do):
            return
    do()
