"""Shell: the terminal side of the application: messages in a corner, keys, threads, the clipboard.

Only handlers in the application's thread change state; another thread only finds out and reports.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from textual.app import App
from textual.events import Resize
from textual.message import Message

from memory.base.safe_text import visible
from memory.errors import MemdeckError
from memory.workspace import Workspace
from widgets.chrome.keys import key_name
from widgets.pane.base import Pane
from widgets.text.drawing import LateTimers
from widgets.text.fallback import plain_filters
from widgets.text.glyphs import ASCII, UNICODE, Glyphs
from widgets.text.theme import OWN, Depth

from .clipboard import LARGEST, find_tool, give_to_tool, safe_text
from .commands.table import BY_ID
from .keys.user_keys import Keymap
from .main_screen import MainScreen
from .state import State

ACTOR = "human"
"""The actor recorded for changes made in the application."""

Severity: TypeAlias = Literal["information", "warning", "error"]

Otherwise: TypeAlias = Callable[[MemdeckError], object]
"""What to do with an error instead of showing it."""

T = TypeVar("T")


@dataclass(eq=False, repr=False)
class ThreadReport(Message):
    """The result of a thread; `deliver` handles it in the application's thread."""

    deliver: Callable[[], object]


def known_error(error: Exception) -> MemdeckError:
    """Return an error that can be shown; an unexpected one by its type and its message."""
    if isinstance(error, MemdeckError):
        return error
    return MemdeckError("internal", f"{type(error).__name__}: {error}")


SLIM = 60
"""Terminals with fewer columns have messages as wide as themselves."""


class Destination(NamedTuple):
    """What to open instead of this workspace: a pane of it, and an entry (its file and ref)."""

    root: Path
    pane: str | None = None
    entry: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Setup:
    """How memdeck was started.

    `clock` returns the time; `pane`: the pane to open first (None: the one that was open last); `path`: where a
    workspace would be created; `depth`: how many colours the terminal shows; `watches`: whether changes from
    outside are looked for; `keeps_watch`: whether monitors, heartbeat and maintenance run while it is open (None:
    as `watches`); `remembers`: whether the state of the view is saved; `safe`: no command from memory files may
    run, even if it was approved; `hand_over`: gives the terminal to an editor (None: Textual's `suspend`); `entry`:
    the file and the ref of the entry to open first; `tells`: whether messages say what others do; `entered`: the
    terminal has the alternate screen already.
    """

    clock: Callable[[], datetime]
    pane: str | None = None
    path: str = "."
    environ: Mapping[str, str] | None = None
    glyphs: Glyphs = UNICODE
    depth: Depth = "truecolor"
    watches: bool = True
    keeps_watch: bool | None = None
    remembers: bool = True
    safe: bool = False
    hand_over: Callable[[], AbstractContextManager[None]] | None = None
    keymap: Keymap = field(default_factory=Keymap)
    entry: tuple[str, str] | None = None
    tells: bool = False
    entered: bool = False


class Shell(LateTimers, App[int]):
    """The messages, keys and panes of the application, and the terminal that shows them."""

    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = True
    TITLE = "memdeck"

    CSS = """
    Toast { width: auto; max-width: 60; padding: 0 1; margin-top: 0; background: $panel; border: round $border; }
    Toast.-warning { border: round $warning; }
    Toast.-error { border: round $error; }
    .-slim Toast { width: 60; max-width: 100%; border: none; border-left: outer $border; }
    ToastRack { margin-bottom: 1; }
    ModalScreen ToastRack { dock: top; align: right top; margin: 0; }
    ModalScreen Toast { border: none; border-left: outer $border; }
    JumpScreen ToastRack { dock: bottom; align: right bottom; margin: 0 0 1 0; }
    JumpScreen Toast { border: round $border; }
    .-depth-16 ModalScreen { background: $background 48%; }
    .-ascii Frame { border: ascii $border-blurred; }
    .-ascii Frame.-within { border: ascii $border; }
    .-ascii Frame.-within:nocolor { border: heavy $border; }
    .-ascii .dialog { border: ascii $border; }
    .-ascii .-flat > .dialog { border: none; }
    .-ascii Toast { border: ascii $border; }
    """

    main_screen: MainScreen
    """The main screen."""

    def __init__(self, workspace: Workspace | None, setup: Setup) -> None:
        """Show a workspace; None: there is none yet."""
        super().__init__()
        self.setup = setup
        self.clock = setup.clock
        self.keymap = setup.keymap
        if self.keymap.rebound:
            self.set_keymap(self.keymap.for_textual())
        self.environ: Mapping[str, str] = os.environ if setup.environ is None else setup.environ
        self.glyphs, depth = setup.glyphs, setup.depth
        self.set_class(self.glyphs is ASCII, "-ascii")
        self.add_class(f"-depth-{depth}")
        if self.glyphs is not UNICODE or self.no_color:
            self._filters = plain_filters(self, self.glyphs)
        self.state = State(workspace)
        for theme in OWN[depth]:
            self.register_theme(theme)
        # Set like this, the styles are read once, with these colours; assigning to it reads them all again.
        self.set_reactive(App.theme, OWN[depth][0].name)
        self.set_class(True, f"-theme-{self.theme}", "-dark-mode")
        self.stylesheet.set_variables(self.get_css_variables())

    @property
    def workspace(self) -> Workspace | None:
        """The workspace that is shown; None: there is none yet."""
        return self.state.workspace

    @property
    def depth(self) -> Depth:
        """How many colours the terminal shows, for widgets that draw differently in few colours."""
        return self.setup.depth

    @property
    def pane(self) -> Pane | None:
        """The pane that is open."""
        return self.state.open

    @property
    def shown_pane(self) -> Pane:
        """The pane that a command is done in."""
        assert self.state.open is not None
        return self.state.open

    @property
    def shown_workspace(self) -> Workspace:
        """The workspace that a command is done in."""
        assert self.workspace is not None
        return self.workspace

    @property
    def zone(self) -> tzinfo:
        """The workspace's time zone, as it was last read."""
        pane = self.state.open
        return UTC if pane is None else pane.zone

    def on_resize(self, event: Resize) -> None:
        """Fit messages to the new size: in few columns they are as wide as the screen, in few lines they go where there
        is room.
        """
        self.set_class(event.size.width < SLIM, "-slim")

    async def action_quit(self) -> None:
        """Leave, also by ctrl+q."""
        self.exit(0)

    def _fatal_error(self) -> None:
        """End without Textual's traceback: it shows the values of variables, and so the content of files."""
        self.bell()
        self._close_messages_no_wait()

    @property
    def failure(self) -> Exception | None:
        """The error that ended the application; None while it runs, and if the user left it."""
        return self._exception

    @property
    def ends(self) -> bool:
        """Whether it was left and its screens are being removed; messages and timers still arrive meanwhile."""
        return self._exit or (self._is_mounted and not self.is_running)

    def refresh_keys(self) -> None:
        """Update which keys are available."""
        for screen in self.screen_stack[-1:]:
            screen.refresh_bindings()

    def key_of(self, action_id: str) -> str:
        """Return the key of an action as it is written in texts; without one, the palette's key and what to search for
        there.
        """
        action = BY_ID[action_id]
        keys = self.keymap.keys(action_id, action.keys)
        return key_name(keys[0]) if keys else f"{self.key_of('app.palette')} {action.words}"

    @property
    def top(self) -> str | None:
        """The folder of the workspace, from which no program of this machine is taken; None without a workspace."""
        return None if self.workspace is None else str(self.workspace.root)

    def copy_to_clipboard(self, text: str) -> None:
        """Copy through the terminal, and through the desktop's clipboard program if one exists."""
        text = safe_text(text)
        if len(text) <= LARGEST:
            super().copy_to_clipboard(text)
        command = find_tool(self.environ, outside=self.top)
        if command is not None:
            self.work(lambda: give_to_tool(command, text, self.environ), group="clipboard", exclusive=True)

    def copy(self, text: str, said: str = "") -> None:
        """Copy a text to the clipboard, and say so."""
        self.copy_to_clipboard(text)
        if said:
            self.say(said)

    # Work in threads

    def work(
        self,
        work: Callable[[], T],
        then: Callable[[T], object] | None = None,
        failed: Callable[[MemdeckError], object] | None = None,
        *,
        group: str,
        exclusive: bool = False,
    ) -> None:
        """Run `work` in a thread; `then` gets its result, `failed` its error (default: a message), both in this thread.

        An `exclusive` worker cancels those of its group; without it they run beside each other.
        """

        def run() -> None:
            report: Callable[[], object] | None
            try:
                result = work()
                report = None if then is None else partial(then, result)
            except Exception as error:
                report = partial(failed or self.say_error, known_error(error))
            if report is not None:
                self.post_message(ThreadReport(report))

        self.run_worker(run, group=group, thread=True, exclusive=exclusive, exit_on_error=False)

    # Messages

    def say(
        self,
        text: str,
        *,
        title: str = "",
        severity: Severity = "information",
        seconds: float = 4,
        beside: bool = False,
    ) -> None:
        """Show a short message in a corner, replacing the one before; it may contain text from files.

        `beside` leaves the one before where it is: it may be the answer to a key, and this one was not asked for.
        """
        if not beside:
            self.clear_notifications()
            # Textual keeps their empty holders, below which the next message would be.
            for screen in self.screen_stack[-1:]:
                screen.query("ToastHolder").remove()
        self.notify(
            visible(text[:4000], newlines=True), title=visible(title), severity=severity, timeout=seconds, markup=False
        )

    def say_error(self, error: MemdeckError) -> None:
        """Say what could not be done, and what to do about it."""
        hint = error.hint
        if error.code.startswith("trust."):
            hint = f"{self.key_of('trust.review')} shows what it wants to run"
        words = f"{error.message}; {hint}" if hint else error.message
        self.say(words[:1].upper() + words[1:], severity="error")
