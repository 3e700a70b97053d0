"""Shell: the terminal side of the application, which every part builds on: messages, keys, clipboard, the open panes.

It knows no part; `MemdeckApp` adds them.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime, tzinfo
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from textual.app import App
from textual.events import Resize

from memory.base.safe_text import visible
from memory.errors import MemdeckError
from widgets.chrome.footer import key_name
from widgets.panes import PaneName, all_panes, panes_for
from widgets.text.depth import OWN, Depth
from widgets.text.fallback import plain_filters
from widgets.text.glyphs import ASCII, UNICODE, Glyphs
from widgets.timers import LateTimers

from .keys.keymap import Keymap
from .keys.registry import BY_ID
from .threads import run_in_thread
from .toasts import heading_of, place_toasts

if TYPE_CHECKING:
    from memory.storage.private.drafts import Draft
    from memory.workspace import Workspace
    from widgets.pane.base import Pane

    from .commands.steps import Severity
    from .main_screen import MainScreen


SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
"""What asks a program to end; Textual alone leaves the terminal in its own mode on some of them."""


def leave_on_signals(app: Shell) -> None:
    """End the application in order, with the exit code that shells use for the signal."""
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        # Not the main thread, or a test: then somebody else owns the signals.
        with suppress(ValueError, RuntimeError, NotImplementedError):
            loop.add_signal_handler(number, app.exit, 128 + number)


@cache
def panes_by_id() -> dict[str, PaneName]:
    """All panes by id."""
    return {name.id: name for name in all_panes()}


class OpenPanes:
    """State only: `Navigation` changes it, every part may look at it."""

    def __init__(self, only: str | None = None) -> None:
        """No pane is open yet; `only` is the one that alone is there, None: all are."""
        self.only = only
        self.open: Pane | None = None
        """The pane that is seen."""
        self.mounted: dict[str, Pane] = {}
        """The panes that were opened so far, by id."""
        self.more: set[str] = set()
        """What else is there beside the systems of the workspace, such as proposals of agents."""
        self.zoomed: bool | None = None
        """Whether lists take the whole pane; None: as it was remembered."""

    def names(self, workspace: Workspace | None) -> tuple[PaneName, ...]:
        """Return the panes that a workspace has, and those of other systems that somebody opened all the same."""
        if self.only is not None:
            return (panes_by_id()[self.only],)
        systems = () if workspace is None else workspace.system_names()
        return panes_for({*systems, *self.more, *(panes_by_id()[pane_id].system for pane_id in self.mounted)})


T = TypeVar("T")

SLIM = 60
"""Terminals of fewer columns have messages as wide as themselves."""


class Setup(NamedTuple):
    """How memdeck was started.

    `path`: where a workspace would be made; `depth`: how many colours the terminal shows; `watches`: whether changes
    from outside are looked for; `keeps_watch`: whether monitors, heartbeat and maintenance run while it is open;
    `remembers`: whether anything of what a person looks at is kept; `hand_over`: gives the terminal to an editor;
    `safe`: nothing that stands in memory files may run; `way`: the workspaces that lead back to where this one was
    opened from; `entry`: the file and the ref of the entry to begin at.
    """

    path: str
    depth: Depth
    watches: bool
    keeps_watch: bool
    remembers: bool
    hand_over: Callable[[], AbstractContextManager[None]]
    safe: bool
    way: tuple[Path, ...] = ()
    entry: tuple[str, str] | None = None


class Shell(LateTimers, App[int]):
    """What is said, which keys and panes there are, and the terminal that shows it."""

    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = True
    TITLE = "memdeck"

    CSS = """
    Toast { width: auto; max-width: 60; padding: 0 1; margin-top: 0; background: $panel; }
    Toast.-information { border-left: outer $border; }
    .-slim Toast { width: 60; max-width: 100%; }
    ToastRack { margin-bottom: 1; }
    .-ascii Frame { border: ascii $border-blurred; }
    .-ascii Frame.-within { border: ascii $border; }
    .-ascii Frame.-within:nocolor { border: heavy $border; }
    .-ascii .dialog { border: ascii $border; }
    .-ascii .-flat > .dialog { border: none; }
    .-ascii Toast { border-left: ascii $border; }
    .-depth-16 ModalScreen { background: transparent; }
    """

    main_screen: MainScreen
    """The main screen."""

    def __init__(
        self,
        workspace: Workspace | None,
        *,
        clock: Callable[[], datetime],
        path: str = ".",
        environ: Mapping[str, str] | None = None,
        glyphs: Glyphs = UNICODE,
        depth: Depth = "truecolor",
        watches: bool = True,
        keeps_watch: bool | None = None,
        remembers: bool = True,
        safe: bool = False,
        hand_over: Callable[[], AbstractContextManager[None]] | None = None,
        keymap: Keymap | None = None,
        only: str | None = None,
    ) -> None:
        """As `Setup`; `safe`: nothing that stands in memory files may run, whatever was approved.

        `only` is the pane that alone is there, in a workspace of which nothing is shown or changed.
        """
        super().__init__()
        self.workspace = workspace
        self.clock = clock
        self.keymap = keymap or Keymap()
        if self.keymap.rebound:
            self.set_keymap(self.keymap.for_textual())
        self.environ: Mapping[str, str] = os.environ if environ is None else environ
        self.glyphs = glyphs
        self.set_class(glyphs is ASCII, "-ascii")
        self.add_class(f"-depth-{depth}")
        if glyphs is ASCII or self.no_color or depth == "256":
            self._filters = plain_filters(self, ascii_signs=glyphs is ASCII, exact=depth == "256")
        keeps = watches if keeps_watch is None else keeps_watch
        self.setup = Setup(path, depth, watches, keeps, remembers, hand_over or self.suspend, safe)
        self.panes = OpenPanes(only)
        self.left_drafts: tuple[Draft, ...] = ()
        """Forms that were never saved, newest first."""
        for theme in OWN[depth]:
            self.register_theme(theme)
        self.theme = OWN[depth][0].name

    @property
    def way(self) -> tuple[Path, ...]:
        """The workspaces that lead back to where this one was opened from, the last one nearest."""
        return self.setup.way

    @property
    def shows_one_pane(self) -> bool:
        """Whether one pane alone is there, and nothing of the workspace is shown or changed."""
        return self.panes.only is not None

    @property
    def depth(self) -> Depth:
        """How many colours the terminal shows, for widgets that draw otherwise in few."""
        return self.setup.depth

    @property
    def safe(self) -> bool:
        """Whether nothing that stands in memory files may run."""
        return self.setup.safe

    @property
    def pane(self) -> Pane | None:
        """The pane that is open."""
        return self.panes.open

    @property
    def zone(self) -> tzinfo:
        """The workspace's zone, as it was last read."""
        pane = self.panes.open
        return UTC if pane is None else pane.zone

    def on_resize(self, event: Resize) -> None:
        """In few columns a message may be as wide as the screen; in few lines it goes where it still has room."""
        self.set_class(event.size.width < SLIM, "-slim")
        if self._notifications:
            self.call_after_refresh(place_toasts, self)

    async def action_quit(self) -> None:
        """Leave, also by ctrl+q."""
        self.exit(0)

    def _fatal_error(self) -> None:
        """End without Textual's traceback, which shows the values of variables, and so what stands in files."""
        self.bell()
        self._close_messages_no_wait()

    @property
    def failure(self) -> Exception | None:
        """The error that ended it; None while it runs, and where a person left it."""
        return self._exception

    @property
    def ends(self) -> bool:
        """Whether it was left and is taken apart, screen by screen; messages and timers go on meanwhile."""
        return self._exit or (self._is_mounted and not self.is_running)

    def refresh_keys(self) -> None:
        """Find out again which keys mean something."""
        for screen in self.screen_stack[-1:]:
            screen.refresh_bindings()

    def key_of(self, action_id: str) -> str:
        """The key of an action as people write it; without one, the palette's and what to look for in it."""
        action = BY_ID[action_id]
        keys = self.keymap.keys(action_id, action.keys)
        return key_name(keys[0]) if keys else f"{self.key_of('app.palette')} {action.words}"

    def copy_to_clipboard(self, text: str) -> None:
        """Copy through the terminal, and through the desktop's program where there is one."""
        from .clipboard import LARGEST, find_tool, give_to_tool, safe_text

        text = safe_text(text)
        if len(text) <= LARGEST:
            super().copy_to_clipboard(text)
        command = find_tool(self.environ)
        if command is not None:
            self.work(lambda: give_to_tool(command, text, self.environ), group="clipboard", exclusive=True)

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
        """Do something in a thread; `then` gets what it returns, `failed` its error (None: it is said), both here.

        An error that nobody expected is a MemdeckError `internal`. `exclusive` drops what the same group began before.
        """
        run_in_thread(self, work, then, failed or self.say_error, group=group, exclusive=exclusive)

    # What is said

    def say(self, text: str, *, title: str = "", severity: Severity = "information", seconds: float = 4) -> None:
        """A few words in a corner, instead of what was said before; content of files may be in them."""
        self.clear_notifications()
        self.notify(
            visible(text[:4000], newlines=True),
            title=visible(title),
            severity=severity,
            timeout=seconds,
            markup=False,
        )

    def _refresh_notifications(self) -> None:
        """Show what is said; on a screen that has just come there are lines to put it on only after its first frame."""
        super()._refresh_notifications()
        if self._notifications:
            place_toasts(self)
            self.call_after_refresh(place_toasts, self)

    def say_error(self, error: MemdeckError) -> None:
        """What could not be done, and what to do about it."""
        hint = error.hint
        if error.code.startswith("trust.") and error.code != "trust.no_state":
            hint = f"{self.key_of('trust.review')} shows what it wants to run"
        words = f"{error.message}; {hint}" if hint else error.message
        self.say(words, title=heading_of(error), severity="error")
