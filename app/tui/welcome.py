"""The first start in a folder without memory: create it here, open a demo, or leave."""

from __future__ import annotations

import os
from collections.abc import Hashable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from memory.errors import MemdeckError
from memory.storage.own_folders import home, state_home
from memory.workspace import Workspace
from widgets.dialogs.dialogs import DIALOG_CSS, Dialog
from widgets.input.editors import SafeText
from widgets.list.line_list import LineList
from widgets.text.styled_text import Line, Piece, line

from .shell import Shell

CREATE, DEMO = "create", "demo"


class StartScreen(Dialog, ModalScreen[str | None]):
    """Says what is missing and offers to create it; returns `create`, `demo`, or None."""

    DEFAULT_CSS: ClassVar[str] = f"""
    StartScreen {{
        {DIALOG_CSS}
        background: $background;
        & > .dialog {{ max-width: 64; padding: 1 2; }}
        &.-low > .dialog {{ padding: 0 1; }}
        LineList {{ height: auto; margin: 1 0; }}
        &.-low LineList {{ margin: 0; }}
    }}
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "choose('create')", "create", id="start.create", tooltip="Create the memory files here"),
        Binding("d", "choose('demo')", "demo", id="start.demo", tooltip="Open a sample workspace"),
        Binding("q,escape", "leave", "quit", id="start.leave", tooltip="Leave memdeck"),
    ]

    heading = "No memory here yet"

    def __init__(self, path: str) -> None:
        """`path`: the folder that holds no memory."""
        super().__init__()
        self._path = os.path.abspath(path)
        self._words: dict[Hashable, tuple[str, str]] = {
            CREATE: ("Create it here", "seven files in .aiter/memory"),
            DEMO: ("Look at a demo", "a sample in a temporary folder"),
        }

    def parts(self) -> ComposeResult:
        """Yield the problem, and the choices."""
        yield SafeText(f"There is no .aiter/memory in {self._path} or above it.")
        yield LineList(self._draw, tuple(self._words), classes="dialog--body")

    def on_mount(self) -> None:
        """Focus the choices at once."""
        self.query(LineList).focus()

    def _draw(self, key: Hashable, width: int) -> Line:  # noqa: ARG002
        title, words = self._words[key]
        return line(Piece(title, "strong"), Piece(f"  {words}", "muted"))

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Choose with Enter."""
        event.stop()
        self.dismiss(str(event.key))

    def action_choose(self, choice: str) -> None:
        """Choose with a key."""
        self.dismiss(choice)


def make(app: Shell, choice: str) -> Workspace | None:
    """Create the workspace that was chosen. Return None, with a message, if that fails."""
    now = app.clock()
    try:
        if choice == CREATE:
            state, own = state_home(app.environ), home(app.environ)
            return Workspace.init(app.setup.path, now, actor="human", state_home=state, home=own)[0]
        from app.demo.workspace import make_demo

        return make_demo(None, now, app.environ, actor="human")[0]
    except MemdeckError as error:
        app.say_error(error)
        return None
