"""MemdeckApp: the application. It wires its parts together and owns all state; the parts do the work."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime, tzinfo
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.app import ScreenStackError
from textual.binding import Binding, BindingType
from textual.css.query import NoMatches
from textual.dom import NoScreen
from textual.events import Event, InputEvent, Key, Paste, Resize

from app.places import short_path
from memory.base.safe_text import visible
from widgets.chrome.footer import is_typing, key_name
from widgets.pane.base import Pane
from widgets.text.depth import OWN, Depth
from widgets.text.fallback import plain_filters
from widgets.text.glyphs import ASCII, UNICODE, Glyphs

from .commands.conditions import allows, hint_words, selected_count
from .commands.navigation import Navigation
from .commands.write import Changing
from .forms.consent import Consent
from .keys.keymap import Keymap
from .keys.registry import BY_ID, PARTS, command_of
from .keys.type_ahead import TypeAhead
from .live.away_summary import Morning
from .live.jobs import Jobs
from .live.outside_changes import LogSource, Noticing
from .live.refresh import Looking
from .live.schedule import Watching
from .main_screen import Desk
from .message_handlers import Postbox
from .overlays import Overlays
from .pane_state import Remembering
from .search.queries import Searching
from .toasts import heading_of, place_toasts

if TYPE_CHECKING:
    from textual.screen import Screen

    from memory.errors import MemdeckError
    from memory.history.taken_back import Undone
    from memory.monitoring.run.run import Ways
    from memory.storage.private.drafts import Draft
    from memory.trust.consent import Trust
    from memory.workspace import Workspace
    from widgets.list.board import Board
    from widgets.panes import PaneName

    from .context import JobView
    from .forms.drafts import Drafting
    from .forms.form_session import Filling
    from .perform import Performer

TICK_SECONDS = 30.0
"""How often what depends on the time is drawn again."""

SLIM = 60
"""Terminals of fewer columns have messages as wide as themselves."""

Severity = Literal["information", "warning", "error"]


class MemdeckApp(Postbox):
    """Shows one workspace; without one it offers to make it.

    `clock` gives the time, `hand_over` gives the terminal to an editor (default: Textual's `suspend`), `watches`
    says whether changes from outside are looked for, `remembers` whether anything of what a person looks at is kept.
    `app.desk` is the main screen.
    """

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

    BINDINGS: ClassVar[list[BindingType]] = [
        # Everywhere, also where a dialog lies over the panes and where text is typed.
        Binding(
            "f1",
            "app.do('view.widget_help')",
            show=False,
            priority=True,
            id="view.widget_help",
            tooltip=BY_ID["view.widget_help"].description,
        )
    ]

    def __init__(
        self,
        workspace: Workspace | None,
        *,
        clock: Callable[[], datetime],
        pane: str | None = None,
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
    ) -> None:
        """`pane`: what opens first (default: the one that was open last); `path`: where a workspace would be made.

        `depth`: how many colours the terminal shows; `keeps_watch`: whether monitors, heartbeat and maintenance run
        while it is open (default: as `watches`);
        `safe`: nothing that stands in memory files may run, whatever was approved.
        """
        super().__init__()
        self.workspace = workspace
        self.clock = clock
        self.keymap = keymap or Keymap()
        if self.keymap.rebound:
            self.set_keymap(self.keymap.for_textual())
        self.path = path
        self.environ: Mapping[str, str] = os.environ if environ is None else environ
        self.glyphs = glyphs
        self.set_class(glyphs is ASCII, "-ascii")
        self.depth: Depth = depth
        self.add_class(f"-depth-{depth}")
        if glyphs is ASCII or self.no_color or depth == "256":
            self._filters = plain_filters(self, ascii_signs=glyphs is ASCII, exact=depth == "256")
        self.watches = watches
        self.keeps_watch = watches if keeps_watch is None else keeps_watch
        self.remembers = remembers
        self.safe = safe
        self.hand_over: Callable[[], AbstractContextManager[None]] = hand_over or self.suspend
        self.navigation = Navigation(self)
        self.looking = Looking(self)
        self.noticing = Noticing(self)
        self.changing = Changing(self)
        self.morning = Morning(self)
        self.consent = Consent(self)
        self.jobs = Jobs(self)
        self.watching = Watching(self)
        self.overlays = Overlays(self)
        self.left_drafts: tuple[Draft, ...] = ()
        """Forms that were never saved, newest first."""
        self.searching = Searching(self)
        self.remembering = Remembering(self)
        self.typing_ahead = TypeAhead(self)
        first = None
        if workspace is not None:
            first = self.navigation.begin(self.navigation.first(pane, self.remembering.last_pane))
        path_shown = "" if workspace is None else short_path(str(workspace.root), self.environ)
        self.desk = Desk(self._desk_ready, path_shown, first, self.navigation.panes)
        for theme in OWN[depth]:
            self.register_theme(theme)
        self.theme = OWN[depth][0].name

    # Parts that nobody needs before the first frame; each is imported with its first use.

    @cached_property
    def drafting(self) -> Drafting:
        """Keeps what is typed."""
        from .forms.drafts import Drafting

        return Drafting(self)

    @cached_property
    def filling(self) -> Filling:
        """Opens and writes forms."""
        from .forms.form_session import Filling

        return Filling(self)

    @cached_property
    def perform(self) -> Performer:
        """Does what commands return."""
        from .perform import Performer

        return Performer(self)

    def on_board_dropped(self, message: Board.Dropped) -> None:
        """A card was dragged to another column."""
        from .commands.tasks import drop

        message.stop()
        self.perform(drop(self, message.row.item, message.lane))

    # What commands look at

    @property
    def pane(self) -> Pane | None:
        """The pane that is open."""
        return self.navigation.pane

    @property
    def undone(self) -> tuple[Undone, ...]:
        """What saves of other programs took back, and nobody decided about."""
        return self.noticing.undone

    def saved_views(self, pane_id: str) -> dict[str, dict[str, str]]:
        """Return the views of a pane that people keep, by name."""
        return self.remembering.saved_views(pane_id)

    def writing(self) -> AbstractContextManager[None]:
        """Hold the lock of changes while something is written in a thread."""
        return self.changing.writing()

    def trust(self) -> Trust | None:
        """Return what the person decided about commands, in an object of its own for one thread."""
        return self.watching.trust()

    def ways(self, job: JobView) -> Ways:
        """Return what a run of monitors reaches."""
        return self.watching.ways(job)

    @property
    def zone(self) -> tzinfo:
        """The workspace's zone, as it was last read."""
        pane = self.navigation.pane
        return UTC if pane is None else pane.zone

    @property
    def idle(self) -> bool:
        """Whether nothing is being read, written or about to be asked."""
        return self.looking.idle and self.changing.idle and not self.consent.is_deaf and self.typing_ahead.idle

    # Start and end

    def get_default_screen(self) -> Desk:
        """The main screen."""
        return self.desk

    def on_mount(self) -> None:
        """Begin to listen to signals and to the clock."""
        from .signals import leave_on_signals

        leave_on_signals(self)
        self.set_interval(TICK_SECONDS, self._tick)

    def on_unmount(self) -> None:
        """It ended, whatever ended it."""
        self.looking.end()

    def _desk_ready(self) -> None:
        """Open the workspace, or offer to make one."""
        if self.keymap.path:
            self.call_after_refresh(self.overlays.tell_of_keys)
        if self.navigation.pane is not None:
            self.looking.first(self.navigation.pane)
            self.navigation.wait_for(self.navigation.pane)
            return
        from .welcome import StartScreen

        self.push_screen(StartScreen(self.path), self._started)

    def _started(self, choice: str | None) -> None:
        """Make what was chosen on the start screen."""
        from .welcome import make

        if choice is None:
            self.exit(0)
            return
        workspace = make(self, choice)
        if workspace is not None:
            self.workspace = workspace
            self.desk.header.path = short_path(str(workspace.root), self.environ)
            self.navigation.open_pane(self.navigation.first(), remember=False)

    def _leave(self) -> None:
        """Keep what is typed and what is remembered, stop watching."""
        self._keep_typed()
        self.remembering.keep()
        self.looking.stop()
        self.searching.stop()
        self.watching.leave()

    def _keep_typed(self) -> None:
        """Write what stands in a form; where no form was opened there is nothing to write."""
        if "drafting" in self.__dict__:
            self.drafting.save_now()

    def on_resize(self, event: Resize) -> None:
        """In few columns a message may be as wide as the screen; in few lines it goes where it still has room."""
        self.set_class(event.size.width < SLIM, "-slim")
        if self._notifications:
            self.call_after_refresh(place_toasts, self)

    async def action_quit(self) -> None:
        """Leave, also by ctrl+q."""
        self.exit(0)

    def exit(self, *args: object, **kwargs: object) -> None:
        """Leave; what is remembered is written first."""
        if not self._exit:
            self._leave()
        super().exit(*args, **kwargs)  # type: ignore[arg-type]

    def _handle_exception(self, error: Exception) -> None:
        """An error that nobody expected ends the application; what is typed is kept.

        What comes late to an application that ends may find its screen or a widget gone; that is no error.
        """
        if self.ends and isinstance(error, (NoMatches, NoScreen, ScreenStackError)):
            return
        self._keep_typed()
        super()._handle_exception(error)

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

    def make_pane(self, name: PaneName) -> Pane:
        """Make a pane that is opened for the first time."""
        pane_type = name.load()
        if name.id == "changes":
            return pane_type(LogSource(self))  # type: ignore[call-arg]
        if name.id == "monitors":
            return pane_type(self.watching.pictures)  # type: ignore[call-arg]
        if name.id == "contacts":
            return pane_type(self.watching.addresses)  # type: ignore[call-arg]
        if name.id == "plans":
            return pane_type(LogSource(self).past)  # type: ignore[call-arg]
        pane = pane_type()
        if name.id == "brief" and self.left_drafts:
            pane.say_drafts(self.drafting.listed)  # type: ignore[attr-defined]
        return pane

    def _tick(self) -> None:
        """Time went by: what is due or overdue may look different."""
        if self.workspace is not None and self.looking.idle:
            self.looking.tick()

    # Actions

    def action_do(self, action_id: str) -> None:
        """Do an action of the registry."""
        action = BY_ID[action_id]
        try:
            if allows(self, action.needs):
                if action.target in PARTS:
                    getattr(getattr(self, action.target), action.method)(*action.arguments)
                else:
                    self.perform(command_of(action)(self, *action.arguments))
        finally:
            self.typing_ahead.acted()

    async def on_event(self, event: Event) -> None:
        """Take an event; keys wait for what an earlier key opens, and mean nothing when it ends."""
        if self.ends and isinstance(event, (InputEvent, Paste)):
            return
        if isinstance(event, Key):
            self.looking.pressed()
        if isinstance(event, Key) and not event.is_forwarded and self.consent.drops(event):
            return
        if isinstance(event, Key) and not event.is_forwarded and self.typing_ahead.keep(event):
            return
        await super().on_event(event)

    async def pass_on(self, key: Key) -> None:
        """Take a key that waited, unless a question came up since it was typed."""
        if not self.consent.drops(key):
            await super().on_event(key)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys of actions that mean nothing now are no keys, and the footer does not show them."""
        if action == "do" and parameters:
            return allows(self, BY_ID[str(parameters[0])].needs)
        return True

    def hint_words(self, action_id: str) -> str | None:
        """What the footer calls an action; empty: nothing, None: the binding is none of an action."""
        action = BY_ID.get(action_id)
        return None if action is None else hint_words(self, action)

    def hint_lead(self, screen: Screen[object]) -> str:
        """What stands before the hints of a screen: how many entries they are about."""
        count = selected_count(self.navigation.pane) if screen is self.desk else 0
        return f"{count:,} selected" if count else ""

    def explain_key(self, key: str) -> None:
        """Say why a key does nothing here; nothing where it never does anything, or where it is typed.

        The key that leaves has nothing to leave then but what is said.
        """
        from .keys.unavailable import why_dead

        if key in self.keymap.keys("view.leave", BY_ID["view.leave"].keys):
            self.clear_notifications()
        elif not is_typing(self.screen.focused) and (words := why_dead(self, key)):
            self.say(words)

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
            self.run_worker(
                lambda: give_to_tool(command, text, self.environ),
                group="clipboard",
                thread=True,
                exclusive=True,
                exit_on_error=False,
            )

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
