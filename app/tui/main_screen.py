"""The main screen: header, sidebar, the open pane, and the hints of the keys that are available now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Container, Horizontal
from textual.getters import query_one
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget

from widgets.chrome.frame import Frame
from widgets.chrome.header import HeaderLine
from widgets.chrome.keys import UNBOUND, KeyHints, active_binding
from widgets.chrome.sidebar import Sidebar, SidebarEntry
from widgets.input.editors import SafeText
from widgets.pane.base import Pane
from widgets.panes import GROUPS, PaneName
from widgets.text.drawing import LeanCompositor

from .commands.conditions import Situation
from .commands.table import BY_ID, COMMANDS, PINNED, hint_names


def bindings() -> Iterator[Binding]:
    """Yield the bindings of all commands, in the order of the footer."""
    for action in COMMANDS:
        keys = ",".join(action.keys) or UNBOUND
        yield Binding(keys, f"app.do('{action.id}')", action.words, show=action.shown, id=action.id)


def entry_of(pane: PaneName, count: int | None = None, *, alert: bool = False) -> SidebarEntry:
    """Return a pane's row in the sidebar."""
    return SidebarEntry(pane.id, pane.key, pane.title, count, alert, GROUPS.get(pane.key, ""))


class MainScreen(Screen[None]):
    """The screen the user works in. Wide terminals show everything. Below 60
    columns the sidebar is left out. If not even a few rows fit, the screen says so.
    """

    AUTO_FOCUS = ""
    acts_at_once = True
    """Keys of a list act in the list: no other widget between it and the application waits for them."""
    HORIZONTAL_BREAKPOINTS: ClassVar[list[tuple[int, str]]] = [  # type: ignore[misc]
        (0, "-single"),
        (60, "-narrow"),
        (90, "-stacked"),
        (110, "-wide"),
    ]
    VERTICAL_BREAKPOINTS: ClassVar[list[tuple[int, str]]] = [(24, "-tall")]  # type: ignore[misc]

    DEFAULT_CSS: ClassVar[str] = """
    MainScreen {
        layout: vertical;
        background: $background;
        layers: usual above;
        & > #body { height: 1fr; }
        #sidebar-frame { width: 22; }
        Sidebar { width: 1fr; }
        #sidebar-hint { display: none; padding-left: 2; color: $foreground-muted; }
        &.-tall #sidebar-hint { display: block; }
        #panes { width: 1fr; height: 1fr; }
        KeyHints { dock: bottom; }
        &.-narrow #sidebar-frame { width: 21; }
        &.-single #sidebar-frame { display: none; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = list(bindings())

    def __init__(
        self, ready: Callable[[], None], path: str = "", pane: Pane | None = None, names: Sequence[PaneName] = ()
    ) -> None:
        """`ready` is called when everything is mounted and nothing is drawn yet. `path` is what the header shows.
        `pane` is shown from the first frame on; `names` are the panes of the sidebar.
        """
        super().__init__()
        self._compositor = LeanCompositor()
        self._ready = ready
        self._path = path
        self._pane = pane
        self._names = tuple(names)
        self.hint_names: dict[str, str] = {}
        """The footer's name of each action by id, as of the last check of the keys; empty if it does not name it."""

    focused = reactive[Widget | None](None, repaint=False)
    """The focused widget. The screen itself does not show it; Textual would redraw all of it for each step."""

    header = query_one(HeaderLine)
    sidebar = query_one(Sidebar)
    panes = query_one("#panes", Container)
    hints = query_one(KeyHints)

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The bindings that are available; each condition is checked once for all commands."""
        now = Situation(self.app.state)  # type: ignore[attr-defined]
        live = self.hint_names = hint_names(now)
        found = dict[str, ActiveBinding]()
        for node, bindings in self._modal_binding_chain:
            for key, binding in bindings:
                own = binding.id in BY_ID and node in (self, self.app)
                means = binding.id in live if own else self.app._check_action_state(binding.action, node)
                if means is not False and (key not in found or (binding.priority and not found[key].binding.priority)):
                    found[key] = ActiveBinding(node, binding, bool(means), binding.tooltip)
        return found

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
        with Horizontal(id="body"):
            with Frame(classes="sidebar-frame") as frame:
                frame.id = "sidebar-frame"
                sidebar = Sidebar([entry_of(pane) for pane in self._names])
                if self._pane is not None:
                    sidebar.show(self._pane.pane_id)
                yield sidebar
                yield SafeText("Same digit again: the next pane", id="sidebar-hint")
            with Container(id="panes"):
                if self._pane is not None:
                    yield self._pane
        yield KeyHints(pinned=PINNED)

    def on_screen_suspend(self) -> None:
        """Hide the keys while a dialog has its own."""
        self.hints.visible = False

    def on_screen_resume(self) -> None:
        """A dialog was left."""
        self.hints.visible = True
        self.app.main_screen_free()  # type: ignore[attr-defined]
