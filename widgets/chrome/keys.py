"""Keys as widgets know them: their names, which of them act now, and the footer with their hints.

Also keys that wait: the prefix `g` for the next key, and priority keys for what was typed before them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual import events
from textual.binding import ActiveBinding, Binding
from textual.geometry import Size
from textual.keys import key_to_character
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from memory.base.safe_text import cell_width
from widgets.text.drawing import Drawing
from widgets.text.styled_text import Piece

if TYPE_CHECKING:
    from textual.app import App
    from textual.dom import DOMNode

    Mixin = Widget
else:
    # Textual uses the styles of the first base that is a widget.
    Mixin = object

GAP = 2
"""Cells between two hints."""

UNBOUND = "unbound"
"""The key of a binding without a key: no terminal sends it, and it is never shown."""

KEY_NAMES = {
    "escape": "Esc",
    "enter": "Enter",
    "space": "Space",
    "tab": "Tab",
    "shift+tab": "Shift+Tab",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "delete": "Del",
    "backspace": "Backspace",
    "up": "\u2191",
    "down": "\u2193",
    "left": "\u2190",
    "right": "\u2192",
    "shift+left": "Shift+\u2190",
    "shift+right": "Shift+\u2192",
    "slash": "/",
    "at": "@",
    "minus": "-",
    "plus": "+",
    "underscore": "_",
}
"""How keys are written where that differs from their name in a binding."""


@lru_cache(maxsize=512)
def key_name(key: str) -> str:
    """Return the name of a key as people write it: `Enter`, `?`, `ctrl+d`."""
    if key in KEY_NAMES:
        return KEY_NAMES[key]
    return (key_to_character(key) if len(key) > 1 and "+" not in key else None) or key


ARROWS = ("left", "right", "up", "down")


def name_of_keys(app: App[Any]) -> Callable[[str], str]:
    """The function that returns a binding's key as it is shown: arrows are words where only ASCII is shown."""
    glyphs = getattr(app, "glyphs", None)
    return _ascii_name if glyphs is not None and glyphs.name == "ascii" else key_name


def _ascii_name(key: str) -> str:
    return key if key in ARROWS else key_name(key)


def with_keys(text: str, app: App[Any]) -> str:
    """The text with each `{entry.add|a}` replaced by the current key of that binding, by default `a`.

    The application's `key_of(id)` returns the key; without that method the keys of the text are used.
    """
    key_of = getattr(app, "key_of", None)
    return re.sub(r"\{([\w.]+)\|(.+?)\}", lambda found: (key_of and key_of(found[1])) or found[2], text)


def own_bindings(owner: Widget, key: str) -> Sequence[Binding]:
    """The bindings of a key in one widget itself, with the keys that the user chose."""
    bindings = owner._bindings.copy()
    if keymap := owner.app._keymap:
        bindings.apply_keymap(keymap)
    return bindings.key_to_bindings.get(key, ())


def active_binding(screen: Screen[Any], key: str) -> ActiveBinding | None:
    """The active binding of a key, as in `screen.active_bindings`; None: there is none."""
    found: ActiveBinding | None = None
    for node, bindings in screen._modal_binding_chain:
        for binding in bindings.key_to_bindings.get(key, ()):
            if found is not None and (found.binding.priority or not binding.priority):
                continue
            state = screen.app._check_action_state(binding.action, node)
            if state is not False:
                found = ActiveBinding(node, binding, bool(state), binding.tooltip)
    return found


@lru_cache(maxsize=512)
def hint_width(keys: str, description: str) -> int:
    """Cells of the keys of a hint, and of a space and the description where it has one."""
    return cell_width(keys) + (1 + cell_width(description) if description else 0)


class Hint(NamedTuple):
    """One action that is available now: its binding's id, its first key as people write it, what it does.

    `name` identifies it among others, also without an id. `keys` are all keys with the same words, as they are drawn.
    """

    id: str
    name: str
    key: str
    keys: str
    description: str
    action: str
    node: DOMNode


def is_typing(focused: Widget | None) -> bool:
    """Whether the focused widget accepts characters as text."""
    if isinstance(focused, Input):
        return True
    # If it is not imported, there is no text area; importing it takes longer than drawing the first frame's footer. A
    # module that another thread is importing right now is in the table already, without its classes.
    area = getattr(sys.modules.get("textual.widgets._text_area"), "TextArea", None)
    return area is not None and isinstance(focused, area)


def hints_of(screen: Screen[object], bindings: Mapping[str, ActiveBinding], names: Mapping[str, str]) -> list[Hint]:
    """The hints of what the focused widget, its parents, the screen and the application can do now, one each.

    `bindings` are the active ones of the screen. While the person types in an editor, keys that would be typed are left
    out. `names` are the words of hints by binding id (empty: no hint); other bindings use their description.
    """
    hints: dict[tuple[str, str], Hint] = {}
    known: set[str] = set()
    typing, name_of = is_typing(screen.focused), name_of_keys(screen.app)
    for active in bindings.values():
        binding = active.binding
        if not active.enabled or binding.key == UNBOUND:
            continue
        words = names.get(binding.id or "")
        if words is None:
            words = binding.description if binding.show else ""
        name = binding.id or binding.action
        if not words or name in known:
            continue
        key = binding.key_display or name_of(binding.key)
        if typing and len(key) == 1 and not binding.priority:
            continue
        known.add(name)
        hint = Hint(binding.id or "", name, key, key, words, binding.action, active.node)
        if binding.group is not None:
            hint = hint._replace(description=binding.group.description)
            place = (str(id(active.node)), hint.description)
            if earlier := hints.get(place):
                hint = hint._replace(id=earlier.id, name=earlier.id or hint.action, keys=f"{earlier.keys}/{key}")
        else:
            place = (name, words)
        hints[place] = hint
    # In the order of the names, also those whose keys the person chose; what widgets have comes first.
    order = {name: place for place, name in enumerate(names)}
    return sorted(hints.values(), key=lambda hint: order.get(hint.id, -1))


LEAST = 2
"""How many hints of the place itself there are at least, before hints at the right end are left out."""


class KeyHints(Drawing, Widget):
    """One line of hints; those that do not fit as a whole are left out. A click on a hint runs its action.

    The screen's `hint_names`, if it has any, are the words of hints by binding id as of its last key update;
    """

    ALLOW_SELECT = False

    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-hints--key"}

    DEFAULT_CSS = """
    KeyHints {
        height: 1;
        background: $footer-background;
        color: $footer-description-foreground;
        & > .key-hints--key { color: $footer-key-foreground; text-style: bold; }
    }
    """

    def __init__(self, *, pinned: Iterable[str] = (), indent: int = 1, remark: str = "") -> None:
        """`pinned`: ids of bindings whose hints are at the right end; the first ones give way to other hints where room
        is short, the last one stays. `indent`: cells before all hints. `remark`: words after all hints, if they
        fit.
        """
        super().__init__()
        self._pinned = tuple(pinned)
        self._indent = indent
        self._remark = remark
        self._more = -1
        """Where the sign is drawn that there are more hints; -1: nowhere."""
        self._hints: list[Hint] = []
        self._places: list[tuple[int, int, Hint]] = []

    @property
    def hints(self) -> tuple[Hint, ...]:
        """The hints that are drawn, left to right."""
        self._lay_out(self.size.width)
        return tuple(hint for _, _, hint in self._places)

    def on_mount(self) -> None:
        """Follow the focus and the state of actions."""
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_updated, immediate=True)
        self._bindings_updated(self.screen)

    def _bindings_updated(self, screen: Screen[object]) -> None:
        # A screen below a dialog has its keys again, and finds them out, when the dialog closes.
        if not screen.is_active:
            return
        bindings = screen.active_bindings
        # Read behind the bindings, because the names come with the same key update.
        hints = hints_of(screen, bindings, getattr(screen, "hint_names", {}))
        if hints != self._hints:
            self._hints = hints
            self.refresh()

    def _lay_out(self, width: int) -> None:
        """Place the pinned hints at the right end, and as many others as fit before them."""
        by_id = {hint.id: hint for hint in self._hints}
        ends = [by_id[name] for name in self._pinned if name in by_id]
        others = [hint for hint in self._hints if hint not in ends]
        cells = {hint.name: hint_width(hint.keys, hint.description) + GAP for hint in self._hints}
        wanted = sum(cells[hint.name] for hint in others[:LEAST])
        while len(ends) > 1 and self._indent + wanted + sum(cells[hint.name] for hint in ends) > width:
            ends.pop(0)
        end = width - self._indent + GAP - sum(cells[hint.name] for hint in ends)
        self._places, self._more = [], -1
        x = self._indent
        for place, hint in enumerate(others):
            if x + cells[hint.name] - (0 if ends else GAP) > end - (2 if ends and place < len(others) - 1 else 0):
                self._more = x if ends else -1
                break
            self._places.append((x, x + cells[hint.name] - GAP, hint))
            x += cells[hint.name]
        x = max(x, end)
        for hint in ends:
            if x + cells[hint.name] - GAP <= width:
                self._places.append((x, x + cells[hint.name] - GAP, hint))
            x += cells[hint.name]

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002
        """Take all the width there is."""
        return container.width

    def render_line(self, y: int) -> Strip:
        """Draw the hints that fit."""
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        self._lay_out(width)
        parts = [self.draw((), min(self._indent, width))]
        x = sum(part.cell_length for part in parts)
        for start, _, hint in self._places:
            if start > x:
                sign = ("…" if self._more >= 0 else "").ljust(start - x)
                parts.append(self.draw((Piece(sign, "muted"),), start - x))
            parts.append(self._draw(hint.keys, hint.description))
            x = start + parts[-1].cell_length
        if self._remark and sum(part.cell_length for part in parts) + cell_width(self._remark) <= width:
            parts.append(self.draw((Piece(self._remark, "muted"),), cell_width(self._remark)))
        return Strip.join(parts).adjust_cell_length(width, self.rich_style)

    def _draw(self, keys: str, description: str) -> Strip:
        """Draw one hint and the gap after it, and cache it; most hints are the same from one entry to the next."""
        words = f" {description}" if description else ""
        key = self.draw((Piece(keys),), cell_width(keys), "key-hints--key")
        return Strip.join([key, self.draw((Piece(words),), cell_width(words) + GAP)])

    async def on_click(self, event: events.Click) -> None:
        """Run the action of the hint under the mouse."""
        for start, end, hint in self._places:
            if start <= event.x < end:
                event.stop()
                await self.app.run_action(hint.action, hint.node)
                return


def behind(queues: Sequence[MessagePump], do: Callable[[], object]) -> None:
    """Call `do` after what now waits in each of the queues, one queue after the other; closed queues are skipped."""
    for number, queue in enumerate(queues):
        if queue.call_later(behind, queues[number + 1 :], do):
            return
    do()


class GoPrefix(Mixin):
    """Mixin for focusable widgets with an `action_first`: `g` pressed twice calls it; add `go_binding(prefix)`."""

    _after_go = False

    if TYPE_CHECKING:

        def action_first(self) -> None: ...

    def action_go(self) -> None:
        """Begin a two-key sequence, or end it at the first row."""
        if self._after_go:
            self.action_first()
        self._after_go = not self._after_go

    async def on_key(self, event: events.Key) -> None:
        """Begin a sequence here: through the usual binding look-up, the next key of a burst would overtake it.

        Where the screen has `acts_at_once`, because nothing else there listens to keys, all keys of the widget act
        here: bubbling up to the application, from one widget to the next, costs more than moving a cursor.
        """
        own = [binding for binding in own_bindings(self, event.key) if not binding.priority]
        goes = any(binding.action == "go" for binding in own)
        self._after_go = self._after_go and goes
        if goes or getattr(self.screen, "acts_at_once", False):
            for binding in own:
                if await self.app.run_action(binding.action, self):
                    event.stop()
                    event.prevent_default()
                    return

    def on_blur(self) -> None:
        """End a sequence when the focus is lost."""
        self._after_go = False


def go_binding(prefix: str) -> Binding:
    """The binding of `g` with the id `<prefix>.go`."""
    return Binding("g", "go", "go to", show=False, id=f"{prefix}.go", tooltip="Press twice to go to the first row")
