"""Shell: the terminal side of the application, which every part builds on: messages, keys, threads, the open panes.

It knows no part; `MemdeckApp` adds them. Only handlers in the application's thread change state; another thread only
finds out and reports.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar

from textual.app import App
from textual.events import Resize
from textual.message import Message

from memory import errors
from memory.base.safe_text import visible
from memory.errors import MemdeckError
from memory.storage.private.drafts import Draft
from memory.workspace import Workspace
from widgets.chrome.keys import key_name
from widgets.pane.base import Pane
from widgets.panes import PaneName, all_panes, panes_for
from widgets.text.depth import OWN, Depth
from widgets.text.drawing import LateTimers
from widgets.text.fallback import plain_filters
from widgets.text.glyphs import ASCII, UNICODE, Glyphs

from .clipboard import LARGEST, find_tool, give_to_tool, safe_text
from .keys.keymap import Keymap
from .keys.registry import BY_ID
from .main_screen import MainScreen

if TYPE_CHECKING:
    from .app import MemdeckApp

ACTOR = "human"
"""The actor recorded for changes made in the application."""

Severity: TypeAlias = Literal["information", "warning", "error"]

Otherwise: TypeAlias = Callable[[MemdeckError], object]
"""What to do with an error instead of showing it."""

HEADINGS: tuple[tuple[type[errors.MemdeckError], str], ...] = (
    (errors.ConflictError, "Changed meanwhile"),
    (errors.NotFoundError, "Not found"),
    (errors.AmbiguousError, "Ambiguous"),
    (errors.BlockedError, "Needs approval"),
    (errors.RefusedError, "Refused"),
    (errors.BusyError, "Busy"),
    (errors.UsageError, "Not possible"),
)
"""The heading for each type of error; the first match counts."""


def heading_of(error: errors.MemdeckError) -> str:
    """Return what went wrong, in two or three words."""
    if error.code.startswith("trust."):
        return "Not approved"
    if error.code == "file.read_only":
        return "Read-only"
    return next((words for kind, words in HEADINGS if isinstance(error, kind)), "Failed")


T = TypeVar("T")


@dataclass(eq=False, repr=False)
class Changed(Message):
    """Files changed: by their names in the memory folder; empty: it is not known which."""

    files: frozenset[str]


@dataclass(eq=False, repr=False)
class ThreadReport(Message):
    """The result of a thread; `deliver` handles it in the application's thread."""

    deliver: Callable[[], object]


def internal(error: Exception) -> MemdeckError:
    """Wrap an unexpected error as a MemdeckError that can be shown: its type and its message."""
    return MemdeckError("internal", f"{type(error).__name__}: {error}")


@cache
def panes_by_id() -> dict[str, PaneName]:
    """All panes by id."""
    return {name.id: name for name in all_panes()}


class OpenPanes:
    """State only: `Navigation` changes it, every part may read it."""

    def __init__(self, only: str | None = None) -> None:
        """No pane is open yet. `only` is the id of the only pane to show; None: all."""
        self.only = only
        self.open: Pane | None = None
        """The visible pane."""
        self.mounted: dict[str, Pane] = {}
        """The panes that were opened so far, by id."""
        self.more: set[str] = set()
        """Systems whose panes are shown in addition to those of the workspace, such as the proposals of agents."""
        self.zoomed: bool | None = None
        """Whether lists take the whole pane; None: as it was saved."""

    def names(self, workspace: Workspace | None) -> tuple[PaneName, ...]:
        """Return the panes of a workspace, and those of other systems that the user opened anyway."""
        if self.only is not None:
            return (panes_by_id()[self.only],)
        systems = () if workspace is None else workspace.system_names()
        known = panes_by_id()
        return panes_for({*systems, *self.more, *[known[pane_id].system for pane_id in self.mounted]})


SLIM = 60
"""Terminals with fewer columns have messages as wide as themselves."""


class Destination(NamedTuple):
    """What to open instead of this workspace: a pane of it, and an entry (its file and ref).

    `way` are the workspaces to go back to, the last one first.
    """

    root: Path
    way: tuple[Path, ...]
    pane: str | None = None
    entry: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Setup:
    """How memdeck was started.

    `clock` returns the time; `pane`: the pane to open first (None: the one that was open last); `path`: where a
    workspace would be created; `depth`: how many colours the terminal shows; `watches`: whether changes from outside
    are looked for; `keeps_watch`: whether monitors, heartbeat and maintenance run while it is open (None: as
    `watches`); `remembers`: whether the state of the view is saved; `safe`: no command from memory files may run, even
    if it was approved; `hand_over`: gives the terminal to an editor (None: Textual's `suspend`); `only`: the id of the
    only pane to show, nothing of the workspace is shown or changed then; `way`: the workspaces to go back to, in the
    order they were opened from one another; `entry`: the file and the ref of the entry to open first; `entered`: the
    terminal shows the alternate screen already.
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
    only: str | None = None
    way: tuple[Path, ...] = ()
    entry: tuple[str, str] | None = None
    entered: bool = False


class Shell(LateTimers, App[int]):
    """The messages, keys and panes of the application, and the terminal that shows them."""

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
    """

    main_screen: MainScreen
    """The main screen."""

    def __init__(self, workspace: Workspace | None, setup: Setup) -> None:
        """Show a workspace; None: there is none yet."""
        super().__init__()
        self.workspace = workspace
        self.setup = setup
        self.clock = setup.clock
        self.keymap = setup.keymap
        if self.keymap.rebound:
            self.set_keymap(self.keymap.for_textual())
        self.environ: Mapping[str, str] = os.environ if setup.environ is None else setup.environ
        self.glyphs, depth = setup.glyphs, setup.depth
        self.set_class(self.glyphs is ASCII, "-ascii")
        self.add_class(f"-depth-{depth}")
        if self.glyphs is ASCII or self.no_color:
            self._filters = plain_filters(self, ascii_signs=self.glyphs is ASCII)
        self.panes = OpenPanes(setup.only)
        self.left_drafts: tuple[Draft, ...] = ()
        """Forms that were never saved, newest first."""
        for theme in OWN[depth]:
            self.register_theme(theme)
        self.theme = OWN[depth][0].name

    @property
    def way(self) -> tuple[Path, ...]:
        """The workspaces to go back to, the one this was opened from last."""
        return self.setup.way

    @property
    def shows_one_pane(self) -> bool:
        """Whether only one pane is shown, and nothing of the workspace is shown or changed."""
        return self.panes.only is not None

    @property
    def depth(self) -> Depth:
        """How many colours the terminal shows, for widgets that draw differently in few colours."""
        return self.setup.depth

    @property
    def safe(self) -> bool:
        """Whether no command from memory files may run."""
        return self.setup.safe

    @property
    def pane(self) -> Pane | None:
        """The pane that is open."""
        return self.panes.open

    @property
    def shown_pane(self) -> Pane:
        """The pane that a command is done in."""
        assert self.panes.open is not None
        return self.panes.open

    @property
    def shown_workspace(self) -> Workspace:
        """The workspace that a command is done in."""
        assert self.workspace is not None
        return self.workspace

    @property
    def zone(self) -> tzinfo:
        """The workspace's time zone, as it was last read."""
        pane = self.panes.open
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
                known = error if isinstance(error, MemdeckError) else internal(error)
                report = partial(failed or self.say_error, known)
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
        self.notify(
            visible(text[:4000], newlines=True), title=visible(title), severity=severity, timeout=seconds, markup=False
        )

    def say_error(self, error: MemdeckError) -> None:
        """Say what could not be done, and what to do about it."""
        hint = error.hint
        if error.code.startswith("trust.") and error.code != "trust.no_state":
            hint = f"{self.key_of('trust.review')} shows what it wants to run"
        words = f"{error.message}; {hint}" if hint else error.message
        self.say(words, title=heading_of(error), severity="error")


class Part:
    """A part of the application; it reaches the other parts through `app`."""

    def __init__(self, app: MemdeckApp) -> None:
        """Belong to an application."""
        self.app = app
        self.set_up()

    def set_up(self) -> None:
        """Set the state that the part begins with; nothing by default."""

    @property
    def workspace(self) -> Workspace:
        """The workspace that is shown."""
        return self.app.shown_workspace
