"""The footer: hints of the keys that mean something now, made from the live bindings."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual import events
from textual.binding import ActiveBinding
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from memory.base.safe_text import cell_width
from widgets.text.drawing import Drawing
from widgets.text.styled_text import Piece

if TYPE_CHECKING:
    from textual.app import App
    from textual.binding import Binding
    from textual.dom import DOMNode
    from textual.screen import Screen

GAP = 2
"""Cells between two hints."""

UNBOUND = "unbound"
"""The key of a binding that has none: no terminal sends it, and it is shown nowhere."""

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
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "semicolon": ";",
    "plus": "+",
    "minus": "-",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "comma": ",",
    "full_stop": ".",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "at": "@",
    "asterisk": "*",
    "ampersand": "&",
    "underscore": "_",
    "quotation_mark": '"',
}
"""How keys are written where their name in a binding is another."""


def key_name(key: str) -> str:
    """A binding's key as a person knows it, for example `Esc`, `?` or `ctrl+s`."""
    if key in KEY_NAMES:
        return KEY_NAMES[key]
    if "_" in key and "+" not in key:
        # Keys that a person chose; ours stand in the table.
        from textual.keys import key_to_character

        return key_to_character(key) or key
    return key


ARROWS = ("left", "right", "up", "down")


def shown_key(key: str, app: App[Any]) -> str:
    """A binding's key as it is shown in an application: arrows as words where there are only signs of ASCII."""
    glyphs = getattr(app, "glyphs", None)
    return key if key in ARROWS and glyphs is not None and glyphs.name == "ascii" else key_name(key)


def with_keys(text: str, app: App[Any]) -> str:
    """The text with each `{entry.add|a}` replaced by the key of that binding as it is now, by itself `a`.

    The application tells with `key_of(id)`; one that does not has the keys of the text.
    """
    key_of = getattr(app, "key_of", None)
    return re.sub(r"\{([\w.]+)\|(.+?)\}", lambda found: (key_of and key_of(found[1])) or found[2], text)


def live_keys(screen: Screen[object], owner: DOMNode) -> Iterator[tuple[str, Binding]]:
    """The keys that one part has by itself as they are now, those that a person chose included.

    `owner` is the screen, its focused widget, or one around that.
    """
    for node, bindings in screen._binding_chain:
        if node is owner:
            for key, found in bindings.key_to_bindings.items():
                yield from ((key, binding) for binding in found if key != UNBOUND)
            return


def own_bindings(screen: Screen[object], owner: DOMNode, key: str) -> Sequence[Binding]:
    """What a key means in one part by itself, as `live_keys` says of all keys."""
    found = next((bindings.key_to_bindings for node, bindings in screen._binding_chain if node is owner), {})
    return found.get(key, ())


def active_binding(screen: Screen[Any], key: str) -> ActiveBinding | None:
    """What a key means now, as `screen.active_bindings` says it of all keys; None: nothing."""
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
def _width(keys: str, description: str) -> int:
    return cell_width(keys) + (1 + cell_width(description) if description else 0)


class Hint(NamedTuple):
    """One action that can be done now: its binding's id, its first key as people write it, what it does.

    `before` are other keys of the same words, such as the one for the day before, and what each of them does.
    """

    id: str
    key: str
    description: str
    action: str
    node: DOMNode
    before: tuple[tuple[str, str], ...] = ()

    @property
    def keys(self) -> str:
        """All its keys, as they are drawn."""
        return "/".join([*[key for key, _ in self.before], self.key]) if self.before else self.key

    @property
    def width(self) -> int:
        """Cells of the keys, and of a space and the description where it has one."""
        return _width(self.keys, self.description)

    def action_at(self, x: int) -> str:
        """What a click on its cell `x`, from 0, does: the key's own, and on the words the last key's."""
        for key, action in self.before:
            if x < cell_width(key):
                return action
            x -= cell_width(key) + 1
        return self.action


def is_typing(focused: Widget | None) -> bool:
    """Whether the focused widget takes characters as text."""
    if isinstance(focused, Input):
        return True
    # Not imported means that there is none; importing it takes longer than drawing the first frame's footer. A module
    # that another thread is importing right now is in the table already, without its classes.
    area = getattr(sys.modules.get("textual.widgets._text_area"), "TextArea", None)
    return area is not None and isinstance(focused, area)


def hints_of(screen: Screen[object], bindings: Mapping[str, ActiveBinding], names: Mapping[str, str]) -> list[Hint]:
    """What the focused widget, its parents, the screen and the application can do now, one hint each.

    `bindings` are the active ones of the screen. While a person types in an editor, keys that would be typed are left
    out. `names` say by id what hints are called (empty: there is none); other bindings say it.
    """
    hints: dict[tuple[str, str], Hint] = {}
    known: set[str] = set()
    typing = is_typing(screen.focused)
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
        if binding.priority:
            # Where an editor has one of its keys as well, Textual's map does not begin with its first.
            keys = {key for key, one in bindings.items() if one.binding.id == name}
            binding = next((one for one in _own(active.node) if one.key in keys), binding)
        key = binding.key_display or shown_key(binding.key, screen.app)
        if typing and len(key) == 1 and not binding.priority:
            continue
        known.add(name)
        hint = Hint(binding.id or "", key, words, binding.action, active.node)
        if binding.group is not None:
            hint = hint._replace(description=binding.group.description)
            place = (str(id(active.node)), hint.description)
            if earlier := hints.get(place):
                hint = hint._replace(id=earlier.id, before=(*earlier.before, (earlier.key, earlier.action)))
        else:
            place = (name, words)
        hints[place] = hint
    if not screen.app._keymap:
        return list(hints.values())
    # Keys that a person chose come last in Textual's maps; hints stay in their order.
    order = {id(node): node for node in (hint.node for hint in hints.values())}
    ranks = {(key, binding.id): rank for key, node in order.items() for rank, binding in enumerate(_own(node))}
    nodes = {key: rank for rank, key in enumerate(order)}
    return sorted(hints.values(), key=lambda hint: (nodes[id(hint.node)], ranks.get((id(hint.node), hint.id), 0)))


def _name(hint: Hint) -> str:
    """Return what tells a hint from the others of a line."""
    return hint.id or hint.action


def _own(node: DOMNode) -> Iterator[Binding]:
    """The bindings of a node as they are by themselves, in their order."""
    for found in node._bindings.key_to_bindings.values():
        yield from found


class KeyHints(Drawing, Widget):
    """One line of hints; those that do not fit as a whole are left out. A click does what a hint says.

    The screen's `hint_names`, if it has them, say by id what hints are called at its last look at the keys; its
    `hint_lead`, if it has one, gives words before all, such as how many rows are selected.
    """

    ALLOW_SELECT = False

    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-hints--key", "key-hints--lead"}

    DEFAULT_CSS = """
    KeyHints {
        height: 1;
        background: $footer-background;
        color: $footer-description-foreground;
        & > .key-hints--key { color: $footer-key-foreground; text-style: bold; }
        & > .key-hints--lead { color: $accent; }
    }
    """

    def __init__(
        self,
        *,
        pinned: Iterable[str] = (),
        indent: int = 1,
        remark: str = "",
        late: bool = False,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        """`pinned`: ids of bindings whose hints stay at every width, the later ones without words where there is no
        room for these, nor for the first hint of another; `indent`: cells before all; `remark`:
        words behind all, where they have room; `late`: they come with the second frame, for finding them takes its
        time.
        """
        super().__init__(id=id, classes=classes)
        self._pinned = tuple(pinned)
        self._indent = indent
        self._remark = remark
        self._late = late
        self._lead = ""
        self._leads = False
        self._hints: list[Hint] = []
        self._asked: tuple[object, object] | None = None
        """The keys and names that the hints are made of: a screen gives the same objects while they are the same."""
        self._places: list[tuple[int, int, Hint]] = []
        self._strips: dict[tuple[str, str], Strip] = {}

    @property
    def hints(self) -> tuple[Hint, ...]:
        """The hints that are drawn, left to right."""
        self._lay_out(self.size.width)
        return tuple(hint for _, _, hint in self._places)

    def on_mount(self) -> None:
        """Follow the focus and the state of actions."""
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_updated, immediate=True)
        if self._late:
            self.call_after_refresh(self._begin)
        else:
            self._bindings_updated(self.screen)

    def _begin(self) -> None:
        self._late = False
        self._bindings_updated(self.screen)

    def _bindings_updated(self, screen: Screen[object]) -> None:
        if self._late:
            return
        bindings = screen.active_bindings
        # Beside the keys, for it is of the last look at them.
        names: Mapping[str, str] = getattr(screen, "hint_names", {})
        same = self._asked is not None and bindings is self._asked[0] and names is self._asked[1]
        self._asked = (bindings, names)
        hints = self._hints if same else hints_of(screen, bindings, names)
        lead = getattr(screen, "hint_lead", "")
        if (hints, lead) != (self._hints, self._lead):
            self._hints, self._lead = hints, lead
            self.refresh()

    def _lay_out(self, width: int) -> None:
        others = [hint for hint in self._hints if hint.id not in self._pinned]
        room = width - 2 * self._indent + GAP
        kept = {_name(hint): hint for hint in self._hints if hint.id in self._pinned}
        last_first = [name for name in reversed(self._pinned) if name in kept]
        room -= sum([hint.width + GAP for hint in kept.values()])

        def shorten(name: str) -> int:
            before = kept[name]
            kept[name] = before._replace(description="")
            return before.width - kept[name].width

        for name in last_first:
            if room < 0:
                room += shorten(name)
        if others and last_first:
            # What can be done here is worth more than the words of a key that means the same everywhere.
            over = others[0].width + GAP - room
            last = kept[last_first[0]]
            if len(last.keys) == 1 and 0 < over <= last.width - 1:
                room += shorten(last_first[0])
        lead = cell_width(self._lead) + GAP if self._lead else 0
        if others and room - lead < others[0].width + GAP:
            # What can be done counts more than what it is about, which the list says as well.
            lead = 0
        self._leads = bool(lead)
        left = room - lead
        for hint in others:
            left -= hint.width + GAP
            if left < 0:
                break
            kept[_name(hint)] = hint
        self._places = []
        x = self._indent + lead
        for hint in filter(None, [kept.get(_name(hint)) for hint in self._hints]):
            end = x + hint.width
            if end <= width:
                self._places.append((x, end, hint))
                x = end + GAP

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002
        """As wide as there is room."""
        return container.width

    def render_line(self, y: int) -> Strip:
        """The hints that fit."""
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        self._lay_out(width)
        self.settle_styles()
        parts = [self.draw((), min(self._indent, width))]
        if self._leads:
            parts.append(self.draw((Piece(self._lead),), cell_width(self._lead) + GAP, "key-hints--lead"))
        for _, _, hint in self._places:
            parts.append(self._drawn(hint.keys, hint.description))
        if self._remark and sum(part.cell_length for part in parts) + cell_width(self._remark) <= width:
            parts.append(self.draw((Piece(self._remark, "muted"),), cell_width(self._remark)))
        return Strip.join(parts).adjust_cell_length(width, self.rich_style)

    def _drawn(self, keys: str, description: str) -> Strip:
        """One hint and the cells behind it; most of them are the same from one entry to the next."""
        strip = self._strips.get((keys, description))
        if strip is None:
            words = f" {description}" if description else ""
            key = self.draw((Piece(keys),), cell_width(keys), "key-hints--key")
            strip = Strip.join([key, self.draw((Piece(words),), cell_width(words) + GAP)])
            self._strips[keys, description] = strip
        return strip

    def forget_strips(self) -> None:
        """Another theme: the colours of what was drawn go."""
        self._strips.clear()

    async def on_click(self, event: events.Click) -> None:
        """Do what the hint under the mouse says."""
        for start, end, hint in self._places:
            if start <= event.x < end:
                event.stop()
                await self.app.run_action(hint.action_at(event.x - start), hint.node)
                return
