"""The main screen: header, sidebar, the pane that is open, and the hints of keys that mean something now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingsMap, BindingType
from textual.containers import Container, Horizontal
from textual.dom import DOMNode
from textual.geometry import Size
from textual.getters import query_one
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget

from widgets.chrome.compositor import Covered, SparseCompositor
from widgets.chrome.footer import UNBOUND, KeyHints, active_binding
from widgets.chrome.frame import Frame
from widgets.chrome.header import HeaderLine
from widgets.chrome.sidebar import Sidebar, SidebarEntry
from widgets.chrome.which_key import WhichKey
from widgets.input.editors import SafeText
from widgets.pane.base import Pane
from widgets.panes import PaneName

from .commands.conditions import Situation
from .keys.available import KeyState, hint_names, key_state, live_actions
from .keys.registry import ACTIONS, BY_ID, PINNED


def bindings() -> Iterator[Binding]:
    """The bindings of all actions; those without keys wait for one in `keys.toml`."""
    groups = {action.together: Binding.Group(action.together) for action in ACTIONS if action.together}
    for action in ACTIONS:
        yield Binding(
            ",".join(action.keys) or UNBOUND,
            f"app.do('{action.id}')",
            action.words,
            show=action.shown,
            id=action.id,
            tooltip=action.description,
            group=groups.get(action.together),
        )


LEAST_SIZE = (20, 6)
"""Columns and lines of the smallest terminal in which something can be done."""


class Body(Covered, Horizontal):
    """Sidebar and panes."""


class Panes(Covered, Container):
    """The panes, of which one is seen."""


class MainScreen(Screen[None]):
    """Where a person works. Wide terminals show everything; below 90 columns the sidebar has numbers and badges only,
    below 60 it is left out, and where not even a few rows have room the screen says so.
    """

    AUTO_FOCUS = ""
    acts_at_once = True
    """Keys of a list act in the list: between it and the application nothing else waits for them."""
    HORIZONTAL_BREAKPOINTS: ClassVar[list[tuple[int, str]]] = [  # type: ignore[misc]
        (0, "-single"),
        (60, "-numbers"),
        (90, "-stacked"),
        (110, "-wide"),
    ]

    DEFAULT_CSS: ClassVar[str] = """
    MainScreen {
        layout: vertical;
        background: $background;
        layers: usual above;
        & > #body { height: 1fr; }
        #sidebar-frame { width: 20; }
        Sidebar { width: 1fr; }
        #panes { width: 1fr; height: 1fr; }
        KeyHints { dock: bottom; }
        &.-numbers #sidebar-frame { width: 11; }
        &.-single #sidebar-frame { display: none; }
        #too-small { layer: above; width: 100%; height: 100%; background: $background; display: none; }
        &.-small #too-small { display: block; }
        &.-small #body, &.-small KeyHints, &.-small HeaderLine { display: none; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = list(bindings())

    def __init__(
        self, ready: Callable[[], None], path: str = "", pane: Pane | None = None, names: Sequence[PaneName] = ()
    ) -> None:
        """`ready` is called when everything stands and nothing is drawn yet; `path` is what the header says;
        `pane` the one that is there from the first frame on, `names` those of the sidebar.
        """
        super().__init__()
        self._compositor = SparseCompositor()
        self._ready = ready
        self._path = path
        self._pane = pane
        self._names = tuple(names)
        self._chain: tuple[object, list[tuple[DOMNode, BindingsMap]]] = (None, [])
        """The bindings from the focus to the application, and for which focus and which keys of a person."""
        self._keys: tuple[object, dict[str, ActiveBinding]] = (None, {})
        """What the keys mean, and in which state."""
        self._key_state: KeyState | None = None
        self._selected = 0
        """What the keys were asked about at the last look at them, and of how many selected entries."""

    focused = reactive[Widget | None](None, repaint=False)
    """What has the focus. Nothing on the screen itself shows it; Textual would draw all of it anew for each step."""

    takes_repaints = True
    """Whether widgets may say right now that they are to be drawn anew; see `widgets.text.drawing`."""

    header = query_one(HeaderLine)
    sidebar = query_one(Sidebar)
    panes = query_one("#panes", Container)
    hints = query_one(KeyHints)

    @property
    def _binding_chain(self) -> list[tuple[DOMNode, BindingsMap]]:
        """The bindings from the focus to the application; Textual copies all of them several times for each key."""
        focused = self.focused
        where = (focused, focused is not None and focused.loading, id(self.app._keymap))
        if self._chain[0] != where:
            self._chain = (where, super()._binding_chain)
        return self._chain[1]

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The keys that mean something now; Textual would ask for each key of an action whether it does.

        While nothing that decides about them changed, the same object.
        """
        app, chain = self.app, self._modal_binding_chain
        now = Situation(app)  # type: ignore[arg-type]
        self._key_state, self._selected = key_state(now), now.selected
        others = [
            app._check_action_state(binding.action, node)
            for node, bindings in chain
            for _, binding in bindings
            if node is not self or binding.id not in BY_ID
        ]
        state = (self._chain[0], self._key_state, others)
        if self._keys[0] != state:
            live, answers, found = live_actions(self._key_state), iter(others), dict[str, ActiveBinding]()
            for node, bindings in chain:
                for key, binding in bindings:
                    own = node is self and binding.id in BY_ID
                    means = binding.id in live if own else next(answers)
                    if means is not False and (
                        key not in found or (binding.priority and not found[key].binding.priority)
                    ):
                        found[key] = ActiveBinding(node, binding, bool(means), binding.tooltip)
            self._keys = (state, found)
        return self._keys[1]

    @property
    def hint_names(self) -> Mapping[str, str]:
        """What the footer calls the actions at the last look at the keys, by id; empty where it does not name one."""
        return {} if self._key_state is None else hint_names(self._key_state)

    @property
    def hint_lead(self) -> str:
        """What stands before the hints: how many entries they are about."""
        return f"{self._selected:,} selected" if self._selected else ""

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        """Lay out everything."""
        with self._without_repaints():
            super()._refresh_layout(size, scroll)

    def _compositor_refresh(self) -> None:
        """Draw what changed."""
        with self._without_repaints():
            super()._compositor_refresh()

    @contextmanager
    def _without_repaints(self) -> Iterator[None]:
        before, self.takes_repaints = self.takes_repaints, False
        try:
            yield
        finally:
            self.takes_repaints = before

    def on_mount(self) -> None:
        """Fill the first pane before the first frame is drawn."""
        self._ready()

    def on_key(self, event: events.Key) -> None:
        """Say why a key does nothing here that does something elsewhere."""
        if (active := active_binding(self, event.key)) is None or not active.enabled:
            self.app.explain_key(event.key)  # type: ignore[attr-defined]

    def compose(self) -> ComposeResult:
        """Header, sidebar and panes side by side, hints."""
        header = HeaderLine()
        header.path = self._path
        yield header
        with Body(id="body"):
            with Frame(classes="sidebar-frame") as frame:
                frame.id = "sidebar-frame"
                sidebar = Sidebar(
                    [SidebarEntry(pane.id, pane.key, pane.title, letter=pane.letter) for pane in self._names]
                )
                if self._pane is not None:
                    sidebar.show(self._pane.pane_id)
                yield sidebar
            with Panes(id="panes"):
                if self._pane is not None:
                    yield self._pane
        yield KeyHints(pinned=PINNED, late=True)
        yield WhichKey()
        yield SafeText("", id="too-small")

    def on_screen_resume(self) -> None:
        """A dialog was left."""
        self.app.main_screen_free()  # type: ignore[attr-defined]

    def on_resize(self, event: events.Resize) -> None:
        """Say so where there is no room for anything."""
        width, height = event.size
        small = width < LEAST_SIZE[0] or height < LEAST_SIZE[1]
        if small:
            self.query_one("#too-small", SafeText).say("Too small: memdeck needs {} x {}.".format(*LEAST_SIZE))
        self.set_class(small, "-small")
